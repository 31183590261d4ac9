import { z } from 'zod'
import type { Use } from '../../context.ts'
import { type Database, violatedConstraint } from '../../db/database-types.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { parse, text } from '../../shared/input.ts'
import { assertMay } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { email, password } from './account-input.ts'
import { findLink, invalidToken, requestMail, tokenKey } from './mailed-links.ts'
import { lockCredentials, resetPassword as resetPasswordSql } from './users.sql.ts'

const requestInput = z.strictObject({ email })
const resetInput = z.strictObject({ uid: text(64), token: text(256), newPassword: password })

/** Mails a link that sets a new password. The response is the same for unknown addresses. Throws VALIDATION_FAILED, THROTTLED. */
export async function requestPasswordReset(
  context: IdempotentContext & Use<'rateLimiter'>,
  input: z.input<typeof requestInput>,
): Promise<void> {
  assertMay(context.actor, 'password:reset')
  await requestMail(context, 'password-reset', parse(requestInput, input).email)
}

/**
 * Sets a new password with a mailed token, and ends all sessions of the account. Returns the UUID of the user. Throws VALIDATION_FAILED, INVALID_TOKEN,
 * UNAVAILABLE.
 */
export async function resetPassword(
  context: IdempotentContext & Use<'passwords'>,
  rawInput: z.input<typeof resetInput>,
): Promise<string> {
  const { actor, database, passwords } = context
  assertMay(actor, 'password:reset')
  const input = parse(resetInput, rawInput)
  const key = tokenKey(input)
  if (!key) throw invalidToken()
  return once(context, 'resetPassword', input, async () => {
    // Hashing takes 64 MiB, so only a valid token leads to it.
    if (!(await findLink(context, 'PASSWORD_RESET', input))) throw invalidToken()
    const { userId: user, hash } = key
    const passwordHash = await passwords.hash(input.newPassword)
    const { address } = auditorOf(actor)
    const work = async (query: Database['query']) => {
      await query(lockCredentials, { user })
      return query(resetPasswordSql, { user, hash, passwordHash, address, ...idempotencyParams(context) })
    }
    const [changed] = await database.transaction(work).catch((error: unknown) => {
      // Another account verified the address in the meantime, and the link was for the address.
      throw violatedConstraint(error) === 'users_email_key' ? invalidToken() : error
    })
    if (!changed) throw invalidToken()
    return changed.id
  })
}
