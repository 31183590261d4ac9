/** Public IDs of the items that a batch job could not process, for the log and for operators. */
import { type IdPrefix, toId, UUID } from '../ids.ts'
import type { Database } from '../ports/database.ts'
import { arrayOf, statement, text, uuid } from '../sql.ts'
import type { SweepName } from './sweep.ts'

/** The kind of the items. Items without a kind are hashes, transaction references or file names. */
const kinds: Partial<Record<string, IdPrefix | 'asset'>> = {
  'expire-orders': 'order',
  'ask-for-thumbnails': 'asset',
  'erase-arguments': 'order',
  'erase-arguments-of-deleted': 'order',
  'erase-webhooks-of-deleted': 'app',
  'erase-addresses-of-deleted': 'audit',
  'erase-answers-of-deleted': 'delivery',
  'erase-deleted-assets': 'asset',
  'forfeit-left-over': 'user',
  'forget-tokens': 'session',
  'forget-idle-sessions': 'session',
  'forget-deliveries': 'delivery',
  'forget-events': 'event',
} satisfies Partial<Record<SweepName, IdPrefix | 'asset'>>

const findNids = statement(
  'public_items_nids',
  { parameters: { assets: arrayOf(uuid) }, columns: { id: text, nid: text } },
  'select id::text, nid from assets where id = any ($assets)',
)

/** Returns the rows with public IDs as items. Throws UNAVAILABLE. */
export async function withPublicItems<Row extends { sweep: string; item: string }>(
  { query }: Pick<Database, 'query'>,
  rows: readonly Row[],
): Promise<Row[]> {
  const assets = rows.filter(({ sweep, item }) => kinds[sweep] === 'asset' && UUID.test(item)).map(({ item }) => item)
  const found = assets.length > 0 ? await query(findNids, { assets }) : []
  const nids = new Map(found.map(({ id, nid }) => [id, nid]))
  return rows.map((row) => {
    const kind = kinds[row.sweep]
    if (!kind || !UUID.test(row.item)) return row
    return { ...row, item: kind === 'asset' ? (nids.get(row.item) ?? row.item) : toId(kind, row.item) }
  })
}
