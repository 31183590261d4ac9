/** The treasury: what it can pay with, and coins that lie where it was before. */

import { createRelayAccount, type RelayAccount, toHex } from '../../../chain/keys.ts'
import { quantity, type Rpc, resultOf } from '../../../chain/rpc.ts'
import type { ChainView } from '../../../chain/view.ts'
import type { KeyVault } from '../../../keys/key-types.ts'
import { fromUnits } from '../../../shared/money.ts'
import type { CoinBooks } from '../coin-types.ts'
import { freeOf, readAddresses } from './addresses.ts'
import type { MoverParts } from './parts.ts'
import { type Counted, count, findUnknown } from './unknown-transactions.ts'

/** The treasury's account: of the key that is configured, else as long as the vault's derivation key is the same. */
export const createTreasury = (key: string | undefined, vault: Pick<KeyVault, 'derive'>): RelayAccount =>
  createRelayAccount(key ?? toHex(vault.derive('treasury')))

/** What can be paid out. */
export interface Treasury {
  /** Wei that no signed move takes. */
  free: bigint
  nextNonce: number
}

/**
 * What the treasury has; the address of the treasury in doubt while withdrawals may have been paid that the database has waiting: the chain counts
 * transactions that it does not know, or the node has some on their way. Nobody else may hold its key. Raises UNAVAILABLE.
 */
export async function readTreasury(parts: MoverParts, view: ChainView): Promise<Treasury | { inDoubt: string }> {
  const { rpc, books, memory, treasury } = parts
  const { address } = treasury
  // Of one block: a move that is included in between would count twice.
  const [seen] = await readAddresses(rpc, [address], quantity(view.head.number))
  const { count: sent } = seen!
  const earlier = await findUnsettledEarlier(parts, view)
  const first = earlier === undefined ? await books.noteTreasury(address, sent) : 0
  const { nextNonce, open } = await books.readSender(address)
  const known = Math.max(nextNonce, first)
  // What is stored is stored before it is sent. A node that cannot say what is on its way has Infinity.
  const pending = view.pendingCounts.get(address) ?? sent
  const isAhead = sent > known || (Number.isFinite(pending) && pending > known)
  const inDoubt = earlier ?? (isAhead ? address : undefined)
  const isDoubted = inDoubt !== undefined
  if (memory.isTreasuryDoubted !== isDoubted) await books.doubtTreasury(address, isDoubted)
  memory.isTreasuryDoubted = isDoubted
  if (isDoubted) return { inDoubt }
  return { free: freeOf(seen!, open), nextNonce: Math.max(nextNonce, sent) }
}

/** Milliseconds after which a transaction is sought again: on a long chain each takes dozens of requests. */
const SEEK_AGAIN_MS = 60_000

/**
 * A treasury that this one takes the place of, and that paid what the database does not know: this one is new to a database from before it was
 * configured. Looked at until this one is noted. Raises UNAVAILABLE.
 */
async function findUnsettledEarlier(
  { rpc, books, memory, treasury: { address } }: MoverParts,
  { head }: ChainView,
): Promise<string | undefined> {
  if (await books.isTreasuryNoted(address)) return undefined
  const counted = await count(rpc, await books.findTreasuries(), head.number)
  const missing = counted.map((each) => `${each.address} ${each.missing}`).join()
  const { earlier } = memory
  if (earlier?.missing === missing && performance.now() - earlier.at < SEEK_AGAIN_MS) return earlier.unsettled
  const unsettled = await findUnsettled(rpc, head.number, counted, address)
  memory.earlier = { missing, at: performance.now(), unsettled }
  return unsettled
}

/** The first of them that sent something to others than these and `present`: coins that somebody sent on are no payments. */
async function findUnsettled(rpc: Rpc, block: number, counted: readonly Counted[], present: string) {
  const found = await findUnknown({ rpc, tell() {} }, block, counted)
  const ours = new Set([present, ...counted.map(({ address }) => address)])
  return counted.find((each) => {
    const sentOn = found.of(each).filter(({ to }) => ours.has(to))
    return sentOn.length < each.missing.length
  })?.address
}

/** A treasury that is not the one in use, and what of what was gathered there still lies there, in wei. */
export interface EarlierTreasury {
  address: string
  held: bigint
}

/** Earlier treasuries where coins lie, by the books and by the chain. Raises UNAVAILABLE. */
export async function findEarlierTreasuries(
  rpc: Rpc,
  books: Pick<CoinBooks, 'findEarlierTreasuries'>,
  current: string,
): Promise<EarlierTreasury[]> {
  const booked = await books.findEarlierTreasuries(current)
  const outcomes = await rpc.batch(
    booked.map(({ address }) => ({ method: 'eth_getBalance', params: [address, 'latest'] })),
  )
  return booked
    .map(({ address, held }, index) => {
      const balance = BigInt(resultOf<string>(outcomes[index]))
      return { address, held: balance < held ? balance : held }
    })
    .filter(({ held }) => held > 0n)
}

/** What an operator is told of coins that lie at an earlier treasury. */
export const earlierTreasurySentence = ({ address, held }: EarlierTreasury, current: string): string =>
  `${fromUnits(held)} coins of users lie at the earlier treasury ${address}: withdrawals are paid from ${current} alone. Set CHAIN_TREASURY_KEY back until they are paid out. What is sent on from one treasury to another is in no book: "annal check" calls it missing at the first (H6).`

/** Logs coins at earlier treasuries, once at the start. Throws UNAVAILABLE. */
export async function logEarlierTreasuries({ rpc, books, treasury, log }: MoverParts): Promise<void> {
  for (const earlier of await findEarlierTreasuries(rpc, books, treasury.address))
    log.error(
      { address: earlier.address, held: fromUnits(earlier.held), treasury: treasury.address },
      'Coins of users are at an earlier treasury; set CHAIN_TREASURY_KEY back until they are paid out',
    )
}
