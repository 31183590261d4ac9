/**
 * What a commit is charged for gas, where that follows the chain: what commits took lately, at what gas costs now. One coin is one
 * currency unit, as for deposits, so wei are the smallest part of a unit. All processes charge the same: what one found out stands
 * in the database.
 */

import type { Database } from '../db/database-types.ts'
import { settingKeys } from '../db/key-value-store.ts'
import { boolean, int, statement, text } from '../db/sql.ts'
import { fromUnits, toUnits } from '../shared/money.ts'
import { type FeeMarket, larger, smaller } from './fees.ts'
import type { Registry } from './registry/registry.ts'
import { readView } from './view.ts'

/** Between which amounts it moves, as decimal strings in currency units, and where it begins. */
export interface GasQuoteBounds {
  least: string
  most: string
  first: string
}

/** What commits are charged for gas at this moment. */
export interface GasQuote {
  /** As a decimal string in currency units. */
  current(): string
  /** Looks what gas costs, when nobody did lately. Raises UNAVAILABLE; what was charged before is charged on. */
  look(): Promise<void>
}

/** Gas of a commit while none of ours is known: a registration alone in its transaction. */
const USUAL_GAS = 110_000n
/** Seconds for which what was found out holds. */
const VALID_SECONDS = 30

/** What was found out last, and whether it holds still. */
const readQuote = statement(
  'gas_quote_read',
  { parameters: { validity: int }, columns: { fee: text, fresh: boolean } },
  `select split_part(value, ' ', 1) as fee,
     split_part(value, ' ', 2)::timestamptz > now() - $validity * interval '1 second' as fresh
   from settings where key = '${settingKeys.gasQuote}'`,
)
/** What is charged from now on. */
const writeQuote = statement(
  'gas_quote_write',
  { parameters: { fee: text } },
  `insert into settings (key, value) values ('${settingKeys.gasQuote}', $fee || ' ' || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
   on conflict (key) do update set value = excluded.value`,
)
/** Of the newest commits; what was not told, as of old ones, does not count. */
const readGas = statement(
  'gas_quote_gas',
  { columns: { gas: int } },
  `select coalesce(ceil(avg(gas_used)), 0)::int as gas
   from (select gas_used from commit_relays order by commit_id desc limit 1000) newest where gas_used is not null`,
)

/**
 * The charge for so much gas, in units of 10^-18: rounded up to two digits, and the one before as long as it is within a tenth of that, so that
 * quotes hold while the market only trembles.
 */
export const quoteGas = (
  gas: bigint,
  { nextBaseFee, tip }: FeeMarket,
  { least, most }: { least: bigint; most: bigint },
  before: bigint,
): bigint => {
  const exact = gas * (nextBaseFee + tip)
  const step = 10n ** BigInt(Math.max(exact.toString().length - 2, 0))
  const fee = larger(least, smaller(most, ((exact + step - 1n) / step) * step))
  const isClose = larger(fee, before) - smaller(fee, before) <= fee / 10n
  return isClose && before >= least && before <= most ? before : fee
}

/** A quote that begins with `first`, or with what the database has. */
export function createGasQuote(database: Database, registry: Registry, bounds: GasQuoteBounds): GasQuote {
  const limits = { least: toUnits(bounds.least), most: toUnits(bounds.most) }
  let current = larger(limits.least, smaller(limits.most, toUnits(bounds.first)))
  return {
    current: () => fromUnits(current),
    async look() {
      const [known] = await database.query(readQuote, { validity: VALID_SECONDS })
      if (known) current = larger(limits.least, smaller(limits.most, toUnits(known.fee)))
      if (known?.fresh) return
      const [row] = await database.query(readGas)
      const view = await readView(registry.rpc, [])
      await registry.assertChain(view.chainId)
      current = quoteGas(BigInt(row?.gas || USUAL_GAS), view, limits, current)
      await database.query(writeQuote, { fee: fromUnits(current) })
    },
  }
}
