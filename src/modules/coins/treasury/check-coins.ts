/** Compares deposits and the ledger of coins with the chain, for `annal check`. Writes nothing. */
import type { ChainCheck, ChainFinding } from '../../../chain/check-chain.ts'
import { hasSucceeded, quantity, type Rpc, readReceipts } from '../../../chain/rpc.ts'
import { readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { int, numeric, orNull, statement, text, uuid } from '../../../db/sql.ts'
import { keysetPages } from '../../../shared/async.ts'
import { NIL_UUID, toId } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import { containsTransfer } from '../deposits/deposit-watcher.ts'
import { bookedOf, ownersOf } from './compare-coins.ts'

/** `position`: index among the token's events of the transaction. Null for coins. */
const depositColumns = { id: uuid, hash: text, position: orNull(int), wallet_id: uuid, address: text, amount: numeric }
const findDeposits = statement(
  'check_chain_deposits',
  { parameters: { after: uuid, limit: int }, columns: depositColumns },
  `select d.id, d.transaction_hash as hash, d.wallet_id, w.address, trim_scale(d.amount) as amount,
     case d.kind when 'TOKEN' then split_part(d.reference, ':', 3)::int end as position
   from deposits d join wallets w on w.user_id = d.wallet_id
   where d.status = 'CREDITED' and d.id > $after order by d.id limit $limit`,
)

const findTreasuries = statement(
  'check_coins_treasuries',
  { parameters: { upTo: int }, columns: { address: text, arrived: numeric } },
  `select recipient as address, coalesce(sum(arrived) filter (where block_number <= $upTo), 0) as arrived
   from coin_transfers where kind = 'SWEEP' group by recipient order by recipient`,
)
/** Returns the cost of the first `count` transactions. Pending transactions count with the signed amount. */
const findSpent = statement(
  'check_coins_spent',
  { parameters: { sender: text, count: int }, columns: { spent: numeric } },
  `select coalesce(sum(coalesce(arrived + fee, amount)), 0) as spent from coin_transfers
   where sender = $sender and nonce < $count`,
)

const sentences = {
  H6: 'No user address and no treasury holds fewer coins than the ledger says.',
  H7: 'No user address holds coins that were not credited: deposits with too few confirmations, coins sent by a contract (annal deposits credit), or coins sent after the account was deleted.',
} as const

type AddressCoins = { address: string; held: bigint; booked: bigint }
const readHead = async (rpc: Rpc) => Number(await rpc.call<string>('eth_blockNumber'))

/** Returns user addresses where ledger and chain differ. A transfer between the two reads also causes a difference. */
async function* differingOwners(database: Database, rpc: Rpc): AsyncGenerator<AddressCoins & { closed: boolean }> {
  for await (const rows of ownersOf(database, true)) {
    const addresses = rows.map(({ address }) => address)
    const seen = await readAccounts(rpc, addresses, quantity(await readHead(rpc)))
    for (const [index, owner] of rows.entries()) {
      const { balance: held, count } = seen[index]!
      const booked = bookedOf(owner, count)
      if (held !== booked) yield { address: owner.address, closed: owner.closed, held, booked }
    }
  }
}

/** Compares all addresses with the chain, with up to `most` rows of each kind. Throws UNAVAILABLE. */
export async function checkCoins({ database, registry: { rpc }, most }: ChainCheck): Promise<ChainFinding[]> {
  const found: Record<keyof typeof sentences, object[]> = { H6: [], H7: [] }
  const add = (id: keyof typeof sentences, { address, held, booked }: AddressCoins, problem: string) => {
    if (found[id].length < most) found[id].push({ address, held: fromUnits(held), booked: fromUnits(booked), problem })
  }
  const suspects = new Map<string, AddressCoins>()
  for await (const owner of differingOwners(database, rpc)) {
    if (owner.held < owner.booked) suspects.set(owner.address, owner)
    else if (owner.held > 0n) add('H7', owner, owner.closed ? 'The key of the address is destroyed.' : 'not credited')
  }
  // Compare again: a transfer may have been included between the two reads.
  if (suspects.size > 0)
    for await (const { address, held, booked } of differingOwners(database, rpc)) {
      const suspect = suspects.get(address)
      if (suspect && held < booked) add('H6', suspect, 'The chain has fewer coins at the address than the ledger.')
    }
  const head = await readHead(rpc)
  for (const { address, arrived } of await database.query(findTreasuries, { upTo: head })) {
    const [seen] = await readAccounts(rpc, [address], quantity(head))
    const { balance: held, count } = seen!
    const [row] = await database.query(findSpent, { sender: address, count })
    const booked = toUnits(arrived) - toUnits(row!.spent)
    if (held < booked)
      add('H6', { address, held, booked }, 'The chain has fewer coins at the treasury than the ledger.')
  }
  return [
    { id: 'H6', sentence: sentences.H6, rows: found.H6, isNote: false },
    { id: 'H7', sentence: sentences.H7, rows: found.H7, isNote: true },
  ]
}

/** Checks that the chain has every credited deposit, with up to `most` rows. Throws UNAVAILABLE. */
export async function checkDeposits({ database, registry, most }: ChainCheck): Promise<ChainFinding> {
  const lost: object[] = []
  const pages = keysetPages({
    ...{ first: NIL_UUID, limit: 500 },
    read: (after, limit) => database.query(findDeposits, { after, limit }),
    keyOf: ({ id }) => id,
  })
  for await (const rows of pages) {
    const hashes = rows.map(({ hash }) => hash)
    const receipts = await readReceipts(registry.rpc, hashes)
    for (const [index, { position, ...row }] of rows.entries()) {
      const receipt = receipts[index]
      // In another block, the same transaction can have another amount or recipient.
      const isThere =
        receipt && hasSucceeded(receipt) && (position === null || containsTransfer(receipt.logs, { ...row, position }))
      const fields = { transaction: row.hash, user: toId('user', row.wallet_id), amount: row.amount }
      if (!isThere && lost.length < most)
        lost.push({ ...fields, problem: 'The deposit was credited, but it is not on the chain.' })
    }
  }
  return { id: 'H5', sentence: 'Every deposit in the ledger is on the chain.', rows: lost, isNote: false }
}
