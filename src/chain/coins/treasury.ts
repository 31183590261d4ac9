/** The treasury: what it can pay with, and coins that lie where it was before. */
import { fromUnits } from '../../domain/money.ts'
import type { CoinBooks } from '../../domain/ports/coins.ts'
import type { KeyVault } from '../../domain/ports/keys.ts'
import { createRelayAccount, type RelayAccount, toHex } from '../keys.ts'
import { quantity, type Rpc, resultOf } from '../rpc.ts'
import type { ChainView } from '../view.ts'
import { freeOf, readAddresses } from './addresses.ts'
import type { MoverParts } from './parts.ts'

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
 * What the treasury has; undefined while the chain counts transactions of it that the database does not know. When it is first looked at it may
 * have a past; afterwards nobody else may hold its key. Raises UNAVAILABLE.
 */
export async function readTreasury(
  { rpc, books, memory, treasury: { address } }: MoverParts,
  { head }: ChainView,
): Promise<Treasury | undefined> {
  // Of one block: a move that is included in between would count twice.
  const [seen] = await readAddresses(rpc, [address], quantity(head.number))
  const { count } = seen!
  const first = await books.noteTreasury(address, count)
  const { nextNonce, open } = await books.readSender(address)
  const isDoubted = count > Math.max(nextNonce, first)
  if (memory.isTreasuryDoubted !== isDoubted) await books.doubtTreasury(address, isDoubted)
  memory.isTreasuryDoubted = isDoubted
  if (isDoubted) return undefined
  return { free: freeOf(seen!, open), nextNonce: Math.max(nextNonce, count) }
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
  `${fromUnits(held)} coins of users lie at the earlier treasury ${address}: withdrawals are paid from ${current} alone. Send them there, or set CHAIN_TREASURY_KEY back.`

/** Tells of coins at earlier treasuries, when the work begins. Raises UNAVAILABLE. */
export async function tellEarlierTreasuries({ rpc, books, treasury, log }: MoverParts): Promise<void> {
  for (const earlier of await findEarlierTreasuries(rpc, books, treasury.address))
    log.error(
      { address: earlier.address, held: fromUnits(earlier.held) },
      earlierTreasurySentence(earlier, treasury.address),
    )
}
