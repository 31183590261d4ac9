/** Sends what is stored for moves of coins, at the price that gas has now, and dearer when that does not get in. */

import { smaller } from '../../../chain/fees.ts'
import { signCoins } from '../../../chain/key-pairs.ts'
import { toHex } from '../../../chain/keys.ts'
import type { Problem } from '../../../chain/log-dedupe.ts'
import type { RpcError } from '../../../chain/rpc.ts'
import { isPoor, isTaken, RESEND_AFTER_MS, STUCK_BLOCKS, STUCK_SECONDS } from '../../../chain/sending.ts'
import type { ChainView } from '../../../chain/view.ts'
import type { CoinMove } from '../coin-types.ts'
import type { MoverParts, SendMemory } from './parts.ts'
import { mostGas } from './plan.ts'

/**
 * Which of a move's transactions is to be sent: the cheapest that the next block takes, and never a cheaper one than before. While gas costs more than
 * the dearest offers, it is the one before: what is offered is paid in full, also once gas is cheap again.
 */
function chooseStep({ transactions, transactionHash, status }: CoinMove, view: ChainView, memory: SendMemory): string {
  const ladder = transactions.filter(({ isCurrent }) => isCurrent)
  const dearest = ladder.length - 1
  const current = status === 'SIGNED' ? 0 : ladder.findIndex(({ hash }) => hash === transactionHash)
  const fitting = ladder.findIndex(({ gasPrice }) => gasPrice >= (view.nextBaseFee * 9n) / 8n)
  if (ladder[dearest]!.gasPrice < view.nextBaseFee) return ladder[Math.max(current, 0)]!.hash
  const wanted = Math.max(current, fitting === -1 ? dearest : fitting)
  const { hash } = ladder[wanted]!
  const from = memory.waitingFrom.get(hash)
  const isStuck =
    from !== undefined &&
    performance.now() - from.at > STUCK_SECONDS * 1_000 &&
    view.head.number - from.head >= STUCK_BLOCKS
  return isStuck && wanted < dearest ? ladder[wanted + 1]!.hash : hash
}

/** Whether it is to be sent: now and then, because pools forget, and with each block what was said to have no room in one. */
function isDue(hash: string, { sentAt, refusals }: SendMemory, head: number): boolean {
  const refused = refusals.get(hash)
  if (refused && refused.head !== head) return true
  return performance.now() - (sentAt.get(hash) ?? Number.NEGATIVE_INFINITY) > RESEND_AFTER_MS
}

/**
 * Sends transfers that no node accepted, that were forgotten, lost their block, or offer too little. Returns the first problem. Throws
 * UNAVAILABLE when the node does not answer.
 */
export async function sendMoves(
  parts: MoverParts,
  view: ChainView,
  moves: readonly CoinMove[],
): Promise<Problem | undefined> {
  const { memory } = parts
  const now = performance.now()
  const due = moves
    .filter(({ transactions }) => transactions.some(({ isCurrent }) => isCurrent))
    .map((move) => ({ id: move.id, sender: move.sender, hash: chooseStep(move, view, memory) }))
    .filter(({ hash }) => isDue(hash, memory, view.head.number))
  if (due.length === 0) return undefined
  const raws = await parts.books.readRaw(due.map(({ hash }) => hash))
  const outcomes = await parts.rpc.batch(
    due.map(({ hash }) => ({ method: 'eth_sendRawTransaction', params: [toHex(raws.get(hash)!)] })),
  )
  let problem: Problem | undefined
  const taken = due.filter(({ sender, hash }, index) => {
    const error = outcomes[index]?.error
    // Whatever is in the way, it is not asked again at once.
    memory.sentAt.set(hash, now)
    const times = (memory.refusals.get(hash)?.times ?? 0) + 1
    memory.refusals.delete(hash)
    if (!error || isTaken(error)) return true
    if (isTooMuchGas(error)) memory.refusals.set(hash, { times, head: view.head.number })
    problem ??= isPoor(error)
      ? { message: 'Coin transfer waits: its address has too few coins; retrying', fields: { address: sender } }
      : { message: 'The node rejected a coin transfer; retrying', reason: error.message, fields: { address: sender } }
    return false
  })
  for (const { hash } of taken) {
    if (!memory.waitingFrom.has(hash)) memory.waitingFrom.set(hash, { at: now, head: view.head.number })
  }
  if (taken.length > 0) await parts.books.markSent(taken)
  return problem
}

/** Forgets all transactions but these, which are on their way. */
export function forgetOthers({ sentAt, waitingFrom, refusals }: SendMemory, hashes: ReadonlySet<string>): void {
  for (const memory of [sentAt, waitingFrom, refusals])
    for (const hash of memory.keys()) if (!hashes.has(hash)) memory.delete(hash)
}

/** Number of rejections, one per block, until a payment is canceled. One node of several can be wrong. */
const REFUSALS = 10

/** More gas than any chain needs for a transfer. Unused gas costs nothing. */
const FILLER_GAS = 100_000n

/** Returns true if the node rejects a transaction for its gas limit, at any price. */
const isTooMuchGas = ({ message }: RpcError): boolean => /gas.?limit|intrinsic gas/i.test(message)

const refusalsOf = ({ transactions }: CoinMove, { refusals }: SendMemory) =>
  transactions.filter(({ isCurrent }) => isCurrent).reduce((sum, { hash }) => sum + (refusals.get(hash)?.times ?? 0), 0)

/**
 * Cancels payments that nodes have rejected for long because no block has room for them. It signs and stores an empty transfer of the treasury to
 * itself at the same nonce. The next step sends it, and the payment is refunded once it is settled. Only one transaction of a nonce can be included.
 */
export async function cancelRejected(parts: MoverParts, view: ChainView, moves: readonly CoinMove[]): Promise<void> {
  const { books, memory, treasury, log } = parts
  for (const move of moves) {
    const isGivenUp = move.sender === treasury.address && refusalsOf(move, memory) >= REFUSALS
    if (!isGivenUp) continue
    if (await books.storeFillers(move.id, signFillers(parts, view, move)))
      log.warn(
        { treasury: treasury.address, nonce: move.nonce },
        'Payment rejected by all nodes; replacing it by an empty transaction and refunding it',
      )
  }
}

/** Signs one empty transfer at each gas price of the payment. */
function signFillers({ treasury }: MoverParts, view: ChainView, { nonce, transactions }: CoinMove) {
  const { chainId } = view
  const filler = { chainId, nonce, to: treasury.address, value: 0n, gasLimit: smaller(FILLER_GAS, mostGas(view)) }
  const prices = transactions.filter(({ isCurrent }) => isCurrent).map(({ gasPrice }) => gasPrice)
  return signCoins(
    treasury.privateKey,
    prices.map((gasPrice) => ({ ...filler, gasPrice })),
  )
}
