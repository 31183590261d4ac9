/** Keys of trusted services. Contract: `/api/v3/store/api-keys/` and the key parts of the schema. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { ApiKey, Prisma } from '../../db/prisma/client.ts'
import type { KeyVault } from '../../keys/key-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { notFound } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext, outlived } from '../../shared/idempotency.ts'
import { fromId, newUuid, toId, uuidFrom } from '../../shared/ids.ts'
import { parse, requiredDisplayName } from '../../shared/input.ts'
import { type Search, searched } from '../../shared/lists.ts'
import { assertMay, canAdminister } from '../../shared/policy.ts'
import { newSecret, sha256 } from '../../shared/secrets.ts'
import { findApiKeys } from '../accounts/accounts.sql.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { insertApiKey, revokeApiKey } from './api-keys.sql.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type ApiKeyQuery = Omit<Prisma.ApiKeyFindManyArgs, 'where'>

interface Dependencies {
  database: Database
  vault: KeyVault
  idempotency: Idempotency
}

const issueInput = z.strictObject({
  name: requiredDisplayName(100),
})

/** The prefix tells keys apart where they are listed: 8 hex digits. The rest is 192 bits: 32 characters. */
const PREFIX_BYTES = 4
const SECRET_BYTES = 24

const foundBy = (search: Search) =>
  searched<Prisma.ApiKeyWhereInput>(search, (word) => [{ name: word }, { prefix: word }])

/**
 * Keys of trusted services, for administrators. A key is derived, so that a retry is answered with the same one; only its
 * hash is kept.
 */
export function createApiKeyService({ database, vault, idempotency }: Dependencies) {
  const derivationKey = vault.derive('api-key')

  function newKey(id: string, context: IdempotencyContext): string {
    const bytes = newSecret(derivationKey, id, context.key, PREFIX_BYTES + SECRET_BYTES)
    return `${bytes.toString('hex', 0, PREFIX_BYTES)}.${bytes.toString('base64url', PREFIX_BYTES)}`
  }

  /** The key that an earlier request with its key was answered. Raises IDEMPOTENCY_KEY_REUSED. */
  async function replayKey(id: string, context: IdempotencyContext): Promise<string> {
    const key = newKey(id, context)
    const [live] = await database.query(findApiKeys, { hashes: [sha256(key)] })
    if (!live) throw outlived('the key that it made was revoked')
    return key
  }

  /** The key's record by its identifier (`key_…`), or null when there is none that this actor may see. */
  async function find(actor: Actor, id: string, query: ApiKeyQuery = {}): Promise<ApiKey | null> {
    const found = canAdminister(actor) && fromId(id, 'key')
    return found ? database.read.apiKey.findFirst({ ...query, where: { id: found.uuid } }) : null
  }

  /** The key's record by its identifier (`key_…`). Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
  async function get(actor: Actor, id: string, query?: ApiKeyQuery): Promise<ApiKey> {
    assertMay(actor, 'store:administer')
    const key = await find(actor, id, query)
    if (!key) throw notFound('API key')
    return key
  }

  return {
    /**
     * A key for a trusted service, `<8 characters>.<32 characters>`, seen only now, and its record's UUID.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED for a retry whose key was
     * revoked.
     */
    async issue(
      actor: Actor,
      rawInput: z.input<typeof issueInput>,
      context: IdempotencyContext,
    ): Promise<{ id: string; key: string }> {
      assertMay(actor, 'store:administer')
      const input = parse(issueInput, rawInput)
      let key: string | undefined
      context.isSecret = true
      const id = await idempotency.once(actor, context, 'issueApiKey', input, async () => {
        const uuid = newUuid()
        const fresh = newKey(uuid, context)
        const [prefix] = fresh.split('.')
        const [made] = await database.query(insertApiKey, {
          ...{ key: uuid, name: input.name, prefix: prefix!, hash: sha256(fresh), subject: toId('key', uuid) },
          ...fingerprintOf(context),
          ...auditorOf(actor),
        })
        key = fresh
        return made!.id
      })
      return { id, key: key ?? (await replayKey(id, context)) }
    },

    find,
    get,

    /** Records of all keys, also revoked ones, newest first. Raises NOT_AUTHENTICATED, PERMISSION_DENIED. */
    async list(actor: Actor, search?: Search, query: ApiKeyQuery = {}): Promise<ApiKey[]> {
      assertMay(actor, 'store:administer')
      const orderBy: Prisma.ApiKeyOrderByWithRelationInput[] = [{ createdAt: 'desc' }, { id: 'desc' }]
      return database.read.apiKey.findMany({ ...query, orderBy, where: foundBy(search) })
    },

    /** How many `list` would give in all. Raises what `list` raises. */
    async count(actor: Actor, search?: Search): Promise<number> {
      assertMay(actor, 'store:administer')
      return database.read.apiKey.count({ where: foundBy(search) })
    },

    /**
     * Ends a key: the next request that carries it is not trusted. Returns its UUID.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.
     */
    async revoke(actor: Actor, id: string, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(id, 'key', 'API key')
      return idempotency.once(actor, context, 'revokeApiKey', { uuid }, async () => {
        const facts = { key: uuid, subject: toId('key', uuid), ...fingerprintOf(context), ...auditorOf(actor) }
        const [revoked] = await database.query(revokeApiKey, facts)
        if (!revoked) throw notFound('API key')
        return revoked.id
      })
    },
  }
}
