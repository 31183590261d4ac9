import { formatAmount } from '../../domain/money.ts'
import type { ProfileRecordFragment, UserRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'

/** What is read of a profile. */
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

/** What is read of one's own account. */
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

/** A profile as old callers read it. */
export const presentProfile = (user: ProfileRecordFragment) => ({
  display_name: user.displayName,
  description: user.description,
  phone_number: '',
  profile_picture: user.profilePictureUrl,
  profile_picture_thumbnail: user.profilePictureThumbnailUrl,
  profile_background: user.profileBackgroundUrl,
  profile_background_thumbnail: user.profileBackgroundThumbnailUrl,
})

/** One's own account as old callers read it; balances are text with at least 1 (num) and 3 (points) decimals. */
export function presentUser(user: UserRecordFragment) {
  const num = formatAmount(user.wallet!.num, 1)
  const points = formatAmount(user.wallet!.points, 3)
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    address: user.address,
    language: user.language,
    email_verified: user.emailVerified,
    pending_email: user.pendingEmail,
    phone_verified: false,
    asset_count: user.assetCount,
    referral_code: user.referralCode,
    default_tag: user.defaultTag,
    allow_c2pa_download: user.allowC2paDownload,
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

/** The record of who asks: older scripts look for it in a list. */
export const presentMe = (user: UserRecordFragment) => {
  const self = presentUser(user)
  return { ...self, results: [self] }
}
