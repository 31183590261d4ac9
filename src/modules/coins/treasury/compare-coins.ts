/** Compares the ledger of coins with the chain, and imports transactions that only the chain has after a restore. */
import { getAddress, Transaction, ZeroAddress } from 'ethers'
import { fromHex } from '../../../chain/keys.ts'
import type { Rpc, TransactionReply } from '../../../chain/rpc.ts'
import { contradiction, feeOf, hasSucceeded, quantity, readFullBlocks, readTransaction } from '../../../chain/rpc.ts'
import { findSpender, readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { keyValueKeys } from '../../../db/key-value-store.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, uuid } from '../../../db/sql.ts'
import { keysetPages } from '../../../shared/async.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import { storeUnclaimed } from '../coin-transfers.sql.ts'
import { type SignedTransfer, storeSweep, transferParams } from '../coin-transfers.ts'
import { storeWithdrawal } from '../withdrawals.sql.ts'
import { TRANSFER_GAS } from './quote-transfer.ts'

interface SearchOptions {
  rpc: Rpc
  /** First block to search, block by block. Undefined: search by old transaction counts. */
  from?: number | undefined
  onProgress(done: number, total: number): void
}

/** A transaction that the ledger does not know. Amounts in wei. `arrived` is 0 if the recipient refused the coins. */
interface UnknownTransaction {
  nonce: number
  hash: string
  to: string
  value: bigint
  arrived: bigint
  fee: bigint
  blockNumber: number
  /** Signed bytes. Undefined if the transaction is not a transfer that Annal signed. */
  raw: Uint8Array | undefined
  claim?: { id: string; userId: string; amount: string; fee: string }
}

/** `held`: balance in wei. `sent`: transaction count. `missing`: nonces that the ledger does not know. */
export type Counted = { address: string; held: bigint; sent: number; missing: number[] }

const nameOf = (address: string, nonce: number) => `${address.toLowerCase()} ${nonce}`
type Found = Awaited<ReturnType<typeof findUnknown>>
const BLOCKS_AT_ONCE = 20

/** Reads addresses at a block. `first`: transaction count before the ledger began; null if it begins now. */
export async function countTransactions(
  rpc: Rpc,
  rows: readonly { address: string; nonces: number[]; first: number | null }[],
  block: number,
): Promise<Counted[]> {
  const addresses = rows.map(({ address }) => address)
  const accounts = await readAccounts(rpc, addresses, quantity(block))
  return rows.map(({ address, nonces, first }, index) => {
    const { balance, count: sent } = accounts[index]!
    const known = new Set(nonces)
    const begin = first ?? sent
    const all = Array.from({ length: Math.max(sent - begin, 0) }, (_, place) => begin + place)
    return { address, held: balance, sent, missing: all.filter((nonce) => !known.has(nonce)) }
  })
}

/** Finds the transactions at the missing nonces. */
export async function findUnknown({ rpc, from, onProgress }: SearchOptions, block: number, accounts: Counted[]) {
  const wanted = accounts.flatMap(({ address, missing }) => missing.map((nonce) => ({ address, nonce })))
  const found = new Map<string, UnknownTransaction>()
  if (from !== undefined && wanted.length > 0) {
    const names = new Set(wanted.map(({ address, nonce }) => nameOf(address, nonce)))
    for (let start = from; start <= block; start += BLOCKS_AT_ONCE) {
      const end = Math.min(start + BLOCKS_AT_ONCE - 1, block)
      const transactions = (await readFullBlocks(rpc, start, end)).flatMap((each) => each?.transactions ?? [])
      for (const { from: sender, nonce, hash } of transactions) {
        const name = nameOf(sender, Number(nonce))
        if (names.has(name)) found.set(name, await readUnknown(rpc, hash))
      }
      onProgress(end - from + 1, block - from + 1)
    }
  } else {
    for (const [index, { address, nonce }] of wanted.entries()) {
      const hash = await findSpender(rpc, address, nonce, block)
      if (hash) found.set(nameOf(address, nonce), await readUnknown(rpc, hash))
      onProgress(index + 1, wanted.length)
    }
  }
  const of = ({ address, missing }: Counted) => missing.flatMap((nonce) => found.get(nameOf(address, nonce)) ?? [])
  return {
    of,
    problemsOf(account: Counted) {
      const problems = of(account)
        .filter(({ raw }) => !raw)
        .map(({ hash }) => `${hash} is not a transfer that Annal signed: another party has the key.`)
      const lacking = account.missing.filter((nonce) => !found.has(nameOf(account.address, nonce)))
      if (lacking.length === 0) return problems
      const where = from === undefined ? 'the node does not know them' : `they are not in the blocks from ${from} on`
      return [
        ...problems,
        `The chain counts ${lacking.length} transactions that the ledger does not know, and ${where}. Name a block from before the backup with --from.`,
      ]
    },
  }
}

async function readUnknown(rpc: Rpc, hash: string): Promise<UnknownTransaction> {
  const { transaction, receipt } = await readTransaction(rpc, hash)
  if (!transaction || !receipt) throw contradiction(rpc)
  const value = BigInt(transaction.value)
  return {
    ...{ nonce: Number(transaction.nonce), hash, value, raw: bytesOf(transaction) },
    ...{ fee: feeOf(receipt), blockNumber: Number(receipt.blockNumber) },
    to: getAddress(transaction.to ?? ZeroAddress),
    arrived: hasSucceeded(receipt) ? value : 0n,
  }
}

/** Rebuilds the signed bytes from the node's reply. Undefined if their hash differs. */
function bytesOf(reply: TransactionReply): Uint8Array | undefined {
  const { type, to, nonce, gas, value, chainId, maxFeePerGas, maxPriorityFeePerGas, r, s, v } = reply
  if (Number(type) !== 2) return undefined
  const { serialized, hash: made } = Transaction.from({
    ...{ type: 2, to, nonce: Number(nonce), gasLimit: BigInt(gas), value: BigInt(value), data: '0x' },
    ...{ maxFeePerGas: BigInt(maxFeePerGas!), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas!) },
    chainId: BigInt(chainId!),
    signature: { r: word(r), s: word(s), v: Number(v) },
  })
  return made === reply.hash ? fromHex(serialized) : undefined
}

