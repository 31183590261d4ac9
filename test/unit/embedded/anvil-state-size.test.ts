/** A chain is dumped as one line of hexadecimal digits, which is larger than what a process should hold: it is read as it comes. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createRpc } from '../../../src/embedded/anvil-process.ts'

/** A server that answers whatever it is asked with these pieces and hangs up. */
async function answering(pieces: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'annal-socket-'))
  const socket = join(folder, 'socket')
  const server = createServer(async (caller) => {
    // Who has read what was asked for hangs up.
    caller.on('error', () => undefined)
    await once(caller, 'data')
    // A chunk of its own for each piece.
    for (const piece of pieces) await new Promise((resolve) => caller.write(piece, () => setImmediate(resolve)))
    caller.end()
  }).listen(socket)
  await once(server, 'listening')
  const stop = async () => {
    server.close()
    await rm(folder, { recursive: true })
  }
  return { rpc: createRpc(socket), stop }
}

async function bytesOf(pieces: readonly string[]) {
  const { rpc, stop } = await answering(pieces)
  try {
    const parts: Uint8Array[] = []
    for await (const part of rpc.bytes('anvil_dumpState', AbortSignal.timeout(60_000))) parts.push(part)
    return Buffer.concat(parts).toString('hex')
  } finally {
    await stop()
  }
}

it('decodes hexadecimal state correctly for every split of the stream', async () => {
  const cuts = fc.array(fc.nat(200), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), cuts, async (bytes, places) => {
      const hex = Buffer.from(bytes).toString('hex')
      const line = `{"jsonrpc":"2.0","id":1,"result":"0x${hex}"}\n`
      const ends = [...new Set([0, ...places.filter((place) => place < line.length), line.length])].sort(
        (a, b) => a - b,
      )
      expect(await bytesOf(ends.slice(1).map((end, index) => line.slice(ends[index], end)))).toBe(hex)
    }),
    { numRuns: 50 },
  )
})

it('rejects a truncated response', async () => {
  await expect(bytesOf(['{"jsonrpc":"2.0","id":1,"result":"0xabcd'])).rejects.toThrow('ended before the answer')
})

it('reports the error message of the server', async () => {
  const line = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}\n'
  await expect(bytesOf([line])).rejects.toThrow('anvil_dumpState: Method not found')
})

it('rejects a response of another type', async () => {
  const { rpc, stop } = await answering(['{"jsonrpc":"2.0","id":1,"result":7}\n'])
  onTestFinished(stop)
  await expect(rpc.bytes('eth_chainId', AbortSignal.timeout(60_000))[Symbol.asyncIterator]().next()).rejects.toThrow(
    'instead of bytes',
  )
})
