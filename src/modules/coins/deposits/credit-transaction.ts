/** Credits a deposit that the finder cannot see, such as coins that a contract sent. Called by `annal deposits credit`. */

import { readTrail } from '../../../chain/block-checkpoint.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import type { BlockReply, ReceiptReply, Rpc, TransactionReply } from '../../../chain/rpc.ts'
import { contradiction, hasSucceeded, quantity, RpcError, resultOf } from '../../../chain/rpc.ts'
import { readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { DomainError, notFound } from '../../../shared/errors.ts'
import { toId } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositLedger } from '../deposit-ledger.ts'
import { type CreditTarget, findCreditTarget } from '../deposits.sql.ts'
import { bookedOf } from '../treasury/compare-coins.ts'
import { COIN_POSITION, type DepositDepth, readDepositView } from './deposit-watcher.ts'

/** The chain and the ledger that are compared. */
export interface CreditOptions {
  registry: Registry
  database: Pick<Database, 'query'>
  ledger: Pick<DepositLedger, 'readPosition' | 'creditByHand'>
  confirmations: DepositDepth
}

/** The deposit as the operator names it. */
export interface CreditRequest {
  /** With lower-case digits. */
  transactionHash: string
  /** UUID of the user. */
  userId: string
  /** Currency units, a decimal string. */
  amount: string
  reason: string
}

/** A credited deposit. */
export interface CreditedDeposit {
  /** UUID. */
  id: string
  blockNumber: number
  /** True if the node traced the transaction and confirmed recipient and amount. */
  isTraced: boolean
}

/** Maximum number of attempts while the deposit scan moves on. */
const TRIES = 20

const conflict = (message: string) => new DomainError('CONFLICT', message)

/**
 * Credits coins that a final transaction sent to a user's address, once per transaction. Throws NOT_FOUND if the user or the transaction does not
 * exist. Throws CONFLICT if the transaction was already credited, failed, is not final, or did not send this amount to the address. Throws
 * UNAVAILABLE.
 */
export async function creditTransaction(options: CreditOptions, request: CreditRequest): Promise<CreditedDeposit> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const credited = await tryToCredit(options, request)
    if (credited) return credited
  }
  throw conflict('The deposit scan moved on during each attempt. Run the command again.')
}

/** Returns undefined if the scan moved on, or if another command credited the transaction, since they were read. */
async function tryToCredit(
  { registry, database, ledger, confirmations }: CreditOptions,
  { transactionHash, userId, amount, reason }: CreditRequest,
): Promise<CreditedDeposit | undefined> {
  const { rpc } = registry
  const { chainId, due } = await readDepositView(registry, rpc, confirmations)
  const position = await ledger.readPosition(chainId)
  if (position === undefined) throw conflict('No server watches this chain for deposits. Start one first.')
  const scanned = readTrail(position)[0].number
  const reference = `deposit:${transactionHash}:${COIN_POSITION}`
  const [target] = await database.query(findCreditTarget, { user: userId, reference, upTo: scanned })
  if (!target) throw notFound('User')
  assertNotCredited(target, userId, amount)
  const { receipt, received } = await readTransfer(rpc, transactionHash, target.address)
  const block = { blockNumber: Number(receipt.blockNumber), blockHash: receipt.blockHash }
  if (block.blockNumber > Math.min(due, scanned))
    throw conflict(
      `The transaction is not final: it is in block ${block.blockNumber}, and deposits count up to block ${Math.min(due, scanned)}. Try again later.`,
    )
  await assertAmount(rpc, target, scanned, amount, received)
  const deposit = { reference, transactionHash, userId, amount, reason, ...block }
  const id = await ledger.creditByHand({ chainId, position }, due, deposit)
  return id === undefined ? undefined : { id, blockNumber: block.blockNumber, isTraced: received !== undefined }
}

function assertNotCredited({ deposit }: CreditTarget, userId: string, amount: string) {
  if (!deposit) return
  const id = toId('deposit', deposit.id)
  if (deposit.status === 'CREDITED') throw conflict(`This transaction was already credited: ${id}.`)
  if (!deposit.isLost)
    throw conflict(`This transaction is already known: ${id}. It is credited after enough confirmations.`)
  if (deposit.userId !== userId || toUnits(deposit.amount) !== toUnits(amount))
    throw conflict(
      `This transaction is the frozen deposit ${id} of ${toId('user', deposit.userId)}, ${deposit.amount}. Name the same user and amount.`,
    )
}

/** Reads a transaction and the wei that it sent to an address. `received` is undefined if only a trace shows it and the node has none. */
async function readTransfer(rpc: Rpc, hash: string, address: string) {
  const [found, placed] = await rpc.batch([
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  const transaction = resultOf<TransactionReply | null>(found)
  const receipt = resultOf<ReceiptReply | null>(placed)
  if (!transaction) throw new DomainError('NOT_FOUND', 'The chain does not have this transaction.')
  if (!receipt) throw conflict('The transaction is not in a block yet. Try again later.')
  if (!hasSucceeded(receipt)) throw conflict('The transaction failed: it sent no coins.')
  const block = await rpc.call<BlockReply | null>('eth_getBlockByNumber', receipt.blockNumber, false)
  if (block?.hash !== receipt.blockHash) throw contradiction(rpc)
  const isDirect = transaction.to?.toLowerCase() === address.toLowerCase()
  return { receipt, received: isDirect ? BigInt(transaction.value) : await traceReceived(rpc, hash, address) }
}

/** A call as the `callTracer` of `debug_traceTransaction` returns it. */
interface CallFrame {
  type: string
  to?: string
  value?: string
  /** Set if the call and all its inner calls were reverted. */
  error?: string
  calls?: CallFrame[]
}

/** Call types that transfer coins. Frames of other types can have a value without a transfer. */
const MOVES_COINS = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'])

const sumReceived = ({ type, to, value = '0x0', error, calls = [] }: CallFrame, address: string): bigint => {
  if (error !== undefined) return 0n
  const own = MOVES_COINS.has(type) && to?.toLowerCase() === address.toLowerCase() ? BigInt(value) : 0n
  return calls.reduce((sum, call) => sum + sumReceived(call, address), own)
}

async function traceReceived(rpc: Rpc, hash: string, address: string): Promise<bigint | undefined> {
  try {
    return sumReceived(await rpc.call<CallFrame>('debug_traceTransaction', hash, { tracer: 'callTracer' }), address)
  } catch (error) {
    // Most public nodes do not support traces.
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** Compares the amount with the transaction, and with the coins at the address that no deposit explains, which the treasury could not sweep. */
async function assertAmount(rpc: Rpc, target: CreditTarget, scanned: number, amount: string, received?: bigint) {
  if (received === 0n) throw conflict('The transaction sent no coins to the address of this user.')
  if (received !== undefined && received !== toUnits(amount))
    throw conflict(`The transaction sent ${fromUnits(received)} to the address of this user, not ${amount}.`)
  const [seen] = await readAccounts(rpc, [target.address], quantity(scanned))
  const uncredited = seen!.balance - bookedOf(target, seen!.count) - toUnits(target.waiting)
  if (uncredited < toUnits(amount))
    throw conflict(
      `The address of this user holds ${fromUnits(uncredited < 0n ? 0n : uncredited)} coins that are not credited, less than ${amount}.`,
    )
}
