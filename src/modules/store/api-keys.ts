/** API keys of trusted services. Only the hash of a key is stored. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { ApiKey, Prisma } from '../../db/prisma/client.ts'
import { bytes, statement, text, uuid } from '../../db/sql.ts'
import { notFound } from '../../shared/errors.ts'
import * as idempotent from '../../shared/idempotency.ts'
import { newSecret, newUuid, sha256, toId, uuidFrom } from '../../shared/ids.ts'
import { parse, requiredDisplayName } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import { assertMay, canAdminister } from '../../shared/policy.ts'
import { findApiKeys } from '../accounts/authenticate.ts'
import { audited, auditorOf, auditSql } from '../audit/audit-sql.ts'

const issueInput = z.strictObject({ name: requiredDisplayName(100) })

/** The prefix identifies a key in lists: 8 hexadecimal digits. The secret part has 192 bits. */
const PREFIX_BYTES = 4
const SECRET_BYTES = 24

/** Parameters of statements that change a key. `subject`: the public ID of the key, for the audit log. */
const keyParameters = { key: uuid, subject: text, ...idempotent.onceTypes, ...audited }

const insertApiKey = statement(
  'api_key_insert',
  { parameters: { ...keyParameters, name: text, prefix: text, hash: bytes }, columns: { id: uuid } },
  `with inserted_api_key as (
     insert into api_keys (id, name, prefix, hash) values ($key, $name, $prefix, $hash) returning id
   ),
   ${auditSql({ from: 'inserted_api_key', user: '$actor', action: 'api-key.issued', subject: '$subject', address: '$address' })},
   ${idempotent.onceSql('inserted_api_key.id::text', 'inserted_api_key')}
   select id from inserted_api_key`,
)

/** Revokes an API key. A repeated revocation does not change the time. */
const revokeStatement = statement(
  'api_key_revoke',
  { parameters: keyParameters, columns: { id: uuid } },
  `with revoked_api_key as (
     update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $key returning id
   ),
   ${auditSql({ from: 'revoked_api_key', user: '$actor', action: 'api-key.revoked', subject: '$subject', address: '$address' })},
   ${idempotent.onceSql('revoked_api_key.id::text', 'revoked_api_key')}
   select id from revoked_api_key`,
)

/** Derives an API key from the idempotency key, so that a retry returns the same API key. */
function newApiKey({ vault, idempotency }: idempotent.IdempotentContext & Use<'vault'>, id: string): string {
  const secret = newSecret(vault.derive('api-key'), id, idempotency.key, PREFIX_BYTES + SECRET_BYTES)
  return `${secret.toString('hex', 0, PREFIX_BYTES)}.${secret.toString('base64url', PREFIX_BYTES)}`
}

/** Returns the API key that the first request created. Throws IDEMPOTENCY_KEY_REUSED if the API key was revoked. */
async function replayApiKey(context: idempotent.IdempotentContext & Use<'vault'>, id: string): Promise<string> {
  const key = newApiKey(context, id)
  const [valid] = await context.database.query(findApiKeys, { hashes: [sha256(key)] })
  if (!valid) throw idempotent.resultNoLongerExists('the API key that was created was revoked')
  return key
}

/**
 * Creates an API key of the form `<8 characters>.<32 characters>`. Returns the key with the UUID of its record. Throws
 * NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED.
 */
export async function issueApiKey(
  context: idempotent.IdempotentContext & Use<'vault'>,
  rawInput: z.input<typeof issueInput>,
): Promise<{ id: string; key: string }> {
  const { actor, database, idempotency } = context
  assertMay(actor, 'store:administer')
  const input = parse(issueInput, rawInput)
  let key: string | undefined
  idempotency.isSecret = true
  const id = await idempotent.once(context, 'issueApiKey', input, async () => {
    const uuid = newUuid()
    const created = newApiKey(context, uuid)
    const [prefix] = created.split('.')
    const [inserted] = await database.query(insertApiKey, {
      ...{ key: uuid, name: input.name, prefix: prefix!, hash: sha256(created), subject: toId('key', uuid) },
      ...idempotent.onceParams(context),
      ...auditorOf(actor),
    })
    key = created
    return inserted!.id
  })
  return { id, key: key ?? (await replayApiKey(context, id)) }
}

/** Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
export async function revokeApiKey(context: idempotent.IdempotentContext, { id }: { id: string }) {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'key', 'API key')
  await idempotent.once(context, 'revokeApiKey', { uuid }, async () => {
    const params = { key: uuid, subject: toId('key', uuid), ...idempotent.onceParams(context), ...auditorOf(actor) }
    const [revoked] = await database.query(revokeStatement, params)
    if (!revoked) throw notFound('API key')
    return revoked.id
  })
  return { id: uuid }
}

/** Reads API keys, including revoked keys, newest first. */
export const apiKeyReader = createReader<ApiKey, Omit<Prisma.ApiKeyFindManyArgs, 'where'>>()({
  ...{ model: 'apiKey', prefix: 'key', label: 'API key', action: 'store:administer' },
  orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  visible: (actor) => (canAdminister(actor) ? {} : undefined),
  where: ({ search }: { search?: Search }): Prisma.ApiKeyWhereInput =>
    searched(search, (word) => [{ name: word }, { prefix: word }]),
})
