/**
 * Holds what the books know of coins to what the chain did with them, address by address, and finds the transactions that only the chain
 * knows of: those that were sent after a backup was made from which the database came back. Nothing is written here.
 */

import type { Database } from '../../../db/database-types.ts'
import { keysetPages } from '../../../shared/async.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { Adoption } from '../coin-types.ts'
import { type ComparedOwner, findClaims, findOwners, findTreasuries, type Treasury } from './compare.sql.ts'
import { TRANSFER_GAS } from './plan.ts'
import {
  type Counted,
  count,
  type Found,
  findUnknown,
  type SeekOptions,
  type UnknownTransaction,
} from './unknown-transactions.ts'

/** What is compared, and where transactions are sought. */
export interface CompareOptions extends SeekOptions {
  database: Pick<Database, 'query'>
  /** Address of the present treasury. */
  treasury: string
  /** Hashes of payments that the platform bears. */
  borne: ReadonlySet<string>
}

/** An address, before and after what only the chain knows of. Wei. */
export interface ComparedAddress {
  address: string
  /** Undefined of a treasury. */
  owner?: string
  /** What the books have there, and would have with the unknown transactions in them. */
  booked: bigint
  agreed: bigint
  /** What the chain has there. */
  held: bigint
  unknown: UnknownTransaction[]
  /** Why it does not add up; empty when it does. */
  problems: string[]
}

/** What was compared, at which block. */
export interface Comparison {
  block: number
  /** Addresses where books and chain agree. */
  agreeing: number
  /** The others, and those with transactions that the books do not know. */
  differing: ComparedAddress[]
}

const PAGE = 500

const FEWER = 'The chain has fewer coins there than the books.'

/** Compares every address that the books know. Raises UNAVAILABLE when the chain does not answer. */
export async function compareCoins(options: CompareOptions): Promise<Comparison> {
  const block = Number(await options.rpc.call<string>('eth_blockNumber'))
  const { owners, agreeing } = await findSuspects(options, block)
  const treasuries = await readTreasuries(options)
  const counted = await count(options.rpc, treasuries, block)
  const found = await findUnknown(options, block, [...owners, ...counted])
  const isTreasury = new Set(treasuries.map(({ address }) => address))
  const ofOwners = owners.map((row) => compareOwner(row, found, isTreasury))
  const gathered = ofOwners.flatMap(({ unknown }) => unknown)
  const ofTreasuries: ComparedAddress[] = []
  for (const [index, row] of treasuries.entries())
    ofTreasuries.push(await compareTreasury(options, { ...row, ...counted[index]! }, found, gathered))
  const differing = ofTreasuries.filter(({ unknown, problems }) => unknown.length + problems.length > 0)
  return {
    block,
    agreeing: agreeing + ofTreasuries.length - differing.length,
    differing: [...ofOwners, ...differing],
  }
}

/** What was signed to leave an address and, by its nonce, has left it. */
const leftOf = ({ nonces, amounts }: { nonces: number[]; amounts: string[] }, sent: number) =>
  nonces.reduce((sum, nonce, index) => (nonce < sent ? sum + toUnits(amounts[index]!) : sum), 0n)

/** What the books have at an owner's address that has sent so many transactions, in wei. */
export const bookedOf = (owner: Pick<ComparedOwner, 'credited' | 'nonces' | 'amounts'>, sent: number): bigint =>
  toUnits(owner.credited) - leftOf(owner, sent)

/** Owners at whose addresses books and chain differ, and how many others there are. */
async function findSuspects({ rpc, database }: CompareOptions, block: number) {
  const owners: (ComparedOwner & Counted)[] = []
  let agreeing = 0
  for await (const rows of ownersOf(database)) {
    const counted = await count(
      rpc,
      rows.map((row) => ({ ...row, first: 0 })),
      block,
    )
    for (const [index, row] of rows.entries()) {
      const each = { ...row, ...counted[index]! }
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
  const strange = unknown.filter(({ to }) => !isTreasury.has(to))
  return {
    ...{ address: row.address, owner: row.userId, booked, agreed, held: row.held, unknown },
    problems: [
      ...found.problemsOf(row),
      ...strange.map(
        ({ hash, to }) => `${hash} sent coins to ${to}, which is no treasury of ours: somebody else has the key.`,
      ),
      ...(row.closed && unknown.length > 0 ? ['Its account is deleted in the books.'] : []),
      ...(row.held < agreed ? [FEWER] : []),
    ],
  }
}

/** `gathered`: what left owners' addresses and the books do not know. */
async function compareTreasury(
  { database, borne }: CompareOptions,
  row: Treasury & Counted,
  found: Found,
  gathered: readonly UnknownTransaction[],
): Promise<ComparedAddress> {
  const unknown = await matchClaims(database, found.of(row))
  const booked = toUnits(row.arrived) - leftOf(row, row.sent)
  const arrived = gathered.filter(({ to }) => to === row.address).reduce((sum, one) => sum + one.arrived, 0n)
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

async function readTreasuries({ database, treasury: present }: CompareOptions): Promise<Treasury[]> {
  const rows = await database.query(findTreasuries)
  // A database from before it took the place of another one knows nothing of what it paid.
  const first = rows.some(({ first }) => first !== null) ? 0 : null
  const none = { address: present, arrived: '0', nonces: [], amounts: [], first }
  return rows.some(({ address }) => address === present) ? rows : [...rows, none]
}

const ownersOf = (database: CompareOptions['database']) =>
  keysetPages({
    first: '',
    limit: PAGE,
    read: (after, limit) => database.query(findOwners, { after, limit }),
    keyOf: ({ address }) => address,
  })

/** Each withdrawal that waits is paid by one transaction at most: the oldest by the first. */
async function matchClaims(database: CompareOptions['database'], payments: UnknownTransaction[]) {
  if (payments.length === 0) return payments
  const claims = await database.query(findClaims, { recipients: [...new Set(payments.map(({ to }) => to))] })
  const left = new Set(claims)
  return payments.map((payment) => {
    const claim = [...left].find(
      ({ recipient, amount }) => recipient === payment.to && toUnits(amount) === payment.value,
    )
    if (!claim) return payment
    left.delete(claim)
    return { ...payment, claim }
  })
}

/** What of a comparison that adds up goes into the books, in the order in which it has to. */
export const adoptionsOf = ({ differing }: Comparison): Adoption[] =>
  differing.flatMap(({ address, owner, unknown }) =>
    unknown
      .toSorted((a, b) => a.nonce - b.nonce)
      .map(({ nonce, hash, to, value, fee, raw, claim }): Adoption => {
        // What it moves, arrived or not: in another block it could.
        const signed = raw ? [{ hash, raw, value, gasPrice: fee / TRANSFER_GAS }] : []
        const move = { sender: address, recipient: to, nonce, signed }
        if (owner) return { kind: 'GATHERING', move: { ...move, userId: owner, amount: value + fee } }
        const amount = claim ? toUnits(claim.amount) + toUnits(claim.fee) : value + fee
        return { kind: 'WITHDRAWAL', claim, move: { ...move, amount } }
      }),
  )
