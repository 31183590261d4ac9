/** What the content store must keep, and whether it does: files, trees and thumbnails of assets, and files with Content Credentials. */

import type { Database } from '../../db/database-types.ts'
import { type Finding, findingOf, MOST_ROWS } from '../../db/invariants/finding.ts'
import { int, type RowOf, statement, text, textOf, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { keysetPages } from '../../shared/async.ts'
import { NIL_UUID } from '../../shared/ids.ts'

const pinColumns = {
  cid: text,
  asset_id: uuid,
  kind: textOf<'FILE' | 'TREE' | 'THUMBNAIL' | 'C2PA'>('pin_kind'),
  nid: text,
}
type PinRow = RowOf<typeof pinColumns>

/** What assets need, with the asset that needs it, a page at a time. */
const nextPins = statement(
  'kept_pins',
  { parameters: { cid: text, asset: uuid, limit: int }, columns: pinColumns },
  `select p.cid, p.asset_id, p.kind, a.nid from pins p join assets a on a.id = p.asset_id
   where (p.cid, p.asset_id) > ($cid, $asset) order by p.cid, p.asset_id limit $limit`,
)

/** The text of a tree. */
const findTree = statement(
  'kept_tree',
  { parameters: { cid: text, asset: uuid }, columns: { tree: text } },
  `select tree from commits where tree_cid = $cid and asset_id = $asset and tree <> '' limit 1`,
)

/** Has the thumbnail of an asset made anew. */
const askAgain = statement(
  'kept_thumbnail',
  { parameters: { asset: uuid } },
  'update assets set thumbnail_asked = false where id = $asset and deleted_at is null',
)

/** Forgets a file with Content Credentials: whoever asks for it next has it made anew. */
const forgetSigned = statement(
  'kept_c2pa',
  { parameters: { asset: uuid, cid: text } },
  `with deleted_pin as (delete from pins where asset_id = $asset and cid = $cid and kind = 'C2PA')
   update assets set c2pa_cid = null, c2pa_version = null where id = $asset and c2pa_cid = $cid`,
)

const PAGE = 500

interface Dependencies {
  database: Database
  contentStore: ContentStore
}

/** What became of what the content store lacked. */
export interface Mending {
  /** Trees that were put back. */
  trees: number
  /** Thumbnails that a server makes anew. */
  thumbnails: number
  /** Files with Content Credentials that are made anew when somebody asks for them. */
  signed: number
  /** Files, and whatever else cannot be made of what is here. */
  missing: object[]
}

/** What is pinned and not there in whole. Raises UNAVAILABLE. */
async function* findMissing({ database, contentStore }: Dependencies): AsyncGenerator<PinRow> {
  let whole = ''
  const pages = keysetPages({
    first: { cid: '', asset: NIL_UUID },
    limit: PAGE,
    read: (after, limit) => database.query(nextPins, { ...after, limit }),
    keyOf: (row) => ({ cid: row.cid, asset: row.asset_id }),
  })
  for await (const rows of pages) {
    for (const row of rows) {
      if (row.cid === whole) continue
      if (await contentStore.isWhole(row.cid)) whole = row.cid
      else yield row
    }
  }
}

const tell = ({ nid, kind, cid }: PinRow) => ({ subject: nid, kind: kind.toLowerCase(), cid })

/** Told like an invariant. Raises UNAVAILABLE. */
export async function checkFiles(parts: Dependencies): Promise<Finding> {
  const rows: object[] = []
  for await (const row of findMissing(parts)) if (rows.push(tell(row)) > MOST_ROWS) break
  return findingOf(
    'B1',
    'The file store has every file, tree and thumbnail of an asset, and its file with Content Credentials. Files: restore newer blocks, or send the file again. Else: annal mend.',
    rows,
  )
}

/** Puts back what the database can give. May be repeated. Raises UNAVAILABLE, INSUFFICIENT_STORAGE. */
export async function mendFiles({ database, contentStore }: Dependencies): Promise<Mending> {
  const mending: Mending = { trees: 0, thumbnails: 0, signed: 0, missing: [] }
  for await (const row of findMissing({ database, contentStore })) {
    const [commit] = row.kind === 'TREE' ? await database.query(findTree, { cid: row.cid, asset: row.asset_id }) : []
    const isTree = commit && contentStore.identify(Buffer.from(commit.tree)).cid === row.cid
    if (isTree) {
      await contentStore.putDocument(Buffer.from(commit.tree))
      mending.trees += 1
    } else if (row.kind === 'THUMBNAIL' && (await contentStore.isWhole(row.nid))) {
      await database.query(askAgain, { asset: row.asset_id })
      mending.thumbnails += 1
    } else if (row.kind === 'C2PA') {
      await database.query(forgetSigned, { asset: row.asset_id, cid: row.cid })
      mending.signed += 1
    } else mending.missing.push(tell(row))
  }
  return mending
}
