/** What is forgotten once its time is over. Each: a page of a sweep, and what is done with it ($1). */
import { statement as positional } from './ports.ts'
import { boolean, statement, text } from './sql.ts'
import { type ItemRow, isAwakeSql, placeSql } from './sweep/sweep.ts'

interface ItemsRow {
  item: string
}

const byEnd = placeSql('expires_at', 'id')

export const findEndedTokens = positional<ItemRow>(
  'token_ended',
  `select id::text as item, ${byEnd.place} as place from access_tokens
   where expires_at < now() and ${byEnd.isAfter} and ${isAwakeSql('forget-tokens', 'id::text')}
   order by expires_at, id limit $2`,
)

export const forgetTokens = positional<ItemsRow>(
  'token_sweep',
  'delete from access_tokens where id = any ($1::uuid[]) and expires_at < now() returning id::text as item',
)

export const nextPins = statement(
  'pins_after',
  { parameters: { after: text }, columns: { cid: text } },
  'select distinct cid from pins where cid > $after order by cid limit 1000',
)

/** Whether an asset needs it. */
export const isPinned = statement(
  'pins_has',
  { parameters: { cid: text }, columns: { found: boolean } },
  'select exists (select from pins where cid = $cid) as found',
)
