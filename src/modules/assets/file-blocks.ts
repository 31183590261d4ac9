/** Index of file blocks, for clients that read single blocks. A block has the same visibility as its file. */
import { buffer } from 'node:stream/consumers'
import type { Use } from '../../context.ts'
import { arrayOf, boolean, int, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { isOutage } from '../../jobs/batch-jobs.ts'
import { keysetPages } from '../../shared/async.ts'
import { isNid } from '../../shared/ids.ts'
import type { OnError } from '../../shared/log.ts'
import { visibleAssetsSql } from '../../shared/policy.ts'
import { HEAD_BYTES } from './file-types.ts'

type Stores = Use<'contentStore' | 'database'>

const PAGE = 100

/** Prefix of the CIDs of files that consist of several blocks. */
const DAG_PB_PREFIX = 'bafybei'

/** Excludes trees, because a tree has only one block. */
const isUnindexedSql = `p.cid like '${DAG_PB_PREFIX}%' and p.kind <> 'TREE'
     and not exists (select from asset_blocks b where b.cid = p.cid and b.asset_id = p.asset_id)`

const findUnindexed = statement(
  'blocks_find_unindexed',
  { parameters: { cid: text }, columns: { asset: uuid } },
  `select p.asset_id as asset from pins p where p.cid = $cid and ${isUnindexedSql}`,
)

const nextUnindexed = statement(
  'blocks_next_unindexed',
  { parameters: { after: text, limit: int }, columns: { cid: text } },
  `select distinct p.cid from pins p where p.cid > $after and ${isUnindexedSql} order by p.cid limit $limit`,
)

const insertBlocks = statement(
  'blocks_insert',
  { parameters: { cids: arrayOf(text), assets: arrayOf(uuid) } },
  `insert into asset_blocks (cid, asset_id)
   select cid, id from unnest($cids) as cid, (
     select id from assets where id = any ($assets) and deleted_at is null order by id for key share
   ) as undeleted_asset on conflict do nothing`,
)

/** Excludes roots of signed copies, which `findFile` checks. */
const findReadableBlock = statement(
  'block_find',
  { parameters: { cid: text, reader: orNull(uuid) }, columns: { publicAccess: boolean } },
  `select a.public_access as "publicAccess" from asset_blocks b join assets a on a.id = b.asset_id
   where b.cid = $cid and ${visibleAssetsSql}
     and not exists (select from pins p where p.cid = b.cid and p.asset_id = b.asset_id and p.kind = 'C2PA')
   order by a.public_access desc limit 1`,
)

const deleteBlocks = statement(
  'blocks_delete',
  { parameters: {}, columns: { asset: uuid } },
  `with deleted_assets as (
     select a.id from assets a where a.deleted_at is not null
       and exists (select from asset_blocks b where b.asset_id = a.id) limit ${PAGE}
   )
   delete from asset_blocks b using deleted_assets where b.asset_id = deleted_assets.id returning b.asset_id as asset`,
)

export async function indexBlocks({ contentStore, database }: Stores, cid: string) {
  if (!cid.startsWith(DAG_PB_PREFIX)) return
  const assets = await database.query(findUnindexed, { cid })
  if (assets.length === 0) return
  const cids = [cid]
  for await (const below of contentStore.blocksBelow(cid)) cids.push(below)
  // The CID of the file marks the file as indexed, so one statement must insert this CID with the blocks.
  await database.query(insertBlocks, { cids, assets: assets.map(({ asset }) => asset) })
}

/** Returns whether the asset of a block is public. Returns null if the caller may not read the block. */
export async function findBlock({ actor, database }: Use<'actor' | 'database'>, cid: string) {
  if (!isNid(cid)) return null
  const [block] = await database.query(findReadableBlock, { cid, reader: actor.kind === 'user' ? actor.id : null })
  return block ?? null
}

/** Indexes the blocks of all files, and deletes the blocks of deleted assets. Throws UNAVAILABLE. */
export async function updateBlockIndex(context: Stores, onError: OnError, cancel?: AbortSignal): Promise<void> {
  const { database } = context
  while ((await database.query(deleteBlocks, {})).length > 0) cancel?.throwIfAborted()
  const pages = keysetPages({
    first: '',
    limit: PAGE,
    read: (after, limit) => database.query(nextUnindexed, { after, limit }),
    keyOf: ({ cid }) => cid,
  })
  for await (const page of pages) {
    for (const { cid } of page) {
      cancel?.throwIfAborted()
      await indexBlocks(context, cid).catch((error: unknown) => {
        if (isOutage(error)) throw error
        onError(cid, error)
      })
    }
  }
}

/**
 * Finds a pin of an asset that the reader may see, or whose link the reader has. Only the owner gets links to signed
 * copies, so a link needs no permission. Thumbnails and trees come first, because Annal made them. Public files come
 * before private files, because their responses can be cached.
 */
const findPin = statement(
  'asset_pin_find',
  {
    parameters: { cid: text, reader: orNull(uuid), linkedAsset: orNull(uuid) },
    columns: { kind: text, fileName: text, mimeType: text, publicAccess: boolean },
  },
  `select p.kind::text as kind, a.file_name as "fileName", a.mime_type as "mimeType", a.public_access as "publicAccess"
   from pins p join assets a on a.id = p.asset_id join users u on u.id = a.owner_id
     cross join lateral (select a.id is not distinct from $linkedAsset and a.deleted_at is null and u.locked_at is null as is_linked) link
   where p.cid = $cid and (link.is_linked or
     (${visibleAssetsSql} and (p.kind <> 'C2PA' or u.allow_c2pa_download or a.owner_id is not distinct from $reader)))
   order by link.is_linked desc, array_position('{THUMBNAIL,TREE,FILE}', p.kind::text), a.public_access desc, a.id limit 1`,
)

/** Thumbnails and trees get another file name, because the name of the file may be private. */
export async function findFile({ actor, database }: Use<'actor' | 'database'>, cid: string, linkedAsset?: string) {
  if (!isNid(cid)) return null
  const reader = actor.kind === 'user' ? actor.id : null
  const [pin] = await database.query(findPin, { cid, reader, linkedAsset: linkedAsset ?? null })
  if (!pin) return null
  const { kind, ...file } = pin
  if (kind === 'THUMBNAIL') return { ...file, mimeType: 'image/webp', fileName: `${cid}.webp` }
  if (kind === 'TREE') return { ...file, mimeType: 'application/json', fileName: `${cid}.json` }
  return file
}

/** Reads the bytes that identify the type of a file. Throws NOT_FOUND, UNAVAILABLE. */
export const readHead = async ({ read }: Pick<ContentStore, 'read'>, nid: string): Promise<Uint8Array> =>
  buffer(read(nid, { offset: 0, length: HEAD_BYTES }))
