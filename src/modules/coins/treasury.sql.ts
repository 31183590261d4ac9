/** What is remembered of treasuries: which ones there were, with what past, and whether the chain counts more of one than the books. */
import { settingKeys } from '../../db/key-value-store.ts'
import { arrayOf, boolean, int, numeric, statement, text } from '../../db/sql.ts'

/** Under which a treasury stands of which the chain counts transactions that the books do not know. */
const IN_DOUBT = `'${settingKeys.treasuryInDoubt}'`
/** Whether no withdrawal may have been paid that the books have waiting. */
export const isTreasuryCertainSql = `not exists (select from settings where key = ${IN_DOUBT})`

/** Remembers whether the chain counts transactions of a treasury that the books do not know. */
export const doubtTreasury = statement(
  'coins_doubt_treasury',
  { parameters: { address: text, doubted: boolean } },
  `with certain as (delete from settings where key = ${IN_DOUBT} and not $doubted)
   insert into settings (key, value) select ${IN_DOUBT}, $address where $doubted on conflict (key) do nothing`,
)

/** The beginning of the settings of treasuries. */
const TREASURY = `'${settingKeys.treasury}'`

/** Every treasury that was ever looked at, with the nonces that were signed for there, and how many transactions it had sent then. */
export const findNotedTreasuries = statement(
  'coins_noted_treasuries',
  { columns: { address: text, nonces: arrayOf(int), first: int } },
  `select address, array(select m.nonce from coin_moves m where m.sender = address order by m.nonce) as nonces, first
   from (select substr(key, length(${TREASURY}) + 1) as address, value::int as first from settings where key like ${TREASURY} || '%') noted
   order by address`,
)

/** Notes how many transactions a treasury had sent when it was first looked at; none where another one was looked at before. The first note stays. */
export const noteTreasury = statement(
  'coins_note_treasury',
  { parameters: { address: text, count: int }, columns: { first: int } },
  `with inserted_setting as (
     insert into settings (key, value)
     select ${TREASURY} || $address, case when exists (select from settings where key like ${TREASURY} || '%') then 0 else $count end::text
     on conflict (key) do nothing returning value
   )
   select value::int as first from inserted_setting union all select value::int from settings where key = ${TREASURY} || $address limit 1`,
)

/** Treasuries but the present one, with what was gathered there and was not moved from there. */
export const findEarlierTreasuries = statement(
  'coins_earlier_treasuries',
  { parameters: { current: text }, columns: { address: text, held: numeric } },
  `select address, held from (
     select g.recipient as address, sum(g.arrived)
       - coalesce((select sum(coalesce(m.arrived + m.fee, m.amount)) from coin_moves m where m.sender = g.recipient), 0) as held
     from coin_moves g where g.kind = 'GATHERING' and g.status = 'FINAL' and g.recipient <> $current group by g.recipient
   ) earlier where held > 0 order by address`,
)
