import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'

/** $7: who issues it, $8: the key as callers see it, $9: the address it came from. */
export const insertApiKey = statement<{ id: string }>(
  'api_key_insert',
  `with made as (
     insert into api_keys (id, name, prefix, hash) values ($1::uuid, $2, $3, $4::bytea) returning id
   ),
   ${auditSql({ name: 'audited', from: 'made', user: '$7', action: 'api-key.issued', subject: '$8', address: '$9' })},
   ${rememberSql('$5', '$6', 'made.id::text', 'made')}
   select id from made`,
)

/** A key that was revoked before keeps its time. $4: who revokes it, $5: the key as callers see it, $6: the address it came from. */
export const revokeApiKey = statement<{ id: string }>(
  'api_key_revoke',
  `with revoked as (
     update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1::uuid returning id
   ),
   ${auditSql({ name: 'audited', from: 'revoked', user: '$4', action: 'api-key.revoked', subject: '$5', address: '$6' })},
   ${rememberSql('$2', '$3', 'revoked.id::text', 'revoked')}
   select id from revoked`,
)
