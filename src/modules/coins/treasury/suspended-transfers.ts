/** Has moves wait whose coins are gone with their deposits, and takes them up again. */

import { logOnce } from '../../../chain/log-dedupe.ts'
import { quantity } from '../../../chain/rpc.ts'
import type { ChainView } from '../../../chain/view.ts'
import { keysetPages } from '../../../shared/async.ts'
import { freeOf, readAddresses } from './addresses.ts'
import type { MoverParts } from './parts.ts'

/** Addresses that are looked at together. */
const PAGE = 100

/** Sets moves aside whose coins the chain has lost, and takes up again what can go on. Returns whether any wait for what is not credited yet. */
export async function setAside(parts: MoverParts, view: ChainView): Promise<boolean> {
  const isWaiting = await resume(parts, view)
  const addresses = await parts.books.setAside()
  for (const address of addresses)
    parts.log.warn({ address }, 'Coin transfer suspended: the chain has lost the coins to transfer')
  // Less may be signed, too, and be there.
  return addresses.length > 0 ? resume(parts, view) : isWaiting
}

/**
 * Only one transaction of a nonce gets into the chain. What the books know may be less than what is there: deposits that are not deep enough yet, or that
 * nobody has read. So the chain is asked before less is sent than was signed.
 */
async function resume(parts: MoverParts, view: ChainView): Promise<boolean> {
  const waiting: string[] = []
  const pages = keysetPages({
    first: '',
    limit: PAGE,
    read: (after, limit) => parts.books.findResumable(after, limit),
    keyOf: ({ address }) => address,
  })
  for await (const page of pages) {
    if (parts.stopping.aborted) break
    const addresses = page.map(({ address }) => address)
    const seen = await readAddresses(parts.rpc, addresses, quantity(view.head.number))
    const free = page.map(({ address, open }, index) => ({ address, free: freeOf(seen[index]!, open) }))
    const resumed = new Set(await parts.books.resume(free))
    waiting.push(...addresses.filter((address) => !resumed.has(address)))
  }
  if (parts.memory.movesWaiting !== waiting.length) await parts.books.noteWaiting(waiting.length)
  parts.memory.movesWaiting = waiting.length
  const [first] = waiting
  const message = 'Suspended coin transfers wait: the chain has more coins at the addresses than were credited'
  logOnce(
    parts.log,
    parts.dedupers.aside,
    first ? { message, fields: { addresses: waiting.length, address: first } } : undefined,
    'No suspended coin transfer waits any more',
  )
  return waiting.length > 0
}
