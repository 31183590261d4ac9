import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { amount, givenAmount, moment, neededText, same } from '../../http/rest/values.ts'

const grantRecord = z
  .object({
    id: same('PointGrant.id', z.string()),
    user_id: z.string().describe('ID of the user who received the points.'),
    amount: same('PointGrant.amount', amount),
    reason: same('PointGrant.reason', z.string()),
    created_at: same('PointGrant.createdAt', moment),
  })
  .meta({ id: 'PointGrant', description: 'Points that an administrator gave to a user.' })

const grant = defineRoute({
  method: 'POST',
  path: 'store/point-grants',
  operationId: 'grantPoints',
  tag: 'Store',
  summary: 'Give points to a user',
  errors: ['NOT_FOUND'],
  body: z
    .object({
      user_id: same('GrantPointsInput.userId', neededText(254)),
      amount: same('GrantPointsInput.amount', givenAmount),
      reason: same('GrantPointsInput.reason', neededText(500)),
    })
    .meta({ id: 'GrantPoints', description: 'The recipient, the number of points and the reason.' }),
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
          createdAt
        }
      }
    }
  `),
  variables: (request) => ({
    input: {
      userId: request.body.text('user_id') ?? '',
      // The service reports a missing amount together with the other problems.
      amount: request.body.amount('amount') ?? '0',
      reason: request.body.text('reason') ?? '',
    },
  }),
  status: 201,
  answer: grantRecord,
  present: ({ grantPoints: { grant } }) => ({
    id: grant.id,
    user_id: grant.user.id,
    amount: grant.amount,
    reason: grant.reason,
    created_at: grant.createdAt,
  }),
})

/** Grants of points by administrators. */
export const grantRoutes = [grant]
