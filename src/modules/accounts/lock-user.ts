import type { Use } from '../../context.ts'
import { statement, text, uuid } from '../../db/sql.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remembered, rememberSql } from '../../shared/idempotency.ts'
import { toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertMay } from '../../shared/policy.ts'
import { audited, auditorOf, auditSql } from '../audit/audit-sql.ts'
import { type AccountWithReason, accountWithReason, findAccount } from './find-users.ts'
import { voidTokensSql } from './mailed-links.ts'

const parameters = { user: uuid, subject: text, reason: text, ...audited, ...remembered }

/** SQL of audit entries for the owner and for the administrator. Only the administrator's entry has the network address. */
const auditEntriesSql = (action: 'account.locked' | 'account.unlocked'): string => `
   ${auditSql({ name: 'owner_entry', from: 'updated_user', user: 'updated_user.id', action, reason: '$reason' })},
   ${auditSql({ name: 'administrator_entry', from: 'updated_user', user: '$actor', action, subject: '$subject', address: '$address', reason: '$reason' })}`

const voidedLinksSql = voidTokensSql({ from: 'updated_user', purposes: ['PASSWORD_RESET', 'EMAIL_VERIFICATION'] })

/**
 * Locks an account, unless it is locked. Ends its sessions and mailed links, and cancels a pending address. No row: there is no such account. `subject` is its
 * public ID.
 */
const lockStatement = statement(
  'user_lock',
  { parameters, columns: { id: uuid } },
  `with found_user as materialized (
     select id, locked_at from users where id = $user and deleted_at is null for no key update
   ),
   updated_user as (
     update users u set locked_at = now(), pending_email = null from found_user
     where u.id = found_user.id and found_user.locked_at is null returning u.id
   ),
   deleted_tokens as (delete from access_tokens t using found_user where t.user_id = found_user.id),
   deleted_admin_sessions as (delete from admin_sessions s using found_user where s.user_id = found_user.id),
   ${voidedLinksSql},
   ${auditEntriesSql('account.locked')},
   ${rememberSql('found_user.id::text', 'found_user')}
   select id from found_user`,
)

/** Unlocks an account. Sessions and links that were created while it was being locked are invalid. No row: there is no such account. */
const unlockStatement = statement(
  'user_unlock',
  { parameters, columns: { id: uuid } },
  `with found_user as materialized (
     select id, locked_at from users where id = $user and deleted_at is null for no key update
   ),
   updated_user as (
     update users u set locked_at = null from found_user
     where u.id = found_user.id and found_user.locked_at is not null returning u.id
   ),
   deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),
   deleted_admin_sessions as (delete from admin_sessions s using updated_user where s.user_id = updated_user.id),
   ${voidedLinksSql},
   ${auditEntriesSql('account.unlocked')},
   ${rememberSql('found_user.id::text', 'found_user')}
   select id from found_user`,
)

type Needs = IdempotentContext & Use<'config'>

async function change(
  context: Needs,
  operation: 'lockUser' | 'unlockUser',
  rawInput: AccountWithReason,
): Promise<string> {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const input = parse(accountWithReason, rawInput)
  return once(context, operation, input, async () => {
    const user = await findAccount(context, input.userId)
    if (user === undefined) throw notFound('User')
    if (actor.kind === 'user' && actor.id === user) throw validationFailed({ userId: ['This is your own account.'] })
    const [changed] = await database.query(operation === 'lockUser' ? lockStatement : unlockStatement, {
      ...{ user, subject: toId('user', user), reason: input.reason },
      ...auditorOf(actor),
      ...idempotencyParams(context),
    })
    if (!changed) throw notFound('User')
    return changed.id
  })
}

/** Locks an account: the owner cannot sign in, and sessions and mailed links end. A locked account keeps its first reason. Returns the UUID of the user. */
export const lockUser = (context: Needs, input: AccountWithReason) => change(context, 'lockUser', input)

/** Unlocks an account. The owner has to sign in again. Returns and throws as `lockUser`. */
export const unlockUser = (context: Needs, input: AccountWithReason) => change(context, 'unlockUser', input)
