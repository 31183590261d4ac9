import { z } from 'zod'
import type { Use } from '../../context.ts'
import { type Actor, assertUser } from '../../shared/actor.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { parse, text } from '../../shared/input.ts'
import { assertMay } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { email } from './account-input.ts'
import { invalidToken, requestMail, tokenKey } from './mailed-links.ts'
import { translateDuplicate, verifyEmail as verifyEmailSql } from './users.sql.ts'

const requestInput = z.strictObject({ email: email.optional() })
const verifyInput = z.strictObject({ uid: text(64), token: text(256) })

function ownAddress(actor: Actor): string {
  assertUser(actor)
  return actor.user.pendingEmail ?? actor.user.email
}

/**
 * Mails a link that verifies an address, unless it is verified. Returns the address. Without `email` it is the caller's own. The response is the same for
 * unknown addresses. Throws NOT_AUTHENTICATED, VALIDATION_FAILED, THROTTLED.
 */
export async function requestEmailVerification(
  context: IdempotentContext & Use<'rateLimiter'>,
  input: z.input<typeof requestInput>,
): Promise<string> {
  assertMay(context.actor, 'email:verify')
  const address = parse(requestInput, input).email ?? ownAddress(context.actor)
  await requestMail(context, 'email-verification', address)
  return address
}

/**
 * Verifies the address of an account with a mailed token. A pending address becomes the address of the account. Returns the UUID of the user. Throws
 * INVALID_TOKEN, DUPLICATE_EMAIL if another account verified the address first.
 */
export async function verifyEmail(context: IdempotentContext, rawInput: z.input<typeof verifyInput>): Promise<string> {
  const { actor, database } = context
  assertMay(actor, 'email:verify')
  const input = parse(verifyInput, rawInput)
  const key = tokenKey(input)
  if (!key) throw invalidToken()
  return once(context, 'verifyEmail', input, async () => {
    const { address } = auditorOf(actor)
    const parameters = { user: key.userId, hash: key.hash, address, ...idempotencyParams(context) }
    const [verified] = await database.query(verifyEmailSql, parameters).catch((error: unknown) => {
      throw translateDuplicate(error)
    })
    if (!verified) throw invalidToken()
    return verified.id
  })
}
