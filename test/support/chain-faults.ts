/** Faults of chain nodes and of the network to them. */

import type { Random } from '../../proofs/harness/random.ts'
import { type Fault, isSending, type Outcome, type RpcReply, type RpcRequest } from './chain-proxy.ts'

/** Responses that do not come from a node. */
export const page =
  (status: number, type: string, text: string): Fault =>
  () => ({ status, type, text })

export const hangs: Fault = () => 'hang'
export const tooMany = page(
  429,
  'application/json',
  '{"jsonrpc":"2.0","error":{"code":429,"message":"too many requests"}}',
)
export const html = page(200, 'text/html', '<html><body>Under maintenance</body></html>')

export const cuts: Fault = () => 'cut'

/** Forwards the request to the node, but drops the response. */
export const losesReply: Fault = async (_calls, pass): Promise<Outcome> => {
  await pass()
  return 'cut'
}

export const refuses =
  (error: { code: number; message: string }): Fault =>
  (calls) =>
    calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))

/** Rejects these calls, and answers the other calls of the same batch. */
export const refusesOnly =
  (concerns: (call: RpcRequest) => boolean, error: { code: number; message: string }): Fault =>
  async (calls, pass) => {
    const struck = calls.filter(concerns)
    if (struck.length === 0) return undefined
    const rest = calls.filter((call) => !struck.includes(call))
    const replies = rest.length > 0 ? await pass(rest) : []
    return [...replies, ...struck.map(({ id }): RpcReply => ({ jsonrpc: '2.0', id, error }))]
  }

export const onlyTo =
  (concerns: (call: RpcRequest) => boolean, fault: Fault): Fault =>
  (calls, pass) =>
    calls.some(concerns) ? fault(calls, pass) : undefined

export const rewriting =
  (change: (call: RpcRequest, result: unknown) => unknown): Fault =>
  async (calls, pass) =>
    (await pass()).map((reply) => {
      const call = calls.find(({ id }) => id === reply.id)
      return call && reply.result !== undefined ? { ...reply, result: change(call, reply.result) } : reply
    })

export const onChain = (chainId: number): Fault =>
  rewriting(({ method }, result) => (method === 'eth_chainId' ? hex(chainId) : result))

export const withoutReceipts: Fault = rewriting(({ method }, result) =>
  method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash' ? null : result,
)

/** Simulates a rollup that charges this additional L1 fee for each transaction. */
export const withL1Fee = (wei: bigint): Fault =>
  rewriting(({ method }, result) =>
    method === 'eth_getTransactionReceipt' && result ? { ...result, l1Fee: hex(wei) } : result,
  )

export const withoutTraces: Fault = rewriting(({ method, params }, result) => {
  if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') return null
  if (method === 'eth_getLogs') return []
  const isFullBlock = method === 'eth_getBlockByNumber' && params[1] === true
  return isFullBlock && result ? { ...result, transactions: [] } : result
})

/** Returns wrong transaction counts of an account. `tags`: the block tags to change; all by default. */
export const miscounts = (by: number, tags?: readonly string[]): Fault =>
  rewriting(({ method, params }, result) =>
    method === 'eth_getTransactionCount' && (!tags || tags.includes(params[1] as string))
      ? hex(Math.max(Number(result) + by, 0))
      : result,
  )

/** Forwards transactions, but drops this share of the responses. */
export const losesReplies =
  (random: Random, share: number, lost: (transactions: number) => void): Fault =>
  async (calls, pass) => {
    const transactions = calls.filter(isSending).length
    if (transactions === 0 || random.next() >= share) return undefined
    await pass()
    lost(transactions)
    return 'cut'
  }

/** Applies `outcome` to every `every`th call of this method. */
export const everyNth = (method: string, every: number, outcome: 'cut' | { code: number; message: string }): Fault => {
  let count = 0
  return async (calls, pass) => {
    const struck = calls.filter((call) => call.method === method && ++count % every === 0)
    if (struck.length === 0) return undefined
    if (outcome === 'cut') return 'cut'
    const rest = calls.filter((call) => !struck.includes(call))
    const replies = rest.length > 0 ? await pass(rest) : []
    return [...replies, ...struck.map(({ id }): RpcReply => ({ jsonrpc: '2.0', id, error: outcome }))]
  }
}

/** Simulates a node that lags by `behind` blocks and serves this share of the requests. It returns old state, but accepts transactions. */
export const lagging =
  (random: Random, behind: () => number, share: number): Fault =>
  async (calls, pass) => {
    if (random.next() >= share) return undefined
    const [head] = await pass([{ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }])
    const newest = Math.max(Number(head!.result) - behind(), 0)
    const place = (call: RpcRequest): RpcRequest => ({
      ...call,
      params: call.params.map((each) => (each === 'latest' || each === 'pending' ? hex(newest) : each)),
    })
    const replies = await pass(calls.map(place))
    return replies.map((reply) => {
      const call = calls.find(({ id }) => id === reply.id)
      return call ? beforeBlock(newest, call, reply) : reply
    })
  }

const heightOf = (value: unknown) => Number((value as { number?: string; blockNumber?: string })?.blockNumber ?? NaN)

const beforeBlock = (newest: number, { method, params }: RpcRequest, reply: RpcReply): RpcReply => {
  const { result } = reply
  const answer = (instead: unknown): RpcReply => ({ jsonrpc: '2.0', id: reply.id, result: instead })
  if (method === 'eth_blockNumber') return answer(hex(newest))
  if (method === 'eth_getBlockByNumber' && Number(params[0]) > newest) return answer(null)
  if (method === 'eth_getTransactionCount' && Number(params[1]) > newest)
    return { ...answer(undefined), error: { code: -32000, message: 'header not found' } }
  if (Array.isArray(result)) return answer(result.filter((each) => !(heightOf(each) > newest)))
  const isLater = typeof result === 'object' && result !== null && heightOf(result) > newest
  return isLater ? answer(null) : reply
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`
