/**
 * Thumbnails of registered pictures: made by a job, kept in the content store, pinned like the file. So they are as private
 * as the file and go with it.
 */
import { type ContentStore, type Database, type Log, type PictureMaker, statement } from '../ports.ts'
import { type ItemRow, isAwakeSql } from '../sweep/sweep.ts'
import { createSweeper } from '../sweep/sweeper.ts'
import { askForThumbnailSql, mayBePictureSql } from './thumbnail-sql.ts'

/** A job of the queue `thumbnail`. */
export interface ThumbnailJob {
  /** UUID. */
  assetId: string
}

/** Pixels, of the longer side. */
const SIDE = 512
/** A larger file is read by nobody's decoder in reasonable time. */
const MAX_BYTES = 50_000_000

/** Once it is deleted there is no row. $1 asset, $2 thumbnail. */
const keepThumbnail = statement<never>(
  'thumbnail_keep',
  `with changed as (
     update assets set thumbnail_cid = $2 where id = $1::uuid and deleted_at is null returning id
   )
   insert into pins (cid, asset_id, kind) select $2, id, 'THUMBNAIL' from changed on conflict do nothing`,
)

/** The only page of a sweep: the newest assets that were never asked for. */
const findUnasked = statement<ItemRow>(
  'thumbnail_unasked',
  `select id::text as item, id::text as place from assets
   where not thumbnail_asked and deleted_at is null and id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     and ${isAwakeSql('ask-for-thumbnails', 'id::text')}
   order by id desc limit $2`,
)

/** Puts these into the queue: $1. */
const askForMore = statement<{ items: string[]; jobs: number }>(
  'thumbnail_ask',
  `with due as (
     select id, mime_type from assets where id = any ($1::uuid[]) and not thumbnail_asked and deleted_at is null
     for no key update skip locked
   ),
   asked as (
     update assets a set thumbnail_asked = true from due where a.id = due.id
   ),
   queued as materialized (
     select ${askForThumbnailSql('id')} from due where ${mayBePictureSql('mime_type')}
   )
   select array(select id::text from due) as items, (select count(*) from queued)::int as jobs`,
)

/** Assets asked for at once: so few that the queue never grows long. */
const PAGE = 100

interface Dependencies {
  database: Database
  contentStore: ContentStore
  pictures: PictureMaker
  log: Pick<Log, 'error'>
}

export type ThumbnailService = ReturnType<typeof createThumbnailService>

export function createThumbnailService({ database, contentStore, pictures, log }: Dependencies) {
  const sweeper = createSweeper({ database, log })
  return {
    /** Carries out a job of the queue `thumbnail`; of what is no picture nothing is made. Raises UNAVAILABLE. */
    async handle({ assetId }: ThumbnailJob): Promise<void> {
      const select = { nid: true, fileSize: true }
      const asset = await database.read.asset.findFirst({ select, where: { id: assetId, deletedAt: null } })
      if (!asset || asset.fileSize > MAX_BYTES) return
      const [thumbnail] = (await pictures.make(contentStore.read(asset.nid), [SIDE])) ?? []
      if (!thumbnail) return
      const cid = await contentStore.putDocument(thumbnail)
      await database.query(keepThumbnail, [assetId, cid])
    },

    /** Asks for thumbnails of assets that are older than they; to be called now and then. */
    async sweep(): Promise<void> {
      await sweeper.run({
        name: 'ask-for-thumbnails',
        find: findUnasked,
        page: PAGE,
        mostPages: 1,
        carryOut: async (query, assets) => ({ items: (await query(askForMore, [assets]))[0]?.items ?? [] }),
      })
    },
  }
}
