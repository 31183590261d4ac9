/** Compares the ledger of coins with the chain, address by address, and finds transactions that only the chain knows: those after a restored backup. */
import type { Database } from '../../../db/database-types.ts'
import { keyValueKeys } from '../../../db/key-value-store.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, uuid } from '../../../db/sql.ts'
import { keysetPages } from '../../../shared/async.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { UnknownTransfer } from '../coin-transfers.ts'
import { TRANSFER_GAS } from './gas-prices.ts'
import type { SearchOptions, UnknownTransaction } from './unknown-transactions.ts'
import { type Counted, count, type Found, findUnknown } from './unknown-transactions.ts'

/** The signed transfers from an address: nonces, and amounts in currency units. */
const signedColumns = { nonces: arrayOf(int), amounts: arrayOf(text) }
const signedSql = (amount: string, sender: string) =>
  `(select coalesce(array_agg(nonce order by nonce), '{}') as nonces, coalesce(array_agg(${amount}::text order by nonce), '{}') as amounts
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
     from wallets w,
       lateral (select coalesce(sum(amount), 0) as credited from deposits where wallet_id = w.user_id and kind <> 'TOKEN' and status = 'CREDITED') d,
       lateral ${signedSql('amount', 'w.address')} m
     where w.address > $after and ${which} order by w.address limit $limit`,
  )
const findOwners = ownersStatement('compare_owners', 'true')
const findOwnersWithCoins = ownersStatement('check_coins_addresses', `(d.credited > 0 or m.nonces <> '{}')`)

/** Returns pages of all user addresses, or of those with a credited deposit or a transfer. */
export const ownersOf = ({ query }: Pick<Database, 'query'>, hasCoins = false) =>
  keysetPages({
    first: '',
    limit: 500,
    read: (after, limit) => query(hasCoins ? findOwnersWithCoins : findOwners, { after, limit }),
    keyOf: ({ address }) => address,
  })

const treasuryColumns = { address: text, arrived: numeric, ...signedColumns, first: orNull(int) }
/** A current or earlier treasury. */
type Treasury = RowOf<typeof treasuryColumns>

/** All treasuries: the swept amount, the signed payments by nonce, and the transaction count when the treasury was first used. */
const findTreasuries = statement(
  'compare_treasuries',
  { columns: treasuryColumns },
  `select t.address, coalesce((select sum(g.arrived) from coin_transfers g where g.kind = 'SWEEP' and g.recipient = t.address), 0) as arrived,
     m.nonces, m.amounts, (select value::int from key_values where key = '${keyValueKeys.treasury}' || t.address) as first
   from (
     select recipient as address from coin_transfers where kind = 'SWEEP'
     union select substr(key, ${keyValueKeys.treasury.length + 1}) from key_values where key like '${keyValueKeys.treasury}%'
   ) t, lateral ${signedSql('coalesce(arrived + fee, amount)', 't.address')} m
   order by t.address`,
)

/** Waiting withdrawals to these recipients, oldest first. */
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
  /** Address of the current treasury. */
  treasury: string
  /** Hashes of payments that the platform bears. */
  borne: ReadonlySet<string>
}

/** Comparison of an address. Amounts in wei. */
export interface ComparedAddress {
  address: string
  /** UUID of the user. Undefined for a treasury. */
  owner?: string
  /** Balance in the ledger, without and with the unknown transactions. */
  booked: bigint
  agreed: bigint
  /** Balance on the chain. */
  held: bigint
  unknown: UnknownTransaction[]
  /** Reasons why the balances do not match. Empty if they do. */
  problems: string[]
}

/** Result of a comparison: the number of addresses where ledger and chain agree, the others, and those with unknown transactions. */
export interface Comparison {
  block: number
  agreeing: number
  differing: ComparedAddress[]
}

const FEWER = 'The chain has fewer coins there than the ledger.'

