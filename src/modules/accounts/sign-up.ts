import type { z } from 'zod'
import type { Use } from '../../context.ts'
import { violatedConstraint } from '../../db/database-types.ts'
import type { User } from '../../db/prisma/client.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { newUuid } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { formatAmount, toUnits } from '../../shared/money.ts'
import { assertMay, assertTrusted } from '../../shared/policy.ts'
import { networkOf } from '../../shared/rate-limiter.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { type SignUpInput, signUpInput } from './account-input.ts'
import { mailboxDigest } from './email-addresses.ts'
import { emailTaken, insertUser, translateDuplicate } from './users.sql.ts'

type Needs = IdempotentContext & Use<'config' | 'custody' | 'passwords' | 'rateLimiter'>

/** Rejects a sign-up before its body is read. Throws UNTRUSTED_CLIENT, THROTTLED. */
export async function assertMaySignUp({
  actor,
  config,
  rateLimiter,
}: Use<'actor' | 'config' | 'rateLimiter'>): Promise<void> {
  assertTrusted(actor, { needed: config.requireApiKeyForSignUp })
  if (actor.kind !== 'system') await rateLimiter.assertAvailable('sign-up', networkOf(actor.address))
}

async function createAccount(
  context: Needs,
  { password, ...identity }: z.output<typeof signUpInput>,
  role: User['role'],
): Promise<string> {
  const { actor, config, custody, database, passwords } = context
  const id = newUuid()
  const passwordHash = await passwords.hash(password)
  const { address: wallet, ...key } = await custody.create(id)
  const points = formatAmount(config.money.signUpPoints)
  const parameters = {
    user: id,
    ...identity,
    passwordHash,
    role,
    isToBeVerified: role === 'USER' && config.emailVerification !== 'off',
    wallet,
    points: role === 'USER' && toUnits(points) > 0n ? points : '0',
    ...key,
    address: auditorOf(actor).address,
    ...idempotencyParams(context),
  }
  const [created] = await database.query(insertUser, parameters).catch(async (error: unknown) => {
    // After any other error the account may exist, so it keeps its key.
    if (violatedConstraint(error)) await custody.forget(id)
    throw translateDuplicate(error)
  })
  if (!created) {
    await custody.forget(id)
    throw emailTaken()
  }
  return id
}

/**
 * Creates an account with a wallet, a key pair and the initial points. Returns the UUID of the user. Throws VALIDATION_FAILED, DUPLICATE_USERNAME,
 * DUPLICATE_EMAIL, UNTRUSTED_CLIENT, THROTTLED, UNAVAILABLE.
 */
export async function signUp(context: Needs, rawInput: SignUpInput): Promise<string> {
  const { actor, config, rateLimiter } = context
  assertMay(actor, 'account:create')
  assertTrusted(actor, { needed: config.requireApiKeyForSignUp })
  const input = parse(signUpInput, rawInput)
  return once(context, 'signUp', input, async () => {
    if (actor.kind !== 'system') await rateLimiter.consume('sign-up', networkOf(actor.address))
    // Each sign-up sends a mail to any given address, and an unverified address can be given repeatedly.
    if (config.emailVerification !== 'off') await rateLimiter.consume('sign-up-mailbox', mailboxDigest(input.email))
    return createAccount(context, input, 'USER')
  })
}

/** Creates the account of an administrator. Returns the UUID. Throws PERMISSION_DENIED, VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL. */
export async function createAdministrator(context: Needs, input: SignUpInput): Promise<string> {
  assertMay(context.actor, 'store:administer')
  return createAccount(context, parse(signUpInput, input), 'ADMIN')
}
