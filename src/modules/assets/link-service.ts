/** Links by which strangers read a private asset's page. Contract: `createAssetLink`, `Asset.links`, `/api/v3/assets/{nid}/links/`. */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext, outlived } from '../../shared/idempotency.ts'
import { canonicalNid, fromId, toId, uuidFrom } from '../../shared/ids.ts'
import { label, parse } from '../../shared/input.ts'
import { cursorUuid, type Search, searchPatterns } from '../../shared/lists.ts'
import { assertMayOnAsset, assertUserMay } from '../../shared/policy.ts'
import type { StatementPage } from '../wallet/statement-service.ts'
import {
  countLinks,
  createLink,
  FORGOTTEN_AFTER_DAYS,
  findGoodLink,
  findLinkFacts,
  type LinkFacts,
  type LinkRow,
  MOST_LINKS,
  noteLinkUse,
  readLink,
  readLinks,
  readLinksUp,
  revokeLink,
  revokeLinks,
} from './asset-links.sql.ts'

/** A link to an asset's page, as the asset's owner sees it. */
export interface AssetLink extends Omit<LinkRow, 'assetId' | 'ownerId' | 'nid'> {
  /** Path and query of the page. Anyone who has them can read the page while the link is valid. */
  path: string
}

interface Dependencies {
  database: Database
  idempotency: Idempotency
  key: KeyObject
}

const DAY_SECONDS = 86_400
const DEFAULT_DAYS = 7
/** How far ahead a link may end. */
export const MOST_LINK_DAYS = 366
/** Characters. */
export const LINK_LABEL_LENGTH = 100

const linkInput = z.strictObject({
  expiresAt: z.date({ error: 'Expected a moment such as 2026-11-21T09:30:00Z.' }).optional(),
  label: label(LINK_LABEL_LENGTH).default(''),
})

const secondsOf = (moment: Date) => Math.floor(moment.getTime() / 1_000)

/** A whole second. Raises VALIDATION_FAILED for an end that is not ahead, or too far. */
function expiryOf(now: Date, wanted: Date | undefined): Date {
  const from = secondsOf(now)
  const expires = wanted ? secondsOf(wanted) : from + DEFAULT_DAYS * DAY_SECONDS
  if (expires > from && expires <= from + MOST_LINK_DAYS * DAY_SECONDS) return new Date(expires * 1_000)
  throw validationFailed({ expiresAt: [`Ensure this moment is within the next ${MOST_LINK_DAYS} days.`] })
}

/**
 * Makes links, lists them, knows them again and ends them. A link is known by its identifier, and good by a signature over that, the
 * registration and its owner, which is kept nowhere. Links from before they had rows carry their end instead of an identifier, and are
 * signed with the generation that counts for the asset; the last of them ends 366 days after the release that brought rows.
 */
