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

/**
 * Locks or unlocks an account, and ends all its sessions and mailed links. Locking cancels a pending address. No row:
 * the account does not exist. `subject` is the public ID of the account. Only the administrator's audit entry contains
 * the network address.
 */
const changeLock = (
  name: string,
  action: 'account.locked' | 'account.unlocked',
  assignments: string,
  condition: string,
) =>
  statement(
    name,
    { parameters, columns: { id: uuid } },
    `with found_user as materialized (
       select id, locked_at from users where id = $user and deleted_at is null for no key update
     ),
     updated_user as (
       update users u set ${assignments} from found_user
       where u.id = found_user.id and found_user.locked_at ${condition} returning u.id
     ),
     deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),
     deleted_admin_sessions as (delete from admin_sessions s using updated_user where s.user_id = updated_user.id),
     ${voidTokensSql({ from: 'updated_user', purposes: ['PASSWORD_RESET', 'EMAIL_VERIFICATION'] })},
     ${auditSql({ name: 'owner_entry', from: 'updated_user', user: 'updated_user.id', action, reason: '$reason' })},
     ${auditSql({ name: 'administrator_entry', from: 'updated_user', user: '$actor', action, subject: '$subject', address: '$address', reason: '$reason' })},
     ${rememberSql('found_user.id::text', 'found_user')}
     select id from found_user`,
  )

const statements = {
  lockUser: changeLock('user_lock', 'account.locked', 'locked_at = now(), pending_email = null', 'is null'),
  unlockUser: changeLock('user_unlock', 'account.unlocked', 'locked_at = null', 'is not null'),
}

type Needs = IdempotentContext & Use<'config'>

async function change(context: Needs, operation: keyof typeof statements, rawInput: AccountWithReason) {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const input = parse(accountWithReason, rawInput)
  return once(context, operation, input, async () => {
    const user = await findAccount(context, input.userId)
    if (user === undefined) throw notFound('User')
    if (actor.kind === 'user' && actor.id === user)
      throw validationFailed({ userId: ['You cannot lock or unlock your own account.'] })
    const [changed] = await database.query(statements[operation], {
      ...{ user, subject: toId('user', user), reason: input.reason },
      ...auditorOf(actor),
      ...idempotencyParams(context),
    })
    if (!changed) throw notFound('User')
    return changed.id
  })
}

/** Locks an account. The owner cannot sign in. A locked account keeps its first reason. Returns the user's UUID. */
export const lockUser = (context: Needs, input: AccountWithReason) => change(context, 'lockUser', input)

/** Unlocks an account. The owner has to sign in again. Returns and throws as `lockUser`. */
export const unlockUser = (context: Needs, input: AccountWithReason) => change(context, 'unlockUser', input)
