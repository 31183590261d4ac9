import { bytes, json, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { SignedInUser } from '../../shared/actor.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { signedInSql } from './accounts.sql.ts'

/** A session ends so long after it began, and so long after it was last used. */
const ABSOLUTE = `interval '8 hours'`
const IDLE = `interval '30 minutes'`

const isOpenSql = (session: string) =>
  `${session}.created_at > now() - ${ABSOLUTE} and ${session}.last_used_at > now() - ${IDLE}`
/** A session is good as long as the password is that which it began with. */
const digestSql = (passwordHash: string) => `sha256(convert_to(${passwordHash}, 'UTF8'))`

/**
 * A session, if the account is an administrator's and its password still the one that was verified. No row: it is not. `hash`:
 * SHA-256 of the secret. Those that have ended are forgotten.
 */
export const insertAdminSession = statement(
  'admin_session_insert',
  {
    parameters: { user: uuid, verifiedHash: text, hash: bytes, address: orNull(text) },
    columns: { id: uuid },
  },
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

/** Whose session a secret opens, by its SHA-256, with the administrator's record; its use is written down to the minute. */
export const useAdminSession = statement(
  'admin_session_use',
  {
    parameters: { hash: bytes },
    columns: { signed_in: json<Omit<SignedInUser, 'createdAt'> & { tokenId: string; createdAt: string }>() },
  },
  `with session as materialized (
     select s.id, s.user_id, s.last_used_at from admin_sessions s join users u on u.id = s.user_id
     where s.hash = $hash and ${isOpenSql('s')} and u.role = 'ADMIN' and u.deleted_at is null and u.locked_at is null
       and s.password_digest = ${digestSql('u.password_hash')}
   ),
   used_session as (
     update admin_sessions s set last_used_at = now() from session
     where s.id = session.id and session.last_used_at < now() - interval '1 minute'
   )
   select ${signedInSql('session.id')} as signed_in
   from session join users u on u.id = session.user_id join wallets w on w.user_id = u.id`,
)

/** Ends a session, with an entry in the trail. */
export const deleteAdminSession = statement(
  'admin_session_delete',
  { parameters: { session: uuid, address: text } },
  `with deleted_session as (delete from admin_sessions where id = $session returning user_id),
   ${auditSql({ from: 'deleted_session', user: 'user_id', action: 'admin-session.ended', address: '$address' })}
   select`,
)
