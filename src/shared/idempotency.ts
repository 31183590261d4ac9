/** The statement with the effect also writes the idempotency key and the ID of the result (invariant I8). */
import { createHash, createHmac, type KeyObject } from 'node:crypto'
import type { Database } from '../db/database-types.ts'
import { boolean, bytes, int, orNull, statement, text } from '../db/sql.ts'
import type { LocalCipher } from '../keys/key-types.ts'
import { DomainError, LostKeyError } from './errors.ts'
import type { Actor, UserActor } from './policy.ts'

const SENDER_BYTES = 16
/** Maximum size of stored responses to free requests of one sender, in bytes per hour. */
const FREE_RESPONSE_BYTES = 100_000_000
const noSender = Buffer.alloc(SENDER_BYTES)

/** The idempotency key of a request. `once` sets the fingerprint. */
export interface IdempotencyContext {
  readonly key: string | undefined
  fingerprint?: Fingerprint
  /** True if the response contains a secret. It is derived again for a retry and never stored. */
  isSecret?: boolean
  /** True if the request costs nothing. Stored responses to such requests are limited per sender. */
  isFree?: boolean
  replayed: boolean
}

interface Fingerprint {
  /** UUID of the sender (zeros without an account), followed by a SHA-256 of sender and key. */
  scope: Buffer
  /** HMAC of operation and input. Not a plain hash, because the input may contain a password. */
  payloadHash: Buffer
}

/** The message in the write-ahead log makes this statement wait for the standbys, so that the key is replicated before use. */
const findKey = statement(
  'idempotency_find',
  { parameters: { scope: bytes }, columns: { payload_hash: bytes, result: text, answer: orNull(text) } },
  `select payload_hash, result, answer
   from idempotency_keys, pg_logical_emit_message(true, 'annal', left(result, 0)) where scope = $scope`,
)
const insertKey = statement(
  'idempotency_insert',
  { parameters: { scope: bytes, payloadHash: bytes, result: text }, columns: { inserted: boolean } },
  `insert into idempotency_keys (scope, payload_hash, result) values ($scope, $payloadHash, $result)
   on conflict (scope) do nothing returning true as inserted`,
)
const insertResponse = statement(
  'idempotency_store_response',
  { parameters: { scope: bytes, answer: text } },
  'update idempotency_keys set answer = $answer where scope = $scope',
)
/** Stores the encrypted response, up to `most` bytes per hour and `subject`. */
const insertFreeResponse = statement(
  'idempotency_store_free_response',
  { parameters: { scope: bytes, answer: text, subject: text, most: int } },
  `with counted as (
     insert into limits as l (key, window_end, count) values ($subject, now() + interval '1 hour', octet_length($answer))
     on conflict (key) do update set
       count = case when l.window_end <= now() then excluded.count else least(l.count, $most) + excluded.count end,
       window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
     returning count
   )
   update idempotency_keys set answer = $answer from counted where scope = $scope and counted.count <= $most`,
)

