/** Share links to the pages of private assets. The signature of a link is not stored. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { arrayOf, boolean, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import * as idempotent from '../../shared/idempotency.ts'
import { canonicalNid, fromId, toId, uuidFrom } from '../../shared/ids.ts'
import { label, parse } from '../../shared/input.ts'
import { cursorUuid, type Search, searchPatterns } from '../../shared/lists.ts'
import { type Actor, assertMayOnAsset, assertUserMay } from '../../shared/policy.ts'
import type { StatementPage } from '../wallet/statement.ts'

const { onceParams, once, resultNoLongerExists, onceTypes, onceSql } = idempotent

type Reader = Use<'actor' | 'database' | 'assetLinkKey'>
type Writer = idempotent.IdempotentContext & Use<'assetLinkKey'>

/** Maximum number of links per asset, including recently ended ones. Concurrent requests can exceed it slightly. */
const MAX_LINKS = 200
/** Number of days after which a new link of the asset deletes ended links. */
export const ENDED_DAYS = 30
const DEFAULT_DAYS = 7
export const MAX_LINK_DAYS = 366
const DAY_MS = 86_400_000
export const LINK_LABEL_LENGTH = 100

const linkInput = z.strictObject({
  expiresAt: z.date({ error: 'Expected a time such as 2026-11-21T09:30:00Z.' }).optional(),
  label: label(LINK_LABEL_LENGTH).default(''),
})

/** A link as the owner of the asset sees it. `path`: path and query of the page, which are a secret. */
export type AssetLink = Omit<LinkRow, 'assetId' | 'ownerId' | 'nid'> & { path: string }

export const assetPagePath = (nid: string) => `/assets/${nid}`

/**
 * Creates a link to the page of the caller's asset. It is valid for seven days by default. Throws NOT_FOUND,
 * ASSET_WRITE_PERMISSION_DENIED, VALIDATION_FAILED, and IDEMPOTENCY_KEY_REUSED for a retry whose link was revoked.
 */
export async function createAssetLink(
  context: Writer,
  { id, ...fields }: { id: string; expiresAt?: Date | undefined; label?: string | undefined },
): Promise<AssetLink> {
  const { actor, database, idempotency } = context
  assertUserMay(actor, 'asset:update')
  const input = parse(linkInput, fields)
  const nid = canonicalNid(id) ?? id
  idempotency.isSecret = true
  const result = await once(context, 'createAssetLink', { nid, ...input }, async () => {
    const { id: asset, now } = await findOwnAsset(context, nid)
    const expiresAt = expiryOf(now, input.expiresAt)
    const params = { asset, label: input.label, expiresAt, ...onceParams(context) }
    const [created] = await database.query(createLink, params)
    if (!created) throw notFound('Asset')
    if (created.result !== null) return created.result
    const problem = `An asset has at most ${MAX_LINKS} links, including those that ended in the last ${ENDED_DAYS} days.`
    throw validationFailed({ id: [problem] })
  })
  const link = await findAssetLink(context, result.split(' ')[1]!)
  if (!link || link.revokedAt) throw resultNoLongerExists('the link was revoked')
  return link
}

/** Throws NOT_FOUND. */
export async function revokeAssetLink(context: Writer, { id }: { id: string }): Promise<AssetLink> {
  const { actor, database, idempotency } = context
  assertUserMay(actor, 'asset:update')
  const uuid = uuidFrom(id, 'link', 'Link')
  await once(context, 'revokeAssetLink', { uuid }, async () => {
    const [revoked] = await database.query(revokeLink, { link: uuid, user: actor.id, ...onceParams(context) })
    if (!revoked) throw notFound('Link')
    return revoked.result
  })
  const link = await findAssetLink(context, uuid)
  if (!link) throw idempotency.replayed ? resultNoLongerExists('the asset was deleted') : notFound('Link')
  return link
}

/** Revokes all links of the caller's asset. Returns the nid. Throws NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED. */
export async function revokeAssetLinks(context: Writer, { id }: { id: string }): Promise<string> {
  const { actor, database } = context
  assertUserMay(actor, 'asset:update')
  const nid = canonicalNid(id) ?? id
  return once(context, 'revokeAssetLinks', { nid }, async () => {
    const { id: asset } = await findOwnAsset(context, nid)
    const [revoked] = await database.query(revokeLinks, { asset, ...onceParams(context) })
    if (!revoked) throw notFound('Asset')
    return revoked.nid
  })
}

