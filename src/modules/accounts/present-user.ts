import { z } from 'zod'
import type { ProfileRecordFragment, UserRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { always, amount, same, url } from '../../http/rest/values.ts'
import { formatAmount } from '../../shared/money.ts'

/** The GraphQL fields of a profile record. */
export const ProfileRecord = graphql(/* GraphQL */ `
  fragment ProfileRecord on User {
    displayName
    description
    profilePictureUrl
    profilePictureThumbnailUrl
    profileBackgroundUrl
    profileBackgroundThumbnailUrl
  }
`)

/** The GraphQL fields of the caller's account record. */
export const UserRecord = graphql(/* GraphQL */ `
  fragment UserRecord on User {
    id
    username
    email
    address
    language
    emailVerified
    pendingEmail
    assetCount
    referralCode
    defaultTag
    allowC2paDownload
    ...ProfileRecord
    wallet {
      address
      num
      points
    }
  }
`)

const picture = url.nullable()

/** The REST record of a profile. */
export const profileRecord = z
  .object({
    display_name: same('User.displayName', z.string()),
    description: same('User.description', z.string()),
    phone_number: always(''),
    profile_picture: same('User.profilePictureUrl', picture),
    profile_picture_thumbnail: same('User.profilePictureThumbnailUrl', picture),
    profile_background: same('User.profileBackgroundUrl', picture),
    profile_background_thumbnail: same('User.profileBackgroundThumbnailUrl', picture),
  })
  .meta({ id: 'Profile', description: 'What a person says of themselves.' })

/** The REST record of the caller's account. */
export const userRecord = z
  .object({
    id: same('User.id', z.string()),
    username: same('User.username', z.string()),
    email: z.string().describe('Address that notifications go to.'),
    address: same('User.address', z.string()),
    language: z.string().describe('Language of mails, as in en-us.'),
    email_verified: z.boolean().describe('Whether the address is known to be theirs.'),
    pending_email: z
      .string()
      .nullable()
      .describe('Address that takes the place of `email` once it is verified, if there is one.'),
    phone_verified: always(false),
    asset_count: z.number().int().describe('How many assets they own.'),
    referral_code: z.string().describe('Code they signed up with.'),
    default_tag: z.string().describe('Tag that clients offer for new assets.'),
    allow_c2pa_download: z.boolean().describe('Whether clients may offer files with content credentials.'),
    profile: profileRecord,
    user_wallet: z
      .object({
        asset_wallet: same('Wallet.address', z.string()),
        asset_wallet_num: amount.describe('Currency units, with at least 1 decimal.'),
        integrity_wallet: z.string().describe('The same as `asset_wallet`.'),
        integrity_wallet_num: always(null),
        points: amount.describe('Credits, with at least 3 decimals.'),
        num_wallet_name: always(''),
        billed_num: always('0'),
      })
      .describe('The custodial wallet of the account.'),
    asset_wallet_num: amount.describe('The same as `user_wallet.asset_wallet_num`.'),
    points: amount.describe('The same as `user_wallet.points`.'),
  })
  .meta({ id: 'User', description: 'One’s own account.' })

/** The account record, which also contains itself as a list for old scripts. */
export const meRecord = userRecord
  .extend({ results: z.array(userRecord).describe('The same record as the only one of a list, for older scripts.') })
  .meta({ id: 'Me', description: 'One’s own account.' })

/** A profile as old callers read it. */
export const presentProfile = (user: ProfileRecordFragment): z.output<typeof profileRecord> => ({
  display_name: user.displayName,
  description: user.description,
  phone_number: '',
  profile_picture: user.profilePictureUrl,
  profile_picture_thumbnail: user.profilePictureThumbnailUrl,
  profile_background: user.profileBackgroundUrl,
  profile_background_thumbnail: user.profileBackgroundThumbnailUrl,
})

/**
 * Returns the record of the caller's account, with private fields. Balances are strings with at least 1 decimal (num) and 3 decimals
 * (points).
 */
export function presentUser(user: UserRecordFragment): z.output<typeof userRecord> {
  const num = formatAmount(user.wallet!.num, 1)
  const points = formatAmount(user.wallet!.points, 3)
  return {
    id: user.id,
    username: user.username,
    email: user.email!,
    address: user.address,
    language: user.language!,
    email_verified: user.emailVerified!,
    pending_email: user.pendingEmail,
    phone_verified: false,
    asset_count: user.assetCount!,
    referral_code: user.referralCode!,
    default_tag: user.defaultTag!,
    allow_c2pa_download: user.allowC2paDownload!,
    profile: presentProfile(user),
    user_wallet: {
      asset_wallet: user.wallet!.address,
      asset_wallet_num: num,
      integrity_wallet: user.wallet!.address,
      integrity_wallet_num: null,
      points,
      num_wallet_name: '',
      billed_num: '0',
    },
    // The interface names them here, and other callers read them nested: both stand.
    asset_wallet_num: num,
    points,
  }
}

/** Returns the record of the caller. Old scripts read it from the list `results`. */
export const presentMe = (user: UserRecordFragment): z.output<typeof meRecord> => {
  const self = presentUser(user)
  return { ...self, results: [self] }
}
