/**
 * Sessions of the pages for administrators. They are not access tokens, and access tokens are not valid for the pages.
 * A session ends after 30 minutes without a request, after 8 hours, and when the password changes.
 */
import { randomBytes } from 'node:crypto'
import type { Use } from '../../context.ts'
import { bytes, json, orNull, statement, text, uuid } from '../../db/sql.ts'
import { sha256 } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { networkOf } from '../../shared/limiters.ts'
import { type Actor, assertUser } from '../../shared/policy.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { signInInput } from './account-input.ts'
import { actorOf, type SessionUser, sessionUserSql } from './authenticate.ts'
import { checkOwnPassword, type OwnPasswordContext } from './check-password.ts'
import { checkLogin, incorrectLogin } from './sessions.ts'

const SECRET_BYTES = 32

const isOpenSql = (session: string) =>
  `${session}.created_at > now() - interval '8 hours' and ${session}.last_used_at > now() - interval '30 minutes'`
// A session stores the digest of the password hash, so that it ends when the password changes.
const digestSql = (passwordHash: string) => `sha256(convert_to(${passwordHash}, 'UTF8'))`

/** Inserts a session, and deletes ended sessions. No row: the password changed, or the user is not an active administrator. */
const insertAdminSession = statement(
  'admin_session_insert',
  { parameters: { user: uuid, verifiedHash: text, hash: bytes, address: orNull(text) }, columns: { id: uuid } },
  `with locked_user as materialized (
     select id, password_hash from users
     where id = $user and password_hash = $verifiedHash and role = 'ADMIN' and deleted_at is null and locked_at is null for share
   ),
   deleted_sessions as (delete from admin_sessions s where not (${isOpenSql('s')})),
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
     where s.hash = $hash and ${isOpenSql('s')} and u.role = 'ADMIN' and u.deleted_at is null and u.locked_at is null
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

type SignInContext = Parameters<typeof checkLogin>[0] & Use<'rateLimiter'>

/** Starts a session for an administrator. Returns its secret. Throws the error of a wrong password for other users. */
export async function startAdminSession(
  context: SignInContext,
  address: string,
  rawInput: { email: string; password: string },
): Promise<string> {
  const input = parse(signInInput, rawInput)
  await context.rateLimiter.consume('sign-in', networkOf(address))
  const { id: user, password_hash: verifiedHash } = await checkLogin(context, input)
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const [session] = await context.database.query(insertAdminSession, {
    user,
    verifiedHash,
    hash: sha256(secret),
    address,
  })
  if (!session) throw incorrectLogin()
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

/**
 * Checks the password of an administrator again before a dangerous operation. Throws the errors of `checkOwnPassword`.
 */
export async function confirmAdminPassword(context: OwnPasswordContext & Use<'actor'>, password: string) {
  assertUser(context.actor)
  await checkOwnPassword(context, context.actor, password)
}

export async function endAdminSession({ actor, database }: Use<'actor' | 'database'>): Promise<void> {
  assertUser(actor)
  await database.query(deleteAdminSession, { session: actor.tokenId, address: actor.address })
}
