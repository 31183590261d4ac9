import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageOf, presentPage } from '../pagination.ts'

const list = defineRoute({
  method: 'GET',
  path: 'auth/users/me/audit-entries',
  action: 'audit:read',
  operation: graphql(/* GraphQL */ `
    query RestAuditEntries($limit: Int!, $offset: Int!) {
      auditEntries(first: $limit, offset: $offset) {
        totalCount
        nodes {
          id
          action
          subject
          address
          createdAt
        }
      }
    }
  `),
  variables: pageOf,
  present: ({ auditEntries: { totalCount, nodes } }, request) =>
    presentPage(
      request,
      totalCount,
      nodes.map(({ id, action, subject, address, createdAt }) => ({
        id,
        action,
        subject,
        address,
        created_at: createdAt,
      })),
    ),
})

/** One's own audit trail. */
export const auditRoutes = [list]
