import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'

export const insertApiKey = statement<{ id: string }>(
  'api_key_insert',
  `with made as (
     insert into api_keys (id, name, prefix, hash) values ($1::uuid, $2, $3, $4::bytea) returning id
   ),
   ${rememberSql('$5', '$6', 'made.id::text', 'made')}
   select id from made`,
)

/** A key that was revoked before keeps its time. */
export const revokeApiKey = statement<{ id: string }>(
  'api_key_revoke',
  `with revoked as (
     update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1::uuid returning id
   ),
   ${rememberSql('$2', '$3', 'revoked.id::text', 'revoked')}
   select id from revoked`,
)
