/** Compares the ledger of coins with the chain, and finds transactions that only the chain has, as after a restore. */
import type { Database } from '../../../db/database-types.ts'
import { keyValueKeys } from '../../../db/key-value-store.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, uuid } from '../../../db/sql.ts'
import { keysetPages } from '../../../shared/async.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { UnknownTransfer } from '../coin-transfers.ts'
import { TRANSFER_GAS } from './quote-transfer.ts'
import type { Counted, Found, SearchOptions, UnknownTransaction } from './unknown-transactions.ts'
import { count, findUnknown } from './unknown-transactions.ts'

/** The signed transfers from an address: nonces, and amounts in currency units. */
const signedColumns = { nonces: arrayOf(int), amounts: arrayOf(text) }
const signedSql = (amount: string, sender: string) =>
  `(select coalesce(array_agg(nonce order by nonce), '{}') as nonces,
      coalesce(array_agg(${amount}::text order by nonce), '{}') as amounts
    from coin_transfers where sender = ${sender})`

const ownerColumns = { userId: uuid, address: text, closed: boolean, credited: numeric, ...signedColumns }
/** An address of a user: the credited amount, and the signed transfers from it. */
type ComparedOwner = RowOf<typeof ownerColumns>

/** A page of user addresses. `which`: a condition on deposits `d` and transfers `m`. */
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

/** Returns all treasuries with swept amount and signed payments. `first`: transaction count at the first use. */
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

/** Returns waiting withdrawals to these recipients, oldest first. */
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
  borne: ReadonlySet<string>
}

export interface ComparedAddress {
  address: string
  /** UUID of the user. Undefined for a treasury. */
  owner?: string
  /** Balance in the ledger, without and with the unknown transactions. */
  booked: bigint
  agreed: bigint
  held: bigint
  unknown: UnknownTransaction[]
  /** Reasons why the balances do not match. Empty if they do. */
  problems: string[]
}

/** The number of addresses where ledger and chain agree, the other addresses, and those with unknown transactions. */
export type Comparison = { block: number; agreeing: number; differing: ComparedAddress[] }

export async function compareCoins(options: CompareOptions): Promise<Comparison> {
  const block = Number(await options.rpc.call<string>('eth_blockNumber'))
  const { owners, agreeing } = await findSuspects(options, block)
  const treasuries = await readTreasuries(options)
  const counted = await count(options.rpc, treasuries, block)
  const found = await findUnknown(options, block, [...owners, ...counted])
  const isTreasury = new Set(treasuries.map(({ address }) => address))
  const ofOwners = owners.map((row) => compareOwner(row, found, isTreasury))
  const swept = ofOwners.flatMap(({ unknown }) => unknown)
  const ofTreasuries: ComparedAddress[] = []
  for (const [index, row] of treasuries.entries())
    ofTreasuries.push(await compareTreasury(options, { ...row, ...counted[index]! }, found, swept))
  const differing = ofTreasuries.filter(({ unknown, problems }) => unknown.length + problems.length > 0)
  const agreeingTreasuries = ofTreasuries.length - differing.length
  return { block, agreeing: agreeing + agreeingTreasuries, differing: [...ofOwners, ...differing] }
}

/** Returns the sum of signed transfers whose nonces are below the transaction count: these have left the address. */
const spentBy = ({ nonces, amounts }: { nonces: number[]; amounts: string[] }, sent: number) =>
  nonces.reduce((sum, nonce, index) => (nonce < sent ? sum + toUnits(amounts[index]!) : sum), 0n)

/** Returns the ledger's balance of a user address that has sent `sent` transactions, in wei. */
export const bookedOf = (owner: Pick<ComparedOwner, 'credited' | 'nonces' | 'amounts'>, sent: number): bigint =>
  toUnits(owner.credited) - spentBy(owner, sent)

/** Returns the users whose addresses differ, and the number of the others. */
async function findSuspects({ rpc, database }: CompareOptions, block: number) {
  const owners: (ComparedOwner & Counted)[] = []
  let agreeing = 0
  for await (const page of ownersOf(database)) {
    const rows = page.map((row) => ({ ...row, first: 0 }))
    for (const [index, counted] of (await count(rpc, rows, block)).entries()) {
      const each = { ...rows[index]!, ...counted }
      if (each.missing.length > 0 || each.held < bookedOf(each, each.sent)) owners.push(each)
      else agreeing += 1
    }
  }
  return { owners, agreeing }
}

/** Compares an address whose ledger balance including unknown transactions is `agreed`. */
const compared = (
  { address, held }: Counted,
  found: Pick<ComparedAddress, 'owner' | 'booked' | 'agreed' | 'unknown' | 'problems'>,
): ComparedAddress => {
  const fewer = held < found.agreed ? ['The chain has fewer coins at the address than the ledger.'] : []
  return { ...found, address, held, problems: [...found.problems, ...fewer] }
}

const costOf = (transactions: readonly UnknownTransaction[]) =>
  transactions.reduce((sum, { arrived, fee }) => sum + arrived + fee, 0n)

function compareOwner(row: ComparedOwner & Counted, found: Found, isTreasury: ReadonlySet<string>): ComparedAddress {
  const unknown = found.of(row)
  const booked = bookedOf(row, row.sent)
  const problems = unknown
    .filter(({ to }) => !isTreasury.has(to))
    .map(({ hash, to }) => `${hash} sent coins to ${to}, which is not a treasury: another party has the key.`)
  const isClosed = row.closed && unknown.length > 0
  return compared(row, {
    ...{ owner: row.userId, booked, agreed: booked - costOf(unknown), unknown },
    problems: [
      ...found.problemsOf(row),
      ...problems,
      ...(isClosed ? ['The account of the address is deleted in the database.'] : []),
    ],
  })
}

/** `swept`: unknown transactions from user addresses. */
async function compareTreasury(
  { database, borne }: CompareOptions,
  row: Treasury & Counted,
  found: Found,
  swept: readonly UnknownTransaction[],
): Promise<ComparedAddress> {
  const unknown = await matchClaims(database, found.of(row))
  const booked = toUnits(row.arrived) - spentBy(row, row.sent)
  const arrived = swept.filter(({ to }) => to === row.address).reduce((sum, one) => sum + one.arrived, 0n)
  const problems = unknown
    .filter(({ claim, hash }) => !claim && !borne.has(hash))
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
    const claim = [...left].find(
      ({ recipient, amount }) => recipient === payment.to && toUnits(amount) === payment.value,
    )
    if (!claim) return payment
    left.delete(claim)
    return { ...payment, claim }
  })
}

/** Returns the unknown transactions in the order in which they must be imported. */
export const unknownTransfersOf = ({ differing }: Comparison): UnknownTransfer[] =>
  differing.flatMap(({ address, owner, unknown }) =>
    unknown
      .toSorted((a, b) => a.nonce - b.nonce)
      .map(({ nonce, hash, to, value, fee, raw, claim }): UnknownTransfer => {
        // Use the full value even if it did not arrive, because it could arrive in another block.
        const signed = raw ? [{ hash, raw, value, gasPrice: fee / TRANSFER_GAS }] : []
        const transfer = { sender: address, recipient: to, nonce, signed }
        if (owner) return { kind: 'SWEEP', transfer: { ...transfer, userId: owner, amount: value + fee } }
        const amount = claim ? toUnits(claim.amount) + toUnits(claim.fee) : value + fee
        return { kind: 'WITHDRAWAL', claim, transfer: { ...transfer, amount } }
      }),
  )
