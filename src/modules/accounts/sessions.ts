import { randomBytes, randomUUID } from 'node:crypto'
import type { Use } from '../../context.ts'
import { arrayOf, bytes, int, json, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { authenticationFailed, DomainError, notFound } from '../../shared/errors.ts'
import {
  type IdempotentContext,
  once,
  onceParams,
  onceSql,
  onceTypes,
  resultNoLongerExists,
} from '../../shared/idempotency.ts'
import { fromId, NIL_UUID, newSecret, sha256, toId, uuidFrom } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { networkOf } from '../../shared/limiters.ts'
import { cursorUuid, type Search, searchPatterns } from '../../shared/lists.ts'
import { type Actor, assertMay, assertUser, assertUserMay } from '../../shared/policy.ts'
import { auditorOf, auditSql } from '../audit/audit-sql.ts'
import { type SignInInput, signInInput } from './account-input.ts'
import { actorOf, type SessionUser, sessionUserSql } from './authenticate.ts'
import { checkOwnPassword, checkPassword, type OwnPasswordContext } from './check-password.ts'

const times = { createdAt: timestamp, lastUsedAt: orNull(timestamp), expiresAt: orNull(timestamp) }
const columns = { id: uuid, name: text, ...times }
export type Session = RowOf<typeof columns> & { isCurrent: boolean }

const isLiveSql = '(expires_at is null or expires_at > now())'
const columnsSql = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`

/** SQL of a CTE that locks the user. Lock the user before the tokens to prevent deadlocks with a deletion. */
const lockedUserSql = 'locked_user as materialized (select id from users where id = $user for key share)'

const readSession = statement(
  'session_read',
  { parameters: { session: uuid, user: uuid }, columns },
  `select ${columnsSql} from access_tokens where id = $session and user_id = $user and ${isLiveSql}`,
)

const searchParameters = { user: uuid, patterns: arrayOf(text) }
const pageParameters = { ...searchParameters, after: orNull(uuid), before: orNull(uuid), limit: int, offset: int }

/** Creates a statement that reads sessions older than `after` and newer than `before`. IDs are in the order of time. */
const readPage = (name: string, direction: 'asc' | 'desc') =>
  statement(
    name,
    { parameters: pageParameters, columns, isList: true },
    `select ${columnsSql} from access_tokens
     where user_id = $user and ${isLiveSql} and name ilike all ($patterns)
       and id < coalesce($after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       and id > coalesce($before, '${NIL_UUID}')
     order by id ${direction} limit $limit offset $offset`,
  )
const readSessions = readPage('session_page', 'desc')
const readSessionsBackwards = readPage('session_page_up', 'asc')

const countLive = statement(
  'session_count',
  { parameters: searchParameters, columns: { count: int }, isList: true },
  `select count(*)::int as count from access_tokens where user_id = $user and ${isLiveSql} and name ilike all ($patterns)`,
)

/** Creates a statement that ends a session. `subject`: its public ID. No row: the session does not exist. */
const deleteSession = (name: string, action: 'session.ended' | 'session.revoked') =>
  statement(
    name,
    { parameters: { user: uuid, session: uuid, subject: text, address: text, ...onceTypes }, columns: { id: uuid } },
    `with ${lockedUserSql},
     deleted_token as (
       delete from access_tokens t using locked_user where t.id = $session and t.user_id = locked_user.id and ${isLiveSql}
       returning t.id, t.user_id
     ),
     ${auditSql({ from: 'deleted_token', user: 'user_id', action, subject: '$subject', address: '$address' })},
     ${onceSql('$user::text', 'deleted_token')}
     select id from deleted_token`,
  )
const revokeStatement = deleteSession('session_revoke', 'session.revoked')
const signOutStatement = deleteSession('account_token_delete', 'session.ended')

/** Ends all other sessions of a user, also those of the pages for administrators. Writes one audit entry. */
const deleteOtherSessions = statement(
  'session_revoke_others',
  { parameters: { user: uuid, session: uuid, address: text, ...onceTypes } },
  `with ${lockedUserSql},
   deleted_tokens as (
     delete from access_tokens t using locked_user where t.user_id = locked_user.id and t.id <> $session and ${isLiveSql}
     returning t.id
   ),
   deleted_admin_sessions as (
     delete from admin_sessions s using locked_user where s.user_id = locked_user.id and s.id <> $session returning s.id
   ),
   deleted_count as (select (select count(*) from deleted_tokens) + (select count(*) from deleted_admin_sessions) as count),
   ${auditSql({ from: 'deleted_count where count > 0', user: '$user', action: 'session.revoked', address: '$address' })},
   ${onceSql('$user::text', 'deleted_count')}
   select`,
)

/** Ends up to 1,000 sessions and mailed links, and all administrator sessions. Repeat until `tokens` is 0. */
const endSessions = statement(
  'session_end_all',
  { columns: { sessions: int, tokens: int } },
  `with locked_tokens as materialized (select id from access_tokens limit 1000 for update),
   deleted_tokens as (delete from access_tokens t using locked_tokens where t.id = locked_tokens.id returning t.user_id),
   deleted_admin_sessions as (delete from admin_sessions returning user_id),
   deleted_one_time_tokens as (
     delete from one_time_tokens where (user_id, purpose) in (select user_id, purpose from one_time_tokens limit 1000)
     returning 1
   ),
   deleted_sessions as (select user_id from deleted_tokens union all select user_id from deleted_admin_sessions),
   owners as (select distinct user_id from deleted_sessions),
   ${auditSql({ from: 'owners', user: 'user_id', action: 'session.revoked' })}
   select (select count(*) from deleted_sessions)::int as sessions,
     ((select count(*) from deleted_sessions) + (select count(*) from deleted_one_time_tokens))::int as tokens`,
)

type Reader = Use<'actor' | 'database'>

/** `after` and `before` are public IDs. `inverted` reads from the end, oldest first. */
type SessionPage = { limit: number; inverted: boolean; after?: string | undefined; before?: string | undefined }

/** Returns the caller's sessions that have not ended, newest first. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export async function listSessions(
  { actor, database }: Reader,
  { limit, inverted, after, before }: SessionPage,
  offset: number,
  search: Search,
): Promise<Session[]> {
  assertUserMay(actor, 'session:read')
  const bounds = { after: cursorUuid('after', after, 'session'), before: cursorUuid('before', before, 'session') }
  const page = { user: actor.id, patterns: searchPatterns(search), ...bounds, limit, offset }
  const rows = await database.query(inverted ? readSessionsBackwards : readSessions, page)
  return rows.map((row) => ({ ...row, isCurrent: row.id === actor.tokenId }))
}

export async function countSessions({ actor, database }: Reader, search: Search): Promise<number> {
  assertUserMay(actor, 'session:read')
  const [counted] = await database.query(countLive, { user: actor.id, patterns: searchPatterns(search) })
  return counted!.count
}

/** Returns a session of the caller by its public ID. Returns null if the session does not exist or has ended. */
export async function findSession({ actor, database }: Reader, id: string): Promise<Session | null> {
  const uuid = fromId(id, 'session')?.uuid
  if (actor.kind !== 'user' || uuid === undefined) return null
  const [row] = await database.query(readSession, { session: uuid, user: actor.id })
  return row ? { ...row, isCurrent: row.id === actor.tokenId } : null
}

/** Ends a session of the caller, also the current one. `id` is its public ID. Throws NOT_AUTHENTICATED, NOT_FOUND. */
export async function revokeSession(context: IdempotentContext, { id }: { id: string }): Promise<void> {
  const { actor, database } = context
  assertUserMay(actor, 'session:end')
  const uuid = uuidFrom(id, 'session', 'Session')
  await once(context, 'revokeSession', { uuid }, async () => {
    const { id: user, address } = actor
    const subject = toId('session', uuid)
    const parameters = { user, session: uuid, subject, address, ...onceParams(context) }
    if ((await database.query(revokeStatement, parameters)).length === 0) throw notFound('Session')
    return user
  })
}

/** Ends all other sessions of the caller, also those of the pages for administrators. Returns the current session. */
export async function revokeOtherSessions(context: IdempotentContext): Promise<Session> {
  const { actor, database } = context
  assertUserMay(actor, 'session:end')
  const { id: user, tokenId: session, address } = actor
  // The idempotency key includes the session, because the same request from another session ends different sessions.
  await once(context, 'revokeOtherSessions', { session }, async () => {
    await database.query(deleteOtherSessions, { user, session, address, ...onceParams(context) })
    return actor.id
  })
  const current = await findSession(context, toId('session', session))
  if (!current) throw authenticationFailed()
  return current
}

/** Ends all sessions and mailed links, after a restore from a backup. Returns the number of ended sessions. */
export async function endAllSessions({ database }: Use<'database'>): Promise<number> {
  let ended = 0
  for (;;) {
    const [batch] = await database.query(endSessions)
    ended += batch!.sessions
    if (batch!.tokens === 0) return ended
  }
}

const sessionIdSql = `type_id('session', inserted_token.id)`

/** Inserts a session if the password is unchanged and the account is active. `hash` is the SHA-256 of the token. */
export const insertToken = statement(
  'account_token_insert',
  {
    parameters: {
      ...{ user: uuid, verifiedHash: text, hash: bytes, name: text, days: int, seed: text },
      ...{ address: orNull(text), ...onceTypes },
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
   ${auditSql({ from: 'inserted_token', user: 'user_id', action: 'session.started', subject: sessionIdSql, address: '$address' })},
   ${onceSql(`${sessionIdSql} || ':' || $seed`, 'inserted_token')}
   select id from inserted_token`,
)

const findLiveToken = statement(
  'account_live_hash',
  { parameters: { hash: bytes }, columns: { id: uuid } },
  `select t.id from access_tokens t join users u on u.id = t.user_id
   where t.hash = $hash and ${isLiveSql} and u.deleted_at is null and u.locked_at is null`,
)

/** The error of a sign-in with a wrong address or password. Does not reveal which of the two was wrong. */
export const incorrectLogin = () =>
  new DomainError('INCORRECT_LOGIN_CREDENTIALS', 'Unable to log in with provided credentials.')

/** Rejects a sign-in before its body is read. Throws THROTTLED. */
export async function assertMaySignIn({ actor, rateLimiter }: Use<'actor' | 'rateLimiter'>): Promise<void> {
  if (actor.kind !== 'system') await rateLimiter.assertAvailable('sign-in', networkOf(actor.address))
}

type LoginContext = Use<'credentials' | 'database' | 'meter' | 'passwords' | 'semaphores'>

/** Returns the account of an address and a password. Throws INCORRECT_LOGIN_CREDENTIALS, THROTTLED, UNAVAILABLE. */
export async function checkLogin(context: LoginContext, { email, password }: { email: string; password: string }) {
  const found = await context.credentials.findPassword(email)
  const account = found ? { user: found.id, passwordHash: found.password_hash } : { email }
  if (!(await checkPassword(context, { account, password, isSignedIn: false })) || !found) throw incorrectLogin()
  return found
}

type SignInContext = LoginContext & IdempotentContext & Use<'config' | 'rateLimiter' | 'vault'>

/** Derives the token from a random seed, so that a retry gets the same token. Callers store up to 40 hex digits. */
const tokenOf = ({ vault, idempotency }: SignInContext, seed: string) =>
  newSecret(vault.derive('access-token'), seed, idempotency.key, 20).toString('hex')

/** Starts a session. Returns its access token. Throws IDEMPOTENCY_KEY_REUSED for a retry after the session has ended. */
export async function signIn(context: SignInContext, rawInput: SignInInput): Promise<string> {
  const { actor, config, database, idempotency, rateLimiter } = context
  assertMay(actor, 'session:create')
  const { email, password, name } = parse(signInInput, rawInput)
  if (actor.kind !== 'system') await rateLimiter.consume('sign-in', networkOf(actor.address))
  const account = await checkLogin(context, { email, password })
  if (account.is_locked)
    throw new DomainError('AUTHENTICATION_FAILED', 'This account is locked. Contact the operator of the service.')
  if (config.emailVerification === 'required' && !account.email_verified)
    throw new DomainError(
      'EMAIL_NOT_VERIFIED',
      'Verify your e-mail address first. Open the link in the mail that was sent to it.',
    )
  idempotency.isSecret = true
  let newToken: string | undefined
  const result = await once(context, 'signIn', { email, user: account.id, name }, async () => {
    const seed = randomUUID()
    const token = tokenOf(context, seed)
    const [session] = await database.query(insertToken, {
      ...{ user: account.id, verifiedHash: account.password_hash, hash: sha256(token), seed },
      ...{ name: name ?? '', days: config.accessTokenDays, address: auditorOf(actor).address },
      ...onceParams(context),
    })
    if (!session) throw incorrectLogin()
    newToken = token
    return seed
  })
  if (newToken !== undefined) return newToken
  // The stored result is the ID of the session, a colon and the seed.
  const token = tokenOf(context, result.split(':').at(-1)!)
  const [live] = await database.query(findLiveToken, { hash: sha256(token) })
  if (!live) throw resultNoLongerExists('its session has ended')
  return token
}

export async function signOut({ actor, database }: Reader): Promise<void> {
  assertUser(actor)
  const { id: user, tokenId: session, address } = actor
  const parameters = { user, session, subject: toId('session', session), address, scope: null, payloadHash: null }
  await database.query(signOutStatement, parameters)
}

// Sessions of the pages for administrators. They are not access tokens, and access tokens are not valid for the pages.

/** SQL of a session `s` that has not ended: not after 30 minutes without a request, nor after 8 hours. */
const isOpenSql = `s.created_at > now() - interval '8 hours' and s.last_used_at > now() - interval '30 minutes'`
// A session stores the digest of the password hash, so that it ends when the password changes.
const digestSql = (passwordHash: string) => `sha256(convert_to(${passwordHash}, 'UTF8'))`

/** Inserts a session, and deletes ended sessions. No row: the password or the role of the user changed. */
const insertAdminSession = statement(
  'admin_session_insert',
  { parameters: { user: uuid, verifiedHash: text, hash: bytes, address: orNull(text) }, columns: { id: uuid } },
  `with locked_user as materialized (
     select id, password_hash from users
     where id = $user and password_hash = $verifiedHash and role = 'ADMIN' and deleted_at is null and locked_at is null for share
   ),
   deleted_sessions as (delete from admin_sessions s where not (${isOpenSql})),
   inserted_session as (
     insert into admin_sessions (user_id, hash, password_digest)
     select id, $hash, ${digestSql('password_hash')} from locked_user returning id, user_id
   ),
   ${auditSql({ from: 'inserted_session', user: 'user_id', action: 'admin-session.started', address: '$address' })}
   select id from inserted_session`,
)

/** Finds the administrator of a session, and records its use at most once per minute. */
const useAdminSession = statement(
  'admin_session_use',
  { parameters: { hash: bytes }, columns: { signed_in: json<SessionUser>() } },
  `with session as materialized (
     select s.id, s.user_id, s.last_used_at from admin_sessions s join users u on u.id = s.user_id
     where s.hash = $hash and ${isOpenSql} and u.role = 'ADMIN' and u.deleted_at is null and u.locked_at is null
       and s.password_digest = ${digestSql('u.password_hash')}
   ),
   used_session as (
     update admin_sessions s set last_used_at = now() from session
     where s.id = session.id and session.last_used_at < now() - interval '1 minute'
   )
   select ${sessionUserSql('session.id')} as signed_in
   from session join users u on u.id = session.user_id join wallets w on w.user_id = u.id`,
)

const deleteAdminSession = statement(
  'admin_session_delete',
  { parameters: { session: uuid, address: text } },
  `with deleted_session as (delete from admin_sessions where id = $session returning user_id),
   ${auditSql({ from: 'deleted_session', user: 'user_id', action: 'admin-session.ended', address: '$address' })}
   select`,
)

/** Starts a session for an administrator. Returns its secret. Throws the error of a wrong password for other users. */
export async function startAdminSession(
  context: LoginContext & Use<'rateLimiter'>,
  address: string,
  rawInput: SignInInput,
): Promise<string> {
  const input = parse(signInInput, rawInput)
  await context.rateLimiter.consume('sign-in', networkOf(address))
  const { id: user, password_hash: verifiedHash } = await checkLogin(context, input)
  const secret = randomBytes(32).toString('base64url')
  const parameters = { user, verifiedHash, hash: sha256(secret), address }
  if ((await context.database.query(insertAdminSession, parameters)).length === 0) throw incorrectLogin()
  return secret
}

/** Returns the administrator of a session. Returns an anonymous actor if the session ended. Throws THROTTLED. */
export async function authenticateAdmin(
  { database, requestQuota }: Use<'database' | 'requestQuota'>,
  secret: string | undefined,
  address: string,
): Promise<Exclude<Actor, { kind: 'system' }>> {
  const origin = { address, service: undefined }
  const [found] = secret === undefined ? [] : await database.query(useAdminSession, { hash: sha256(secret) })
  const actor = found ? actorOf(found.signed_in, origin) : { kind: 'anonymous' as const, ...origin }
  await requestQuota.consume(actor, 1)
  return actor
}

/** Checks the password of an administrator again before a dangerous operation. Throws VALIDATION_FAILED, THROTTLED. */
export async function confirmAdminPassword(context: OwnPasswordContext & Use<'actor'>, password: string) {
  assertUser(context.actor)
  await checkOwnPassword(context, context.actor, password)
}

export async function endAdminSession({ actor, database }: Reader): Promise<void> {
  assertUser(actor)
  await database.query(deleteAdminSession, { session: actor.tokenId, address: actor.address })
}
