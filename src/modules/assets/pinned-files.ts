/** Pins: the files, trees, thumbnails and signed copies of assets that the content store must keep. */
import type { Use } from '../../context.ts'
import { type Finding, findingOf, MOST_ROWS } from '../../db/database-types.ts'
import { int, type RowOf, statement, text, textOf, uuid } from '../../db/sql.ts'
import { keysetPages } from '../../shared/async.ts'
import { NIL_UUID } from '../../shared/ids.ts'

const kind = textOf<'FILE' | 'TREE' | 'THUMBNAIL' | 'C2PA'>('pin_kind')
const pinColumns = { cid: text, asset_id: uuid, kind, nid: text }
type PinRow = RowOf<typeof pinColumns>

const nextPins = statement(
  'pins_next',
  { parameters: { cid: text, asset: uuid, limit: int }, columns: pinColumns },
  `select p.cid, p.asset_id, p.kind, a.nid from pins p join assets a on a.id = p.asset_id
   where (p.cid, p.asset_id) > ($cid, $asset) order by p.cid, p.asset_id limit $limit`,
)

const findTree = statement(
  'pins_find_tree',
  { parameters: { cid: text, asset: uuid }, columns: { tree: text } },
  `select tree from commits where tree_cid = $cid and asset_id = $asset and tree <> '' limit 1`,
)

const requestThumbnail = statement(
  'pins_request_thumbnail',
  { parameters: { asset: uuid } },
  'update assets set thumbnail_requested = false where id = $asset and deleted_at is null',
)

const unpinSigned = statement(
  'pins_unpin_signed',
  { parameters: { asset: uuid, cid: text } },
  `with deleted_pin as (delete from pins where asset_id = $asset and cid = $cid and kind = 'C2PA')
   update assets set c2pa_cid = null, c2pa_version = null where id = $asset and c2pa_cid = $cid`,
)

type Stores = Use<'contentStore' | 'database'>

/** Yields pins whose files are incomplete. Throws UNAVAILABLE. */
async function* findIncomplete({ database, contentStore }: Stores): AsyncGenerator<PinRow> {
  let complete = ''
  const pages = keysetPages({
    first: { cid: '', asset: NIL_UUID },
    limit: 500,
    read: (after, limit) => database.query(nextPins, { ...after, limit }),
    keyOf: (row) => ({ cid: row.cid, asset: row.asset_id }),
  })
  for await (const rows of pages) {
    for (const row of rows) {
      if (row.cid === complete) continue
      if (await contentStore.isWhole(row.cid)) complete = row.cid
      else yield row
    }
  }
}

const describePin = ({ nid, kind, cid }: PinRow) => ({ subject: nid, kind: kind.toLowerCase(), cid })

export async function checkFiles(parts: Stores): Promise<Finding> {
  const rows: object[] = []
  for await (const row of findIncomplete(parts)) if (rows.push(describePin(row)) > MOST_ROWS) break
  return findingOf(
    'B1',
    'The file store has every file, tree, thumbnail and signed copy of an asset. To repair trees and thumbnails, run annal repair. To repair a file, restore newer blocks or upload the file again.',
    rows,
  )
}

/**
 * Restores files from the database. `signed`: number of unpinned signed copies, which the next request creates again.
 * `missing`: files that cannot be restored. Throws UNAVAILABLE, INSUFFICIENT_STORAGE.
 */
export async function repairFiles({ database, contentStore }: Stores) {
  const repairs = { trees: 0, thumbnails: 0, signed: 0, missing: [] as object[] }
  for await (const row of findIncomplete({ database, contentStore })) {
    const [commit] = row.kind === 'TREE' ? await database.query(findTree, { cid: row.cid, asset: row.asset_id }) : []
    const tree = commit && Buffer.from(commit.tree)
    if (tree && contentStore.identify(tree).cid === row.cid) {
      await contentStore.putDocument(tree)
      repairs.trees += 1
    } else if (row.kind === 'THUMBNAIL' && (await contentStore.isWhole(row.nid))) {
      await database.query(requestThumbnail, { asset: row.asset_id })
      repairs.thumbnails += 1
    } else if (row.kind === 'C2PA') {
      await database.query(unpinSigned, { asset: row.asset_id, cid: row.cid })
      repairs.signed += 1
    } else repairs.missing.push(describePin(row))
  }
  return repairs
}

/** Finds the oldest and the newest 50 files. A content store without any of them is the wrong one. */
export const findSampleFiles = statement(
  'asset_sample_files',
  { parameters: {}, columns: { nid: text } },
  `(select nid from assets where deleted_at is null order by id limit 50)
   union
   (select nid from assets where deleted_at is null order by id desc limit 50)`,
)

/**
 * Stores a file and returns the result of `pin`. A garbage collection that started before the pin removes blocks older
 * than its grace period. If storing and pinning take half of that period, the file is stored again to renew its blocks.
 */
export async function storeAndPin<Stored, Result>(
  { config, log }: Use<'config' | 'log'>,
  store: () => Promise<Stored>,
  pin: (stored: Stored) => Promise<Result>,
): Promise<Result> {
  const start = Date.now()
  const result = await pin(await store())
  const seconds = Math.abs(Date.now() - start) / 1_000
  if (seconds >= config.files.garbageGraceSeconds / 2) {
    // The request has succeeded, because the file is pinned. So an error is only logged.
    const message = 'Failed to store a file again after a slow upload; "annal check" (B1) shows whether it is complete'
    await store().catch((err: unknown) => log.error({ err, seconds }, message))
  }
  return result
}
