import { z } from 'zod'
import { corsHeaders, sendDownload } from '../../http/http-server.ts'
import {
  type DirectDescription,
  type DirectRequest,
  type DirectRoute,
  defineCommand,
  defineRoute,
  del,
  get,
  patch,
  post,
  type RestRequest,
} from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import { constantField, defineRecord, objectOf, same, sameFields, snakeCased } from '../../http/rest/fields.ts'
import type { ProfileRecordFragment, UserRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList, orderingFrom } from '../../http/rest/lists.ts'
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

const text = z.string()
const picture = values.url.nullable()

/** Defines a field with the value of a field of `User`. Only other users see null in a private field. */
const field = <Name extends keyof UserRecordFragment, Schema extends z.ZodType>(name: Name, schema: Schema) =>
  [schema, (user: Pick<UserRecordFragment, Name>) => user[name] as z.output<Schema>] as const

const sameField = <Name extends keyof UserRecordFragment, Schema extends z.ZodType>(name: Name, schema: Schema) =>
  field(name, same(`User.${name}`, schema))

const profile = defineRecord<ProfileRecordFragment>()(
  { id: 'Profile', description: 'Public profile of a user.' },
  {
    display_name: sameField('displayName', text),
    description: sameField('description', text),
    phone_number: constantField(''),
    profile_picture: sameField('profilePictureUrl', picture),
    profile_picture_thumbnail: sameField('profilePictureThumbnailUrl', picture),
    profile_background: sameField('profileBackgroundUrl', picture),
    profile_background_thumbnail: sameField('profileBackgroundThumbnailUrl', picture),
  },
)

const amountField = (description: string, field: 'num' | 'points', decimals: number) =>
  [
    values.amount.describe(description),
    ({ wallet }: UserRecordFragment) => formatAmount(wallet![field], decimals),
  ] as const

const userWallet = defineRecord<UserRecordFragment>()(
  { id: 'UserWallet', description: 'The custodial wallet of the account.' },
  {
    asset_wallet: [same('Wallet.address', text), ({ wallet }) => wallet!.address],
    asset_wallet_num: amountField('Currency units, with at least 1 decimal.', 'num', 1),
    integrity_wallet: [text.describe('Same address as `asset_wallet`.'), ({ wallet }) => wallet!.address],
    integrity_wallet_num: constantField(null),
    points: amountField('Credits, with at least 3 decimals.', 'points', 3),
    num_wallet_name: constantField(''),
    billed_num: constantField('0'),
  },
)

const user = defineRecord<UserRecordFragment>()(
  { id: 'User', description: 'The account of the caller.' },
  {
    id: sameField('id', text),
    username: sameField('username', text),
    email: field('email', text.describe('Address for notifications.')),
    address: sameField('address', text),
    language: field('language', text.describe('Language of mails, as in en-us.')),
    email_verified: field('emailVerified', z.boolean().describe('True if the e-mail address is verified.')),
    pending_email: field(
      'pendingEmail',
      text
        .nullable()
        .describe('New e-mail address that replaces `email` when it is verified. Null without a pending address.'),
    ),
    phone_verified: constantField(false),
    asset_count: field('assetCount', z.number().int().describe('Number of assets that the user owns.')),
    referral_code: field('referralCode', text.describe('Referral code of the sign-up.')),
    default_tag: field('defaultTag', text.describe('Tag that clients suggest for new assets.')),
    allow_c2pa_download: field(
      'allowC2paDownload',
      z.boolean().describe('True if clients may offer your files with Content Credentials.'),
    ),
    profile: [profile.schema, profile.present],
    user_wallet: [userWallet.schema, userWallet.present],
    // Some callers read the balances here, others in `user_wallet`.
    asset_wallet_num: amountField('Same amount as `user_wallet.asset_wallet_num`.', 'num', 1),
    points: amountField('Same amount as `user_wallet.points`.', 'points', 3),
  },
)

const meRecord = user.schema
  .extend({ results: z.array(user.schema).describe('A list that contains only the same record, for older scripts.') })
  .meta({ id: 'Me', description: 'The account of the caller.' })

const presentMe = (found: UserRecordFragment): z.output<typeof meRecord> => ({
  ...user.present(found),
  results: [user.present(found)],
})

const meOperation = graphql(/* GraphQL */ `query RestMe { me { ...UserRecord } }`)

const me = defineRoute({
  ...get('auth/users/me', 'getMe', 'Account', 'Read your account'),
  action: 'account:read',
  operation: meOperation,
  variables: () => ({}),
  answer: meRecord,
  present: ({ me }) => presentMe(me),
})

const deleteMe = defineCommand({
  ...del('auth/users/me', 'deleteMe', 'Account', 'Delete your account'),
  description:
    'The chain keeps the commits with their messages. The account, its files and other personal data are erased.',
  errors: ['CONFLICT'],
  action: 'account:delete',
  operation: graphql(/* GraphQL */ `mutation RestDeleteMe { deleteAccount { id } }`),
})

const listUsers = defineList({
  ...get('auth/users', 'listUsers', 'Account', 'Read your account as a list'),
  description: 'The list contains only the caller.',
  deprecated: true,
  action: 'account:read',
  record: user.schema,
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
  present: user.present,
})

const optionalText = (max: number) => values.givenText(max).optional()
const optionalPicture = values.givenPicture.optional()

