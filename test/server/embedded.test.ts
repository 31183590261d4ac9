import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRpc } from '../../src/platform/anvil-process.ts'
import { waitFor } from '../../src/platform/child-process.ts'
import { startEmbeddedAnvil } from '../../src/platform/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

interface Holder {
  process: ChildProcess
  url: string
  joined: boolean
}

let dir: string
const holders: ChildProcess[] = []

const hold = async (part: 'postgres' | 'anvil'): Promise<Holder> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'embedded-holder.ts'), part, dir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  holders.push(child)
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { process: child, ...(JSON.parse(line) as { url: string; joined: boolean }) }
}

/** Ends a holder and waits until it is gone. */
const end = async ({ process: child }: Holder, signal?: NodeJS.Signals) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (signal) child.kill(signal)
  else child.stdin?.end()
  await exited
}

const query = async (url: string, sql: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const postmaster = async () => Number((await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

const isListening = (url: string) =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-embedded-'))
})

afterEach(async () => {
  // Whatever a test left running: join it and be the last to leave.
  for (const child of holders.splice(0)) child.kill('SIGKILL')
  if (await stat(join(dir, 'postgres')).catch(() => undefined)) await (await startEmbeddedPostgres({ dir, log })).stop()
  if (await stat(join(dir, 'chain')).catch(() => undefined)) await (await startEmbeddedAnvil({ dir, log })).stop()
  await rm(dir, { recursive: true, force: true })
}, 60_000)

describe('embedded PostgreSQL', { timeout: 60_000 }, () => {
  it('outlives a killed parent, is joined by the next start, and keeps what was committed', async () => {
    const first = await hold('postgres')
    await query(first.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    const pid = await postmaster()
    await end(first, 'SIGKILL')

    const second = await startEmbeddedPostgres({ dir, log })
    expect({ url: second.url, joined: second.joined, pid: await postmaster() }).toEqual({
      url: first.url,
      joined: true,
      pid,
    })
    expect(await query(second.url, 'SELECT word FROM words')).toEqual([{ word: 'kept' }])
    await second.stop()
    expect(await isListening(second.url)).toBe(false)
  })

  it('comes back on the same port with the same password, which only its owner can read', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    await first.stop()
    const { mode } = await stat(join(dir, 'keys', 'postgres.json'))
    expect(mode & 0o777).toBe(0o600)
    const second = await startEmbeddedPostgres({ dir, log })
    expect({ url: second.url, joined: second.joined }).toEqual({ url: first.url, joined: false })
    await second.stop()
  })

  it('starts over a lock file whose process number belongs to somebody else now', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    const lockFile = join(dir, 'postgres', 'postmaster.pid')
    const lock = await readFile(lockFile, 'utf8')
    await query(first.url, 'CREATE TABLE words (word text)')
    await first.stop()
    await writeFile(lockFile, lock.replace(/^\d+/, String(process.pid)), { mode: 0o644 })
    const second = await startEmbeddedPostgres({ dir, log })
    expect(await query(second.url, 'SELECT word FROM words')).toEqual([])
    await second.stop()
  })

  it('recovers when the server itself is killed, while its user goes on', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    await query(server.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    process.kill(await postmaster(), 'SIGKILL')
    const rows = await waitFor(30_000, () => query(server.url, 'SELECT word FROM words').catch(() => undefined))
    expect(rows).toEqual([{ word: 'kept' }])
    await server.stop()
    expect(await isListening(server.url)).toBe(false)
  })

  it('serves two that start at once, from nothing, and stops with the last of them', async () => {
    const [first, second] = await Promise.all([hold('postgres'), hold('postgres')])
    expect(second.url).toBe(first.url)
    expect([first.joined, second.joined].sort()).toEqual([false, true])
    await end(first)
    expect(await isListening(second.url)).toBe(true)
    await end(second)
    expect(await isListening(second.url)).toBe(false)
  })

  it('is not ended by Ctrl-C, which a terminal sends to the whole process group', async () => {
    const holder = await hold('postgres')
    const exited = once(holder.process, 'exit')
    process.kill(-(holder.process.pid ?? 0), 'SIGINT')
    await exited
    expect(await isListening(holder.url)).toBe(true)
  })
})