export function createLinkService({ database, idempotency, key }: Dependencies) {
  const sign = (...parts: (string | number)[]) => createHmac('sha256', key).update(parts.join('\n')).digest('base64url')
  const isSignedBy = (given: string, right: string) => {
    const [one, other] = [Buffer.from(given), Buffer.from(right)]
    return one.length === other.length && timingSafeEqual(one, other)
  }
  const signatureOf = (link: string, { assetId, ownerId }: { assetId: string; ownerId: string }) =>
    sign('link', link, assetId, ownerId)

  /** Returns the facts of the actor's own asset. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED. */
  async function findOwn(actor: Actor, id: string): Promise<LinkFacts> {
    const nid = canonicalNid(id)
    const [facts] = nid === undefined ? [] : await database.query(findLinkFacts, { nid })
    assertMayOnAsset(actor, 'asset:update', facts)
    return facts
  }

  const pathOf = (nid: string) => `/assets/${nid}`

  function show({ assetId, ownerId, nid, ...row }: LinkRow): AssetLink {
    const query = new URLSearchParams({
      link: toId('link', row.id),
      signature: signatureOf(row.id, { assetId, ownerId }),
    })
    return { ...row, path: `${pathOf(nid)}?${query}` }
  }

  async function find(actor: Actor, uuid: string): Promise<AssetLink | null> {
    if (actor.kind !== 'user') return null
    const [row] = await database.query(readLink, { link: uuid, user: actor.id })
    return row ? show(row) : null
  }

  /** Whether a link with an identifier is good. The hour of its use is noted. */
  async function isGood(nid: string, id: string, signature: string): Promise<boolean> {
    const link = fromId(id, 'link')?.uuid
    const [found] = link === undefined ? [] : await database.query(findGoodLink, { nid, link })
    if (!found || !isSignedBy(signature, signatureOf(link!, found))) return false
    if (!found.isNoted) await database.query(noteLinkUse, { link: link! })
    return true
  }

  /** Whether a link from before they had identifiers is good. */
  async function isGoodWithoutRow(nid: string, expires: number, signature: string): Promise<boolean> {
    if (!Number.isSafeInteger(expires)) return false
    const [facts] = await database.query(findLinkFacts, { nid })
    if (!facts?.isOpen || expires <= secondsOf(facts.now)) return false
    const { id, ownerId, generation } = facts
    return isSignedBy(signature, sign(id, ownerId, generation, expires))
  }

  return {
    /** Returns the path of the page of an asset. */
    pathOf,

    /** A link to an asset of the actor by its UUID; null when there is none. */
    find,

    /** The links to an asset by its UUID, newest first, with those that ended lately. Whether the actor owns it was looked at. Raises VALIDATION_FAILED. */
    async list(
      asset: string,
      { limit, offset = 0, search, after, before, inverted = false }: StatementPage,
    ): Promise<AssetLink[]> {
      const page = {
        asset,
        patterns: searchPatterns(search),
        after: cursorUuid('after', after, 'link'),
        before: cursorUuid('before', before, 'link'),
        limit,
        offset,
      }
      return (await database.query(inverted ? readLinksUp : readLinks, page)).map(show)
    },

    /** How many of those there are. */
    async count(asset: string, search: Search): Promise<number> {
      const [counted] = await database.query(countLinks, { asset, patterns: searchPatterns(search) })
      return counted!.count
    },

    /**
     * A link to the page of one's own asset, good for seven days when nothing else is said. Raises NOT_AUTHENTICATED, NOT_FOUND,
     * ASSET_WRITE_PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED for a retry whose link was ended.
     */
    async create(
      actor: Actor,
      { nid: id, ...rawInput }: { nid: string; expiresAt?: Date | undefined; label?: string | undefined },
      context: IdempotencyContext,
    ): Promise<AssetLink> {
      assertUserMay(actor, 'asset:update')
      const input = parse(linkInput, rawInput)
      const nid = canonicalNid(id) ?? id
      context.isSecret = true
      const made = await idempotency.once(actor, context, 'createAssetLink', { nid, ...input }, async () => {
        const { id: asset, now } = await findOwn(actor, nid)
        const expiresAt = expiryOf(now, input.expiresAt)
        const parameters = { asset, label: input.label, expiresAt, ...fingerprintOf(context) }
        const [created] = await database.query(createLink, parameters)
        if (!created) throw notFound('Asset')
        if (created.result !== null) return created.result
        const kept = `those that ended in the last ${FORGOTTEN_AFTER_DAYS} days among them`
        throw validationFailed({ id: [`An asset has at most ${MOST_LINKS} links, ${kept}.`] })
      })
      const link = await find(actor, made.split(' ')[1]!)
      if (!link || link.revokedAt) throw outlived('the link was ended')
      return link
    },

    /** Ends one link to an asset of the actor by its identifier (`link_…`). Raises NOT_AUTHENTICATED, NOT_FOUND. */
    async revoke(actor: Actor, id: string, context: IdempotencyContext): Promise<AssetLink> {
      assertUserMay(actor, 'asset:update')
      const uuid = uuidFrom(id, 'link', 'Link')
      await idempotency.once(actor, context, 'revokeAssetLink', { uuid }, async () => {
        const [revoked] = await database.query(revokeLink, { link: uuid, user: actor.id, ...fingerprintOf(context) })
        if (!revoked) throw notFound('Link')
        return revoked.result
      })
      const link = await find(actor, uuid)
      if (!link) throw context.replayed ? outlived('the asset was deleted') : notFound('Link')
      return link
    },

    /** Ends all links to one's own asset. Raises NOT_AUTHENTICATED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED. */
    async revokeAll(actor: Actor, id: string, context: IdempotencyContext): Promise<string> {
      assertUserMay(actor, 'asset:update')
      const nid = canonicalNid(id) ?? id
      return idempotency.once(actor, context, 'revokeAssetLinks', { nid }, async () => {
        const { id: asset } = await findOwn(actor, nid)
        const [revoked] = await database.query(revokeLinks, { asset, ...fingerprintOf(context) })
        if (!revoked) throw notFound('Asset')
        return revoked.nid
      })
    },

    /** Returns the actor as whom a request reads an asset: the system if the request has a valid link, or the given actor. */
    async readerOf(actor: Actor, id: string, query: URLSearchParams): Promise<Actor> {
      const [link, signature] = [query.get('link'), query.get('signature')]
      const nid = canonicalNid(id)
      if (signature === null || nid === undefined || actor.kind === 'system') return actor
      const isReader =
        link === null
          ? await isGoodWithoutRow(nid, Number(query.get('expires')), signature)
          : await isGood(nid, link, signature)
      return isReader ? { kind: 'system', guest: actor } : actor
    },
  }
}
