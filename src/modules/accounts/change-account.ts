/** Changes of an account that require the current password: password, e-mail address and username. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { UserActor } from '../../shared/actor.ts'
import { validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { parse } from '../../shared/input.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { addressProblem, email, password, presentPassword, username } from './account-input.ts'
import { checkOwnPassword, type OwnPasswordContext, wrongPassword } from './check-password.ts'
import { mailboxDigest } from './email-addresses.ts'
import {
  changeEmail as changeEmailSql,
  changePassword as changePasswordSql,
  changeUsername as changeUsernameSql,
  emailTaken,
  type IdentityChange,
  lockCredentials,
  requestEmailChange,
  translateDuplicate,
} from './users.sql.ts'

type Needs = IdempotentContext & OwnPasswordContext

const passwordInput = z.strictObject({ currentPassword: presentPassword, newPassword: password })
const emailInput = z.strictObject({ currentPassword: presentPassword, newEmail: email })
const usernameInput = z.strictObject({ currentPassword: presentPassword, newUsername: username })

/**
 * Sets a new password, and ends all other sessions. Returns the UUID of the user. Throws NOT_AUTHENTICATED, VALIDATION_FAILED (also for a wrong current password),
 * THROTTLED, UNAVAILABLE.
 */
export async function changePassword(context: Needs, rawInput: z.input<typeof passwordInput>): Promise<string> {
  const { actor, database, passwords, rateLimiter } = context
  assertUserMay(actor, 'account:update')
  const input = parse(passwordInput, rawInput)
  return once(context, 'changePassword', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    await rateLimiter.consume('password-change', actor.id)
    const passwordHash = await passwords.hash(input.newPassword)
    const { id: user, tokenId: session, address } = actor
    const [changed] = await database.transaction(async (query) => {
      await query(lockCredentials, { user })
      const hashes = { verifiedHash, passwordHash }
      return query(changePasswordSql, { user, ...hashes, session, address, ...idempotencyParams(context) })
    })
    if (!changed) throw wrongPassword()
    return changed.id
  })
}

/** Writes an address or a username if the password is still the one that was verified. */
async function changeIdentity(
  context: Needs,
  { id: user, address }: UserActor & { address: string },
  statement: IdentityChange,
  change: { verifiedHash: string; wanted: string },
): Promise<string> {
  const parameters = { user, address, ...change, ...idempotencyParams(context) }
  const [changed] = await context.database.query(statement, parameters).catch((error: unknown) => {
    throw translateDuplicate(error)
  })
  if (!changed) throw wrongPassword()
  if (changed.is_taken) throw emailTaken()
  return changed.id
}

/**
 * Changes the e-mail address of the account. Mails a verification link to the new address and a notice to the old one. If addresses are verified, the old one stays until the
 * new one is verified. Returns the UUID of the user. Throws NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_EMAIL, THROTTLED, UNAVAILABLE.
 */
export async function changeEmail(
  context: Needs & Use<'config'>,
  rawInput: z.input<typeof emailInput>,
): Promise<string> {
  const { actor, config, rateLimiter } = context
  assertUserMay(actor, 'account:update')
  const input = parse(emailInput, rawInput)
  const verifiesEmails = config.emailVerification !== 'off'
  return once(context, 'changeEmail', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    await rateLimiter.consume('email-change', actor.id)
    // The current address cancels a pending change, which a thief may have requested. The limit of the mailbox must not prevent that.
    const isRevert = verifiesEmails && input.newEmail.toLowerCase() === actor.user.email.toLowerCase()
    if (!isRevert) await rateLimiter.consume('email-change-mailbox', mailboxDigest(input.newEmail))
    const statement = verifiesEmails ? requestEmailChange : changeEmailSql
    return changeIdentity(context, actor, statement, { verifiedHash, wanted: input.newEmail })
  })
}

/**
 * Changes the username. The display name stays. Returns the UUID of the user. Throws NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_USERNAME, THROTTLED,
 * UNAVAILABLE.
 */
export async function changeUsername(context: Needs, rawInput: z.input<typeof usernameInput>): Promise<string> {
  const { actor } = context
  assertUserMay(actor, 'account:update')
  const input = parse(usernameInput, rawInput)
  const problem = addressProblem(input.newUsername, actor.user.email)
  if (problem) throw validationFailed({ newUsername: [problem] })
  return once(context, 'changeUsername', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    return changeIdentity(context, actor, changeUsernameSql, { verifiedHash, wanted: input.newUsername })
  })
}
