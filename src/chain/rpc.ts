/** A JSON-RPC client without retries and caches: the relay must know which requests were answered. */
import { askLocalSocket, socketPathOf } from '../embedded/local-socket.ts'
import { readAtMost } from '../shared/async.ts'
import { unavailable } from '../shared/errors.ts'
import { noopTracer, type Tracer } from '../telemetry/telemetry-types.ts'

export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const isRpcError = (error: unknown): error is RpcError => error instanceof RpcError
type RpcCall = { method: string; params: readonly unknown[] }
export type RpcOutcome = { result: unknown; error?: undefined } | { result?: undefined; error: RpcError }

export interface Rpc {
  /** Host or socket path for messages. Excludes the path of a URL, because providers put secrets into the path. */
  readonly host: string
  /** Calls a method. Throws RpcError if the node rejects the call, and UNAVAILABLE without a usable response. */
  call<T>(method: string, ...params: unknown[]): Promise<T>
  /** Sends several calls. Returns outcomes in the same order. Throws UNAVAILABLE if a call has no usable response. */
  batch(calls: readonly RpcCall[]): Promise<RpcOutcome[]>
  /** Returns a client for the same node whose requests `signal` aborts. */
  until(signal: AbortSignal): Rpc
}

interface RpcOptions {
  url: string
  timeout?: number
  /** Maximum number of calls per HTTP request. Public nodes allow between 10 and 1,000. */
  batchSize?: number
  /** Maximum response size, in bytes. Anyone can write large data into blocks and logs. */
  mostBytes?: number
  signal?: AbortSignal
  tracer?: Tracer
}

/** Codes and texts of rate limit errors. Such a call can be retried later. */
const limitCodes = new Set([429, -32005, -32029])
const limitWords = /rate.?limit|request (limit|rate|count)|too many (requests|connections)|compute units?/i
/** Messages of limits that a retry cannot avoid. Nodes use the code of rate limits (-32005) for them too. */
const lastingLimit =
  /block range|range (of blocks|limit)|blocks? (distance|limit)|(more than \d+|too many) (results|logs|blocks)|batch size|gas limit/i
const REVERTED = 3
/** Returns true for a rate limit. Excludes revert messages of contracts, which may contain similar words. */
const isRateLimit = ({ code, message }: RpcError) =>
  (limitCodes.has(code) || (limitWords.test(message) && code !== REVERTED && !/revert/i.test(message))) &&
  !lastingLimit.test(message)
/** HTTP statuses of servers that do not accept a batch, or do not accept a batch of this size. */
const batchRefusals = new Set([400, 405, 413, 415, 422, 501])
type Reply = { id?: number | null; result?: unknown; error?: { code?: number; message?: string } | string }
const isReply = (value: unknown): value is Reply => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Creates a client. Sends calls in batches if the node supports them, otherwise one by one. Does not retry. */
export function createRpc(options: RpcOptions): Rpc {
  const { url, timeout = 10_000, batchSize = 50, mostBytes = 64_000_000, tracer = noopTracer } = options
  const socketPath = socketPathOf(url)
  const target = new URL(url)
  const host = target.host || target.pathname
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  // `fetch` rejects URLs with credentials.
  if (target.username) {
    const credentials = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    target.username = ''
    target.password = ''
  }
  let isBatching = true
  let lastId = 0

  const noAnswer = (why: string, cause?: unknown) => unavailable('The chain', new Error(`${host}: ${why}`, { cause }))

  const ask = async (body: string, signal: AbortSignal) => {
    if (socketPath) return { text: await askLocalSocket(socketPath, body, signal, mostBytes), ok: true, status: 200 }
    const response = await fetch(target.href, { method: 'POST', headers, body, signal, redirect: 'error' })
    const text = (await readAtMost(response.body ?? [], mostBytes)).toString()
    return { text, ok: response.ok, status: response.status }
  }

  const exchange = async (body: object): Promise<unknown> => {
    try {
      const deadline = AbortSignal.timeout(timeout)
      const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline
      const { text, ok, status } = await ask(JSON.stringify(body), signal)
      const parsed = parseJson(text)
      // Some nodes send a JSON-RPC error with an HTTP error status. The error in the body is more precise.
      const isAnswer = parsed !== undefined && (ok || Array.isArray(parsed) || (isReply(parsed) && parsed.error))
      if (isAnswer && status !== 429) return parsed
      if (Array.isArray(body) && batchRefusals.has(status)) return undefined
      throw new Error(ok ? 'The response of the node is not JSON.' : `The node responded with HTTP status ${status}.`)
    } catch (error) {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw noAnswer(reason instanceof Error ? reason.message : 'The node did not respond.', error)
    }
  }

  /** Sends a request. `what`: name for traces. Returns undefined if the server does not accept batches. */
  const post = (what: string, body: object): Promise<unknown> => {
    const facts = { 'rpc.system.name': 'jsonrpc', 'rpc.method': what }
    return tracer.span(what, { kind: 'client', facts }, () => exchange(body))
  }

  const read = (reply: unknown): RpcOutcome => {
    if (reply === undefined) throw noAnswer('The node returned no result for a call of a batch.')
    if (!isReply(reply)) throw noAnswer('The response of the node is not JSON-RPC.')
    if (reply.error) {
      const { code = 0, message = 'no reason given' } =
        typeof reply.error === 'string' ? { message: reply.error } : reply.error
      const error = new RpcError(code, message)
      if (isRateLimit(error)) throw noAnswer(`rate limit: ${error.message}`)
      return { error }
    }
    if (reply.result === undefined) throw noAnswer('The response of the node has no result.')
    return { result: reply.result }
  }

  const encode = ({ method, params }: RpcCall) => ({ jsonrpc: '2.0', id: ++lastId, method, params })

  const sendTogether = async (calls: readonly RpcCall[]): Promise<RpcOutcome[] | undefined> => {
    const bodies = calls.map(encode)
    const replies = await post('batch', bodies)
    // A single response for all calls means a rate limit, or a node that does not accept batches or this batch size.
    const [first, ...others] = [replies].flat()
    const refusal = others.length === 0 && isReply(first) && first.error ? first : undefined
    if (refusal) read(refusal)
    if (refusal || !Array.isArray(replies)) return undefined
    const byId = new Map(replies.filter(isReply).map((reply) => [reply.id, reply]))
    return bodies.map(({ id }) => read(byId.get(id)))
  }

  const sendSingly = async (call: RpcCall) => read(await post(call.method, encode(call)))

  const batch: Rpc['batch'] = async (calls) => {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < calls.length; start += batchSize) {
      const part = calls.slice(start, start + batchSize)
      const isTogether = isBatching && part.length > 1
      const together = isTogether ? await sendTogether(part) : undefined
      if (together) outcomes.push(...together)
      else for (const call of part) outcomes.push(await sendSingly(call))
      // The node accepted the calls one by one but not as a batch, so stop using batches.
      if (isTogether && !together) isBatching = false
    }
    return outcomes
  }

  return {
    host,
    batch,
    until: (signal) => createRpc({ ...options, signal }),
    call: async <T>(method: string, ...params: unknown[]) => resultOf<T>(await sendSingly({ method, params })),
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns an error for contradictory responses: from nodes at different heights, or during a reorganization. */
export const contradiction = ({ host }: Rpc) =>
  unavailable('The chain', new Error(`The node ${host} returned contradictory responses.`))

export const resultOf = <T>(outcome: RpcOutcome | undefined): T => {
  if (!outcome) throw new TypeError('The response to a batch contains fewer results than the batch has calls.')
  if (outcome.error) throw outcome.error
  return outcome.result as T
}

/** Calls a method once for each list of parameters. Returns the results. Throws RpcError if the node rejects a call. */
export const callEach = async <T>(rpc: Rpc, method: string, parameters: readonly unknown[][]): Promise<T[]> =>
  (await rpc.batch(parameters.map((params) => ({ method, params })))).map((outcome) => resultOf<T>(outcome))

/** Reads receipts. A receipt is null while its transaction is in no block. */
export const readReceipts = (rpc: Rpc, hashes: readonly string[]) =>
  callEach<ReceiptReply | null>(
    rpc,
    'eth_getTransactionReceipt',
    hashes.map((hash) => [hash]),
  )

/** Reads blocks with their transactions. A block is null if the node does not have it. */
export const readFullBlocks = (rpc: Rpc, from: number, to: number) => {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => [quantity(from + index), true])
  return callEach<FullBlockReply | null>(rpc, 'eth_getBlockByNumber', numbers)
}