/** Compares all addresses. Throws UNAVAILABLE. */
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
const leftOf = ({ nonces, amounts }: { nonces: number[]; amounts: string[] }, sent: number) =>
  nonces.reduce((sum, nonce, index) => (nonce < sent ? sum + toUnits(amounts[index]!) : sum), 0n)

/** Returns the ledger's balance of a user address that has sent `sent` transactions, in wei. */
export const bookedOf = (owner: Pick<ComparedOwner, 'credited' | 'nonces' | 'amounts'>, sent: number): bigint =>
  toUnits(owner.credited) - leftOf(owner, sent)

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

function compareOwner(row: ComparedOwner & Counted, found: Found, isTreasury: ReadonlySet<string>): ComparedAddress {
  const unknown = found.of(row)
  const booked = bookedOf(row, row.sent)
  const agreed = unknown.reduce((sum, { arrived, fee }) => sum - arrived - fee, booked)
  const foreign = unknown.filter(({ to }) => !isTreasury.has(to))
  return {
    ...{ address: row.address, owner: row.userId, booked, agreed, held: row.held, unknown },
    problems: [
      ...found.problemsOf(row),
      ...foreign.map(
        ({ hash, to }) => `${hash} sent coins to ${to}, which is not a treasury: another party has the key.`,
      ),
      ...(row.closed && unknown.length > 0 ? ['Its account is deleted in the database.'] : []),
      ...(row.held < agreed ? [FEWER] : []),
    ],
  }
}

/** `swept`: unknown transactions from user addresses. */
async function compareTreasury(
  { database, borne }: CompareOptions,
  row: Treasury & Counted,
  found: Found,
  swept: readonly UnknownTransaction[],
): Promise<ComparedAddress> {
  const unknown = await matchClaims(database, found.of(row))
  const booked = toUnits(row.arrived) - leftOf(row, row.sent)
  const arrived = swept.filter(({ to }) => to === row.address).reduce((sum, one) => sum + one.arrived, 0n)
  const agreed = unknown.reduce((sum, one) => sum - one.arrived - one.fee, booked + arrived)
  const unclaimed = unknown.filter(({ claim, hash }) => !claim && !borne.has(hash))
  return {
    ...{ address: row.address, booked, agreed, held: row.held, unknown },
    problems: [
      ...found.problemsOf(row),
      ...unclaimed.map(
        ({ hash, to, value }) =>
          `${hash} paid ${fromUnits(value)} to ${to}, and no waiting withdrawal matches it. Write it off with --write-off ${hash}.`,
      ),
      ...(row.held < agreed ? [FEWER] : []),
    ],
  }
}

async function readTreasuries({ database, treasury: address }: CompareOptions): Promise<Treasury[]> {
  const rows = await database.query(findTreasuries)
  if (rows.some((row) => row.address === address)) return rows
  // A database from before the change of the treasury does not know what the new one paid.
  const first = rows.some(({ first }) => first !== null) ? 0 : null
  return [...rows, { address, arrived: '0', nonces: [], amounts: [], first }]
}

/** Matches payments with waiting withdrawals. Each withdrawal is paid by at most one transaction: the oldest by the first. */
async function matchClaims(database: CompareOptions['database'], payments: UnknownTransaction[]) {
  if (payments.length === 0) return payments
  const left = new Set(await database.query(findClaims, { recipients: [...new Set(payments.map(({ to }) => to))] }))
  return payments.map((payment) => {
    const { to, value } = payment
    const claim = [...left].find(({ recipient, amount }) => recipient === to && toUnits(amount) === value)
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
        // The full value, even if it did not arrive: in another block it could.
        const signed = raw ? [{ hash, raw, value, gasPrice: fee / TRANSFER_GAS }] : []
        const move = { sender: address, recipient: to, nonce, signed }
        if (owner) return { kind: 'SWEEP', move: { ...move, userId: owner, amount: value + fee } }
        const amount = claim ? toUnits(claim.amount) + toUnits(claim.fee) : value + fee
        return { kind: 'WITHDRAWAL', claim, move: { ...move, amount } }
      }),
  )
