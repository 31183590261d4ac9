/** Links by which strangers read a private asset's page. Contract: `createAssetLink`, `POST /api/v3/assets/{nid}/links/`. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '../actor.ts'
import { notFound, validationFailed } from '../errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext, outlived } from '../idempotency.ts'
import { isNid } from '../ids.ts'
import { parse } from '../input.ts'
import { assertMayOnAsset, assertUserMay } from '../policy.ts'
import type { Database } from '../ports.ts'
import { findLinkFacts, type LinkFacts, revokeLinks } from './link-statements.ts'

/** Whoever has the address reads the page until then. */
export interface AssetLink {
  url: string
  expiresAt: Date
}

interface Dependencies {
  database: Database
  idempotency: Idempotency
  /** 32 bytes, the same in all processes of an installation. */
  key: Uint8Array
  publicUrl: string
}

const DAY_SECONDS = 86_400
const DEFAULT_DAYS = 7
/** How far ahead a link may end. */
export const MOST_LINK_DAYS = 366

const linkInput = z.strictObject({
  expiresAt: z.date({ error: 'Expected a moment such as 2026-11-21T09:30:00Z.' }).optional(),
})

const secondsOf = (moment: Date) => Math.floor(moment.getTime() / 1_000)

/** Seconds since 1970. Raises VALIDATION_FAILED for an end that is not ahead, or too far. */
function expiryOf(now: Date, wanted: Date | undefined): number {
  const from = secondsOf(now)
  if (!wanted) return from + DEFAULT_DAYS * DAY_SECONDS
  const expires = secondsOf(wanted)
  if (expires > from && expires <= from + MOST_LINK_DAYS * DAY_SECONDS) return expires
  throw validationFailed({ expiresAt: [`Ensure this moment is within the next ${MOST_LINK_DAYS} days.`] })
}

/**
 * Makes links, knows them again and ends them. A link is signed and nowhere stored: it is bound to the registration, its owner, the
 * moment at which it ends, and the generation that counts for the asset; a new generation ends all earlier links.
 */
export function createLinkService({ database, idempotency, key, publicUrl }: Dependencies) {
  const secret = createSecretKey(key)
  const signatureOf = ({ id, ownerId, generation }: LinkFacts, expires: number) =>
    createHmac('sha256', secret).update([id, ownerId, generation, expires].join('\n')).digest('base64url')

  async function find(nid: string): Promise<LinkFacts | undefined> {
    if (!isNid(nid)) return undefined
    const [facts] = await database.query(findLinkFacts, { nid })
    return facts
  }

  /** What links to one's own asset are made from. */
  async function findOwn(actor: Actor, nid: string): Promise<LinkFacts> {
    const facts = await find(nid)
    assertMayOnAsset(actor, 'asset:update', facts)
    return facts
  }

  const pageOf = (nid: string) => `${publicUrl}/assets/${nid}`

  return {
    /** Where a person reads about an asset, if they may see it. */
    pageOf,

    /**
     * A link to the page of one's own asset, good for seven days when nothing else is said. Raises NOT_AUTHENTICATED, NOT_FOUND,
     * ASSET_WRITE_PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED for a retry whose link was ended.
     */
    async create(
      actor: Actor,
      { nid, ...rawInput }: { nid: string; expiresAt?: Date | undefined },
      context: IdempotencyContext,
    ): Promise<AssetLink> {
      assertUserMay(actor, 'asset:update')
      const input = parse(linkInput, rawInput)
      context.isSecret = true
      const made = await idempotency.once(actor, context, 'createAssetLink', { nid, ...input }, async () => {
        const { generation, now } = await findOwn(actor, nid)
        const result = `${nid} ${generation} ${expiryOf(now, input.expiresAt)}`
        await idempotency.remember(context, result)
        return result
      })
      const [generation, expires] = made.split(' ').slice(1).map(Number) as [number, number]
      const facts = await findOwn(actor, nid)
      if (generation !== facts.generation) throw outlived('the links to the asset were ended')
      const query = new URLSearchParams({ expires: String(expires), signature: signatureOf(facts, expires) })
      return { url: `${pageOf(nid)}?${query}`, expiresAt: new Date(expires * 1_000) }
    },

    /** Ends all links to one's own asset. Raises NOT_AUTHENTICATED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED. */
    async revoke(actor: Actor, nid: string, context: IdempotencyContext): Promise<string> {
      assertUserMay(actor, 'asset:update')
      return idempotency.once(actor, context, 'revokeAssetLinks', { nid }, async () => {
        const { id: asset } = await findOwn(actor, nid)
        const [revoked] = await database.query(revokeLinks, { asset, ...fingerprintOf(context) })
        if (!revoked) throw notFound('Asset')
        return revoked.nid
      })
    },

    /** As whom a request reads an asset: as the system when it came with a link that is good, else as the actor it is. */
    async readerOf(actor: Actor, nid: string, query: URLSearchParams): Promise<Actor> {
      const given = query.get('signature')
      const expires = Number(query.get('expires'))
      if (given === null || !Number.isSafeInteger(expires)) return actor
      const facts = await find(nid)
      if (!facts?.isOpen || expires <= secondsOf(facts.now)) return actor
      const [one, other] = [Buffer.from(given), Buffer.from(signatureOf(facts, expires))]
      return one.length === other.length && timingSafeEqual(one, other) ? { kind: 'system' } : actor
    },
  }
}