const word = (digits: string) => `0x${digits.slice(2).padStart(64, '0')}`

/** Signed transfers from an address. Amounts in currency units. */
const signedColumns = { nonces: arrayOf(int), amounts: arrayOf(text) }
const signedSql = (amount: string, sender: string) =>
  `(select coalesce(array_agg(nonce order by nonce), '{}') as nonces,
      coalesce(array_agg(${amount}::text order by nonce), '{}') as amounts
    from coin_transfers where sender = ${sender})`

const ownerColumns = { userId: uuid, address: text, closed: boolean, credited: numeric, ...signedColumns }
type ComparedOwner = RowOf<typeof ownerColumns>

/** `which`: a condition on deposits `d` and transfers `m`. */
const ownersStatement = (name: string, which: string) =>
  statement(
    name,
    { parameters: { after: text, limit: int }, columns: ownerColumns },
    `select w.user_id as "userId", w.address, w.closed_at is not null as closed, d.credited, m.nonces, m.amounts
     from wallets w, lateral (
       select coalesce(sum(amount), 0) as credited from deposits
       where wallet_id = w.user_id and kind <> 'TOKEN' and status = 'CREDITED'
     ) d, lateral ${signedSql('amount', 'w.address')} m
     where w.address > $after and ${which} order by w.address limit $limit`,
  )
const findOwners = ownersStatement('compare_owners', 'true')
const findOwnersWithCoins = ownersStatement('check_coins_addresses', `(d.credited > 0 or m.nonces <> '{}')`)

/** Returns pages of all user addresses, or of those with a credited deposit or a transfer. */
export const ownersOf = ({ query }: Pick<Database, 'query'>, hasCoins = false) =>
  keysetPages({
    ...{ first: '', limit: 500 },
    read: (after, limit) => query(hasCoins ? findOwnersWithCoins : findOwners, { after, limit }),
    keyOf: ({ address }) => address,
  })

const treasuryColumns = { address: text, arrived: numeric, ...signedColumns, first: orNull(int) }
type Treasury = RowOf<typeof treasuryColumns>

