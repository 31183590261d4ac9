import type { FileUpload } from 'graphql-upload-ts'
import type { Context } from '../../context.ts'
import type { Picture, User } from '../../db/prisma/client.ts'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, pageOf, urlSize, wholeDocument } from '../../graphql/limits/document-cost.ts'
import { offsetArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { canAdminister, canSeePrivateParts } from '../../shared/policy.ts'
import { WalletType } from '../wallet/wallet.graphql.ts'
import { deleteAccount } from './delete-account.ts'
import { MAX_DATA_BYTES, readExport } from './export-account.ts'
import {
  ACCOUNTS_PER_PAGE,
  type AccountWithReason,
  countUsers,
  listUsers,
  readMe,
  readStoredUser,
} from './find-users.ts'
import { lockUser, unlockUser } from './lock-user.ts'
import { updateProfile } from './update-profile.ts'

export const Role = builder.enumType('Role', {
  description: 'What an account may do beyond its own things.',
  values: {
    USER: { description: 'Nothing beyond.' },
    ADMIN: { description: 'Runs the store: network apps, API keys, grants.' },
  } as const,
})

const own = 'Only you see yours; null for others.'

type PrivateColumn =
  | 'allowC2paDownload'
  | 'defaultTag'
  | 'email'
  | 'emailVerified'
  | 'language'
  | 'pendingEmail'
  | 'referralCode'
  | 'role'

/** Options of a field that only the owner of the account sees. */
const privateTo = <Column extends PrivateColumn>(column: Column, description: string) => ({
  nullable: true as const,
  description: `${description} ${own}`,
  select: { [column]: true } as { [Name in Column]: true },
  resolve: (user: Pick<User, 'id' | Column>, _args: object, { actor }: Context) =>
    canSeePrivateParts(actor, user.id) ? user[column] : null,
})

export const UserType = builder.prismaObject('User', {
  description: "A person's account. What is private is null for everybody else.",
  interfaces: [Node],
  // Columns that are read with every user. Private columns are read on request.
  select: { id: true, username: true, displayName: true, description: true, assetCount: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `user_01h2x…`.', resolve: ({ id }) => toId('user', id) }),
    username: t.exposeString('username', { ...characters(21), description: 'At most 21 characters, unique.' }),
    displayName: t.exposeString('displayName', { ...characters(100), description: 'The name shown to others.' }),
    description: t.exposeString('description', {
      ...characters(1000),
      description: 'What the person says about themselves.',
    }),
    address: t.field({
      type: 'Address',
      description: 'Address of the custodial key pair: the author of commits on the chain.',
      select: { wallet: { select: { address: true } } },
      resolve: ({ wallet }) => wallet!.address,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was made.' }),
    lockedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Since when administrators keep the account locked; null while it is not. Administrators see it; null for others.',
      select: { lockedAt: true },
      resolve: ({ lockedAt }, _args, { actor }) => (canAdminister(actor) ? lockedAt : null),
    }),
    email: t.string({ ...characters(254), ...privateTo('email', 'Address that notifications go to.') }),
    emailVerified: t.boolean(privateTo('emailVerified', 'Whether the address is known to be theirs.')),
    pendingEmail: t.string({
      ...characters(254),
      ...privateTo('pendingEmail', 'Address that takes the place of `email` once it is verified, if there is one.'),
    }),
    role: t.field({ type: Role, ...privateTo('role', 'What the account may do.') }),
    language: t.string({ ...characters(16), ...privateTo('language', 'Language of mails, as in en-us.') }),
    defaultTag: t.string({ ...characters(100), ...privateTo('defaultTag', 'Tag that clients offer for new assets.') }),
    referralCode: t.string({
      ...characters(64),
      ...privateTo('referralCode', 'Code the person signed up with.'),
    }),
    allowC2paDownload: t.boolean(
      privateTo('allowC2paDownload', 'Whether clients may offer files with content credentials.'),
    ),
    wallet: t.field({
      type: WalletType,
      nullable: true,
      description: `Key pair and balances. ${own}`,
      select: (_args, _context, nested) => ({ wallet: nested(true) }),
      resolve: ({ id, wallet }, _args, { actor }) => (canSeePrivateParts(actor, id) ? wallet : null),
    }),
    assetCount: t.int({
      nullable: true,
      description: `How many assets they own. ${own}`,
      resolve: ({ id, assetCount }, _args, { actor }) => (canSeePrivateParts(actor, id) ? assetCount : null),
    }),
  }),
})

