/** What is forgotten once its time is over. Each: a page of a sweep, and what is done with it. */
import { arrayOf, boolean, statement, text, uuid } from './sql.ts'
import { isAwakeSql, placeSql, sweepPage } from './sweep/sweep.ts'

const byEnd = placeSql('expires_at', 'id')

/** A page of a sweep: access tokens whose time is over. */
export const findEndedTokens = statement(
  'token_ended',
  sweepPage,
  `select id::text as item, ${byEnd.place} as place from access_tokens
   where expires_at < now() and ${byEnd.isAfter} and ${isAwakeSql('forget-tokens', 'id::text')}
   order by expires_at, id limit $limit`,
)

/** Deletes those of them that still are. */
export const forgetTokens = statement(
  'token_sweep',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  'delete from access_tokens where id = any ($items) and expires_at < now() returning id::text as item',
)

/** The CIDs that assets need, in order, a page at a time. */
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
