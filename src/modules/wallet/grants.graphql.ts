import { builder, decimal, payloadType, publicId, shortText, time } from '../../graphql/builder.ts'
import { Node } from '../../graphql/node.ts'
import { readStoredUser, UserType } from '../accounts/users.graphql.ts'
import { type Grant, grantPoints } from './grant-points.ts'

const PointGrantType = builder.objectRef<Grant>('PointGrant').implement({
  description: 'Points that an administrator gave to a user. Only the user and administrators can read the grant.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(publicId('grant', 'id', 'Identifier, as in `grant_01h2x…`.')),
    user: t.read({
      type: UserType,
      description: 'The user who received the points.',
      resolve: (query, { userId }, _args, context) => readStoredUser(context, userId, query),
    }),
    amount: t.expose('amount', decimal('Number of points.')),
    reason: t.exposeString('reason', shortText(500, 'Reason of the grant. Empty once the account is deleted.')),
    createdAt: t.expose('createdAt', time('Time of the grant.')),
  }),
})

const GrantPointsInput = builder.inputType('GrantPointsInput', {
  description: 'The recipient, the number of points and the reason.',
  fields: (t) => ({
    userId: t.id({ required: true, description: "The user's ID, e-mail address or username." }),
    amount: t.field({ type: 'Decimal', required: true, description: 'Number of points, more than 0.' }),
    reason: t.string({ required: true, description: 'Reason, at most 500 characters. The user can read the reason.' }),
  }),
})

builder.mutationField('grantPoints', (t) =>
  t.field({
    type: payloadType('GrantPointsPayload', 'Result of `grantPoints`.', ['grant', PointGrantType, 'The grant.']),
    description:
      'Gives points to a user. Only for administrators. Raises PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.',
    args: { input: t.arg({ type: GrantPointsInput, required: true, description: 'The grant to make.' }) },
    resolve: async (_root, { input }, context) => ({ grant: await grantPoints(context, input) }),
  }),
)
