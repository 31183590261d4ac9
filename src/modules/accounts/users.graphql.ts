import type { FileUpload } from 'graphql-upload-ts'
import type { Context } from '../../context.ts'
import type { Picture, Prisma, User } from '../../db/prisma/client.ts'
import { builder, omitNullish, type PayloadFields, payloadType, publicId, shortText } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, pageOf, urlSize, wholeDocument } from '../../graphql/limits/document-cost.ts'
import { offsetArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { notFound } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { canAdminister, canSeePrivateParts } from '../../shared/policy.ts'
import { WalletType } from '../wallet/wallet.graphql.ts'
import { lockUser, unlockUser } from './change-account.ts'
import { deleteAccount } from './delete-account.ts'
import { MAX_DATA_BYTES, readExport } from './export-account.ts'
import { ACCOUNTS_PER_PAGE, type AccountWithReason, countUsers, listUsers, readMe } from './find-users.ts'
import { updateProfile } from './update-profile.ts'

export const Role = builder.enumType('Role', {
  description: 'Role of an account.',
  values: {
    USER: { description: 'A user without additional permissions.' },
    ADMIN: { description: 'Manages network apps, API keys and grants.' },
  } as const,
})

const own = 'Null if the user is not the caller.'

/** Options of a field that only the owner of the account sees. */
const privateTo = <Column extends keyof User>(column: Column, description: string) => ({
  nullable: true as const,
  description: `${description} ${own}`,
  select: { [column]: true } as { [Name in Column]: true },
  resolve: (user: Pick<User, 'id' | Column>, _args: object, { actor }: Context) =>
    canSeePrivateParts(actor, user.id) ? user[column] : null,
})

export const UserType = builder.prismaObject('User', {
  description: 'The account of a person. Private fields are null if the user is not the caller.',
  interfaces: [Node],
  // These columns are read with every user. Private columns are read only if they are requested.
  select: { id: true, username: true, displayName: true, description: true, assetCount: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'ID, such as `user_01h2x…`.', resolve: ({ id }) => toId('user', id) }),
    username: t.exposeString('username', shortText(21, 'Unique username of at most 21 characters.')),
    displayName: t.exposeString('displayName', shortText(100, 'Name that other users see.')),
    description: t.exposeString('description', shortText(1000, 'Text that the user wrote about themselves.')),
    address: t.field({
      type: 'Address',
      description: 'Address of the custodial key pair. On the chain, this address is the author of the user’s commits.',
      select: { wallet: { select: { address: true } } },
      resolve: ({ wallet }) => wallet!.address,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time at which the account was created.' }),
    lockedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time at which an administrator locked the account. Null if the account is not locked, and for callers who are not administrators.',
      select: { lockedAt: true },
      resolve: ({ lockedAt }, _args, { actor }) => (canAdminister(actor) ? lockedAt : null),
    }),
    email: t.string({ ...characters(254), ...privateTo('email', 'E-mail address for notifications.') }),
    emailVerified: t.boolean(privateTo('emailVerified', 'True if the e-mail address is verified.')),
    pendingEmail: t.string({
      ...characters(254),
      ...privateTo(
        'pendingEmail',
        'New e-mail address that replaces `email` when it is verified. Null without a pending address.',
      ),
    }),
    role: t.field({ type: Role, ...privateTo('role', 'Role of the account.') }),
    language: t.string({ ...characters(16), ...privateTo('language', 'Language of mails, such as `en-us`.') }),
    defaultTag: t.string({
      ...characters(100),
      ...privateTo('defaultTag', 'Tag that clients suggest for new assets.'),
    }),
    referralCode: t.string({ ...characters(64), ...privateTo('referralCode', 'Referral code of the sign-up.') }),
    allowC2paDownload: t.boolean(
      privateTo('allowC2paDownload', 'True if clients may offer your files with Content Credentials.'),
    ),
    wallet: t.field({
      type: WalletType,
      nullable: true,
      description: `Wallet of the user. ${own}`,
      select: (_args, _context, nested) => ({ wallet: nested(true) }),
      resolve: ({ id, wallet }, _args, { actor }) => (canSeePrivateParts(actor, id) ? wallet : null),
    }),
    assetCount: t.int({
      nullable: true,
      description: `Number of assets that the user owns. ${own}`,
      resolve: ({ id, assetCount }, _args, { actor }) => (canSeePrivateParts(actor, id) ? assetCount : null),
    }),
  }),
})

