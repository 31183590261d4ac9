import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import {
  type DirectDescription,
  type DirectRequest,
  type DirectRoute,
  defineCommand,
  defineRoute,
  del,
  get,
  patch,
} from '../../http/rest/define-route.ts'
import type { ProfileRecordFragment, UserRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import {
  always,
  amount,
  fileBytes,
  givenFlag,
  givenPicture,
  givenText,
  objectOf,
  same,
  sameFields,
  url,
} from '../../http/rest/values.ts'
import { corsHeaders, sendDownload } from '../../http/send.ts'
import { formatAmount } from '../../shared/money.ts'
import { streamExport } from './export-account.ts'
import { readPicture } from './update-profile.ts'

export const ProfileRecord = graphql(/* GraphQL */ `
  fragment ProfileRecord on User {
    displayName description profilePictureUrl profilePictureThumbnailUrl profileBackgroundUrl
    profileBackgroundThumbnailUrl
  }
`)

export const UserRecord = graphql(/* GraphQL */ `
  fragment UserRecord on User {
    id username email address language emailVerified pendingEmail assetCount referralCode defaultTag
    allowC2paDownload ...ProfileRecord
    wallet { address num points }
  }
`)

const picture = url.nullable()

const profileRecord = objectOf('Profile', 'Public profile of a user.', {
  ...sameFields('User', { display_name: z.string(), description: z.string() }),
  phone_number: always(''),
  profile_picture: same('User.profilePictureUrl', picture),
  profile_picture_thumbnail: same('User.profilePictureThumbnailUrl', picture),
  profile_background: same('User.profileBackgroundUrl', picture),
  profile_background_thumbnail: same('User.profileBackgroundThumbnailUrl', picture),
})

const userRecord = objectOf('User', 'One’s own account.', {
  ...sameFields('User', { id: z.string(), username: z.string() }),
  email: z.string().describe('Address that notifications go to.'),
  address: same('User.address', z.string()),
  language: z.string().describe('Language of mails, as in en-us.'),
  email_verified: z.boolean().describe('True if the e-mail address is verified.'),
  pending_email: z
    .string()
    .nullable()
    .describe('New address that replaces `email` when it is verified. Null if there is none.'),
  phone_verified: always(false),
  asset_count: z.number().int().describe('Number of assets that the user owns.'),
  referral_code: z.string().describe('Code they signed up with.'),
  default_tag: z.string().describe('Tag that clients offer for new assets.'),
  allow_c2pa_download: z.boolean().describe('True if clients may offer your files with Content Credentials.'),
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

const meRecord = userRecord
  .extend({ results: z.array(userRecord).describe('The same record as the only one of a list, for older scripts.') })
  .meta({ id: 'Me', description: 'One’s own account.' })

const presentProfile = (user: ProfileRecordFragment): z.output<typeof profileRecord> => ({
  ...{ display_name: user.displayName, description: user.description, phone_number: '' },
  ...{ profile_picture: user.profilePictureUrl, profile_picture_thumbnail: user.profilePictureThumbnailUrl },
  ...{
    profile_background: user.profileBackgroundUrl,
    profile_background_thumbnail: user.profileBackgroundThumbnailUrl,
  },
})

/** Returns the record of the caller's account. Balances have at least 1 decimal (num) and 3 decimals (points). */
function presentUser(user: UserRecordFragment): z.output<typeof userRecord> {
  const num = formatAmount(user.wallet!.num, 1)
  const points = formatAmount(user.wallet!.points, 3)
  return {
    ...{ id: user.id, username: user.username, email: user.email!, address: user.address, language: user.language! },
    ...{ email_verified: user.emailVerified!, pending_email: user.pendingEmail, phone_verified: false },
    ...{ asset_count: user.assetCount!, referral_code: user.referralCode!, default_tag: user.defaultTag! },
    ...{ allow_c2pa_download: user.allowC2paDownload!, profile: presentProfile(user) },
    user_wallet: {
      ...{ asset_wallet: user.wallet!.address, asset_wallet_num: num, integrity_wallet: user.wallet!.address },
      ...{ integrity_wallet_num: null, points, num_wallet_name: '', billed_num: '0' },
    },
    // The interface names these fields here. Other callers read the nested ones.
    asset_wallet_num: num,
    points,
  }
}

const presentMe = (user: UserRecordFragment): z.output<typeof meRecord> => {
  const self = presentUser(user)
  return { ...self, results: [self] }
}

const meOperation = graphql(/* GraphQL */ `
  query RestMe { me { ...UserRecord } }
`)

const me = defineRoute({
  ...get('auth/users/me', 'getMe', 'Account', 'Read one’s own account'),
  action: 'account:read',
  operation: meOperation,
  variables: () => ({}),
  answer: meRecord,
  present: ({ me }) => presentMe(me),
})

const deleteMe = defineCommand({
  ...del('auth/users/me', 'deleteMe', 'Account', 'Delete one’s own account'),
  description:
    'The chain keeps the commits with their messages. The account, its files and other personal data are erased.',
  errors: ['CONFLICT'],
  action: 'account:delete',
  operation: graphql(/* GraphQL */ `
    mutation RestDeleteMe { deleteAccount { id } }
  `),
})

const listUsers = defineList({
  ...get('auth/users', 'listUsers', 'Account', 'Read your own account as a list'),
  description: 'The list holds only the caller.',
  deprecated: true,
  action: 'account:read',
  record: userRecord,
  plural: 'Users',
  searched: 'the username, the e-mail address or the display name',
  order: 'oldest',
  operation: meOperation,
  variables: () => ({}),
  connectionOf: ({ me }, { offset = 0, search = '' }) => {
    const texts = [me.username, me.email, me.displayName].join('\n').toLowerCase()
    const words = search.toLowerCase().split(/[\s,]+/)
    const found = words.every((word) => texts.includes(word)) ? [me] : []
    const pageInfo = { startCursor: null, endCursor: null }
    return { totalCount: found.length, pageInfo, nodes: found.slice(offset) }
  },
  present: presentUser,
})

const updateMe = defineRoute({
  ...patch('auth/users/me', 'updateMe', 'Account', 'Change settings of one’s own account'),
  body: objectOf('UpdateMe', 'Only the given fields change.', {
    ...sameFields('UpdateProfileInput', { language: givenText(16).optional() }),
    ...sameFields('UpdateProfileInput', { default_tag: givenText(100).optional() }),
    ...sameFields('UpdateProfileInput', { allow_c2pa_download: givenFlag.optional() }),
  }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateMe($input: UpdateProfileInput!) { updateProfile(input: $input) { user { ...UserRecord } } }
  `),
  variables: ({ body }) => ({
    input: {
      language: body.text('language'),
      defaultTag: body.text('default_tag'),
      allowC2paDownload: body.flag('allow_c2pa_download'),
    },
  }),
  answer: meRecord,
  present: ({ updateProfile: { user } }) => presentMe(user),
})

const updateProfile = defineRoute({
  ...patch('auth/users/profile', 'updateProfile', 'Account', 'Change one’s profile and its pictures'),
  body: objectOf('ProfileToUpdate', 'Only the given fields change.', {
    ...sameFields('UpdateProfileInput', { display_name: givenText(100).optional() }),
    ...sameFields('UpdateProfileInput', { description: givenText(1000).optional() }),
    ...sameFields('UpdateProfileInput', { profile_picture: givenPicture.optional() }),
    ...sameFields('UpdateProfileInput', { profile_background: givenPicture.optional() }),
  }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateProfile($input: UpdateProfileInput!) {
      updateProfile(input: $input) { user { ...ProfileRecord } }
    }
  `),
  files: ['profile_picture', 'profile_background'],
  maxFileBytes: 10_000_000,
  variables: ({ body }) => ({
    input: {
      displayName: body.text('display_name'),
      description: body.text('description'),
      profilePicture: body.uploadOrNull('profile_picture'),
      profileBackground: body.uploadOrNull('profile_background'),
    },
  }),
  answer: profileRecord,
  present: ({ updateProfile: { user } }) => presentProfile(user),
})

const readProfile = defineRoute({
  ...get('auth/users/profile', 'getProfile', 'Account', 'Read one’s profile'),
  action: 'account:read',
  operation: graphql(/* GraphQL */ `
    query RestProfile { me { ...ProfileRecord } }
  `),
  variables: () => ({}),
  answer: profileRecord,
  present: ({ me }) => presentProfile(me),
})

export const profileRoutes = [me, deleteMe, listUsers, updateMe, updateProfile, readProfile]

export const exportDescription: DirectDescription = {
  operationId: 'exportMe',
  tag: 'Account',
  summary: 'Download everything that is kept of oneself',
  access: 'user',
  answers: {
    200: {
      description: 'The document, as a file.',
      mediaType: 'application/json',
      schema: z
        .looseObject({})
        .meta({ id: 'Export', description: 'The account, and a list of each kind of stored data.' }),
    },
  },
}

/** Streams the actor's export as a download. Throws NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE before anything is sent. */
export async function sendExport({ req, res, context }: DirectRequest): Promise<void> {
  const file = { name: 'my-data.json', mediaType: 'application/json' }
  await streamExport(context, (content) => sendDownload(req, res, { ...file, content }))
}

const pictureRoute = (path: string, operationId: string, summary: string, isThumbnail: boolean): DirectRoute => ({
  method: 'GET',
  path,
  description: {
    ...{ operationId, summary, tag: 'Files', access: 'everybody' },
    params: z.object({ id: z.string().describe('As the address in a profile has it.') }),
    answers: { 200: { description: 'The picture.', mediaType: 'image/webp', schema: fileBytes } },
  },
  handle: async ({ reply, params, context }) => {
    const bytes = await readPicture(context, { id: params.id!, isThumbnail })
    reply.headers({
      ...corsHeaders,
      'Content-Type': 'image/webp',
      'Cache-Control': 'public, max-age=300, must-revalidate',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    })
    reply.send(bytes)
  },
})

export const pictureRoutes = [
  pictureRoute('/pictures/:id', 'getPicture', 'Read a picture of a profile', false),
  pictureRoute('/pictures/:id/thumbnail', 'getPictureThumbnail', 'Read a small picture of a profile', true),
]
