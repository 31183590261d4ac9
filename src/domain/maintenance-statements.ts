/** What the tidying of every hour asks of the database. */
import { NIL_UUID } from './ids.ts'
import { boolean, int, statement, text } from './sql.ts'

/** Forgets until where users had written: replicas that are an hour behind are not read from. That of nobody stays. */
export const forgetPositions = statement(
  'positions_sweep',
  {},
  `delete from read_positions where noted_at < now() - interval '1 hour' and user_id <> '${NIL_UUID}'`,
)

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