const updateMe = defineRoute({
  ...patch('auth/users/me', 'updateMe', 'Account', 'Change settings of your account'),
  body: objectOf('UpdateMe', 'New settings. Omitted fields stay unchanged.', {
    ...sameFields('UpdateProfileInput', { language: optionalText(16), default_tag: optionalText(100) }),
    ...sameFields('UpdateProfileInput', { allow_c2pa_download: values.givenFlag.optional() }),
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
  present: ({ updateProfile }) => presentMe(updateProfile.user),
})

const updateProfile = defineRoute({
  ...patch('auth/users/profile', 'updateProfile', 'Account', 'Change your profile and its pictures'),
  body: objectOf('ProfileToUpdate', 'New values of the profile. Omitted fields stay unchanged.', {
    ...sameFields('UpdateProfileInput', { display_name: optionalText(100), description: optionalText(1000) }),
    ...sameFields('UpdateProfileInput', { profile_picture: optionalPicture, profile_background: optionalPicture }),
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
  answer: profile.schema,
  present: ({ updateProfile }) => profile.present(updateProfile.user),
})

const readProfile = defineRoute({
  ...get('auth/users/profile', 'getProfile', 'Account', 'Read your profile'),
  action: 'account:read',
  operation: graphql(/* GraphQL */ `query RestProfile { me { ...ProfileRecord } }`),
  variables: () => ({}),
  answer: profile.schema,
  present: ({ me }) => profile.present(me),
})

export const exportDescription: DirectDescription = {
  operationId: 'exportMe',
  tag: 'Account',
  summary: 'Download all data that is stored about you',
  access: 'user',
  answers: {
    200: {
      description: 'The exported data as a JSON file.',
      mediaType: 'application/json',
      schema: z
        .looseObject({})
        .meta({ id: 'Export', description: 'The account, and a list of each kind of stored data.' }),
    },
  },
}

/** Streams the caller's export as a download. Throws only before the response has started. */
export async function sendExport({ req, res, context }: DirectRequest): Promise<void> {
  const file = { name: 'my-data.json', mediaType: 'application/json' }
  await streamExport(context, (content) => sendDownload(req, res, { ...file, content }))
}

const pictureRoute = (path: string, operationId: string, summary: string, isThumbnail: boolean): DirectRoute => ({
  method: 'GET',
  path,
  description: {
    ...{ operationId, summary, tag: 'Files', access: 'everybody' },
    params: z.object({ id: text.describe('ID of the picture, from the URL in a profile.') }),
    answers: { 200: { description: 'The picture.', mediaType: 'image/webp', schema: values.fileBytes } },
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
  pictureRoute('/pictures/:id/thumbnail', 'getPictureThumbnail', 'Read a thumbnail of a picture of a profile', true),
]

export const AdministeredUser = graphql(/* GraphQL */ `
  fragment AdministeredUser on User {
    id username displayName createdAt lockedAt
  }
`)

const administeredUser = objectOf('AdministeredUser', 'An account with the fields that administrators can read.', {
  ...sameFields('User', { id: text, username: text, display_name: text, created_at: values.time }),
  ...sameFields('User', { locked_at: values.time.nullable() }),
})

const search = defineList({
  ...get('store/users', 'findUsers', 'Store', 'Find accounts'),
  description:
    'Accounts with exactly this identifier, e-mail address or username come first. Usernames that begin with the search follow in alphabetical order. `ordering` sorts all of them.',
  filters: { search: same('Query.users.search', z.string().max(254)) },
  action: 'store:administer',
  record: administeredUser,
  plural: 'AdministeredUsers',
  order: 'newest',
  hasBoundedCount: true,
  operation: graphql(/* GraphQL */ `
    query RestUsers($search: String!, $limit: Int!, $offset: Int!, $order: UserOrder) {
      users(search: $search, limit: $limit, offset: $offset, order: $order) { ...AdministeredUser }
      userCount(search: $search, offset: $offset)
    }
  `),
  variables: (request, { first, last, after, before, offset = 0 }) => ({
    search: request.query.get('search') ?? '',
    limit: first ?? last!,
    offset: Number(after ?? before ?? offset),
    order: orderingFrom(request.query)?.order.toUpperCase() as 'NEWEST' | 'OLDEST' | undefined,
  }),
  connectionOf: ({ users, userCount }, { last, after, before, offset = 0 }) => {
    const end = String(Number(after ?? before ?? offset) + users.length)
    return {
      totalCount: userCount,
      pageInfo: { startCursor: end, endCursor: end },
      nodes: last === undefined ? users : users.toReversed(),
    }
  },
  present: snakeCased,
})

const lockOptions = (id: 'LockUser' | 'UnlockUser', description: string) => ({
  params: values.userParam,
  body: objectOf(id, description, { reason: same(`${id}Input.reason`, values.neededText(500)) }),
  action: 'store:administer' as const,
  variables: ({ params, body }: RestRequest) => ({ input: { userId: params.id!, reason: body.text('reason') ?? '' } }),
  answer: administeredUser,
})

const lock = defineRoute({
  ...post('store/users/:id/lock', 'lockUser', 'Store', 'Lock an account'),
  ...lockOptions('LockUser', 'The reason for locking the account.'),
  description:
    'The owner cannot sign in. All sessions, streams and mailed links end immediately. Paid orders are still delivered.',
  operation: graphql(/* GraphQL */ `
    mutation RestLockUser($input: LockUserInput!) { lockUser(input: $input) { user { ...AdministeredUser } } }
  `),
  present: ({ lockUser }) => snakeCased(lockUser.user),
})

const unlock = defineRoute({
  ...post('store/users/:id/unlock', 'unlockUser', 'Store', 'Unlock an account'),
  ...lockOptions('UnlockUser', 'The reason for unlocking the account.'),
  description: 'The owner can sign in again.',
  operation: graphql(/* GraphQL */ `
    mutation RestUnlockUser($input: UnlockUserInput!) { unlockUser(input: $input) { user { ...AdministeredUser } } }
  `),
  present: ({ unlockUser }) => snakeCased(unlockUser.user),
})

export const userRoutes = [me, deleteMe, listUsers, updateMe, updateProfile, readProfile, search, lock, unlock]