builder.queryField('me', (t) =>
  t.read({
    type: UserType,
    description: 'You. Raises NOT_AUTHENTICATED.',
    resolve: (query, _root, _args, context) => readMe(context, query),
  }),
)

interface HasAccount {
  userId: string
}

/** A field with the current record of an account, also of an account that was deleted in the meantime. */
export const accountField = <Shape extends HasAccount>(
  t: Pick<PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Shape>, 'read'>,
  description: string,
) =>
  t.read({
    type: UserType,
    description,
    resolve: (query, { userId }, _args, context) => readStoredUser(context, userId, query),
  })

/** A payload with an account after its change. It is read again, because the record of the actor is from before. */
export const accountPayload = (name: string, description: string, user: string) =>
  builder.objectRef<HasAccount>(name).implement({ description, fields: (t) => ({ user: accountField(t, user) }) })

const DeleteAccountPayload = builder.objectRef<{ id: string }>('DeleteAccountPayload').implement({
  description: 'The account that is gone.',
  fields: (t) => ({
    id: t.id({ description: 'The identifier it had, as in `user_01h2x…`.', resolve: ({ id }) => toId('user', id) }),
  }),
})

builder.mutationField('deleteAccount', (t) =>
  t.field({
    type: DeleteAccountPayload,
    description:
      'Deletes your account for good, and nobody can undo it: your keys and sessions are destroyed, your assets are taken ' +
      'out of the service, open orders are cancelled, what your wallet holds is forfeited, and what is personal is erased. ' +
      'The chain keeps your commits, with their messages and your address. ' +
      'Read `myData` before. Raises NOT_AUTHENTICATED, AUTHENTICATION_FAILED, CONFLICT.',
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
      `Raises NOT_AUTHENTICATED, THROTTLED while another export of yours goes on, VALIDATION_FAILED when there are more than ${MAX_DATA_BYTES / 1e6} MB or 10,000 rows.`,
    resolve: (_root, _args, context) => readExport(context),
  }),
)

const pictureRules =
  'JPEG, PNG, WebP, GIF, AVIF or TIFF, at most 10 MB; it is kept smaller and without its metadata. Null takes it away.'

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'What to change of your own record; what is left out stays.',
  fields: (t) => ({
    displayName: t.string({ description: 'The name shown to others, at most 100 characters.' }),
    description: t.string({ description: 'What you say about yourself, at most 1000 characters.' }),
    language: t.string({ description: 'Language of mails, as in en-us.' }),
    defaultTag: t.string({ description: 'Tag that clients offer for new assets, at most 100 characters.' }),
    allowC2paDownload: t.boolean({ description: 'Whether clients may offer files with content credentials.' }),
    profilePicture: t.field({ type: 'Upload', description: `Your picture. ${pictureRules}` }),
    profileBackground: t.field({ type: 'Upload', description: `The picture behind your profile. ${pictureRules}` }),
  }),
})

/** Null stays null: it removes the picture. */
const fileOf = (upload: Promise<FileUpload> | null | undefined) => upload && (() => upload)

const UpdateProfilePayload = accountPayload('UpdateProfilePayload', 'Your record as it is now.', 'You.')

