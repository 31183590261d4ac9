import { validationFailed } from '../../domain/errors.ts'
import { defineRoute, type RestRequest } from '../define-route.ts'
import { graphql } from '../generated/index.ts'

/** Raises VALIDATION_FAILED. */
function momentFrom({ body }: RestRequest, name: string): Date | undefined {
  const text = body.text(name)
  if (!text) return undefined
  const moment = new Date(text)
  if (!/^\d{4}-\d{2}-\d{2}T/.test(text) || Number.isNaN(moment.getTime())) {
    throw validationFailed({ [name]: ['Expected a moment such as 2026-11-21T09:30:00Z.'] })
  }
  return moment
}

const grant = defineRoute({
  method: 'POST',
  path: 'store/point-grants',
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
