import { arrayOf, boolean, int, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { NIL_UUID } from '../../shared/ids.ts'

/** Of one asset, those that ended lately among them: so many a deletion takes with it. Who asks at once may get some more. */
export const MOST_LINKS = 200
/** When one is made, those that ended so long ago are forgotten. */
export const FORGOTTEN_AFTER_DAYS = 30

const columns = {
  ...{ id: uuid, assetId: uuid, nid: text, ownerId: uuid, label: text, createdAt: timestamp, expiresAt: timestamp },
  ...{ revokedAt: orNull(timestamp), lastUsedAt: orNull(timestamp) },
}
/** A link as it is kept. */
export type LinkRow = RowOf<typeof columns>

const columnsSql = `l.id, l.asset_id as "assetId", a.nid, a.owner_id as "ownerId", l.label, l.created_at as "createdAt",
  l.expires_at as "expiresAt", l.revoked_at as "revokedAt", l.last_used_at as "lastUsedAt"`
const fromSql = 'from asset_links l join assets a on a.id = l.asset_id'

/** A link to an asset of this owner. */
export const readLink = statement(
  'asset_link_read',
  { parameters: { link: uuid, user: uuid }, columns },
  `select ${columnsSql} ${fromSql} where l.id = $link and a.owner_id = $user and a.deleted_at is null`,
)

/** Those that are older than `after` and newer than `before`, if given. Identifiers are in the order of time. */
const readPage = (name: string, direction: 'asc' | 'desc') =>
  statement(
    name,
    {
      parameters: {
        ...{ asset: uuid, patterns: arrayOf(text), after: orNull(uuid), before: orNull(uuid) },
        ...{ limit: int, offset: int },
      },
      columns,
      isList: true,
    },
    `select ${columnsSql} ${fromSql}
     where l.asset_id = $asset and l.label ilike all ($patterns) and l.id < coalesce($after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       and l.id > coalesce($before, '${NIL_UUID}')
     order by l.id ${direction} limit $limit offset $offset`,
  )
/** A page of the links to an asset, newest first, with those that have ended. */
export const readLinks = readPage('asset_link_page', 'desc')
/** The same page from the end: oldest first. */
export const readLinksUp = readPage('asset_link_page_up', 'asc')

/** Number of links to an asset that match a search. */
export const countLinks = statement(
  'asset_link_count',
  { parameters: { asset: uuid, patterns: arrayOf(text) }, columns: { count: int }, isList: true },
  'select count(*)::int as count from asset_links where asset_id = $asset and label ilike all ($patterns)',
)

/** What a key is kept with: the nid, which outlasts the link, and the link. */
const resultSql = (asset: string, link: string) => `${asset}.nid || ' ' || ${link}.id`

/** Makes a link. `result` is null when there are too many; no row: the asset was deleted. */
export const createLink = statement(
  'asset_link_create',
  { parameters: { asset: uuid, label: text, expiresAt: timestamp, ...remembered }, columns: { result: orNull(text) } },
  `with locked_asset as (
     select id, nid from assets where id = $asset and deleted_at is null for no key update
   ),
   deleted_links as (
     delete from asset_links l using locked_asset
     where l.asset_id = locked_asset.id
       and least(l.expires_at, l.revoked_at) < now() - interval '${FORGOTTEN_AFTER_DAYS} days' returning l.id
   ),
   inserted_link as (
     insert into asset_links (asset_id, label, expires_at)
     select id, $label, $expiresAt from locked_asset
     where (select count(*) from asset_links l where l.asset_id = locked_asset.id) - (select count(*) from deleted_links) < ${MOST_LINKS}
     returning id
   ),
   made as (select ${resultSql('locked_asset', 'inserted_link')} as result from locked_asset, inserted_link),
   ${rememberSql('result', 'made')}
   select (select result from made) as result from locked_asset`,
)

/** Ends a link to an asset of this owner; one that has ended stays as it is. */
export const revokeLink = statement(
  'asset_link_revoke',
  { parameters: { link: uuid, user: uuid, ...remembered }, columns: { result: text } },
  `with updated_link as (
     update asset_links l set revoked_at = coalesce(l.revoked_at, now()) from assets a
     where l.id = $link and a.id = l.asset_id and a.owner_id = $user and a.deleted_at is null
     returning ${resultSql('a', 'l')} as result
   ),
   ${rememberSql('result', 'updated_link')}
   select result from updated_link`,
)

/** Ends all links to an asset that were made until now. */
export const revokeLinks = statement(
  'asset_link_revoke_all',
  { parameters: { asset: uuid, ...remembered }, columns: { nid: text } },
  `with updated_asset as (
     update assets set link_generation = link_generation + 1 where id = $asset and deleted_at is null returning id, nid
   ),
   updated_links as (
     update asset_links l set revoked_at = now() from updated_asset
     where l.asset_id = updated_asset.id and l.revoked_at is null and l.expires_at > now()
   ),
   ${rememberSql('nid', 'updated_asset')}
   select nid from updated_asset`,
)

/** A link that is good, if its signature is. `isNoted`: whether it is known that it was used in this hour. */
export const findGoodLink = statement(
  'asset_link_good',
  { parameters: { nid: text, link: uuid }, columns: { assetId: uuid, ownerId: uuid, isNoted: boolean } },
  `select a.id as "assetId", a.owner_id as "ownerId",
     l.last_used_at is not distinct from date_trunc('hour', now(), 'UTC') as "isNoted"
   ${fromSql} join users u on u.id = a.owner_id
   where l.id = $link and a.nid = $nid and a.deleted_at is null and u.locked_at is null and l.revoked_at is null
     and l.expires_at > clock_timestamp()`,
)

/** Notes in which hour a link was used. */
export const noteLinkUse = statement(
  'asset_link_use',
  { parameters: { link: uuid } },
  `update asset_links set last_used_at = date_trunc('hour', now(), 'UTC') where id = $link`,
)

const factColumns = {
  ...{ id: uuid, ownerId: uuid, publicAccess: boolean },
  ...{ generation: int, isOpen: boolean, now: timestamp },
}
/** What is asked of an asset when links to it are dealt with. */
export type LinkFacts = RowOf<typeof factColumns>

/** Whose an asset is, which generation of links without rows counts, and what time it is. `isOpen`: whether its owner's account is not locked. */
export const findLinkFacts = statement(
  'asset_link_facts',
  {
    parameters: { nid: text },
    columns: factColumns,
  },
  `select a.id, a.owner_id as "ownerId", a.public_access as "publicAccess", a.link_generation as generation,
     u.locked_at is null as "isOpen", clock_timestamp()::timestamptz(3) as now
   from assets a join users u on u.id = a.owner_id where a.nid = $nid and a.deleted_at is null`,
)
