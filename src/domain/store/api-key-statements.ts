import { audited, auditSql } from '../audit/audit-sql.ts'
import { remembered, rememberSql } from '../idempotency.ts'
import { bytes, statement, text, uuid } from '../sql.ts'

/** `subject`: the key as callers see it. */
export const insertApiKey = statement(
  'api_key_insert',
  {
    parameters: { key: uuid, name: text, prefix: text, hash: bytes, subject: text, ...remembered, ...audited },
    columns: { id: uuid },
  },
  `with made as (
     insert into api_keys (id, name, prefix, hash) values ($key, $name, $prefix, $hash) returning id
   ),
   ${auditSql({ name: 'audited', from: 'made', user: '$actor', action: 'api-key.issued', subject: '$subject', address: '$address' })},
   ${rememberSql('made.id::text', 'made')}
   select id from made`,
)

/** A key that was revoked before keeps its time. `subject`: the key as callers see it. */
export const revokeApiKey = statement(
  'api_key_revoke',
  { parameters: { key: uuid, subject: text, ...remembered, ...audited }, columns: { id: uuid } },
  `with revoked as (
     update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $key returning id
   ),
   ${auditSql({ name: 'audited', from: 'revoked', user: '$actor', action: 'api-key.revoked', subject: '$subject', address: '$address' })},
   ${rememberSql('revoked.id::text', 'revoked')}
   select id from revoked`,
)