export const readTransaction = async (rpc: Rpc, hash: string) => {
  const [transaction, receipt] = await rpc.batch([
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  return {
    transaction: resultOf<TransactionReply | null>(transaction),
    receipt: resultOf<ReceiptReply | null>(receipt),
  }
}

export const quantity = (value: number | bigint) => `0x${value.toString(16)}`

type Texts<Names extends string> = Record<Names, string>

/** An event log. Replies contain 0x-prefixed hex. Optional fields are missing on some chains. */
export type LogReply = Texts<'address' | 'data' | 'transactionHash' | 'blockNumber' | 'blockHash' | 'logIndex'> & {
  topics: string[]
}

/** A transaction. `to` is null if it creates a contract, `blockHash` while it is pending. Type `0x2` is EIP-1559. */
export type TransactionReply = Texts<'hash' | 'from' | 'nonce' | 'value' | 'gas' | 'r' | 's' | 'v'> &
  Partial<Texts<'type' | 'chainId' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>> & {
    to: string | null
    blockHash: string | null
  }

/** A block. `timestamp` is in Unix seconds. A chain without EIP-1559 has no base fee. */
export type BlockReply = Texts<'number' | 'hash' | 'parentHash' | 'timestamp' | 'gasLimit'> & { baseFeePerGas?: string }
export type FullBlockReply = BlockReply & { transactions: TransactionReply[] }

/** The receipt of a transaction. Prices are in wei. `l1Fee` is the fee of a rollup for its parent chain. */
export type ReceiptReply = Texts<'transactionHash' | 'status' | 'blockNumber' | 'blockHash'> &
  Partial<Texts<'gasUsed' | 'effectiveGasPrice' | 'l1Fee'>> & { logs: LogReply[]; contractAddress?: string | null }

/** Returns true if a transaction succeeded. Throws UNAVAILABLE for an unknown status, which must not cause a refund. */
export const hasSucceeded = ({ status }: Partial<Pick<ReceiptReply, 'status'>>): boolean => {
  if (!/^(0x)?0*[01]$/.test(status ?? '')) throw unavailable('The chain', new Error('The receipt has no valid status'))
  return Number(status) === 1
}

/** Returns the fee of a transaction in wei. Returns 0 if the node does not report the gas price. */
export const feeOf = (receipt: Pick<ReceiptReply, 'gasUsed' | 'effectiveGasPrice' | 'l1Fee'>): bigint => {
  const { gasUsed = '0x0', effectiveGasPrice = '0x0', l1Fee = '0x0' } = receipt
  return BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee)
}
