/**
 * Holds the books of coins to the chain, address by address, for `annal check`: what was credited to an address and was not moved from it
 * lies there, and what was gathered lies in the treasury. Everything is read at one block, and nothing is written.
 */

import type { ChainCheck, ChainFinding } from '../../../chain/check-chain.ts'
import { quantity, type Rpc } from '../../../chain/rpc.ts'
import type { Database } from '../../../db/database-types.ts'
import { int, numeric, statement, text } from '../../../db/sql.ts'
import { keysetPages } from '../../../shared/async.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import { readAddresses, type SeenAddress } from './addresses.ts'
import { findOwnersWithCoins } from './compare.sql.ts'
import { bookedOf } from './compare.ts'

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
  H7: 'No user address holds coins that were not credited: deposits with too few confirmations, coins sent by a contract (annal deposits credit), or coins sent after the account was deleted.',
} as const

const addressesOf = (database: Database) =>
  keysetPages({
    first: '',
    limit: PAGE,
    read: (after, limit) => database.query(findOwnersWithCoins, { after, limit }),
    keyOf: ({ address }) => address,
  })

/** What lies at an owner's address, in wei. */
interface OwnerCoins {
  address: string
  closed: boolean
  held: bigint
  booked: bigint
}

const readHead = async (rpc: Rpc) => Number(await rpc.call<string>('eth_blockNumber'))

/** Addresses of owners where books and chain differ. What the books know of is in the chain by then; what is signed meanwhile may be, too. */
async function* differingOwners(database: Database, rpc: Rpc): AsyncGenerator<OwnerCoins> {
  for await (const rows of addressesOf(database)) {
    const block = quantity(await readHead(rpc))
    const seen = await readAddresses(
      rpc,
      rows.map(({ address }) => address),
      block,
    )
    for (const [index, owner] of rows.entries()) {
      const { balance: held, count } = seen[index]!
      const booked = bookedOf(owner, count)
      if (held !== booked) yield { address: owner.address, closed: owner.closed, held, booked }
    }
  }
}

/** Of addresses that seemed to have too little those that have: what a move left between the two looks is in order at a second one. */
async function lookAgain(database: Database, rpc: Rpc, seemed: readonly OwnerCoins[]): Promise<OwnerCoins[]> {
  if (seemed.length === 0) return []
  const lacking = new Set<string>()
  for await (const { address, held, booked } of differingOwners(database, rpc)) if (held < booked) lacking.add(address)
  return seemed.filter(({ address }) => lacking.has(address))
}

/** Compares every address that the books know with the chain, with `most` rows of each kind. Raises UNAVAILABLE when the chain does not answer. */
export async function checkCoins({ database, registry: { rpc }, most }: ChainCheck): Promise<ChainFinding[]> {
  const found: Record<keyof typeof sentences, object[]> = { H6: [], H7: [] }
  const add = (id: keyof typeof sentences, row: object) => void (found[id].length < most && found[id].push(row))
  const rowOf = ({ address, held, booked }: OwnerCoins, problem: string) => ({
    address,
    held: fromUnits(held),
    booked: fromUnits(booked),
    problem,
  })
  const seemed: OwnerCoins[] = []
  for await (const owner of differingOwners(database, rpc)) {
    if (owner.held < owner.booked) seemed.push(owner)
    else if (owner.held > 0n) add('H7', rowOf(owner, owner.closed ? 'its key is destroyed' : 'not credited'))
  }
  for (const owner of await lookAgain(database, rpc, seemed)) add('H6', rowOf(owner, 'the chain has fewer coins there'))
  const head = await readHead(rpc)
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
