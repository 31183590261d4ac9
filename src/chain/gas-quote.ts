/** Computes the gas fee of a commit from recent gas and current prices. One coin is one currency unit. */

import type { Database } from '../db/database-types.ts'
import { keyValueKeys } from '../db/key-value-store.ts'
import { boolean, int, statement, text } from '../db/sql.ts'
import { fromUnits, toUnits } from '../shared/money.ts'
import type { Registry } from './registry/registry.ts'
import { type FeeMarket, larger, smaller } from './transaction.ts'
import { readView } from './view.ts'

export type GasQuote = ReturnType<typeof createGasQuote>
/** Assumed gas of a commit until a real one is known: the gas of a transaction with one registration. */
const USUAL_GAS = 110_000n

const readQuote = statement(
  'gas_quote_read',
  { columns: { fee: text, fresh: boolean } },
  `select split_part(value, ' ', 1) as fee, split_part(value, ' ', 2)::timestamptz > now() - interval '30 seconds' as fresh
   from key_values where key = '${keyValueKeys.gasQuote}'`,
)
const writeQuote = statement(
  'gas_quote_write',
  { parameters: { fee: text } },
  `insert into key_values (key, value) values ('${keyValueKeys.gasQuote}', $fee || ' ' || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
   on conflict (key) do update set value = excluded.value`,
)
const readGas = statement(
  'gas_quote_gas',
  { columns: { gas: int } },
  `select coalesce(ceil(avg(gas_used)), 0)::int as gas
   from (select gas_used from commit_relays order by commit_id desc limit 1000) newest where gas_used is not null`,
)

/** Computes the fee for `gas` in wei, rounded up to two digits. Keeps a previous fee that differs by at most 10 %. */
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

/** Creates the gas quote. It returns `first` until it has read the fee from the database. */
export function createGasQuote(
  database: Database,
  registry: Registry,
  bounds: { least: string; most: string; first: string },
) {
  const limits = { least: toUnits(bounds.least), most: toUnits(bounds.most) }
  let current = larger(limits.least, smaller(limits.most, toUnits(bounds.first)))
  return {
    current: (): string => fromUnits(current),
    /** Updates the fee if it is older than 30 seconds. If it throws UNAVAILABLE, the previous fee stays. */
    async look(): Promise<void> {
      const [known] = await database.query(readQuote)
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
