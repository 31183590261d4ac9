import { bytes, statement, text, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'

/** Keeps a new key by its hash, with an entry in the trail. `subject`: the key as callers see it. */
export const insertApiKey = statement(
  'api_key_insert',
  {
    parameters: { key: uuid, name: text, prefix: text, hash: bytes, subject: text, ...remembered, ...audited },
    columns: { id: uuid },
  },
  `with inserted_api_key as (
     insert into api_keys (id, name, prefix, hash) values ($key, $name, $prefix, $hash) returning id
   ),
   ${auditSql({ from: 'inserted_api_key', user: '$actor', action: 'api-key.issued', subject: '$subject', address: '$address' })},
   ${rememberSql('inserted_api_key.id::text', 'inserted_api_key')}
   select id from inserted_api_key`,
)

/** A key that was revoked before keeps its time. `subject`: the key as callers see it. */
export const revokeApiKey = statement(
  'api_key_revoke',
  { parameters: { key: uuid, subject: text, ...remembered, ...audited }, columns: { id: uuid } },
  `with revoked_api_key as (
     update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $key returning id
   ),
   ${auditSql({ from: 'revoked_api_key', user: '$actor', action: 'api-key.revoked', subject: '$subject', address: '$address' })},
   ${rememberSql('revoked_api_key.id::text', 'revoked_api_key')}
   select id from revoked_api_key`,
)
