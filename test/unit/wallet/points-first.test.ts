import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pointsFirstSql } from '../../../src/modules/wallet/ledger-sql.ts'
import { quoteOf } from '../../../src/modules/wallet/quote.ts'
import { add, formatAmount, fromUnits } from '../../../src/shared/money.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const SEED = 28
const ONE = 10n ** 18n
const amount = fc
  .oneof(fc.constantFrom(0n, 1n, ONE - 1n, ONE), fc.bigInt(0n, 3n * ONE), fc.bigInt(0n, 10n ** 37n))
  .map(fromUnits)
const wallet = fc.record({ points: amount, num: amount, price: amount, gas: amount })

const split = pointsFirstSql('points', 'price + gas')
const splitsSql = `
  select ${split.points}::text as points, ${split.num}::text as num
  from unnest($1::numeric(38, 18)[], $2::numeric(38, 18)[], $3::numeric(38, 18)[])
    with ordinality as item (points, price, gas, position)
  order by position`

it('a quote splits points and currency exactly like a charge, for random wallets', async () => {
  const { client } = await createOwnDatabase()
  const cases = fc.sample(wallet, { seed: SEED, numRuns: 2_000 })
  const values = [cases.map(({ points }) => points), cases.map(({ price }) => price), cases.map(({ gas }) => gas)]
  const { rows } = await client.query<{ points: string; num: string }>(splitsSql, values)
  const charged = rows.map(({ points, num }) => ({ points: formatAmount(points), num: formatAmount(num) }))
  const quoted = cases.map(({ points, num, price, gas }) => {
    const quote = quoteOf({ price, gas }, { points, num })
    // A wallet that cannot pay is not charged. The quote counts the missing amount as currency units.
    return { points: quote.pointsCharged, num: add(quote.numCharged, quote.missing) }
  })
  expect(charged).toEqual(quoted)
})
