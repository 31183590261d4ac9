import { toId } from '../domain/ids.ts'
import type { Grant } from '../domain/wallet/grant-statements.ts'
import { builder } from './builder.ts'
import { Node } from './node.ts'
import { omitNullish } from './omit-nullish.ts'
import { characters } from './sizes.ts'
import { UserType } from './user.ts'

const PointGrantType = builder.objectRef<Grant>('PointGrant').implement({
  description: 'Points that an administrator gave to a user. The user and administrators see it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `grant_01h2x…`.', resolve: ({ id }) => toId('grant', id) }),
    user: t.read({
      type: UserType,
      description: 'Who got them.',
      resolve: (query, { userId }, _args, { services }) => services.accounts.recordOf(userId, query),
    }),
    amount: t.expose('amount', { type: 'Decimal', description: 'How many points.' }),
    reason: t.exposeString('reason', { ...characters(500), description: 'Why.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when they can be spent; null when they never expire.',
    }),
    expiredAt: t.expose('expiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When what was left of them was taken back; null until then.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When they were given.' }),
  }),
})

const GrantPointsInput = builder.inputType('GrantPointsInput', {
  description: 'Whom to give points, and why.',
  fields: (t) => ({
    userId: t.id({ required: true, description: "The user's identifier, e-mail address or username." }),
    amount: t.field({ type: 'Decimal', required: true, description: 'How many points; more than 0.' }),
    reason: t.string({ required: true, description: 'Why, in at most 500 characters.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Until when they can be spent: what is left is taken back. Left out, they never expire.',
    }),
  }),
})

const GrantPointsPayload = builder.objectRef<{ grant: Grant }>('GrantPointsPayload').implement({
  description: 'What was given.',
  fields: (t) => ({ grant: t.expose('grant', { type: PointGrantType, description: 'The grant.' }) }),
})

builder.mutationField('grantPoints', (t) =>
  t.field({
    type: GrantPointsPayload,
    description:
      'Gives points to a user; for administrators. ' +
      'Points that expire soonest are spent first. Raises PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.',
    args: { input: t.arg({ type: GrantPointsInput, required: true, description: 'The grant to make.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      grant: await services.grants.grant(actor, omitNullish(input), idempotency),
    }),
  }),
)
