/** What an account is known by: its address, whether that is known to be its owner's, and its username. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import { type Actor, assertUser } from '../../shared/actor.ts'
import { validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { parse, text } from '../../shared/input.ts'
import { assertMay, assertUserMay } from '../../shared/policy.ts'
import type { RateLimiter } from '../../shared/rate-limiter.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { addressProblem, email, presentPassword, username } from './account-input.ts'
import { duplicate, emailTaken } from './account-refusals.ts'
import { type Change, changeEmail, changeUsername, requestEmailChange, verifyEmail } from './identities.sql.ts'
import { type MailRequests, mailboxDigest } from './mail-requests.ts'
import { invalidToken, type OneTimeTokens, type PresentedToken, tokenKey } from './one-time-token.ts'
import { type OwnPassword, wrongPassword } from './own-password.ts'

interface Dependencies {
  database: Database
  ownPassword: OwnPassword
  tokens: OneTimeTokens
  mailRequests: MailRequests
  rateLimiter: RateLimiter
  idempotency: Idempotency
  /** Whether an address counts only once it is verified. */
  verifiesAddresses: boolean
}

const emailInput = z.strictObject({ currentPassword: presentPassword, newEmail: email })
const usernameInput = z.strictObject({ currentPassword: presentPassword, newUsername: username })
const verificationInput = z.strictObject({ email: email.optional() })
const verifyInput = z.strictObject({ uid: text(64), token: text(256) })

/** What is to be verified. Raises NOT_AUTHENTICATED. */
function ownAddress(actor: Actor): string {
  assertUser(actor)
  return actor.user.pendingEmail ?? actor.user.email
}

/** Address and username of accounts: changed by who knows the password, verified by mailed links. */
export function createIdentityService(deps: Dependencies) {
  const { database, ownPassword, tokens, mailRequests, rateLimiter, idempotency, verifiesAddresses } = deps

  /** Writes what needs the actor's password, if that still is what was verified. */
  async function change(
    actor: Extract<Actor, { kind: 'user' }>,
    statement: Change,
    { verifiedHash, wanted }: { verifiedHash: string; wanted: string },
    context: IdempotencyContext,
  ): Promise<string> {
    const { id: user, address } = actor
    const parameters = { user, verifiedHash, wanted, address, ...fingerprintOf(context) }
    const [held] = await database.query(statement, parameters).catch((error: unknown) => {
      throw duplicate(error)
    })
    if (!held) throw wrongPassword()
    if (held.is_taken) throw emailTaken()
    return held.id
  }

  return {
    /** Asked before a request for a link is read. Raises THROTTLED. */
    admitVerificationRequest: (actor: Actor) => mailRequests.admit(actor, 'email-verification'),

    /**
     * Gives the account another address, which gets a mail to be verified by; the old one is told. Where addresses are
     * verified, the old one stands until the new one is. Returns the user's UUID. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_EMAIL, THROTTLED, UNAVAILABLE.
     */
    async changeEmail(
      actor: Actor,
      rawInput: z.input<typeof emailInput>,
      context: IdempotencyContext,
    ): Promise<string> {
      assertUserMay(actor, 'account:update')
      const input = parse(emailInput, rawInput)
      return idempotency.once(actor, context, 'changeEmail', input, async () => {
        const verifiedHash = await ownPassword.verify(actor, input.currentPassword)
        await rateLimiter.consume('email-change', actor.id)
        // The present one takes back a wish that may be a thief's, and no stranger keeps its owner from that.
        const takesBack = verifiesAddresses && input.newEmail.toLowerCase() === actor.user.email.toLowerCase()
        if (!takesBack) await rateLimiter.consume('email-change-mailbox', mailboxDigest(input.newEmail))
        const statement = verifiesAddresses ? requestEmailChange : changeEmail
        return change(actor, statement, { verifiedHash, wanted: input.newEmail }, context)
      })
    },

    /**
     * Gives the account another username; the name that others are shown stays. Returns the user's UUID.
     * Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_USERNAME, THROTTLED, UNAVAILABLE.
     */
    async changeUsername(
      actor: Actor,
      rawInput: z.input<typeof usernameInput>,
      context: IdempotencyContext,
    ): Promise<string> {
      assertUserMay(actor, 'account:update')
      const input = parse(usernameInput, rawInput)
      const problem = addressProblem(input.newUsername, actor.user.email)
      if (problem) throw validationFailed({ newUsername: [problem] })
      return idempotency.once(actor, context, 'changeUsername', input, async () => {
        const verifiedHash = await ownPassword.verify(actor, input.currentPassword)
        return change(actor, changeUsername, { verifiedHash, wanted: input.newUsername }, context)
      })
    },

    /**
     * Has a link mailed by which an address is verified, unless it is; returns the address. Without `email` it is the
     * actor's own. With it nothing is looked up here, so that known and unknown addresses cannot be told apart.
     * Raises NOT_AUTHENTICATED, VALIDATION_FAILED, THROTTLED.
     */
    async requestVerification(
      actor: Actor,
      rawInput: z.input<typeof verificationInput>,
      context: IdempotencyContext,
    ): Promise<string> {
      assertMay(actor, 'email:verify')
      const input = parse(verificationInput, rawInput)
      const address = input.email ?? ownAddress(actor)
      await mailRequests.request(actor, 'email-verification', address, context)
      return address
    },

    /** Where a link was sent that could be used now, and for whose account. */
    async findLink(presented: PresentedToken): Promise<{ email: string; username: string } | undefined> {
      const key = tokenKey(presented)
      return key && tokens.find('EMAIL_VERIFICATION', key)
    },

    /**
     * Verifies an account's address by a mailed token, which is used up; one that it waited for is its address from now on.
     * Returns the user's UUID. Raises INVALID_TOKEN, DUPLICATE_EMAIL when somebody else verified the address first.
     */
    async verify(actor: Actor, rawInput: z.input<typeof verifyInput>, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'email:verify')
      const input = parse(verifyInput, rawInput)
      const key = tokenKey(input)
      if (!key) throw invalidToken()
      return idempotency.once(actor, context, 'verifyEmail', input, async () => {
        const { address } = auditorOf(actor)
        const parameters = { user: key.userId, hash: key.hash, address, ...fingerprintOf(context) }
        const [verified] = await database.query(verifyEmail, parameters).catch((error: unknown) => {
          throw duplicate(error)
        })
        if (!verified) throw invalidToken()
        return verified.id
      })
    },
  }
}
