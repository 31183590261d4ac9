import { builder, time } from '../../graphql/builder.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { boundedCountDescription, connectionOf, listResolvers, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { countAuditEntries, listAuditEntries } from './audit-entries.ts'
import { auditActions } from './audit-sql.ts'

const AuditEntryType = builder.prismaObject('AuditEntry', {
  description: 'One line of the audit trail. It is only ever added to.',
  interfaces: [Node],
  select: { id: true, action: true, subject: true, address: true, reason: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `audit_01h2x…`.', resolve: ({ id }) => toId('audit', id) }),
    action: t.exposeString('action', {
      ...characters(64),
      description: `What was done: ${auditActions.join(', ')}.`,
    }),
    subject: t.exposeID('subject', {
      nullable: true,
      description: 'Identifier of what it was done to; null when that is the account itself.',
    }),
    address: t.exposeString('address', {
      ...characters(64),
      nullable: true,
      description: 'Network address it came from; null of the system and of deleted accounts.',
    }),
    reason: t.string({
      ...characters(500),
      nullable: true,
      description: 'Why, where an administrator said it.',
      resolve: ({ reason }) => reason,
    }),
    createdAt: t.expose('createdAt', time('When it was done.')),
    user: t.relation('user', {
      type: UserType,
      nullable: true,
      description: 'The account it was done with; null of the system.',
    }),
  }),
})

const AuditEntryConnection = connectionOf(
  AuditEntryType,
  'AuditEntry',
  ['an entry', 'the audit trail'],
  boundedCountDescription,
)

builder.queryField('auditEntries', (t) =>
  t.prismaConnection(
    {
      type: AuditEntryType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        'The audit trail of your account, newest first; administrators may read that of others. ' +
        'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.',
      args: {
        userId: t.arg.id({ description: 'Whose trail; yours when left out.' }),
        everybody: t.arg.boolean({ description: 'The trail of all accounts and of the system. Administrators only.' }),
        search: searchArg(t, 'the action, the subject, the network address or the reason'),
        offset: offsetArg(t),
      },
      ...listResolvers(listAuditEntries, countAuditEntries),
    },
    AuditEntryConnection,
  ),
)
