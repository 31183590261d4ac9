import { type LockInput, MOST_FOUND } from '../domain/account/lock-service.ts'
import type { User } from '../platform/prisma/client.ts'
import { builder } from './builder.ts'
import { showing } from './compiled/showing.ts'
import { atMost, characters } from './sizes.ts'
import { UserType } from './user.ts'

const userIdDescription = "The user's identifier, e-mail address or username."

const LockUserInput = builder.inputType('LockUserInput', {
  description: 'Whose account to lock, and why.',
  fields: (t) => ({
    userId: t.id({ required: true, description: userIdDescription }),
    reason: t.string({ required: true, description: 'Why, in at most 500 characters: it stands in the audit trail.' }),
  }),
})

const UnlockUserInput = builder.inputType('UnlockUserInput', {
  description: 'Whose account to unlock, and why.',
  fields: (t) => ({
    userId: t.id({ required: true, description: userIdDescription }),
    reason: t.string({ required: true, description: 'Why, in at most 500 characters: it stands in the audit trail.' }),
  }),
})

const payload = (name: string, description: string) =>
  builder.objectRef<{ user: User }>(name).implement({
    description,
    fields: (t) => ({
      user: t.field({ type: UserType, description: 'The account as it is now.', resolve: ({ user }) => user }),
    }),
  })

const LockUserPayload = payload('LockUserPayload', 'The account that is locked.')
const UnlockUserPayload = payload('UnlockUserPayload', 'The account that is not locked any more.')

const change = (operation: 'lock' | 'unlock') =>
  showing('user', async (query, { input }: { input: LockInput }, { actor, services, idempotency }) => {
    const id = await services.users[operation](actor, input, idempotency)
    return { user: await services.accounts.recordOf(id, query()) }
  })

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED'

builder.queryField('users', (t) =>
  t.read({
    type: [UserType],
    ...atMost(MOST_FOUND),
    description: `Accounts, for administrators: those that fit exactly first. ${adminOnly}.`,
    args: {
      search: t.arg.string({
        required: true,
        ...characters(254),
        description: 'An identifier, an e-mail address, or the beginning of a username.',
      }),
    },
    resolve: (query, _root, { search }, { actor, services }) => services.users.list(actor, search, query),
  }),
)

builder.mutationFields((t) => ({
  lockUser: t.field({
    type: LockUserPayload,
    description:
      'Locks an account: its owner is not let in, and their sessions, streams and mailed links end now; what is paid for goes on. ' +
      `${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: LockUserInput, required: true, description: 'Whom, and why.' }) },
    resolve: change('lock'),
  }),
  unlockUser: t.field({
    type: UnlockUserPayload,
    description: `Lets the owner of a locked account sign in again. ${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: UnlockUserInput, required: true, description: 'Whom, and why.' }) },
    resolve: change('unlock'),
  }),
}))