/** `arrived`: swept amount. `first`: transaction count at the first use. */
const findTreasuries = statement(
  'compare_treasuries',
  { columns: treasuryColumns },
  `select t.address, m.nonces, m.amounts,
     coalesce((select sum(arrived) from coin_transfers where kind = 'SWEEP' and recipient = t.address), 0) as arrived,
     (select value::int from key_values where key = '${keyValueKeys.treasury}' || t.address) as first
   from (
     select recipient as address from coin_transfers where kind = 'SWEEP'
     union select substr(key, ${keyValueKeys.treasury.length + 1}) from key_values where key like '${keyValueKeys.treasury}%'
   ) t, lateral ${signedSql('coalesce(arrived + fee, amount)', 't.address')} m
   order by t.address`,
)

const findClaims = statement(
  'compare_claims',
  {
    parameters: { recipients: arrayOf(text) },
    columns: { id: uuid, userId: uuid, recipient: text, amount: numeric, fee: numeric },
  },
  `select id, wallet_id as "userId", recipient, amount, fee from withdrawals
   where status = 'WAITING' and recipient = any ($recipients) order by id`,
)

interface CompareOptions extends SearchOptions {
  database: Pick<Database, 'query'>
  treasury: string
  /** Hashes of unmatched payments that the platform writes off. */
  writtenOff: ReadonlySet<string>
}

interface ComparedAddress {
  address: string
  /** UUID of the user. Undefined for a treasury. */
  owner?: string
  /** Balance in the ledger, without and with the unknown transactions. */
  booked: bigint
  agreed: bigint
  held: bigint
  unknown: UnknownTransaction[]
  /** Reasons why the balances do not match. */
  problems: string[]
}

/** `agreeing`: number of addresses where ledger and chain agree. */
type Comparison = { block: number; agreeing: number; differing: ComparedAddress[] }

export async function compareCoins(options: CompareOptions): Promise<Comparison> {
  const block = Number(await options.rpc.call<string>('eth_blockNumber'))
  const { owners, agreeing } = await findSuspects(options, block)
  const treasuries = await readTreasuries(options)
  const counted = await countTransactions(options.rpc, treasuries, block)
  const found = await findUnknown(options, block, [...owners, ...counted])
  const treasuryAddresses = new Set(treasuries.map(({ address }) => address))
  const ofOwners = owners.map((row) => compareOwner(row, found, treasuryAddresses))
  const swept = ofOwners.flatMap(({ unknown }) => unknown)
  const ofTreasuries: ComparedAddress[] = []
  for (const [index, row] of treasuries.entries())
    ofTreasuries.push(await compareTreasury(options, { ...row, ...counted[index]! }, found, swept))
  const differing = ofTreasuries.filter(({ unknown, problems }) => unknown.length + problems.length > 0)
  const agreeingTreasuries = ofTreasuries.length - differing.length
  return { block, agreeing: agreeing + agreeingTreasuries, differing: [...ofOwners, ...differing] }
}

/** Returns the sum of signed transfers with nonces below the transaction count: these have left the address. */
const spentBy = ({ nonces, amounts }: { nonces: number[]; amounts: string[] }, sent: number) =>
  nonces.reduce((sum, nonce, index) => (nonce < sent ? sum + toUnits(amounts[index]!) : sum), 0n)

/** Returns the ledger's balance of a user address with the transaction count `sent`, in wei. */
export const bookedOf = (owner: Pick<ComparedOwner, 'credited' | 'nonces' | 'amounts'>, sent: number): bigint =>
  toUnits(owner.credited) - spentBy(owner, sent)

/** Returns the users whose addresses differ, and the number of other users. */
async function findSuspects({ rpc, database }: CompareOptions, block: number) {
  const owners: (ComparedOwner & Counted)[] = []
  let agreeing = 0
  for await (const page of ownersOf(database)) {
    const rows = page.map((row) => ({ ...row, first: 0 }))
    for (const [index, counted] of (await countTransactions(rpc, rows, block)).entries()) {
      const each = { ...rows[index]!, ...counted }
      if (each.missing.length > 0 || each.held < bookedOf(each, each.sent)) owners.push(each)
      else agreeing += 1
    }
  }
  return { owners, agreeing }
}

const compared = ({ address, held }: Counted, found: Omit<ComparedAddress, 'address' | 'held'>): ComparedAddress => {
  const fewer = held < found.agreed ? ['The chain has fewer coins at the address than the ledger.'] : []
  return { ...found, address, held, problems: [...found.problems, ...fewer] }
}

