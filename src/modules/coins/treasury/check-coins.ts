/** Compares deposits and the ledger of coins with the chain, for `annal check`. Balances are read at one block. Writes nothing. */
import type { ChainCheck, ChainFinding } from '../../../chain/check-chain.ts'
import { hasSucceeded, quantity, type ReceiptReply, type Rpc, resultOf } from '../../../chain/rpc.ts'
import { readAccounts, type SeenAccount } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { int, numeric, orNull, type RowOf, statement, text, uuid } from '../../../db/sql.ts'
import { keysetPages } from '../../../shared/async.ts'
import { NIL_UUID, toId } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import { bringsTokens } from '../deposits/deposit-finder.ts'
import { bookedOf, findOwnersWithCoins } from './compare-coins.ts'

const depositColumns = {
  id: uuid,
  hash: text,
  /** Index among the token's events of the transaction. Null for coins. */
  position: orNull(int),
  wallet_id: uuid,
  address: text,
  amount: numeric,
}
const findDeposits = statement(
  'check_chain_deposits',
  {
    parameters: { after: uuid, limit: int },
    columns: depositColumns,
  },
  `select d.id, d.transaction_hash as hash, case d.kind when 'TOKEN' then split_part(d.reference, ':', 3)::int end as position,
     d.wallet_id, w.address, trim_scale(d.amount) as amount
   from deposits d join wallets w on w.user_id = d.wallet_id
   where d.status = 'CREDITED' and d.id > $after order by d.id limit $limit`,
)

/** All treasuries, and what arrived there up to a block. */
const findTreasuries = statement(
  'check_coins_treasuries',
  { parameters: { upTo: int }, columns: { address: text, arrived: numeric } },
  `select recipient as address, coalesce(sum(arrived) filter (where block_number <= $upTo), 0) as arrived
   from coin_transfers where kind = 'SWEEP' group by recipient order by recipient`,
)
/** Returns what the first `count` transactions of an account cost. Pending ones count with their signed amount. */
const findSpent = statement(
  'check_coins_spent',
  { parameters: { sender: text, count: int }, columns: { spent: numeric } },
  `select coalesce(sum(coalesce(arrived + fee, amount)), 0) as spent from coin_transfers where sender = $sender and nonce < $count`,
)

const PAGE = 500

const sentences = {
  H6: 'No user address and no treasury holds fewer coins than the ledger says.',
  H7: 'No user address holds coins that were not credited: deposits with too few confirmations, coins sent by a contract (annal deposits credit), or coins sent after the account was deleted.',
} as const

const addressesOf = (database: Database) =>
  keysetPages({
    first: '',
    limit: PAGE,
    read: (after, limit) => database.query(findOwnersWithCoins, { after, limit }),
    keyOf: ({ address }) => address,
  })

/** Coins at a user's address, in wei. */
interface OwnerCoins {
  address: string
  closed: boolean
  held: bigint
  booked: bigint
}

const readHead = async (rpc: Rpc) => Number(await rpc.call<string>('eth_blockNumber'))

/** Returns user addresses where ledger and chain differ. The chain is read after the ledger, so newer transfers can make a difference. */
async function* differingOwners(database: Database, rpc: Rpc): AsyncGenerator<OwnerCoins> {
  for await (const rows of addressesOf(database)) {
    const block = quantity(await readHead(rpc))
    const seen = await readAccounts(
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

/** Checks addresses again that seemed to lack coins, because a transfer may have been included between the two reads. */
async function recheck(database: Database, rpc: Rpc, seemed: readonly OwnerCoins[]): Promise<OwnerCoins[]> {
  if (seemed.length === 0) return []
  const lacking = new Set<string>()
  for await (const { address, held, booked } of differingOwners(database, rpc)) if (held < booked) lacking.add(address)
  return seemed.filter(({ address }) => lacking.has(address))
}

/** Compares all addresses with the chain, with up to `most` rows of each kind. Throws UNAVAILABLE. */
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
  for (const owner of await recheck(database, rpc, seemed)) add('H6', rowOf(owner, 'the chain has fewer coins there'))
  const head = await readHead(rpc)
  for (const { address, arrived } of await database.query(findTreasuries, { upTo: head })) {
    const [{ balance, count }] = (await readAccounts(rpc, [address], quantity(head))) as [SeenAccount]
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

/** Checks that the chain has every credited deposit, with up to `most` rows. Throws UNAVAILABLE. */
export async function checkDeposits(check: ChainCheck): Promise<ChainFinding> {
  const rows: object[] = []
  for await (const row of lostDeposits(check)) if (rows.length < check.most) rows.push(row)
  return { id: 'H5', sentence: 'Every deposit in the ledger is on the chain.', rows, isNote: false }
}

/** Returns true if the receipt contains the deposit. In another block, the same transaction can have another amount or recipient. */
const isThere = (row: RowOf<typeof depositColumns>, receipt: ReceiptReply | null) => {
  if (!receipt || !hasSucceeded(receipt)) return false
  return row.position === null || bringsTokens(receipt.logs, { ...row, position: row.position })
}

async function* lostDeposits({ database, registry }: ChainCheck) {
  const pages = keysetPages({
    first: NIL_UUID,
    limit: PAGE,
    read: (after, limit) => database.query(findDeposits, { after, limit }),
    keyOf: ({ id }) => id,
  })
  for await (const rows of pages) {
    const answers = await registry.rpc.batch(
      rows.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    for (const [index, row] of rows.entries()) {
      if (isThere(row, resultOf<ReceiptReply | null>(answers[index]))) continue
      yield {
        transaction: row.hash,
        user: toId('user', row.wallet_id),
        amount: row.amount,
        problem: 'credited, but not on the chain',
      }
    }
  }
}