builder.queryField('me', (t) =>
  t.read({
    type: UserType,
    description: 'The signed-in user. Raises NOT_AUTHENTICATED.',
    resolve: (query, _root, _args, context) => readMe(context, query),
  }),
)

/** Returns the record of a user as it is stored now, also of a deleted account. Throws NOT_FOUND. */
export async function readStoredUser(
  { database }: Context,
  id: string,
  query?: Omit<Prisma.UserFindUniqueArgs, 'where'>,
): Promise<User> {
  const user = await database.read.user.findFirst({ ...query, where: { id } })
  if (!user) throw notFound('User')
  return user
}

type HasAccount = { userId: string }

/** Returns a field with the stored record of an account, even if the account was deleted since. */
export const accountField = <Shape extends HasAccount>(t: Pick<PayloadFields<Shape>, 'read'>, description: string) =>
  t.read({
    type: UserType,
    description,
    resolve: (query, { userId }, _args, context) => readStoredUser(context, userId, query),
  })

/** Creates a payload with a changed account. Reads the account again, because the actor has the old record. */
export const accountPayload = (name: string, description: string, user: string) =>
  builder.objectRef<HasAccount>(name).implement({ description, fields: (t) => ({ user: accountField(t, user) }) })

builder.mutationField('deleteAccount', (t) =>
  t.field({
    type: builder.objectRef<{ id: string }>('DeleteAccountPayload').implement({
      description: 'Result of `deleteAccount`: the deleted account.',
      fields: (t) => ({
        id: t.field(publicId('user', 'id', 'Identifier of the deleted account, as in `user_01h2x…`.')),
      }),
    }),
    description:
      'Deletes your account permanently. This destroys your keys and sessions, removes your assets, cancels your open orders, ' +
      'forfeits the balance of your wallet and erases your personal data. ' +
      'The chain keeps your commits with their messages and your address. ' +
      'Read `myData` first. Raises NOT_AUTHENTICATED, AUTHENTICATION_FAILED, CONFLICT.',
    resolve: async (_root, _args, context) => ({ id: await deleteAccount(context) }),
  }),
)

builder.queryField('myData', (t) =>
  t.field({
    ...wholeDocument(MAX_DATA_BYTES, 2_000),
    type: 'JSONObject',
    description:
      'All data that is stored about you: account, wallet, assets, commits, orders, refunds, transfers, deposits, withdrawals, ' +
      'sessions, links to assets, audit entries, pictures, network apps and events. `GET /api/v3/auth/users/me/export` returns the same data as a file of any size. ' +
      `Raises NOT_AUTHENTICATED, THROTTLED while another export of your account is running, VALIDATION_FAILED for more than ${MAX_DATA_BYTES / 1e6} MB or 10,000 rows.`,
    resolve: (_root, _args, context) => readExport(context),
  }),
)

const pictureRules =
  'JPEG, PNG, WebP, GIF, AVIF or TIFF, at most 10 MB. Annal scales the picture down and removes its metadata. Null deletes the picture.'

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'Changes of your profile. Fields that are left out stay unchanged.',
  fields: (t) => ({
    displayName: t.string({ description: 'Name that other users see, at most 100 characters.' }),
    description: t.string({ description: 'Text about yourself, at most 1,000 characters.' }),
    language: t.string({ description: 'Language of mails, such as `en-us`.' }),
    defaultTag: t.string({ description: 'Tag that clients suggest for new assets, at most 100 characters.' }),
    allowC2paDownload: t.boolean({ description: 'True if clients may offer your files with Content Credentials.' }),
    profilePicture: t.field({ type: 'Upload', description: `Profile picture: ${pictureRules}` }),
    profileBackground: t.field({ type: 'Upload', description: `Background picture of your profile: ${pictureRules}` }),
  }),
})

/** Returns a function that receives an upload. Null stays null, which removes the picture. */
const fileOf = (upload: Promise<FileUpload> | null | undefined) => upload && (() => upload)

