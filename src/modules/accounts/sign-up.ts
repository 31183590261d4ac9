import type { z } from 'zod'
import type { Use } from '../../context.ts'
import { violatedConstraint } from '../../db/database-types.ts'
import type { User } from '../../db/prisma/client.ts'
import { boolean, bytes, numeric, orNull, smallint, statement, text, textOf, uuid } from '../../db/sql.ts'
import { type IdempotentContext, once, onceParams, onceSql, onceTypes } from '../../shared/idempotency.ts'
import { newUuid } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { networkOf } from '../../shared/limiters.ts'
import { formatAmount, toUnits } from '../../shared/money.ts'
import { assertMay, assertTrusted } from '../../shared/policy.ts'
import { auditorOf, auditSql } from '../audit/audit-sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import { emailInUse, mailboxDigest, type SignUpInput, signUpInput, throwDuplicate } from './account-input.ts'
import { accountMailSql } from './mailed-links.ts'

/**
 * Inserts a user with wallet, key pair and initial points. No row: another account holds the address. If
 * `isToBeVerified`, several accounts can claim the address until one verifies the address. `wallet` is the address of
 * the key pair, and `address` the network address of the request.
 */
export const insertUser = statement(
  'account_sign_up',
  {
    parameters: {
      ...{ user: uuid, username: text, email: text, passwordHash: text, language: text, referralCode: text },
      ...{ role: textOf<User['role']>('role'), isToBeVerified: boolean, wallet: text, points: numeric },
      ...{ version: smallint, vaultKeyId: text, wrappedDataKey: bytes, sealedPrivateKey: bytes },
      ...{ address: orNull(text), ...onceTypes },
    },
    columns: { id: uuid },
  },
  `with inserted_user as (
     insert into users (id, username, email, password_hash, display_name, language, referral_code, role, email_verified, email_held)
     select $user, $username, $email, $passwordHash, $username, $language, $referralCode, $role, $role = 'ADMIN',
       not $isToBeVerified
     where not ($isToBeVerified and exists (select from users where lower(email) = lower($email) and email_held))
     returning id, uuidv7() as transfer_id
   ),
   inserted_wallet as (
     insert into wallets (user_id, address, points) select id, $wallet, $points from inserted_user
   ),
   inserted_user_key as (
     insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
     select id, $version, $vaultKeyId, $wrappedDataKey, $sealedPrivateKey from inserted_user
   ),
   ${postTransferSql({
     from: 'inserted_user',
     reference: `'sign-up:' || inserted_user.id`,
     when: '$points > 0',
     lines: [
       { wallet: 'inserted_user.id', currency: 'POINTS', amount: '$points' },
       { book: 'PROMOTION', currency: 'POINTS', amount: '-$points' },
     ],
   })},
   ${auditSql({ from: 'inserted_user', user: 'id', action: 'account.created', address: '$address' })},
   ${accountMailSql({ from: 'inserted_user where $isToBeVerified', template: 'email-verification', facts: { userId: 'inserted_user.id' } })},
   ${onceSql('$user::text', 'inserted_user')}
   select id from inserted_user, (select count(*) from enqueued_mails) as jobs`,
)

type Needs = IdempotentContext & Use<'config' | 'custody' | 'passwords' | 'rateLimiter'>

/** Checks API key and rate limit of a sign-up before its body is read. Throws UNTRUSTED_CLIENT, THROTTLED. */
export async function assertMaySignUp(context: Use<'actor' | 'config' | 'rateLimiter'>): Promise<void> {
  const { actor, config, rateLimiter } = context
  assertTrusted(actor, { needed: config.requireApiKeyForSignUp })
  if (actor.kind !== 'system') await rateLimiter.assertAvailable('sign-up', networkOf(actor.address))
}

type Account = z.output<typeof signUpInput>

async function createAccount(context: Needs, { password, ...identity }: Account, role: User['role']): Promise<string> {
  const { actor, config, custody, database, passwords } = context
  const id = newUuid()
  const passwordHash = await passwords.hash(password)
  const { address: wallet, ...key } = await custody.create(id)
  const points = formatAmount(config.money.signUpPoints)
  const parameters = {
    ...{ user: id, ...identity, passwordHash, role, wallet, ...key, address: auditorOf(actor).address },
    isToBeVerified: role === 'USER' && config.emailVerification !== 'off',
    points: role === 'USER' && toUnits(points) > 0n ? points : '0',
    ...onceParams(context),
  }
  const created = await database.query(insertUser, parameters).catch(async (error: unknown) => {
    // After any other error the account may exist, so its key is kept.
    if (violatedConstraint(error)) await custody.forget(id)
    return throwDuplicate(error)
  })
  if (created.length > 0) return id
  await custody.forget(id)
  throw emailInUse()
}

/** Creates an account with a wallet, a key pair and the initial points. Returns the UUID of the user. */
export async function signUp(context: Needs, rawInput: SignUpInput): Promise<string> {
  const { actor, config, rateLimiter } = context
  assertMay(actor, 'account:create')
  assertTrusted(actor, { needed: config.requireApiKeyForSignUp })
  const input = parse(signUpInput, rawInput)
  return once(context, 'signUp', input, async () => {
    if (actor.kind !== 'system') await rateLimiter.consume('sign-up', networkOf(actor.address))
    // Each sign-up sends a mail, and several sign-ups can use the same unverified address.
    if (config.emailVerification !== 'off') await rateLimiter.consume('sign-up-mailbox', mailboxDigest(input.email))
    return createAccount(context, input, 'USER')
  })
}

/** Creates the account of an administrator. Throws PERMISSION_DENIED and the errors of `signUp`. */
export async function createAdministrator(context: Needs, input: SignUpInput): Promise<string> {
  assertMay(context.actor, 'store:administer')
  return createAccount(context, parse(signUpInput, input), 'ADMIN')
}
