/**
 * Safe retries. A key is written by the very statement that has the effect, so it is finished or absent (invariant I8).
 * What is kept is which thing the effect made; a retry reads that thing again, and the REST door keeps its answer's body.
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Database } from '../db/database-types.ts'
import { boolean, bytes, int, orNull, statement, text } from '../db/sql.ts'
import type { LocalCipher } from '../keys/key-types.ts'
import type { Actor, UserActor } from './actor.ts'
import { DomainError, LostKeyError } from './errors.ts'

const SENDER_BYTES = 16
/** Maximum size of stored responses to free requests of one sender in an hour, in bytes. */
const FREE_ANSWERS_BYTES = 100_000_000
/** Sender of anonymous callers and of the system. */
const nobody = Buffer.alloc(SENDER_BYTES)

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

/** Hashes that identify a request and its input. */
export interface Fingerprint {
  /** UUID of the sender (zeros without an account), followed by a SHA-256 of sender and key. */
  scope: Buffer
  /** HMAC of operation and input. Not a plain hash, because the input may contain a password. */
  payloadHash: Buffer
}

/**
 * Scopes of an earlier version are the digest alone. What is found may stand on this server alone, where somebody cancelled the wait for
 * the synchronous standbys: the message in the write-ahead log has the reading wait for them, too, and all that was written before is
 * then where the message is.
 */
