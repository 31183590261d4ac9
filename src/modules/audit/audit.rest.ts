import { z } from 'zod'
import { get } from '../../http/rest/define-route.ts'
import { objectOf, sameFields, snakeCased, time } from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'

const list = defineList({
  ...get('auth/users/me/audit-entries', 'listAuditEntries', 'Account'),
  summary: 'List the audit log of your account, newest first',
  action: 'audit:read',
  record: objectOf('AuditEntry', 'A recorded action of an account or of an administrator.', {
    ...sameFields('AuditEntry', { id: z.string(), action: z.string(), subject: z.string().nullable() }),
    ...sameFields('AuditEntry', { address: z.string().nullable(), reason: z.string().nullable(), created_at: time }),
  }),
  plural: 'AuditEntries',
  searched: 'the action, the subject, the network address or the reason',
  order: 'newest',
  hasBoundedCount: true,
  operation: graphql(/* GraphQL */ `
    query RestAuditEntries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      auditEntries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount pageInfo { startCursor endCursor }
        nodes { id action subject address reason createdAt }
      }
    }
  `),
  present: snakeCased,
})

export const auditRoutes = [list]