const costOf = (transactions: readonly UnknownTransaction[]) =>
  transactions.reduce((sum, { arrived, fee }) => sum + arrived + fee, 0n)

function compareOwner(row: ComparedOwner & Counted, found: Found, treasuries: ReadonlySet<string>): ComparedAddress {
  const unknown = found.of(row)
  const booked = bookedOf(row, row.sent)
  const problems = unknown
    .filter(({ to }) => !treasuries.has(to))
    .map(({ hash, to }) => `${hash} sent coins to ${to}, which is not a treasury: another party has the key.`)
  if (row.closed && unknown.length > 0) problems.push('The account of the address is deleted in the database.')
  return compared(row, {
    ...{ owner: row.userId, booked, agreed: booked - costOf(unknown), unknown },
    problems: [...found.problemsOf(row), ...problems],
  })
}

/** `swept`: unknown transactions from user addresses. */
async function compareTreasury(
  { database, writtenOff }: CompareOptions,
  row: Treasury & Counted,
  found: Found,
  swept: readonly UnknownTransaction[],
): Promise<ComparedAddress> {
  const unknown = await matchClaims(database, found.of(row))
  const booked = toUnits(row.arrived) - spentBy(row, row.sent)
  const arrived = swept.filter(({ to }) => to === row.address).reduce((sum, one) => sum + one.arrived, 0n)
  const problems = unknown
    .filter(({ claim, hash }) => !claim && !writtenOff.has(hash))
    .map(
      ({ hash, to, value }) =>
        `${hash} paid ${fromUnits(value)} to ${to}, and no waiting withdrawal matches it. Write it off with --write-off ${hash}.`,
    )
  const agreed = booked + arrived - costOf(unknown)
  return compared(row, { booked, agreed, unknown, problems: [...found.problemsOf(row), ...problems] })
}

async function readTreasuries({ database, treasury: address }: CompareOptions): Promise<Treasury[]> {
  const rows = await database.query(findTreasuries)
  if (rows.some((row) => row.address === address)) return rows
  // A database backup from before the change of the treasury lacks the payments of the new treasury.
  const first = rows.some(({ first }) => first !== null) ? 0 : null
  return [...rows, { address, arrived: '0', nonces: [], amounts: [], first }]
}

/** Matches payments with waiting withdrawals. The oldest payment of an amount matches the oldest withdrawal. */
async function matchClaims(database: CompareOptions['database'], payments: UnknownTransaction[]) {
  if (payments.length === 0) return payments
  const left = new Set(await database.query(findClaims, { recipients: [...new Set(payments.map(({ to }) => to))] }))
  return payments.map((payment) => {
    const claim = [...left].find((each) => each.recipient === payment.to && toUnits(each.amount) === payment.value)
    if (!claim) return payment
    left.delete(claim)
    return { ...payment, claim }
  })
}

/**
 * Imports the unknown transactions and returns their number, or null if a transaction changed since the comparison. The
 * nonces of a treasury must ascend: withdrawals wait while the chain counts more of them than the ledger.
 */
export async function importUnknown({ query }: Pick<Database, 'query'>, { differing }: Comparison) {
  let imported = 0
  for (const { address, owner, unknown } of differing)
    for (const { nonce, hash, to, value, fee, raw, claim } of unknown.toSorted((a, b) => a.nonce - b.nonce)) {
      // Use the full value even if it did not arrive, because it could arrive in another block.
      const signed = raw ? [{ hash, raw, value, gasPrice: fee / TRANSFER_GAS }] : []
      const amount = claim ? toUnits(claim.amount) + toUnits(claim.fee) : value + fee
      const transfer = { sender: address, recipient: to, nonce, signed, amount }
      const isStored = owner
        ? await storeSweep(query, { ...transfer, userId: owner })
        : await storePayment(query, transfer, claim)
      if (!isStored) return null
      imported += 1
    }
  return imported
}

/** Stores a payment of a treasury. Without `claim`, the payment is a loss of the platform. */
async function storePayment(query: Database['query'], transfer: SignedTransfer, claim: UnknownTransaction['claim']) {
  const columns = transferParams(transfer)
  const rows = claim
    ? await query(storeWithdrawal, { ...columns, user: claim.userId, withdrawal: claim.id })
    : await query(storeUnclaimed, { ...columns, user: null })
  return rows.length > 0
}
