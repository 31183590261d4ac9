/** What is forgotten once its time is over. Each: a page of a sweep, and what is done with it ($1). */
import { statement } from './ports.ts'
import { type ItemRow, isAwakeSql, placeSql } from './sweep/sweep.ts'

interface ItemsRow {
  item: string
}

const byEnd = placeSql('expires_at', 'id')

export const findEndedTokens = statement<ItemRow>(
  'token_ended',
  `select id::text as item, ${byEnd.place} as place from access_tokens
   where expires_at < now() and ${byEnd.isAfter} and ${isAwakeSql('forget-tokens', 'id::text')}
   order by expires_at, id limit $2`,
)

export const forgetTokens = statement<ItemsRow>(
  'token_sweep',
  'delete from access_tokens where id = any ($1::uuid[]) and expires_at < now() returning id::text as item',
)

export const nextPins = statement<{ cid: string }>(
  'pins_after',
  'select distinct cid from pins where cid > $1 order by cid limit 1000',
)

/** Whether an asset needs it: $1. */
export const isPinned = statement<{ found: boolean }>(
  'pins_has',
  'select exists (select from pins where cid = $1) as found',
)
