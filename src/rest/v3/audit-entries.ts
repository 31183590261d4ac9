import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { boundedCount, pageQuery, pageRecord } from '../page-record.ts'
import { pageOf, presentPage } from '../pagination.ts'
import { moment, same } from '../values.ts'

const auditEntryPage = pageRecord(
  'AuditEntries',
  z
    .object({
      id: same('AuditEntry.id', z.string()),
      action: same('AuditEntry.action', z.string()),
      subject: same('AuditEntry.subject', z.string().nullable()),
      address: same('AuditEntry.address', z.string().nullable()),
      reason: same('AuditEntry.reason', z.string().nullable()),
      created_at: same('AuditEntry.createdAt', moment),
    })
    .meta({ id: 'AuditEntry', description: 'Something that was done with an account, or by an administrator.' }),
  boundedCount,
)

const list = defineRoute({
  method: 'GET',
  path: 'auth/users/me/audit-entries',
  operationId: 'listAuditEntries',
  tag: 'Account',
  summary: 'List what was done with one’s account',
  query: pageQuery({}),
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
          reason
          createdAt
        }
      }
    }
  `),
  variables: pageOf,
  answer: auditEntryPage,
  present: ({ auditEntries: { totalCount, nodes } }, request) =>
    presentPage(
      request,
      totalCount,
      nodes.map(({ id, action, subject, address, reason, createdAt }) => ({
        id,
        action,
        subject,
        address,
        reason,
        created_at: createdAt,
      })),
    ),
})

/** One's own audit trail. */
export const auditRoutes = [list]
