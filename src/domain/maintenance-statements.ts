/** What the tidying of every hour asks of the database. */
import { boolean, int, statement, text } from './sql.ts'

/** The CIDs that assets need, in order, a page at a time. */
export const nextPins = statement(
  'pins_after',
  { parameters: { after: text, limit: int }, columns: { cid: text } },
  'select distinct cid from pins where cid > $after order by cid limit $limit',
)

/** Whether an asset needs it. */
export const isPinned = statement(
  'pins_has',
  { parameters: { cid: text }, columns: { found: boolean } },
  'select exists (select from pins where cid = $cid) as found',
)