const findKey = statement(
  'idempotency_find',
  { parameters: { scope: bytes }, columns: { scope: bytes, payload_hash: bytes, result: text, answer: orNull(text) } },
  `select scope, payload_hash, result, answer
   from idempotency_keys, pg_logical_emit_message(true, 'annal', left(result, 0))
   where scope in ($scope, substring($scope from ${SENDER_BYTES + 1}))`,
)
/** Keeps a key whose request had nothing to do. No row: it is kept already. */
const rememberKey = statement(
  'idempotency_remember',
  { parameters: { scope: bytes, payloadHash: bytes, result: text }, columns: { kept: boolean } },
  `insert into idempotency_keys (scope, payload_hash, result) values ($scope, $payloadHash, $result)
   on conflict (scope) do nothing returning true as kept`,
)
/** Keeps the sealed answer beside its key. */
const insertAnswer = statement(
  'idempotency_keep',
  { parameters: { scope: bytes, answer: text } },
  'update idempotency_keys set answer = $answer where scope = $scope',
)
/** The same, unless so many bytes of the sender's would be kept that count against `subject` in an hour. */
const insertFreeAnswer = statement(
  'idempotency_keep_free',
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

/** JSON with sorted keys, so that equal inputs have equal digests. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  ) ?? ''

const senderOf = (actor: Pick<UserActor, 'kind' | 'id'> | { kind: 'anonymous' | 'system' }) =>
  actor.kind === 'user' ? Buffer.from(actor.id.replaceAll('-', ''), 'hex') : nobody

/**
 * SQL condition: a user sent the key, signed in or, if the result is their account, before they had one. Keys of other users may name a
 * resource that this user once owned, such as a file that was registered again. `user`: SQL of a UUID.
 */
export const sentBySql = (user: string) => `(
  scope between uuid_send(${user}) and uuid_send(${user}) || decode(repeat('ff', 32), 'hex')
  or (result = ${user}::text
    and (octet_length(scope) = 32 or substring(scope from 1 for ${SENDER_BYTES}) = '\\x${nobody.toString('hex')}'::bytea))
)`

/** Parameter types of a statement with `rememberSql`. */
export const remembered = { scope: orNull(bytes), payloadHash: orNull(bytes) }

const asParameter = (name: string) => `$${name}`

/**
 * The part of a writing statement that keeps the key with its effect. `result`: SQL of what the effect made; `from`: the part that
 * tells the effect happened; `given`: SQL of what the caller gave as that parameter.
 */
export const rememberSql = (result: string, from: string, given: (name: string) => string = asParameter) => `
  inserted_idempotency_key as (
    insert into idempotency_keys (scope, payload_hash, result)
    select ${given('scope')}, ${given('payloadHash')}, ${result} from ${from} where ${given('scope')} is not null)`

const userScope = (actor: UserActor, key: string) => Buffer.concat([senderOf(actor), digest(actor.id, key)])

function scopeOf(actor: Actor, key: string, payloadHash: Buffer): Buffer {
  if (actor.kind === 'user') return userScope(actor, key)
  // Strangers may hit upon the same key: what they send tells them apart.
  const who = actor.kind === 'anonymous' ? [actor.kind, payloadHash.toString('hex')] : [actor.kind]
  return Buffer.concat([senderOf(actor), digest(...who, key)])
}

/** A lock that was waited for too long: with a key, it is that of the same request, still under way. */
const isLocked = (error: unknown) =>
  error instanceof DomainError && error.code === 'CONFLICT' && error.retryAfter !== undefined
const inUse = (cause: unknown) =>
  new DomainError('IDEMPOTENCY_KEY_IN_USE', 'The request with this idempotency key is still being carried out.', {
    retryAfter: 1,
    cause,
  })

/** Raised for a replay that cannot be answered with what the request made, as a secret that is worth nothing any more. `what` became of it. */
export const outlived = (what: string) =>
  new DomainError('IDEMPOTENCY_KEY_REUSED', `This idempotency key was used before, and ${what} since. Use another key.`)

/** Keys of idempotency: `digestKey` hashes requests, `answers` encrypts REST responses. */
export interface IdempotencySecrets {
  digestKey: KeyObject
  /** A response may contain a value that is encrypted everywhere else. */
  answers: LocalCipher
}

/** The parts of a context that `once` and the other functions here need. */
export interface IdempotentContext {
  readonly actor: Actor
  readonly database: Database
  readonly idempotency: IdempotencyContext
  readonly idempotencySecrets: IdempotencySecrets
}

const digestOf = ({ digestKey }: IdempotencySecrets, operation: string, input: unknown) =>
  createHmac('sha256', digestKey).update(`${operation}\n`).update(canonical(input)).digest()

/** Returns the result of an earlier request with this key, and marks this request as its replay. */
async function findResult(
  { database, idempotency }: Pick<IdempotentContext, 'database' | 'idempotency'>,
  fingerprint: Fingerprint,
): Promise<string | undefined> {
  const [row] = await database.query(findKey, { scope: fingerprint.scope })
  if (!row) return undefined
  if (!row.payload_hash.equals(fingerprint.payloadHash)) {
    throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used with another request.')
  }
  idempotency.replayed = true
  return row.result
}

/** Returns whether the user has used this key before, for any request. */
export const isKnownKey = async (
  { database, idempotency: { key } }: Pick<IdempotentContext, 'database' | 'idempotency'>,
  actor: UserActor,
): Promise<boolean> => key !== undefined && (await database.query(findKey, { scope: userScope(actor, key) })).length > 0

/**
 * Runs `work` unless this key was used before. Returns the ID of the result. `work` writes the key with `idempotencyParams(context)` in the
 * statement that has the effect. Throws IDEMPOTENCY_KEY_REUSED if the key was used with a different input.
 */
export async function once(
  context: IdempotentContext,
  operation: string,
  input: unknown,
  work: () => Promise<string>,
): Promise<string> {
  const { actor, idempotency, idempotencySecrets } = context
  if (idempotency.key === undefined) return work()
  const payloadHash = digestOf(idempotencySecrets, operation, input)
  const fingerprint = { scope: scopeOf(actor, idempotency.key, payloadHash), payloadHash }
  idempotency.fingerprint = fingerprint
  const earlier = await findResult(context, fingerprint)
  if (earlier !== undefined) return earlier
  try {
    return await work()
  } catch (error) {
    // A concurrent request with the same key may have caused any error. Its result counts.
    const concurrent = await findResult(context, fingerprint)
    if (concurrent !== undefined) return concurrent
    throw isLocked(error) ? inUse(error) : error
  }
}

/** Parameters of a statement with `rememberSql`. Both are null if the caller sent no key. */
export const idempotencyParams = ({ idempotency: { fingerprint } }: Pick<IdempotentContext, 'idempotency'>) => ({
  scope: fingerprint?.scope ?? null,
  payloadHash: fingerprint?.payloadHash ?? null,
})

/** Stores the key of a request that changed nothing. Returns the stored result, which may be that of a concurrent request. */
export async function remember(
  context: Pick<IdempotentContext, 'database' | 'idempotency'>,
  result: string,
): Promise<string> {
  const { database, idempotency } = context
  const { fingerprint } = idempotency
  idempotency.isFree = true
  if (!fingerprint) return result
  const [written] = await database.query(rememberKey, { ...fingerprint, result })
  const concurrent = written ? undefined : await findResult(context, fingerprint)
  return concurrent ?? result
}

/** Decrypts a stored response. Returns undefined if the key was rotated away: the resource is read again instead. */
function openAnswer(answers: LocalCipher, answer: string, scope: Buffer): unknown {
  try {
    return JSON.parse(answers.open(answer, scope.toString('hex')))
  } catch (error) {
    if (error instanceof LostKeyError) return undefined
    throw error
  }
}

type StoredAnswerContext = Pick<IdempotentContext, 'database' | 'idempotency' | 'idempotencySecrets'>

/** Returns the REST body of the first response to this key, or undefined if it was not stored. */
export async function recallAnswer({
  database,
  idempotency,
  idempotencySecrets,
}: StoredAnswerContext): Promise<unknown> {
  if (!idempotency.fingerprint) return undefined
  const [row] = await database.query(findKey, { scope: idempotency.fingerprint.scope })
  return row?.answer ? openAnswer(idempotencySecrets.answers, row.answer, row.scope) : undefined
}

/** Stores the REST body of a response. Responses to free requests are stored up to 100 MB per sender and hour. */
export async function keepAnswer(
  { database, idempotency, idempotencySecrets }: StoredAnswerContext,
  answer: unknown,
): Promise<void> {
  if (!idempotency.fingerprint || idempotency.isSecret) return
  const { scope } = idempotency.fingerprint
  const stored = { scope, answer: idempotencySecrets.answers.seal(JSON.stringify(answer), scope.toString('hex')) }
  if (!idempotency.isFree) await database.query(insertAnswer, stored)
  else {
    const subject = `free-answers:${scope.subarray(0, SENDER_BYTES).toString('hex')}`
    await database.query(insertFreeAnswer, { ...stored, subject, most: FREE_ANSWERS_BYTES })
  }
}

/** Creates the secrets from a 32-byte key. */
export const createIdempotencySecrets = (key: Uint8Array, answers: LocalCipher): IdempotencySecrets => ({
  digestKey: createSecretKey(key),
  answers,
})
