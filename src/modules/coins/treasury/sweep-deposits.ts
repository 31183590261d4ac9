/** Gathers credited deposits: from their owners' addresses into the treasury. */

import { logOnce } from '../../../chain/log-dedupe.ts'
import type { ChainView } from '../../../chain/view.ts'
import { keysetPages } from '../../../shared/async.ts'
import { isUnavailable } from '../../../shared/errors.ts'
import { NIL_UUID } from '../../../shared/ids.ts'
import { explainError } from '../../../shared/operator-errors.ts'
import type { UnsweptCoins } from '../coin-types.ts'
import { readAddresses, type SeenAddress } from './addresses.ts'
import type { MoverParts } from './parts.ts'
import { DUST_FACTOR, presentPrice, pricesUpTo, spendAll, TRANSFER_GAS } from './plan.ts'

/** Addresses of one step. */
const PAGE = 20

/**
 * Signs and stores a move for each address that holds enough; sending is the next step's. An address whose key does not open, or
 * where the chain has less than the books, is left alone and told of; all others go on. Returns how many wei are enough at the
 * present price of gas.
 */
export async function gather(parts: MoverParts, view: ChainView): Promise<bigint> {
  const price = presentPrice(view, parts.maxFeePerGas)
  // Above what may be paid: whatever lies there waits.
  if (price === undefined) return DUST_FACTOR * TRANSFER_GAS * parts.maxFeePerGas
  const ladder = { chainId: view.chainId, prices: pricesUpTo(price, parts.maxFeePerGas) }
  const least = DUST_FACTOR * TRANSFER_GAS * price
  const problems: { address: string; reason: string }[] = []
  const pages = keysetPages({
    first: NIL_UUID,
    limit: PAGE,
    read: (after, limit) => parts.books.findUnswept(least, after, limit),
    keyOf: ({ userId }) => userId,
  })
  for await (const rows of pages) {
    if (parts.stopping.aborted) break
    const addresses = rows.map(({ address }) => address)
    const seen = await readAddresses(parts.rpc, addresses, 'latest')
    for (const [index, unswept] of rows.entries()) {
      const reason = await gatherOne(parts, unswept, seen[index]!, ladder)
      if (reason) problems.push({ address: unswept.address, reason })
    }
  }
  const [first] = problems
  const fields = { addresses: problems.length, address: first?.address }
  logOnce(
    parts.log,
    parts.dedupers.gathering,
    first && { message: 'Treasury sweep skipped addresses', reason: first.reason, fields },
    'Treasury sweep recovered',
  )
  return least
}

/** Returns what is in the way; empty when nothing is. Raises UNAVAILABLE. */
async function gatherOne(
  { books, custody, treasury }: MoverParts,
  { userId, address, key, unswept, nextNonce, aside }: UnsweptCoins,
  { balance, count }: SeenAddress,
  { chainId, prices }: { chainId: number; prices: readonly bigint[] },
): Promise<string> {
  if (balance < unswept) return 'the chain has less there than was credited.'
  // The move that is set aside is in the chain after all: it goes on as soon as its coins are credited again.
  if (aside && aside.nonce < count) return ''
  const nonce = aside?.nonce ?? Math.max(nextNonce, count)
  const recipient = aside?.recipient ?? treasury.address
  try {
    const signed = await custody.signCoins(userId, key, spendAll({ chainId, nonce, to: recipient }, unswept, prices))
    // Where a deletion or another process was quicker, it has signed for the same coins.
    const move = { userId, sender: address, recipient, nonce, amount: unswept, signed, unswept }
    await books.store({ ...move, isAnew: aside !== undefined })
    return ''
  } catch (error) {
    if (isUnavailable(error)) throw error
    return explainError(error)
  }
}
