import { builder, optionalText, publicId, shortText, time } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/limits/document-cost.ts'
import { boundedCountDescription, connectionOf, listResolvers, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { countAuditEntries, listAuditEntries } from './audit-entries.ts'
import { auditActions } from './audit-sql.ts'

const AuditEntryType = builder.prismaObject('AuditEntry', {
  description: 'An entry of the audit log. Entries are never changed or deleted.',
  interfaces: [Node],
  select: { id: true, action: true, subject: true, address: true, reason: true, createdAt: true },
  fields: (t) => ({
    id: t.field(publicId('audit', 'id', 'Identifier, as in `audit_01h2x…`.')),
    action: t.exposeString('action', shortText(64, `The recorded action: ${auditActions.join(', ')}.`)),
    subject: t.exposeID('subject', {
      nullable: true,
      description: 'ID of the changed object. Null if the account itself was changed.',
    }),
    address: t.exposeString(
      'address',
      optionalText(64, 'Network address of the caller. Null for the system and for deleted accounts.'),
    ),
    reason: t.exposeString('reason', optionalText(500, 'Reason that the administrator gave. Null without a reason.')),
    createdAt: t.expose('createdAt', time('Time of the action.')),
    user: t.relation('user', {
      type: UserType,
      nullable: true,
      description: 'Account that performed the action. Null for the system.',
    }),
  }),
})

builder.queryField('auditEntries', (t) =>
  t.prismaConnection(
    {
      type: AuditEntryType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        'The audit log of your account, newest first. Administrators can read the log of other accounts. ' +
        'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.',
      args: {
        userId: t.arg.id({ description: 'The account. Defaults to your account.' }),
        everybody: t.arg.boolean({
          description: 'True for the audit log of all accounts and of the system. Administrators only.',
        }),
        search: searchArg(t, 'the action, the subject, the network address or the reason'),
        offset: offsetArg(t),
      },
      ...listResolvers(listAuditEntries, countAuditEntries),
    },
    connectionOf(AuditEntryType, 'AuditEntry', ['an entry', 'the audit log'], boundedCountDescription),
  ),
)