builder.mutationField('updateProfile', (t) =>
  t.field({
    type: UpdateProfilePayload,
    description: 'Changes your own record. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, PAYLOAD_TOO_LARGE, THROTTLED.',
    args: { input: t.arg({ type: UpdateProfileInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, context) => {
      const { profilePicture, profileBackground, ...facts } = input
      const pictures = { profilePicture: fileOf(profilePicture), profileBackground: fileOf(profileBackground) }
      return { userId: await updateProfile(context, { ...omitNullish(facts), ...pictures }) }
    },
  }),
)

const thumbnailOf = (url: string | null) => url && `${url}/thumbnail`

builder.prismaObjectFields(UserType, (t) => {
  const url = (wanted: Picture['kind'], description: string, present = (found: string | null) => found) =>
    t.string({
      nullable: true,
      ...urlSize,
      description: `${description}, as WebP for everybody to see; null when there is none.`,
      select: { pictures: { select: { id: true, kind: true } } },
      resolve: ({ pictures }, _args, { baseUrl }) => {
        const picture = pictures.find(({ kind }) => kind === wanted)
        return present(picture ? `${baseUrl}/pictures/${picture.id}` : null)
      },
    })
  const background = 'the picture behind their profile is'
  return {
    profilePictureUrl: url('PROFILE', 'Where their picture is'),
    profilePictureThumbnailUrl: url('PROFILE', 'Where a small one of their picture is', thumbnailOf),
    profileBackgroundUrl: url('BACKGROUND', `Where ${background}`),
    profileBackgroundThumbnailUrl: url('BACKGROUND', `Where a small one of ${background}`, thumbnailOf),
  }
})

const lockInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      userId: t.id({ required: true, description: "The user's identifier, e-mail address or username." }),
      reason: t.string({
        required: true,
        description: 'Why, in at most 500 characters: it stands in the audit trail.',
      }),
    }),
  })

const LockUserInput = lockInput('LockUserInput', 'Whose account to lock, and why.')
const UnlockUserInput = lockInput('UnlockUserInput', 'Whose account to unlock, and why.')

const payload = (name: string, description: string) =>
  builder.objectRef<{ user: User }>(name).implement({
    description,
    fields: (t) => ({ user: t.expose('user', { type: UserType, description: 'The account as it is now.' }) }),
  })

const LockUserPayload = payload('LockUserPayload', 'The account that is locked.')
const UnlockUserPayload = payload('UnlockUserPayload', 'The account that is not locked any more.')

const change = (operation: typeof lockUser) =>
  showing('user', async (query, { input }: { input: AccountWithReason }, context) => {
    const id = await operation(context, input)
    return { user: await readStoredUser(context, id, query()) }
  })

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED'

const UserOrder = builder.enumType('UserOrder', {
  description: 'Order of accounts by creation time.',
  values: { NEWEST: { description: 'Newest first.' }, OLDEST: { description: 'Oldest first.' } } as const,
})

const searchDescription = 'An identifier, an e-mail address, or the beginning of a username.'

builder.queryFields((t) => ({
  users: t.read({
    type: [UserType],
    ...pageOf(1_000, ACCOUNTS_PER_PAGE),
    description: `Accounts, for administrators. Exact matches come first, unless \`order\` is set. ${adminOnly}.`,
    args: {
      search: t.arg.string({ required: true, ...characters(254), description: searchDescription }),
      limit: t.arg.int({ description: 'Maximum number of accounts.' }),
      offset: offsetArg(t),
      order: t.arg({ type: UserOrder, description: 'Sorts the accounts by creation time.' }),
    },
    resolve: (query, _root, { search, ...page }, context) => listUsers(context, search, omitNullish(page), query),
  }),
  userCount: t.int({
    description: `Number of accounts that match a search, counted no further than a page behind \`offset\` needs. ${adminOnly}.`,
    args: {
      search: t.arg.string({ required: true, ...characters(254), description: searchDescription }),
      offset: t.arg.int({ description: 'The offset of the page that is read.' }),
    },
    resolve: (_root, { search, offset }, context) => countUsers(context, search, offset),
  }),
}))

builder.mutationFields((t) => ({
  lockUser: t.field({
    type: LockUserPayload,
    description:
      'Locks an account: its owner is not let in, and their sessions, streams and mailed links end now; what is paid for goes on. ' +
      `${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: LockUserInput, required: true, description: 'Whom, and why.' }) },
    resolve: change(lockUser),
  }),
  unlockUser: t.field({
    type: UnlockUserPayload,
    description: `Lets the owner of a locked account sign in again. ${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: UnlockUserInput, required: true, description: 'Whom, and why.' }) },
    resolve: change(unlockUser),
  }),
}))
