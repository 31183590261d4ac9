import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { moment, objectOf, same, snakeCased } from '../../http/rest/values.ts'

const auditEntryRecord = objectOf('AuditEntry', 'An operation on an account, or an operation of an administrator.', {
  id: same('AuditEntry.id', z.string()),
  action: same('AuditEntry.action', z.string()),
  subject: same('AuditEntry.subject', z.string().nullable()),
  address: same('AuditEntry.address', z.string().nullable()),
  reason: same('AuditEntry.reason', z.string().nullable()),
  created_at: same('AuditEntry.createdAt', moment),
})

const list = defineList({
  path: 'auth/users/me/audit-entries',
  operationId: 'listAuditEntries',
  tag: 'Account',
  summary: 'List the audit log of your account, newest first',
  action: 'audit:read',
  record: auditEntryRecord,
  plural: 'AuditEntries',
  searched: 'the action, the subject, the network address or the reason',
  order: 'newest',
  hasBoundedCount: true,
  operation: graphql(/* GraphQL */ `
    query RestAuditEntries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      auditEntries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo { startCursor endCursor }
        nodes { id action subject address reason createdAt }
      }
    }
  `),
  present: snakeCased,
})

/** The audit log of the caller's account. */
export const auditRoutes = [list]
