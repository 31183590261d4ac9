import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRpc, RpcError } from '../../../src/chain/rpc.ts'
import { atEnd } from '../../support/at-end.ts'
import { startChain, type TestChain } from '../../support/chain/anvil.ts'
import { cuts, hangs, html, page, refuses, tooMany } from '../../support/chain-faults.ts'
import { type ChainProxy, type Fault, startChainProxy } from '../../support/chain-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

let chain: TestChain
let proxy: ChainProxy

beforeAll(async () => {
  chain = await startChain()
  proxy = await startChainProxy(atEnd, chain.url)
})
afterAll(() => chain?.stop())
beforeEach(() => {
  proxy.fault = undefined
})

const calls = Array.from({ length: 5 }, () => ({ method: 'eth_chainId', params: [] }))

describe('JSON-RPC client', () => {
  const json = (text: string) => page(200, 'application/json', text)
  const slowDown = '50/second request limit reached - reduce calls per second'
  const outages: [string, Fault, RegExp][] = [
    ['closes the connection', cuts, /other side closed|ECONNRESET/],
    ['hangs', hangs, /timeout/],
    ['answers 429', tooMany, /status 429/],
    ['answers HTML', html, /response of the node is not JSON\./],
    ['answers 502', page(502, 'text/plain', 'bad gateway'), /status 502/],
    [
      'returns a rate limit error',
      json('{"id":1,"error":{"code":-32005,"message":"too many"}}'),
      /rate limit: too many/,
    ],
    ['returns another rate limit error', refuses({ code: -32000, message: slowDown }), /rate limit: 50\/second/],
    ['returns only a message', json('{"id":1,"error":"Too many connections."}'), /rate limit: Too many connections/],
  ]
  it.each(outages)('reports a node that %s as unavailable, and includes its host name', async (_, fault, reason) => {
    // The short timeout is for the hanging node. A slow machine must not turn other failures into timeouts.
    const rpc = createRpc({ url: proxy.url, timeout: fault === hangs ? 200 : 60_000 })
    proxy.fault = fault
    for (const attempt of [() => rpc.call('eth_chainId'), () => rpc.batch(calls)]) {
      const error = await attempt().catch((caught: unknown) => caught)
      expect(error).toMatchObject({ code: 'UNAVAILABLE', cause: { message: expect.stringMatching(reason) } })
      expect(error).toMatchObject({ cause: { message: expect.stringContaining(rpc.host) } })
    }
    proxy.fault = undefined
    // Retries, because with the short timeout a slow machine can look unavailable.
    const answered = await eventually(
      () => rpc.batch(calls).catch(() => undefined),
      (outcomes) => outcomes !== undefined,
    )
    expect(answered).toEqual(calls.map(() => ({ result: '0x7a69' })))
  })

  it('rejects an oversized JSON-RPC response over HTTP and over a socket', async () => {
    const path = join(await createTemporaryFolder(), 'node.ipc')
    const long = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0'.repeat(1_000_000) })
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end(`${long}\n`),
    ).listen(path)
    atEnd(() => server.close())
    await once(server, 'listening')
    proxy.fault = page(200, 'application/json', long)
    for (const url of [proxy.url, `ipc://${path}`]) {
      await expect(createRpc({ url, mostBytes: 999_999 }).call('eth_chainId')).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        cause: { message: expect.stringContaining('the response is larger than 999999 bytes') },
      })
      expect(await createRpc({ url, mostBytes: 2_000_000 }).call('eth_chainId')).toHaveLength(1_000_000)
    }
  })

  it('reports a JSON-RPC error response only for the call that failed', async () => {
    const [good, bad] = await createRpc({ url: chain.url }).batch([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_nothing', params: [] },
    ])
    expect(good).toEqual({ result: '0x7a69' })
    expect(bad?.error).toBeInstanceOf(RpcError)
    await expect(createRpc({ url: chain.url }).call('eth_nothing')).rejects.toThrow(RpcError)
  })

  it('treats a revert message as an error of the call, even if the message mentions a rate limit', async () => {
    proxy.fault = refuses({ code: 3, message: 'execution reverted: rate limit' })
    const error = await createRpc({ url: proxy.url })
      .call('eth_call')
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(RpcError)
  })

  it.each([
    ['block range limit of Besu', -32005, 'Requested range exceeds maximum RPC range limit'],
    ['gas limit of Besu', -32005, 'Transaction gas limit exceeds block gas limit'],
    ['unauthorized sender on Besu', -32007, 'Sender account not authorized to send transactions'],
    ['log limit of Nethermind', -32005, 'Too many logs requested. Max logs per response is 20000.'],
    ['query timeout of Nethermind', -32016, 'eth_getLogs request was canceled due to enabled timeout.'],
  ])('treats a permanent JSON-RPC error as an error of the call, not as a rate limit: %s', async (_, code, message) => {
    proxy.fault = refuses({ code, message })
    const error = await createRpc({ url: proxy.url })
      .call('eth_getLogs')
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(RpcError)
  })

  it('rejects a JSON-RPC batch response that omits a call, with a clear error message', async () => {
    proxy.fault = async (_, pass) => (await pass()).slice(1)
    await expect(createRpc({ url: proxy.url }).batch(calls)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/returned no result for a call of a batch\.$/) },
    })
  })

  const refusals: [string, number, string][] = [
    ['with one error in a list, like geth', 200, '[{"id":1,"error":{"code":-32600,"message":"batch too large"}}]'],
    ['with a rate limit code, like Besu', 200, '{"error":{"code":-32005,"message":"requests exceed max batch size"}}'],
    ['with one error without an ID in a list', 200, '[{"id":null,"error":{"code":-32600,"message":"no batches"}}]'],
    ['with only an HTTP status', 413, 'Payload Too Large'],
    ['with an HTTP status and a message', 400, '{"message":"batch requests are not supported"}'],
    ['with only a message', 200, '{"message":"batch requests are not supported","code":31}'],
  ]
  it.each(refusals)('sends single JSON-RPC calls to a node that rejects batches %s', async (_, status, text) => {
    proxy.fault = (asked, pass) => (asked.length > 1 ? page(status, 'application/json', text)(asked, pass) : undefined)
    expect(await createRpc({ url: proxy.url }).batch(calls)).toEqual(calls.map(() => ({ result: '0x7a69' })))
  })

  it('sends single JSON-RPC calls to a node without batch support, and never sends a batch again', async () => {
    const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}'
    let batches = 0
    proxy.fault = (calls, pass) => {
      if (calls.length === 1) return undefined
      batches += 1
      return page(200, 'application/json', refusal)(calls, pass)
    }
    const rpc = createRpc({ url: proxy.url })
    for (let round = 0; round < 2; round += 1)
      expect(await rpc.batch(calls)).toEqual(calls.map(() => ({ result: '0x7a69' })))
    expect(batches).toBe(1)
  })

  it('splits a JSON-RPC batch that is too large for the node, and keeps the order of the results', async () => {
    const heights = Array.from({ length: 7 }, (_, index) => ({ method: 'web3_sha3', params: [`0x0${index}`] }))
    const split = await createRpc({ url: chain.url, batchSize: 3 }).batch(heights)
    expect(split).toEqual(await createRpc({ url: chain.url }).batch(heights))
    expect(new Set(split.map(({ result }) => result)).size).toBe(7)
  })

  it('aborts a pending JSON-RPC call when the caller aborts', async () => {
    proxy.fault = hangs
    const giveUp = new AbortController()
    const waiting = createRpc({ url: proxy.url }).until(giveUp.signal).call('eth_chainId')
    giveUp.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('sends the credentials of the RPC URL to the node, and never prints the credentials', async () => {
    const url = new URL(chain.url)
    Object.assign(url, { username: 'ana', password: 'secret', pathname: '/v1/key' })
    const rpc = createRpc({ url: url.href })
    expect(rpc.host).not.toMatch(/ana|secret|key/)
    expect(await createRpc({ url: chain.url.replace('//', '//ana:secret@') }).call('eth_chainId')).toBe('0x7a69')
  })
})
