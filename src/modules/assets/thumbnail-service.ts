/**
 * Thumbnails of registered pictures: made by a job, kept in the content store, pinned like the file. So they are as private
 * as the file and go with it.
 */

import type { Database } from '../../db/database-types.ts'
import { arrayOf, int, statement, text, uuid } from '../../db/sql.ts'
import type { ContentStore, PictureMaker } from '../../files/file-types.ts'
import { isAwakeSql, sweepPage } from '../../jobs/batch-job.ts'
import type { ThumbnailJob } from '../../jobs/queues.ts'
import { createSweeper } from '../../jobs/run-batch-job.ts'
import type { Log } from '../../shared/log.ts'
import { thumbnailJobsSql } from './file-jobs-sql.ts'
import { HEAD_BYTES, hasThumbnail } from './file-types.ts'
import { readHead } from './find-file.ts'
import type { Keep } from './store-and-pin.ts'

/** Pixels, of the longer side. */
const SIDE = 512
/** A larger file is read by nobody's decoder in reasonable time. */
const MAX_BYTES = 50_000_000

/** Once it is deleted there is no row. */
const keepThumbnail = statement(
  'thumbnail_keep',
  { parameters: { asset: uuid, cid: text } },
  `with updated_asset as (
     update assets set thumbnail_cid = $cid where id = $asset and deleted_at is null returning id
   )
   insert into pins (cid, asset_id, kind) select $cid, id, 'THUMBNAIL' from updated_asset on conflict do nothing`,
)

/** The only page of a sweep: the newest assets that were never asked for. */
const findUnasked = statement(
  'thumbnail_unasked',
  sweepPage,
  `select id::text as item, id::text as place from assets
   where not thumbnail_asked and deleted_at is null and id < coalesce($after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     and ${isAwakeSql('ask-for-thumbnails', 'id::text')}
   order by id desc limit $limit`,
)

/** Puts these into the queue. */
const askForMore = statement(
  'thumbnail_ask',
  { parameters: { assets: arrayOf(uuid) }, columns: { items: arrayOf(text), jobs: int } },
  `with locked_assets as (
     select id, owner_id, mime_type from assets where id = any ($assets) and not thumbnail_asked and deleted_at is null
     for no key update skip locked
   ),
   updated_assets as (
     update assets a set thumbnail_asked = true from locked_assets where a.id = locked_assets.id
   ),
   ${thumbnailJobsSql({ from: 'locked_assets', mimeType: 'mime_type', owner: 'owner_id' })}
   select array(select id::text from locked_assets) as items, (select count(*) from enqueued_jobs)::int as jobs`,
)

/** Assets asked for at once: so few that the queue never grows long. */
const PAGE = 100

interface Dependencies {
  database: Database
  contentStore: ContentStore
  pictures: PictureMaker
  keep: Keep
  log: Pick<Log, 'error'>
}

/** Thumbnails: made by jobs that registrations enqueue, and asked for by a sweep for assets from before there were any. */
export function createThumbnailService({ database, contentStore, pictures, keep, log }: Dependencies) {
  const sweeper = createSweeper({ database, log })
  return {
    /** Executes a job of the queue `thumbnail`. Does nothing for files of other types. Raises UNAVAILABLE. */
    async handle({ assetId }: ThumbnailJob): Promise<void> {
      const select = { nid: true, fileSize: true }
      const asset = await database.read.asset.findFirst({ select, where: { id: assetId, deletedAt: null } })
      if (!asset || asset.fileSize > MAX_BYTES) return
      if (!hasThumbnail(await readHead(contentStore, asset.nid, HEAD_BYTES))) return
      const [thumbnail] = (await pictures.make(contentStore.read(asset.nid), [SIDE])) ?? []
      if (!thumbnail) return
      await keep(
        () => contentStore.putDocument(thumbnail),
        (cid) => database.query(keepThumbnail, { asset: assetId, cid }),
      )
    },

    /** Asks for thumbnails of assets that are older than they; to be called now and then. */
    async sweep(): Promise<void> {
      await sweeper.run({
        name: 'ask-for-thumbnails',
        find: (query, part) => query(findUnasked, part),
        page: PAGE,
        mostPages: 1,
        handle: async (query, assets) => ({ items: (await query(askForMore, { assets }))[0]?.items ?? [] }),
      })
    },
  }
}
