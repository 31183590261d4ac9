/** Thumbnails of registered pictures. A thumbnail is pinned, visible and deleted like its file. */
import type { Use } from '../../context.ts'
import { arrayOf, int, statement, text, uuid } from '../../db/sql.ts'
import { createBatchJobRunner, findItemsSql, pageShape } from '../../jobs/batch-jobs.ts'
import { enqueueSql, type JobData } from '../../jobs/queues.ts'
import { readHead } from './file-blocks.ts'
import { hasThumbnail } from './file-types.ts'
import { storeAndPin } from './pinned-files.ts'
import { fileJob } from './register-asset.ts'

/** Length of the longer side of a thumbnail, in pixels. */
const SIDE = 512
/** Maximum file size for thumbnails, in bytes. Decoding larger files takes too long. */
const MAX_BYTES = 50_000_000

const pinThumbnail = statement(
  'thumbnail_pin',
  { parameters: { asset: uuid, cid: text } },
  `with updated_asset as (
     update assets set thumbnail_cid = $cid where id = $asset and deleted_at is null returning id
   )
   insert into pins (cid, asset_id, kind) select $cid, id, 'THUMBNAIL' from updated_asset on conflict do nothing`,
)

const findMissing = statement(
  'thumbnail_find_unrequested',
  pageShape,
  findItemsSql('request-thumbnails', 'id::text', 'assets', 'not thumbnail_requested and deleted_at is null', 'id desc'),
)

const enqueueThumbnails = statement(
  'thumbnail_request',
  { parameters: { assets: arrayOf(uuid) }, columns: { items: arrayOf(text), jobs: int } },
  `with locked_assets as (
     select id, owner_id, mime_type from assets where id = any ($assets) and not thumbnail_requested and deleted_at is null
     for no key update skip locked
   ),
   updated_assets as (
     update assets a set thumbnail_requested = true from locked_assets where a.id = locked_assets.id
   ),
   ${enqueueSql('enqueued_jobs', fileJob('thumbnail', { from: 'locked_assets', mimeType: 'mime_type', owner: 'owner_id' }))}
   select array(select id::text from locked_assets) as items, (select count(*) from enqueued_jobs)::int as jobs`,
)

/** Skips files of unsupported types. Throws UNAVAILABLE. */
export async function makeThumbnail(
  context: Use<'config' | 'contentStore' | 'database' | 'log' | 'pictures'>,
  { assetId }: JobData['thumbnail'],
): Promise<void> {
  const { contentStore, database, pictures } = context
  const select = { nid: true, fileSize: true }
  const asset = await database.read.asset.findFirst({ select, where: { id: assetId, deletedAt: null } })
  if (!asset || asset.fileSize > MAX_BYTES) return
  if (!hasThumbnail(await readHead(contentStore, asset.nid))) return
  const [thumbnail] = (await pictures.make(contentStore.read(asset.nid), [SIDE])) ?? []
  if (!thumbnail) return
  await storeAndPin(
    context,
    () => contentStore.putDocument(thumbnail),
    (cid) => database.query(pinThumbnail, { asset: assetId, cid }),
  )
}

/** Enqueues thumbnail jobs for files that were registered before Annal made thumbnails, newest first. */
export async function requestThumbnails({ database, log }: Use<'database' | 'log'>): Promise<void> {
  await createBatchJobRunner({ database, log }).run({
    name: 'request-thumbnails',
    find: (query, page) => query(findMissing, page),
    // The queue stays short.
    page: 100,
    maxPages: 1,
    process: async (query, assets) => ({ items: (await query(enqueueThumbnails, { assets }))[0]?.items ?? [] }),
  })
}
