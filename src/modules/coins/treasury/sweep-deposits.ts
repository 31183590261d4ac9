/** Sweeps credited deposits from user addresses into the treasury. */
import { logOnce } from '../../../chain/poller.ts'
import { quantity } from '../../../chain/rpc.ts'
import { type ChainView, readAccounts, type SeenAccount } from '../../../chain/view.ts'
import { keyValueKeys, replaceSetting } from '../../../db/key-value-store.ts'
import { keysetPages } from '../../../shared/async.ts'
import { isUnavailable } from '../../../shared/errors.ts'
import { NIL_UUID } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import { explainError } from '../../../shared/operator-errors.ts'
import { findResumable, resumeTransfers, suspendTransfers } from '../coin-transfers.sql.ts'
import { lockAndStoreSweep, withWalletLock } from '../coin-transfers.ts'
import { findUnswept, type UnsweptRow } from '../treasury.sql.ts'
import { DUST_FACTOR, freeBalance, presentPrice, pricesUpTo, spendAll, TRANSFER_GAS } from './quote-transfer.ts'
import type { WorkerParts } from './treasury.ts'

const SWEEP_PAGE = 20
const SUSPENDED_PAGE = 100

/** Signs and stores a sweep for each address with enough coins. Returns that minimum, in wei. */
export async function sweepDeposits(parts: WorkerParts, view: ChainView): Promise<bigint> {
  const price = presentPrice(view, parts.maxFeePerGas)
  // The gas price is above the maximum; deposits stay unswept.
  if (price === undefined) return DUST_FACTOR * TRANSFER_GAS * parts.maxFeePerGas
  const ladder = { chainId: view.chainId, prices: pricesUpTo(price, parts.maxFeePerGas) }
  const least = DUST_FACTOR * TRANSFER_GAS * price
  const problems: { address: string; reason: string }[] = []
  const pages = keysetPages({
    ...{ first: NIL_UUID, limit: SWEEP_PAGE },
    read: (after, limit) => parts.database.query(findUnswept, { least: fromUnits(least), after, limit }),
    keyOf: ({ userId }) => userId,
  })
  for await (const rows of pages) {
    if (parts.stopping.aborted) break
    const addresses = rows.map(({ address }) => address)
    const seen = await readAccounts(parts.rpc, addresses, 'latest')
    for (const [index, balance] of rows.entries()) {
      const reason = await sweepAddress(parts, balance, seen[index]!, ladder)
      if (reason) problems.push({ address: balance.address, reason })
    }
  }
  const [first] = problems
  const fields = { addresses: problems.length, address: first?.address }
  const problem = first && { message: 'Treasury sweep skipped addresses', reason: first.reason, fields }
  logOnce(parts.log, parts.dedupers.sweeping, problem, 'Treasury sweep recovered')
  return least
}

/** Returns the reason why the address was skipped, or an empty string. Throws UNAVAILABLE. */
async function sweepAddress(
  { database, custody, treasury }: WorkerParts,
  row: UnsweptRow,
  { balance, count }: SeenAccount,
  { chainId, prices }: { chainId: number; prices: readonly bigint[] },
): Promise<string> {
  const { userId, address, nextNonce, suspended } = row
  const unswept = toUnits(row.unswept)
  if (balance < unswept) return 'The address has fewer coins on the chain than were credited.'
  // The chain contains the suspended transfer after all. The transfer resumes after its coins are credited again.
  if (suspended && suspended.nonce < count) return ''
  const nonce = suspended?.nonce ?? Math.max(nextNonce, count)
  const recipient = suspended?.recipient ?? treasury.address
  try {
    const signed = await custody.signCoins(userId, row, spendAll({ chainId, nonce, to: recipient }, unswept, prices))
    const transfer = { userId, sender: address, recipient, nonce, amount: unswept, signed, unswept }
    // Stores nothing if a deletion or another process has signed a transfer of the same coins.
    await lockAndStoreSweep(database, { ...transfer, replacesSuspended: suspended !== null })
    return ''
  } catch (error) {
    if (isUnavailable(error)) throw error
    return explainError(error)
  }
}

/** Suspends transfers whose coins the chain has lost, and resumes others. Returns true if any transfer waits for a credit. */
export async function resumeAndSuspend(parts: WorkerParts, view: ChainView): Promise<boolean> {
  const isWaiting = await resume(parts, view)
  const [row] = await parts.database.query(suspendTransfers)
  for (const address of row!.addresses)
    parts.log.warn({ address }, 'Coin transfer suspended: the chain has lost the coins to transfer')
  // A transaction with a smaller amount may be signed too, and the address may still hold that amount.
  return row!.addresses.length > 0 ? resume(parts, view) : isWaiting
}

/** Resumes suspended transfers, unless the address holds uncredited deposits: a nonce can be used only once. */
async function resume(parts: WorkerParts, view: ChainView): Promise<boolean> {
  const waiting: string[] = []
  const pages = keysetPages({
    ...{ first: '', limit: SUSPENDED_PAGE },
    read: (after, limit) => parts.database.query(findResumable, { after, limit }),
    keyOf: ({ address }) => address,
  })
  for await (const page of pages) {
    if (parts.stopping.aborted) break
    const addresses = page.map(({ address }) => address)
    const seen = await readAccounts(parts.rpc, addresses, quantity(view.head.number))
    const free = page.map(({ open }, index) => fromUnits(freeBalance(seen[index]!, open)))
    const [row] = await withWalletLock(parts.database, addresses, (query) =>
      query(resumeTransfers, { addresses, free }),
    )
    const resumed = new Set(row!.addresses)
    waiting.push(...addresses.filter((address) => !resumed.has(address)))
  }
  const setting = { key: keyValueKeys.movesWaiting, value: String(waiting.length) }
  if (parts.memory.waitingTransfers !== waiting.length) await parts.database.query(replaceSetting, setting)
  parts.memory.waitingTransfers = waiting.length
  const message = 'Suspended coin transfers wait: the chain has more coins at the addresses than were credited'
  const problem = { message, fields: { addresses: waiting.length, address: waiting[0] } }
  const recovered = 'Suspended coin transfers resumed'
  logOnce(parts.log, parts.dedupers.suspended, waiting.length > 0 ? problem : undefined, recovered)
  return waiting.length > 0
}
