import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { momentFrom } from '../given-moment.ts'
import { amount, givenAmount, moment, neededText, same } from '../values.ts'

const grantRecord = z
  .object({
    id: same('PointGrant.id', z.string()),
    user_id: z.string().describe('Identifier of who got them.'),
    amount: same('PointGrant.amount', amount),
    reason: same('PointGrant.reason', z.string()),
    expires_at: same('PointGrant.expiresAt', moment.nullable()),
    expired_at: same('PointGrant.expiredAt', moment.nullable()),
    created_at: same('PointGrant.createdAt', moment),
  })
  .meta({ id: 'PointGrant', description: 'Points that an administrator gave somebody.' })

const grant = defineRoute({
  method: 'POST',
  path: 'store/point-grants',
  operationId: 'grantPoints',
  tag: 'Store',
  summary: 'Give somebody points',
  errors: ['NOT_FOUND'],
  body: z
    .object({
      user_id: same('GrantPointsInput.userId', neededText(254)),
      amount: same('GrantPointsInput.amount', givenAmount),
      reason: same('GrantPointsInput.reason', neededText(500)),
      expires_at: same('GrantPointsInput.expiresAt', z.iso.datetime({ offset: true })).optional(),
    })
    .meta({ id: 'GrantPoints', description: 'Whom, how much, why, and until when.' }),
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestGrantPoints($input: GrantPointsInput!) {
      grantPoints(input: $input) {
        grant {
          id
          user {
            id
          }
          amount
          reason
          expiresAt
          expiredAt
          createdAt
        }
      }
    }
  `),
  variables: (request) => ({
    input: {
      userId: request.body.text('user_id') ?? '',
      // None is told by the service, together with all else.
      amount: request.body.amount('amount') ?? '0',
      reason: request.body.text('reason') ?? '',
      expiresAt: momentFrom(request, 'expires_at'),
    },
  }),
  status: 201,
  answer: grantRecord,
  present: ({ grantPoints: { grant } }) => ({
    id: grant.id,
    user_id: grant.user.id,
    amount: grant.amount,
    reason: grant.reason,
    expires_at: grant.expiresAt,
    expired_at: grant.expiredAt,
    created_at: grant.createdAt,
  }),
})

/** Points, given by administrators. */
export const grantRoutes = [grant]