describe('the embedded chain', { timeout: 60_000 }, () => {
  /** Sends a transaction that carries a log, and waits until it is `depth` blocks deep. */
  const transact = async (url: string, depth = 2) => {
    const rpc = createRpc(url)
    const [from] = await rpc<string[]>('eth_accounts')
    // Creates a contract; its constructor emits an empty log.
    const hash = await rpc<string>('eth_sendTransaction', [{ from, data: '0x60006000a0', gas: '0x100000' }])
    const receipt = await waitFor(20_000, async () => {
      const found = await rpc<{ blockNumber: string; blockHash: string } | null>('eth_getTransactionReceipt', [hash])
      const head = Number(await rpc<string>('eth_blockNumber'))
      return found && head - Number(found.blockNumber) >= depth ? found : undefined
    })
    expect(receipt).toBeDefined()
    return { hash, receipt }
  }

  const anvilPid = async () =>
    (JSON.parse(await readFile(join(dir, 'chain', 'anvil.json'), 'utf8')) as { pid: number }).pid

  const readBack = async (url: string, hash: string) => {
    const rpc = createRpc(url)
    const transaction = await rpc<{ hash: string } | null>('eth_getTransactionByHash', [hash])
    const logs = await rpc<{ transactionHash: string }[]>('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
    const receipt = await rpc<{ blockHash: string } | null>('eth_getTransactionReceipt', [hash])
    return { hash: transaction?.hash, logs: logs.map((log) => log.transactionHash), blockHash: receipt?.blockHash }
  }

  it('makes a transaction deep, then rests', async () => {
    const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    const { receipt } = await transact(anvil.rpcUrl)
    const rpc = createRpc(anvil.rpcUrl)
    const head = Number(receipt?.blockNumber) + 2
    // Another transaction shows that the miner went on, and how many blocks came before it.
    const next = await transact(anvil.rpcUrl)
    expect(Number(next.receipt?.blockNumber)).toBe(head + 1)
    expect(Number(await rpc<string>('eth_blockNumber'))).toBe(head + 3)
    await anvil.stop()
  })

  it('keeps transactions, receipts and logs over a stop', async () => {
    const first = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    const { hash, receipt } = await transact(first.rpcUrl)
    await first.stop()
    const second = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    expect(second.rpcUrl).toBe(first.rpcUrl)
    expect(await readBack(second.rpcUrl, hash)).toEqual({ hash, logs: [hash], blockHash: receipt?.blockHash })
    await second.stop()
  })

  it('outlives a killed parent and is joined by the next start, which goes on mining', async () => {
    const holder = await hold('anvil')
    const { hash, receipt } = await transact(holder.url)
    const pid = await anvilPid()
    await end(holder, 'SIGKILL')
    const next = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    expect({ url: next.rpcUrl, joined: next.joined, pid: await anvilPid() }).toEqual({
      url: holder.url,
      joined: true,
      pid,
    })
    const later = await transact(next.rpcUrl)
    expect(await readBack(next.rpcUrl, hash)).toEqual({ hash, logs: [hash, later.hash], blockHash: receipt?.blockHash })
    await next.stop()
  })

  it('loses nothing that was final when anvil itself is killed, and comes back by itself', async () => {
    const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    const { hash, receipt } = await transact(anvil.rpcUrl)
    process.kill(await anvilPid(), 'SIGKILL')
    const back = await waitFor(20_000, () => readBack(anvil.rpcUrl, hash).catch(() => undefined))
    expect(back).toEqual({ hash, logs: [hash], blockHash: receipt?.blockHash })
    await anvil.stop()
  })

  it('serves two that start at once, one of which mines, and stops with the last of them', async () => {
    const [first, second] = await Promise.all([hold('anvil'), hold('anvil')])
    expect(second.url).toBe(first.url)
    await end(first)
    await transact(second.url)
    await end(second)
    await expect(createRpc(second.url)('eth_chainId')).rejects.toThrow()
  })
})