/** Returns a link of the caller by its UUID, or null. */
export async function findAssetLink(context: Reader, link: string): Promise<AssetLink | null> {
  const { actor, database } = context
  if (actor.kind !== 'user') return null
  const [row] = await database.query(readLink, { link, user: actor.id })
  return row ? present(context, row) : null
}

/** Lists the links of an asset, newest first. The caller checks the owner. Throws VALIDATION_FAILED. */
export async function listAssetLinks(
  context: Reader,
  asset: string,
  { limit, offset = 0, search, inverted = false, ...cursors }: StatementPage,
): Promise<AssetLink[]> {
  const after = cursorUuid('after', cursors.after, 'link')
  const before = cursorUuid('before', cursors.before, 'link')
  const rows = await context.database.query(readLinks, { asset, patterns: searchPatterns(search) })
  // Link IDs are ordered by creation time.
  const found = rows.filter(({ id }) => (after === null || id < after) && (before === null || id > before))
  const ordered = inverted ? found.toReversed() : found
  return ordered.slice(offset, offset + limit).map((row) => present(context, row))
}

export const countAssetLinks = async ({ database }: Use<'database'>, asset: string, search: Search): Promise<number> =>
  (await database.query(readLinks, { asset, patterns: searchPatterns(search) })).length

/** Returns the actor for reads of an asset: the system if `query` has a valid link, otherwise the caller. */
export async function readerByLink(context: Reader, id: string, query: URLSearchParams): Promise<Actor> {
  const { actor, database } = context
  const link = fromId(query.get('link') ?? '', 'link')?.uuid
  const signature = query.get('signature')
  const nid = canonicalNid(id)
  if (link === undefined || signature === null || nid === undefined || actor.kind === 'system') return actor
  const [found] = await database.query(findUsableLink, { nid, link })
  if (!found || !equals(Buffer.from(signature), Buffer.from(signatureOf(context, link, found)))) return actor
  if (!found.isRecorded) await database.query(recordLinkUse, { link })
  return { kind: 'system', guest: actor }
}

/** Returns the caller's own asset and the database time. Throws NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED. */
async function findOwnAsset({ actor, database }: Reader, id: string) {
  const nid = canonicalNid(id)
  const [asset] = nid === undefined ? [] : await database.query(findLinkedAsset, { nid })
  assertMayOnAsset(actor, 'asset:update', asset)
  return asset
}

function present(context: Reader, { assetId, ownerId, nid, ...row }: LinkRow): AssetLink {
  const signature = signatureOf(context, row.id, { assetId, ownerId })
  const query = new URLSearchParams({ link: toId('link', row.id), signature })
  return { ...row, path: `${assetPagePath(nid)}?${query}` }
}

type Linked = Pick<LinkRow, 'assetId' | 'ownerId'>

const signatureOf = ({ assetLinkKey }: Use<'assetLinkKey'>, link: string, { assetId, ownerId }: Linked) =>
  createHmac('sha256', assetLinkKey).update(['link', link, assetId, ownerId].join('\n')).digest('base64url')

const equals = (given: Buffer, expected: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)

const wholeSeconds = (time: Date) => new Date(time).setMilliseconds(0)

/** Returns the expiry time in whole seconds. Throws VALIDATION_FAILED if it is out of range. */
function expiryOf(now: Date, expiresAt: Date | undefined): Date {
  const from = wholeSeconds(now)
  const expires = expiresAt ? wholeSeconds(expiresAt) : from + DEFAULT_DAYS * DAY_MS
  if (expires > from && expires <= from + MAX_LINK_DAYS * DAY_MS) return new Date(expires)
  throw validationFailed({ expiresAt: [`Ensure this time is within the next ${MAX_LINK_DAYS} days.`] })
}

const columns = {
  ...{ id: uuid, assetId: uuid, nid: text, ownerId: uuid, label: text, createdAt: timestamp, expiresAt: timestamp },
  ...{ revokedAt: orNull(timestamp), lastUsedAt: orNull(timestamp) },
}
type LinkRow = RowOf<typeof columns>

