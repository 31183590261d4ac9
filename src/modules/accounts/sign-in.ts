import { randomUUID } from 'node:crypto'
import type { Use } from '../../context.ts'
import { bytes, int, orNull, statement, text, uuid } from '../../db/sql.ts'
import { DomainError } from '../../shared/errors.ts'
import {
  type IdempotentContext,
  idempotencyParams,
  once,
  remembered,
  rememberSql,
  resultNoLongerExists,
} from '../../shared/idempotency.ts'
import { newSecret, sha256, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { networkOf } from '../../shared/limiters.ts'
import { assertMay, assertUser } from '../../shared/policy.ts'
import { auditorOf, auditSql } from '../audit/audit-sql.ts'
import { type SignInInput, signInInput } from './account-input.ts'
import { checkPassword } from './check-password.ts'
import { lockedUserSql } from './sessions.ts'

/** Inserts a session if the password is still the verified one and the account is active. `hash` is the SHA-256 of the token. */
export const insertToken = statement(
  'account_token_insert',
  {
    parameters: {
      ...{ user: uuid, verifiedHash: text, hash: bytes, name: text, days: int, seed: text },
      ...{ address: orNull(text), ...remembered },
    },
    columns: { id: uuid },
  },
  `with locked_user as materialized (
     select id from users where id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null for share
   ),
   inserted_token as (
     insert into access_tokens (user_id, hash, name, expires_at)
     select id, $hash, $name, case when $days > 0 then now() + make_interval(days => $days) end from locked_user
     returning id, user_id
   ),
   ${auditSql({
     from: 'inserted_token',
     user: 'user_id',
     action: 'session.started',
     subject: `type_id('session', inserted_token.id)`,
     address: '$address',
   })},
   ${rememberSql(`type_id('session', inserted_token.id) || ':' || $seed`, 'inserted_token')}
   select id from inserted_token`,
)

const findLiveToken = statement(
  'account_live_hash',
  { parameters: { hash: bytes }, columns: { id: uuid } },
  `select t.id from access_tokens t join users u on u.id = t.user_id
   where t.hash = $hash and (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null and u.locked_at is null`,
)

const deleteToken = statement(
  'account_token_delete',
  { parameters: { user: uuid, token: uuid, subject: text, address: text } },
  `with ${lockedUserSql('$user')},
   deleted_token as (
     delete from access_tokens t using locked_user where t.id = $token and t.user_id = locked_user.id returning t.user_id
   ),
   ${auditSql({ from: 'deleted_token', user: 'user_id', action: 'session.ended', subject: '$subject', address: '$address' })}
   select`,
)

/** 160 bits, as 40 hex digits. Existing callers store tokens in columns of that width. */
const TOKEN_BYTES = 20

/** The error of a wrong address or password. It does not reveal which of the two was wrong. */
export const incorrectLogin = () =>
  new DomainError('INCORRECT_LOGIN_CREDENTIALS', 'Unable to log in with provided credentials.')

/** Rejects a sign-in before its body is read. Throws THROTTLED. */
export async function assertMaySignIn({ actor, rateLimiter }: Use<'actor' | 'rateLimiter'>): Promise<void> {
  if (actor.kind !== 'system') await rateLimiter.assertAvailable('sign-in', networkOf(actor.address))
}

type LoginContext = Use<'credentials' | 'database' | 'meter' | 'passwords' | 'semaphores'>

/** Returns the account of an e-mail address if the password is right. Throws INCORRECT_LOGIN_CREDENTIALS, THROTTLED, UNAVAILABLE. */
export async function checkLogin(context: LoginContext, { email, password }: { email: string; password: string }) {
  const found = await context.credentials.findPassword(email)
  const account = found ? { user: found.id, passwordHash: found.password_hash } : { email }
  if (!(await checkPassword(context, { account, password, isSignedIn: false })) || !found) throw incorrectLogin()
  return found
}

type Needs = LoginContext & IdempotentContext & Use<'config' | 'rateLimiter' | 'vault'>

/** Derives the token from a random seed, so that a retry with the same idempotency key gets the same token. */
const tokenOf = ({ vault, idempotency }: Needs, seed: string) =>
  newSecret(vault.derive('access-token'), seed, idempotency.key, TOKEN_BYTES).toString('hex')

/** Returns the token of an earlier request with the same idempotency key. Throws IDEMPOTENCY_KEY_REUSED. */
async function replayToken(context: Needs, seed: string): Promise<string> {
  const token = tokenOf(context, seed)
  const [live] = await context.database.query(findLiveToken, { hash: sha256(token) })
  if (!live) throw resultNoLongerExists('its session has ended')
  return token
}

/** Starts a session. Returns its access token. Throws IDEMPOTENCY_KEY_REUSED for a retry after the session has ended. */
export async function signIn(context: Needs, rawInput: SignInInput): Promise<string> {
  const { actor, config, database, idempotency, rateLimiter } = context
  assertMay(actor, 'session:create')
  const { email, password, name } = parse(signInInput, rawInput)
  if (actor.kind !== 'system') await rateLimiter.consume('sign-in', networkOf(actor.address))
  const account = await checkLogin(context, { email, password })
  if (account.is_locked)
    throw new DomainError('AUTHENTICATION_FAILED', 'This account is locked. Ask those who run the service.')
  if (config.emailVerification === 'required' && !account.email_verified)
    throw new DomainError('EMAIL_NOT_VERIFIED', 'Verify your e-mail address first: follow the link in the mail it got.')
  idempotency.isSecret = true
  let token: string | undefined
  const seed = await once(context, 'signIn', { email, user: account.id, name }, async () => {
    const newSeed = randomUUID()
    const newToken = tokenOf(context, newSeed)
    const [session] = await database.query(insertToken, {
      user: account.id,
      verifiedHash: account.password_hash,
      hash: sha256(newToken),
      name: name ?? '',
      days: config.accessTokenDays,
      seed: newSeed,
      address: auditorOf(actor).address,
      ...idempotencyParams(context),
    })
    if (!session) throw incorrectLogin()
    token = newToken
    return newSeed
  })
  // The stored result is the ID of the session, a colon and the seed.
  return token ?? replayToken(context, seed.split(':').at(-1)!)
}

export async function signOut({ actor, database }: Use<'actor' | 'database'>): Promise<void> {
  assertUser(actor)
  const { id: user, tokenId: token, address } = actor
  await database.query(deleteToken, { user, token, subject: toId('session', token), address })
}
