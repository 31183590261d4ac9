/** Credits deposits that the watcher cannot detect, such as coins from a contract, for `annal deposits credit`. */
import type { Registry } from '../../../chain/registry/registry.ts'
import type { BlockReply, Rpc } from '../../../chain/rpc.ts'
import { contradiction, hasSucceeded, quantity, RpcError, readTransaction } from '../../../chain/rpc.ts'
import { larger } from '../../../chain/transaction.ts'
import { parseCheckpoint, readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { undefinedIf } from '../../../shared/async.ts'
import { DomainError, notFound } from '../../../shared/errors.ts'
import { toId } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositLedger } from '../deposit-ledger.ts'
import { type CreditTarget, findCreditTarget } from '../deposits.sql.ts'
import { bookedOf } from '../treasury/compare-coins.ts'
import { COIN_POSITION, type DepositDepth, readDepositView } from './deposit-watcher.ts'

interface CreditOptions {
  registry: Registry
  database: Pick<Database, 'query'>
  ledger: Pick<DepositLedger, 'readPosition' | 'creditByHand'>
  confirmations: DepositDepth
}

/** `userId`: UUID. `amount`: currency units. The hash has lower-case digits. */
type CreditRequest = { transactionHash: string; userId: string; amount: string; reason: string }
/** `isTraced`: the node traced the transaction and confirmed recipient and amount. */
type CreditedDeposit = { id: string; blockNumber: number; isTraced: boolean }
/** Maximum number of attempts while the deposit scan advances. */
const TRIES = 20
const conflict = (message: string) => new DomainError('CONFLICT', message)

/**
 * Credits coins that a final transaction sent to a user's address, once per transaction. Throws NOT_FOUND, UNAVAILABLE,
 * and CONFLICT if the transaction was already credited, failed, is not final, or did not send this amount.
 */
export async function creditTransaction(options: CreditOptions, request: CreditRequest): Promise<CreditedDeposit> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const credited = await tryToCredit(options, request)
    if (credited) return credited
  }
  throw conflict('The deposit scan advanced during each attempt. Run the command again.')
}

/** Returns undefined if the scan advanced or another command credited the transaction meanwhile. */
async function tryToCredit(
  { registry, database, ledger, confirmations }: CreditOptions,
  { transactionHash, userId, amount, reason }: CreditRequest,
): Promise<CreditedDeposit | undefined> {
  const { rpc } = registry
  const { chainId, due } = await readDepositView(registry, rpc, confirmations)
  const position = await ledger.readPosition(chainId)
  if (position === undefined) throw conflict('No Annal server watches this chain for deposits. Start a server first.')
  const scanned = parseCheckpoint(position)[0].number
  const reference = `deposit:${transactionHash}:${COIN_POSITION}`
  const [target] = await database.query(findCreditTarget, { user: userId, reference, upTo: scanned })
  if (!target) throw notFound('User')
  assertNotCredited(target, userId, amount)
  const { receipt, received } = await readTransfer(rpc, transactionHash, target.address)
  const block = { blockNumber: Number(receipt.blockNumber), blockHash: receipt.blockHash }
  const newest = Math.min(due, scanned)
  if (block.blockNumber > newest)
    throw conflict(
      `The transaction is not final: it is in block ${block.blockNumber}, and deposits count up to block ${newest}. Try again later.`,
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
      `This transaction is the frozen deposit ${id} of ${toId('user', deposit.userId)}, ${deposit.amount}. Enter the same user and amount.`,
    )
}

/** Reads a transaction and the wei that it sent to an address. `received` is undefined if the node cannot trace it. */
async function readTransfer(rpc: Rpc, hash: string, address: string) {
  const { transaction, receipt } = await readTransaction(rpc, hash)
  if (!transaction) throw new DomainError('NOT_FOUND', 'The chain does not have this transaction.')
  if (!receipt) throw conflict('The transaction is not in a block yet. Try again later.')
  if (!hasSucceeded(receipt)) throw conflict('The transaction failed: it sent no coins.')
  const block = await rpc.call<BlockReply | null>('eth_getBlockByNumber', receipt.blockNumber, false)
  if (block?.hash !== receipt.blockHash) throw contradiction(rpc)
  const isDirect = transaction.to?.toLowerCase() === address.toLowerCase()
  if (isDirect) return { receipt, received: BigInt(transaction.value) }
  // Most public nodes do not support traces.
  const frame = await rpc
    .call<CallFrame>('debug_traceTransaction', hash, { tracer: 'callTracer' })
    .catch(undefinedIf((error) => error instanceof RpcError))
  return { receipt, received: frame && sumReceived(frame, address) }
}

/** A call in the result of the `callTracer`. `error` is set if the call and all its inner calls were reverted. */
type CallFrame = { type: string; to?: string; value?: string; error?: string; calls?: CallFrame[] }
/** Call types that transfer coins. Other frames can have a value without a transfer. */
const MOVES_COINS = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'])

const sumReceived = ({ type, to, value = '0x0', error, calls = [] }: CallFrame, address: string): bigint => {
  if (error !== undefined) return 0n
  const own = MOVES_COINS.has(type) && to?.toLowerCase() === address.toLowerCase() ? BigInt(value) : 0n
  return calls.reduce((sum, call) => sum + sumReceived(call, address), own)
}

/** Compares the amount with the transaction, and with the uncredited coins at the address. */
async function assertAmount(rpc: Rpc, target: CreditTarget, scanned: number, amount: string, received?: bigint) {
  if (received === 0n) throw conflict('The transaction sent no coins to the address of this user.')
  if (received !== undefined && received !== toUnits(amount))
    throw conflict(`The transaction sent ${fromUnits(received)} to the address of this user, not ${amount}.`)
  const [seen] = await readAccounts(rpc, [target.address], quantity(scanned))
  const uncredited = seen!.balance - bookedOf(target, seen!.count) - toUnits(target.waiting)
  if (uncredited < toUnits(amount))
    throw conflict(
      `The address of this user holds ${fromUnits(larger(uncredited, 0n))} coins that are not credited, less than ${amount}.`,
    )
}
