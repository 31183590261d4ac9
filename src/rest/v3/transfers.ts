import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageOf, presentPage } from '../pagination.ts'

const list = defineRoute({
  method: 'GET',
  path: 'wallet/transfers',
  action: 'transfer:read',
  operation: graphql(/* GraphQL */ `
    query RestTransfers($limit: Int!, $offset: Int!) {
      transfers(first: $limit, offset: $offset) {
        totalCount
        nodes {
          id
          kind
          subjectId
          num
          points
          balance {
            num
            points
          }
          createdAt
        }
      }
    }
  `),
  variables: pageOf,
  present: ({ transfers: { totalCount, nodes } }, request) =>
    presentPage(
      request,
      totalCount,
      nodes.map(({ id, kind, subjectId, num, points, balance, createdAt }) => ({
        id,
        kind: kind.toLowerCase(),
        subject_id: subjectId,
        num,
        points,
        balance_num: balance.num,
        balance_points: balance.points,
        created_at: createdAt,
      })),
    ),
})

/** The statement of one's wallet. */
export const transferRoutes = [list]
