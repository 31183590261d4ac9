import type { User } from '../../db/prisma/client.ts'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { offsetArg } from '../../graphql/lists.ts'
import { ACCOUNTS_PER_PAGE, type AccountWithReason, countUsers, listUsers } from './find-users.ts'
import { lockUser, unlockUser } from './lock-user.ts'
import { readStoredUser } from './read-user.ts'
import { UserType } from './users.graphql.ts'

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
    fields: (t) => ({
      user: t.expose('user', { type: UserType, description: 'The account as it is now.' }),
    }),
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