const selectSql = `select l.id, l.asset_id as "assetId", a.nid, a.owner_id as "ownerId", l.label, l.created_at as "createdAt",
    l.expires_at as "expiresAt", l.revoked_at as "revokedAt", l.last_used_at as "lastUsedAt"
  from asset_links l join assets a on a.id = l.asset_id`

const readLink = statement(
  'asset_link_read',
  { parameters: { link: uuid, user: uuid }, columns },
  `${selectSql} where l.id = $link and a.owner_id = $user and a.deleted_at is null`,
)

const readLinks = statement(
  'asset_link_list',
  { parameters: { asset: uuid, patterns: arrayOf(text) }, columns, isList: true },
  `${selectSql} where l.asset_id = $asset and l.label ilike all ($patterns) order by l.id desc`,
)

/** SQL of the stored result of an idempotency key. It contains the nid, because the link can be deleted. */
const resultSql = (asset: string, link: string) => `${asset}.nid || ' ' || ${link}.id`

/** Creates a link. `result` is null if the asset has too many links. Returns no row if the asset was deleted. */
export const createLink = statement(
  'asset_link_create',
  { parameters: { asset: uuid, label: text, expiresAt: timestamp, ...onceTypes }, columns: { result: orNull(text) } },
  `with locked_asset as (
     select id, nid from assets where id = $asset and deleted_at is null for no key update
   ),
   deleted_links as (
     delete from asset_links l using locked_asset
     where l.asset_id = locked_asset.id
       and least(l.expires_at, l.revoked_at) < now() - interval '${ENDED_DAYS} days' returning l.id
   ),
   inserted_link as (
     insert into asset_links (asset_id, label, expires_at)
     select id, $label, $expiresAt from locked_asset
     where (select count(*) from asset_links l where l.asset_id = locked_asset.id) - (select count(*) from deleted_links) < ${MAX_LINKS}
     returning id
   ),
   new_result as (select ${resultSql('locked_asset', 'inserted_link')} as result from locked_asset, inserted_link),
   ${onceSql('result', 'new_result')}
   select (select result from new_result) as result from locked_asset`,
)

/** A second revocation keeps the time of the first one. */
const revokeLink = statement(
  'asset_link_revoke',
  { parameters: { link: uuid, user: uuid, ...onceTypes }, columns: { result: text } },
  `with updated_link as (
     update asset_links l set revoked_at = coalesce(l.revoked_at, now()) from assets a
     where l.id = $link and a.id = l.asset_id and a.owner_id = $user and a.deleted_at is null
     returning ${resultSql('a', 'l')} as result
   ),
   ${onceSql('result', 'updated_link')}
   select result from updated_link`,
)

const revokeLinks = statement(
  'asset_link_revoke_all',
  { parameters: { asset: uuid, ...onceTypes }, columns: { nid: text } },
  `with locked_asset as (
     select id, nid from assets where id = $asset and deleted_at is null for no key update
   ),
   updated_links as (
     update asset_links l set revoked_at = now() from locked_asset
     where l.asset_id = locked_asset.id and l.revoked_at is null and l.expires_at > now()
   ),
   ${onceSql('nid', 'locked_asset')}
   select nid from locked_asset`,
)

/** The caller must check the signature. `isRecorded`: true if the link was used in this hour. */
const findUsableLink = statement(
  'asset_link_find_usable',
  { parameters: { nid: text, link: uuid }, columns: { assetId: uuid, ownerId: uuid, isRecorded: boolean } },
  `select a.id as "assetId", a.owner_id as "ownerId",
     l.last_used_at is not distinct from date_trunc('hour', now(), 'UTC') as "isRecorded"
   from asset_links l join assets a on a.id = l.asset_id join users u on u.id = a.owner_id
   where l.id = $link and a.nid = $nid and a.deleted_at is null and u.locked_at is null and l.revoked_at is null
     and l.expires_at > clock_timestamp()`,
)

const recordLinkUse = statement(
  'asset_link_use',
  { parameters: { link: uuid } },
  `update asset_links set last_used_at = date_trunc('hour', now(), 'UTC') where id = $link`,
)

const findLinkedAsset = statement(
  'asset_link_find_asset',
  { parameters: { nid: text }, columns: { id: uuid, ownerId: uuid, publicAccess: boolean, now: timestamp } },
  `select id, owner_id as "ownerId", public_access as "publicAccess", clock_timestamp()::timestamptz(3) as now
   from assets where nid = $nid and deleted_at is null`,
)
