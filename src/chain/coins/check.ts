/**
 * Holds the books of coins to the chain, address by address, for `annal check`: what was credited to an address and was not moved from it
 * lies there, and what was gathered lies in the treasury. Everything is read at one block, and nothing is written.
 */
import { keysetPages } from '../../domain/keyset-pages.ts'
import { fromUnits, toUnits } from '../../domain/money.ts'
import type { Database } from '../../domain/ports/database.ts'
import { int, numeric, statement, text } from '../../domain/sql.ts'
import type { ChainCheck, ChainFinding } from '../check-chain.ts'
import { quantity } from '../rpc.ts'
import { readAddresses, type SeenAddress } from './addresses.ts'
import { bookedOf } from './compare.ts'
import { findOwnersWithCoins } from './compare-statements.ts'

/** Treasuries that anything was ever gathered in, and what arrived there up to a block. */
const findTreasuries = statement(
  'check_coins_treasuries',
  { parameters: { upTo: int }, columns: { address: text, arrived: numeric } },
  `select recipient as address, coalesce(sum(arrived) filter (where block_number <= $upTo), 0) as arrived
   from coin_moves where kind = 'GATHERING' group by recipient order by recipient`,
)
/** What was moved out of an account by its first so many transactions, as the chain told it, and as it was planned where it is not known yet. */
const findSpent = statement(
  'check_coins_spent',
  { parameters: { sender: text, count: int }, columns: { spent: numeric } },
  `select coalesce(sum(coalesce(arrived + fee, amount)), 0) as spent from coin_moves where sender = $sender and nonce < $count`,
)

const PAGE = 500

const sentences = {
  H6: 'No address of ours holds fewer coins than the books say: those of owners, and the treasury.',
  H7: 'No address of an owner holds coins that are in no book: too young to be credited, sent by a contract, or sent after the account was deleted.',
} as const

const addressesOf = (database: Database) =>
  keysetPages({
    first: '',
    limit: PAGE,
    read: (after, limit) => database.query(findOwnersWithCoins, { after, limit }),
    keyOf: ({ address }) => address,
  })

/** Compares every address that the books know with the chain, with `most` rows of each kind. Raises UNAVAILABLE when the chain does not answer. */
export async function checkCoins({ database, registry: { rpc }, most }: ChainCheck): Promise<ChainFinding[]> {
  const found: Record<keyof typeof sentences, object[]> = { H6: [], H7: [] }
  const add = (id: keyof typeof sentences, row: object) => void (found[id].length < most && found[id].push(row))
  // After the books are read, the chain has at least what they know of.
  const readHead = async () => Number(await rpc.call<string>('eth_blockNumber'))
  for await (const rows of addressesOf(database)) {
    const block = quantity(await readHead())
    const held = await readAddresses(
      rpc,
      rows.map(({ address }) => address),
      block,
    )
    for (const [index, owner] of rows.entries()) {
      const { address, closed } = owner
      const { balance, count } = held[index]!
      const booked = bookedOf(owner, count)
      const row = { address, held: fromUnits(balance), booked: fromUnits(booked) }
      if (balance < booked) add('H6', { ...row, problem: 'the chain has fewer coins there' })
      if (balance > booked && balance > 0n)
        add('H7', { ...row, problem: closed ? 'its key is destroyed' : 'not credited' })
    }
  }
  const head = await readHead()
  for (const { address, arrived } of await database.query(findTreasuries, { upTo: head })) {
    const [{ balance, count }] = (await readAddresses(rpc, [address], quantity(head))) as [SeenAddress]
    const [row] = await database.query(findSpent, { sender: address, count })
    const booked = toUnits(arrived) - toUnits(row?.spent ?? '0')
    if (balance < booked)
      add('H6', {
        address,
        held: fromUnits(balance),
        booked: fromUnits(booked),
        problem: 'coins of the treasury are missing',
      })
  }
  return [
    { id: 'H6', sentence: sentences.H6, rows: found.H6, isNote: false },
    { id: 'H7', sentence: sentences.H7, rows: found.H7, isNote: true },
  ]
}
