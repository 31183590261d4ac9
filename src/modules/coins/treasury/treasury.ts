/** The treasury: its account, its free balance, and coins at earlier treasuries. */
import { createRelayAccount, type RelayAccount, toHex } from '../../../chain/keys.ts'
import { quantity, type Rpc, resultOf } from '../../../chain/rpc.ts'
import { type ChainView, readAccounts } from '../../../chain/view.ts'
import type { KeyVault } from '../../../keys/key-types.ts'
import { fromUnits } from '../../../shared/money.ts'
import type { CoinLedger } from '../coin-ledger.ts'
import { freeBalance } from './gas-prices.ts'
import { type Counted, count, findUnknown } from './unknown-transactions.ts'
import type { WorkerParts } from './worker-parts.ts'

/** Returns the account of the treasury: from the configured key, else derived from the vault's key. */
export const createTreasury = (key: string | undefined, vault: Pick<KeyVault, 'derive'>): RelayAccount =>
  createRelayAccount(key ?? toHex(vault.derive('treasury')))

/** Balance and nonce of the treasury. */
export interface Treasury {
  /** Wei that no signed transfer takes. */
  free: bigint
  nextNonce: number
}

/**
 * Reads what the treasury can pay. Returns `inDoubt`, the address of a treasury, while the chain or the node's pool has transactions of it that the
 * ledger does not know: then a waiting withdrawal may have been paid already. Throws UNAVAILABLE.
 */
export async function readTreasury(parts: WorkerParts, view: ChainView): Promise<Treasury | { inDoubt: string }> {
  const { rpc, ledger, memory, treasury } = parts
  const { address } = treasury
  // Read at one block: a transfer that is included in between would count twice.
  const [seen] = await readAccounts(rpc, [address], quantity(view.head.number))
  const { count: sent } = seen!
  const earlier = await findUnsettledEarlier(parts, view)
  const first = earlier === undefined ? await ledger.noteTreasury(address, sent) : 0
  const { nextNonce, open } = await ledger.readSender(address)
  const known = Math.max(nextNonce, first)
  // Every transfer is stored before it is sent. The pending count is Infinity if the node does not report its pool.
  const pending = view.pendingCounts.get(address) ?? sent
  const isAhead = sent > known || (Number.isFinite(pending) && pending > known)
  const inDoubt = earlier ?? (isAhead ? address : undefined)
  const isDoubted = inDoubt !== undefined
  if (memory.isTreasuryDoubted !== isDoubted) await ledger.doubtTreasury(address, isDoubted)
  memory.isTreasuryDoubted = isDoubted
  if (isDoubted) return { inDoubt }
  return { free: freeBalance(seen!, open), nextNonce: Math.max(nextNonce, sent) }
}

/** Pause between two searches for transactions, in milliseconds. On a long chain each search needs dozens of requests. */
const SEARCH_PAUSE_MS = 60_000

/**
 * Returns an earlier treasury that paid something that the ledger does not know. This happens with a new treasury and a database from before the
 * change. Checked until the new treasury is stored. Throws UNAVAILABLE.
 */
async function findUnsettledEarlier(
  { rpc, ledger, memory, treasury: { address } }: WorkerParts,
  { head }: ChainView,
): Promise<string | undefined> {
  if (await ledger.isTreasuryNoted(address)) return undefined
  const counted = await count(rpc, await ledger.findTreasuries(), head.number)
  const missing = counted.map((each) => `${each.address} ${each.missing}`).join()
  const { earlier } = memory
  if (earlier?.missing === missing && performance.now() - earlier.at < SEARCH_PAUSE_MS) return earlier.unsettled
  const unsettled = await findUnsettled(rpc, head.number, counted, address)
  memory.earlier = { missing, at: performance.now(), unsettled }
  return unsettled
}

/** Returns the first treasury that sent coins to anyone except another treasury. Coins sent between treasuries are not payments. */
async function findUnsettled(rpc: Rpc, block: number, counted: readonly Counted[], present: string) {
  const found = await findUnknown({ rpc, onProgress() {} }, block, counted)
  const ours = new Set([present, ...counted.map(({ address }) => address)])
  return counted.find((each) => {
    const sentOn = found.of(each).filter(({ to }) => ours.has(to))
    return sentOn.length < each.missing.length
  })?.address
}

/** An earlier treasury, and the swept coins that are still there, in wei. */
export interface EarlierTreasury {
  address: string
  held: bigint
}

/** Returns earlier treasuries that hold coins according to ledger and chain. Throws UNAVAILABLE. */
export async function findEarlierTreasuries(
  rpc: Rpc,
  ledger: Pick<CoinLedger, 'findEarlierTreasuries'>,
  current: string,
): Promise<EarlierTreasury[]> {
  const booked = await ledger.findEarlierTreasuries(current)
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

/** Describes coins at an earlier treasury for an operator. */
export const earlierTreasurySentence = ({ address, held }: EarlierTreasury, current: string): string =>
  `${fromUnits(held)} coins of users are at the earlier treasury ${address}, but withdrawals are paid from ${current} only. Set CHAIN_TREASURY_KEY back until they are paid out. The ledger does not know coins sent between treasuries: "annal check" reports them as missing at the first one (H6).`

/** Logs coins at earlier treasuries, once at the start. Throws UNAVAILABLE. */
export async function logEarlierTreasuries({ rpc, ledger, treasury, log }: WorkerParts): Promise<void> {
  for (const earlier of await findEarlierTreasuries(rpc, ledger, treasury.address))
    log.error(
      { address: earlier.address, held: fromUnits(earlier.held), treasury: treasury.address },
      'Coins of users are at an earlier treasury; set CHAIN_TREASURY_KEY back until they are paid out',
    )
}
