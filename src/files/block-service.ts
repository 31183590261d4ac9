/**
 * Blocks of files one by one. Clients of the file network read a file that way and name nothing but the block, so it is known of each
 * whose it is. It is as private as the file.
 */

import type { Database } from '../db/database-types.ts'
import { arrayOf, boolean, int, orNull, statement, text, uuid } from '../db/sql.ts'
import { isOutage } from '../jobs/run-batch-job.ts'
import type { Actor } from '../shared/actor.ts'
import { keysetPages } from '../shared/async.ts'
import { isNid } from '../shared/ids.ts'
import type { OnError } from '../shared/log.ts'
import { visibleAssetsSql } from '../shared/policy.ts'
import type { ContentStore } from './file-types.ts'

/** Files of a page, and assets whose blocks are forgotten at once. */
const PAGE = 100

/** How CIDs of files of several blocks begin: those of `dag-pb`. */
const SEVERAL = 'bafybei'

/** SQL: that the blocks of a pin are not known yet. A tree is one block. */
const isUnlistedSql = `p.cid like '${SEVERAL}%' and p.kind <> 'TREE'
     and not exists (select from asset_blocks b where b.cid = p.cid and b.asset_id = p.asset_id)`

/** The assets that a file is of, and whose blocks of it are not known. */
const findUnlisted = statement(
  'blocks_unlisted',
  { parameters: { cid: text }, columns: { asset: uuid } },
  `select p.asset_id as asset from pins p where p.cid = $cid and ${isUnlistedSql}`,
)

/** A page of files whose blocks are not known. */
const nextUnlisted = statement(
  'blocks_next',
  { parameters: { after: text, limit: int }, columns: { cid: text } },
  `select distinct p.cid from pins p where p.cid > $after and ${isUnlistedSql} order by p.cid limit $limit`,
)

/** Assets that were deleted meanwhile have none. */
const insertBlocks = statement(
  'blocks_insert',
  { parameters: { cids: arrayOf(text), assets: arrayOf(uuid) } },
  `insert into asset_blocks (cid, asset_id)
   select cid, id from unnest($cids) as cid, (
     select id from assets where id = any ($assets) and deleted_at is null order by id for key share
   ) as kept on conflict do nothing`,
)

/**
 * A block of a file of an asset that a reader may see. What is public is found first: answers to it may be shared. The first block of a file
 * with Content Credentials is found as that file, where it is given at all.
 */
const findBlock = statement(
  'block_find',
  { parameters: { cid: text, reader: orNull(uuid) }, columns: { publicAccess: boolean } },
  `select a.public_access as "publicAccess" from asset_blocks b join assets a on a.id = b.asset_id
   where b.cid = $cid and ${visibleAssetsSql}
     and not exists (select from pins p where p.cid = b.cid and p.asset_id = b.asset_id and p.kind = 'C2PA')
   order by a.public_access desc limit 1`,
)

/** Forgets the blocks of some assets that are deleted. */
const forgetBlocks = statement(
  'blocks_forget',
  { parameters: {}, columns: { asset: uuid } },
  `with gone as (
     select a.id from assets a where a.deleted_at is not null
       and exists (select from asset_blocks b where b.asset_id = a.id) limit ${PAGE}
   )
   delete from asset_blocks b using gone where b.asset_id = gone.id returning b.asset_id as asset`,
)

interface Dependencies {
  database: Database
  contentStore: Pick<ContentStore, 'blocksBelow'>
}

/** Tells whose a block is. */
export type BlockService = ReturnType<typeof createBlockService>

/** Makes the service of blocks. */
export function createBlockService({ database, contentStore }: Dependencies) {
  /** Notes the blocks of a file, unless they are known. Raises NOT_FOUND when the file is not whole, UNAVAILABLE. */
  async function list(cid: string): Promise<void> {
    if (!cid.startsWith(SEVERAL)) return
    const assets = await database.query(findUnlisted, { cid })
    if (assets.length === 0) return
    const cids: string[] = []
    for await (const below of contentStore.blocksBelow(cid)) cids.push(below)
    // In one statement with the file's own: once that stands there, all do.
    await database.query(insertBlocks, { cids: [...cids, cid], assets: assets.map(({ asset }) => asset) })
  }

  return {
    list,

    /** Whether a block of an asset's file that this actor may see has this CID, and whether everybody may; else null. */
    async find(actor: Actor, cid: string): Promise<{ publicAccess: boolean } | null> {
      if (!isNid(cid)) return null
      const [block] = await database.query(findBlock, { cid, reader: actor.kind === 'user' ? actor.id : null })
      return block ?? null
    },

    /** Notes the blocks of all files that are not known yet, and forgets those of deleted assets. Raises UNAVAILABLE. */
    async tidy(onError: OnError, cancel?: AbortSignal): Promise<void> {
      while ((await database.query(forgetBlocks, {})).length > 0) cancel?.throwIfAborted()
      const pages = keysetPages({
        first: '',
        limit: PAGE,
        read: (after, limit) => database.query(nextUnlisted, { after, limit }),
        keyOf: ({ cid }) => cid,
      })
      for await (const page of pages) {
        for (const { cid } of page) {
          cancel?.throwIfAborted()
          await list(cid).catch((error: unknown) => {
            if (isOutage(error)) throw error
            onError(cid, error)
          })
        }
      }
    },
  }
}