const digest = (...parts: string[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest()
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  ) ?? ''

/** The result of another user's key can also be a resource of this user, such as a file that was registered again. */
export const sentBySql = (user: string) => `(
  scope between uuid_send(${user}) and uuid_send(${user}) || decode(repeat('ff', 32), 'hex')
  or (result = ${user}::text
    and substring(scope from 1 for ${SENDER_BYTES}) = '\\x${noSender.toString('hex')}'::bytea)
)`

export const onceTypes = { scope: orNull(bytes), payloadHash: orNull(bytes) }

/** CTE that stores the key. `result`: SQL of the result's ID. `from`: CTE with a row if the write had an effect. */
export const onceSql = (result: string, from: string, given = (name: string) => `$${name}`) => `
  inserted_idempotency_key as (
    insert into idempotency_keys (scope, payload_hash, result)
    select ${given('scope')}, ${given('payloadHash')}, ${result} from ${from} where ${given('scope')} is not null)`

const userScope = (actor: UserActor, key: string) =>
  Buffer.concat([Buffer.from(actor.id.replaceAll('-', ''), 'hex'), digest(actor.id, key)])

function scopeOf(actor: Actor, key: string, payloadHash: Buffer): Buffer {
  if (actor.kind === 'user') return userScope(actor, key)
  // Different anonymous callers may choose the same key. Their input distinguishes them.
  const sender = actor.kind === 'anonymous' ? [actor.kind, payloadHash.toString('hex')] : [actor.kind]
  return Buffer.concat([noSender, digest(...sender, key)])
}

/** A lock timed out. With an idempotency key, the first request still holds the lock. */
const isLocked = (error: unknown) =>
  error instanceof DomainError && error.code === 'CONFLICT' && error.retryAfter !== undefined
const inUse = (cause: unknown) =>
  new DomainError('IDEMPOTENCY_KEY_IN_USE', 'The first request with this idempotency key is still running.', {
    retryAfter: 1,
    cause,
  })

/** `what`: the change, such as "its API key was revoked". */
export const resultNoLongerExists = (what: string) =>
  new DomainError('IDEMPOTENCY_KEY_REUSED', `This idempotency key was used before, and ${what} since. Use another key.`)

/** Secrets of idempotency: `digestKey` hashes requests, `answers` encrypts stored REST responses. */
export interface IdempotencySecrets {
  digestKey: KeyObject
  answers: LocalCipher
}

export interface IdempotentContext {
  readonly actor: Actor
  readonly database: Database
  readonly idempotency: IdempotencyContext
  readonly idempotencySecrets: IdempotencySecrets
}

type KeyContext = Pick<IdempotentContext, 'database' | 'idempotency'>
type ResponseContext = Omit<IdempotentContext, 'actor'>

async function findResult({ database, idempotency }: KeyContext, fingerprint: Fingerprint) {
  const [row] = await database.query(findKey, { scope: fingerprint.scope })
  if (!row) return undefined
  if (!row.payload_hash.equals(fingerprint.payloadHash)) {
    throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used with another request.')
  }
  idempotency.replayed = true
  return row.result
}

export const isKnownKey = async ({ database, idempotency: { key } }: KeyContext, actor: UserActor): Promise<boolean> =>
  key !== undefined && (await database.query(findKey, { scope: userScope(actor, key) })).length > 0

/** Runs `work` unless the key was used. Returns the ID of the result. Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE. */
export async function once(
  context: IdempotentContext,
  operation: string,
  input: unknown,
  work: () => Promise<string>,
): Promise<string> {
  const { actor, idempotency, idempotencySecrets } = context
  if (idempotency.key === undefined) return work()
  const { digestKey } = idempotencySecrets
  const payloadHash = createHmac('sha256', digestKey)
    .update(`${operation}\n${canonical(input)}`)
    .digest()
  const fingerprint = { scope: scopeOf(actor, idempotency.key, payloadHash), payloadHash }
  idempotency.fingerprint = fingerprint
  const earlier = await findResult(context, fingerprint)
  if (earlier !== undefined) return earlier
  try {
    return await work()
  } catch (error) {
    // A concurrent request with the same key may have caused the error. Its result is returned.
    const concurrent = await findResult(context, fingerprint)
    if (concurrent !== undefined) return concurrent
    throw isLocked(error) ? inUse(error) : error
  }
}

/** Null if the caller sent no idempotency key. */
export const onceParams = ({ idempotency: { fingerprint } }: Pick<IdempotentContext, 'idempotency'>) => ({
  scope: fingerprint?.scope ?? null,
  payloadHash: fingerprint?.payloadHash ?? null,
})

/** For a request that changed nothing. Returns its result, or that of a concurrent request. */
export async function insertIdempotencyKey(context: KeyContext, result: string): Promise<string> {
  const { fingerprint } = context.idempotency
  context.idempotency.isFree = true
  if (!fingerprint) return result
  const [written] = await context.database.query(insertKey, { ...fingerprint, result })
  return (written ? undefined : await findResult(context, fingerprint)) ?? result
}

/** Returns undefined if the response was not stored. */
export async function findStoredResponse({ database, idempotency, ...context }: ResponseContext): Promise<unknown> {
  if (!idempotency.fingerprint) return undefined
  const { scope } = idempotency.fingerprint
  const [row] = await database.query(findKey, { scope })
  if (!row?.answer) return undefined
  try {
    return JSON.parse(context.idempotencySecrets.answers.open(row.answer, scope.toString('hex')))
  } catch (error) {
    // The encryption key of the stored response was destroyed. The caller reads the resource again.
    if (error instanceof LostKeyError) return undefined
    throw error
  }
}

/** Responses to free requests are stored up to 100 MB per sender and hour. */
export async function storeResponse(context: ResponseContext, answer: unknown): Promise<void> {
  const { database, idempotency, idempotencySecrets } = context
  if (!idempotency.fingerprint || idempotency.isSecret) return
  const { scope } = idempotency.fingerprint
  const stored = { scope, answer: idempotencySecrets.answers.seal(JSON.stringify(answer), scope.toString('hex')) }
  if (!idempotency.isFree) await database.query(insertResponse, stored)
  else {
    const subject = `free-answers:${scope.subarray(0, SENDER_BYTES).toString('hex')}`
    await database.query(insertFreeResponse, { ...stored, subject, most: FREE_RESPONSE_BYTES })
  }
}