builder.mutationField('updateProfile', (t) =>
  t.field({
    type: accountPayload('UpdateProfilePayload', 'Your updated profile.', 'Your account.'),
    description: 'Changes your profile. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, PAYLOAD_TOO_LARGE, THROTTLED.',
    args: { input: t.arg({ type: UpdateProfileInput, required: true, description: 'The changes of the profile.' }) },
    resolve: async (_root, { input }, context) => {
      const { profilePicture, profileBackground, ...facts } = input
      const pictures = { profilePicture: fileOf(profilePicture), profileBackground: fileOf(profileBackground) }
      return { userId: await updateProfile(context, { ...omitNullish(facts), ...pictures }) }
    },
  }),
)

builder.prismaObjectFields(UserType, (t) => {
  const url = (wantedKind: Picture['kind'], description: string, suffix = '') =>
    t.string({
      nullable: true,
      ...urlSize,
      description: `URL of ${description}, in WebP format. Anyone can read it. Null without a picture.`,
      select: { pictures: { select: { id: true, kind: true } } },
      resolve: ({ pictures }, _args, { baseUrl }) => {
        const picture = pictures.find(({ kind }) => kind === wantedKind)
        return picture ? `${baseUrl}/pictures/${picture.id}${suffix}` : null
      },
    })
  return {
    profilePictureUrl: url('PROFILE', 'the profile picture'),
    profilePictureThumbnailUrl: url('PROFILE', 'a thumbnail of the profile picture', '/thumbnail'),
    profileBackgroundUrl: url('BACKGROUND', 'the background picture'),
    profileBackgroundThumbnailUrl: url('BACKGROUND', 'a thumbnail of the background picture', '/thumbnail'),
  }
})

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED'

const UserOrder = builder.enumType('UserOrder', {
  description: 'Order of accounts by creation time.',
  values: { NEWEST: { description: 'Newest first.' }, OLDEST: { description: 'Oldest first.' } } as const,
})

const searchText = {
  ...characters(254),
  required: true,
  description: 'An identifier, an e-mail address, or the beginning of a username.',
} as const

builder.queryFields((t) => ({
  users: t.read({
    type: [UserType],
    ...pageOf(1_000, ACCOUNTS_PER_PAGE),
    description: `Accounts, for administrators. Exact matches come first, unless \`order\` is set. ${adminOnly}.`,
    args: {
      search: t.arg.string(searchText),
      limit: t.arg.int({ description: 'Maximum number of accounts.' }),
      offset: offsetArg(t),
      order: t.arg({ type: UserOrder, description: 'Sorts the accounts by creation time.' }),
    },
    resolve: (query, _root, { search, ...page }, context) => listUsers(context, search, omitNullish(page), query),
  }),
  userCount: t.int({
    description: `Number of accounts that match a search. Counting stops shortly after the page at \`offset\`. ${adminOnly}.`,
    args: {
      search: t.arg.string(searchText),
      offset: t.arg.int({ description: 'Offset of the page in the list.' }),
    },
    resolve: (_root, { search, offset }, context) => countUsers(context, search, offset),
  }),
}))

function lockMutation(name: string, run: typeof lockUser, description: string, payload: string, input: string): void {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const type = builder.inputType(`${typeName}Input`, {
    description: input,
    fields: (t) => ({
      userId: t.id({ required: true, description: 'ID, e-mail address or username of the user.' }),
      reason: t.string({ required: true, description: 'Reason for the audit log, at most 500 characters.' }),
    }),
  })
  builder.mutationField(name, (t) =>
    t.field({
      type: payloadType(`${typeName}Payload`, payload, ['user', UserType, 'The updated account.']),
      description: `${description} ${adminOnly}, NOT_FOUND.`,
      args: { input: t.arg({ type, required: true, description: input }) },
      resolve: showing('user', async (query, { input }: { input: AccountWithReason }, context) => ({
        user: await readStoredUser(context, await run(context, input), query()),
      })),
    }),
  )
}

lockMutation(
  'lockUser',
  lockUser,
  'Locks an account. Its owner cannot sign in. All sessions, streams and mailed links of the account end immediately. Paid orders are still delivered.',
  'Result of `lockUser`: the locked account.',
  'The account to lock, and the reason.',
)
lockMutation(
  'unlockUser',
  unlockUser,
  'Lets the owner of a locked account sign in again.',
  'Result of `unlockUser`: the unlocked account.',
  'The account to unlock, and the reason.',
)
