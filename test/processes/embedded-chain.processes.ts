import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRpc } from '../../src/chain/rpc.ts'
import { developmentKey, startEmbeddedAnvil } from '../../src/embedded/embedded-anvil.ts'
import { endServers, findServers, waitFor } from '../../src/embedded/server-process.ts'
import { createTestLog } from '../support/test-log.ts'
import { beginToHold, end, hold, killHolders, silent as log } from './embedded-holders.ts'

let dir: string
const serverArgument = () => `--cache-path=${join(dir, 'chain')}`

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-embedded-'))
})

afterEach(async () => {
  // Takes over and stops what a test left running.
  killHolders()
  if (await stat(join(dir, 'chain')).catch(() => undefined)) await (await startEmbeddedAnvil({ dir, log })).stop()
  await endServers(serverArgument(), 'SIGKILL', 5_000)
  await rm(dir, { recursive: true, force: true })
})

describe('embedded chain', () => {
  const relay = new Wallet(developmentKey)

  /** Sends a transaction that carries a log, and waits until it is `depth` blocks deep. */
  const transact = async (url: string, depth = 2) => {
    const rpc = createRpc({ url })
    const nonce = Number(await rpc.call<string>('eth_getTransactionCount', relay.address, 'latest'))
    const fees = { gasPrice: 3_000_000_000n, gasLimit: 100_000n, chainId: 31337 }
    // Creates a contract; its constructor emits an empty log.
    const raw = await relay.signTransaction({ nonce, data: '0x60006000a0', type: 0, ...fees })
    const hash = await rpc.call<string>('eth_sendRawTransaction', raw)
    const receipt = await waitFor(20_000, async () => {
      const found = await rpc.call<{ blockNumber: string; blockHash: string } | null>('eth_getTransactionReceipt', hash)
      const head = Number(await rpc.call<string>('eth_blockNumber'))
      return found && head - Number(found.blockNumber) >= depth ? found : undefined
    })
    expect(receipt).toBeDefined()
    return { hash, receipt }
  }

  /** Ports on which the process listens for TCP, from the kernel's own table. */
  const listeningPorts = async (pid: number) => {
    const sockets = new Set<string>()
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
      if (inode) sockets.add(inode)
    }
    const table = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1)
    const rows = table.map((line) => line.trim().split(/\s+/))
    const listening = rows.flatMap(([, local, , state, , , , , , inode]) =>
      state === '0A' ? [{ port: Number.parseInt(local!.split(':')[1]!, 16), isOwn: sockets.has(inode ?? '') }] : [],
    )
    const others = listening.flatMap(({ port, isOwn }) => (isOwn ? [] : [port]))
    return listening.flatMap(({ port, isOwn }) => (isOwn ? [{ port, isShared: others.includes(port) }] : []))
  }

  const connects = (port: number, host: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ port, host })
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.setTimeout(2_000, () => resolve(false))
      socket.once('close', () => socket.destroy())
    })

  const anvilsOf = () => findServers(serverArgument())
  const anvilPid = async () => (await anvilsOf())[0]!

  const savedState = async () => {
    const dump = await readFile(join(dir, 'chain', 'state.json.gz')).catch(() => undefined)
    return dump ? String(await promisify(gunzip)(dump)) : ''
  }

  const readBack = async (url: string, hash: string) => {
    const rpc = createRpc({ url })
    const transaction = await rpc.call<{ hash: string } | null>('eth_getTransactionByHash', hash)
    const range = { fromBlock: '0x0', toBlock: 'latest' }
    const logs = await rpc.call<{ transactionHash: string }[]>('eth_getLogs', range)
    const receipt = await rpc.call<{ blockHash: string } | null>('eth_getTransactionReceipt', hash)
    return { hash: transaction?.hash, logs: logs.map((log) => log.transactionHash), blockHash: receipt?.blockHash }
  }

  it.runIf(process.platform === 'linux')(
    'the embedded chain uses a private socket, has no accounts, and opens no TCP port',
    async () => {
      await mkdir(join(dir, 'chain'), { mode: 0o755 })
      await chmod(join(dir, 'chain'), 0o755)
      const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
      const path = fileURLToPath(anvil.rpcUrl.replace('ipc:', 'file:'))
      expect(anvil.isPrivate).toBe(true)
      expect((await stat(path)).isSocket()).toBe(true)
      expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
      expect(await createRpc({ url: anvil.rpcUrl }).call('eth_accounts')).toEqual([])

      const ports = await listeningPorts(await anvilPid())
      expect(ports.length).toBeGreaterThan(0)
      const own = Object.values(networkInterfaces()).flatMap((addresses = []) =>
        addresses.map(({ address }) => address),
      )
      for (const { port } of ports.filter(({ isShared }) => !isShared)) {
        for (const host of ['127.0.0.1', '::1', '0.0.0.0', '224.0.0.1', ...own])
          expect([port, host, await connects(port, host)]).toEqual([port, host, false])
      }
      await anvil.stop()
    },
  )

  it('the embedded chain uses a socket in the temporary folder if its path is too long', async () => {
    const deep = join(dir, 'd'.repeat(120))
    const first = await startEmbeddedAnvil({ dir: deep, log, blockTime: 20, isService: true })
    const second = await startEmbeddedAnvil({ dir: deep, log, blockTime: 20 })
    expect(second.rpcUrl).toBe(first.rpcUrl)
    await transact(second.rpcUrl)
    await second.stop()
    await first.stop()
    const again = await startEmbeddedAnvil({ dir: deep, log, blockTime: 20 })
    expect(again.rpcUrl).toBe(first.rpcUrl)
    await again.stop()
    await rm(dirname(fileURLToPath(first.rpcUrl.replace('ipc:', 'file:'))), { recursive: true })
  })

  it('the embedded chain mines blocks until a transaction is final, then stops', async () => {
    const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    const { receipt } = await transact(anvil.rpcUrl)
    const rpc = createRpc({ url: anvil.rpcUrl })
    const head = Number(receipt?.blockNumber) + 2
    // Another transaction shows that the miner continued, and how many blocks came before it.
    const next = await transact(anvil.rpcUrl)
    expect(Number(next.receipt?.blockNumber)).toBe(head + 1)
    expect(Number(await rpc.call<string>('eth_blockNumber'))).toBe(head + 3)
    await anvil.stop()
  })

  it('the embedded chain returns balances at the final block at any depth', async () => {
    const confirmations = 64
    const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20, confirmations })
    const rpc = createRpc({ url: anvil.rpcUrl })
    for (let made = 0; made < 3; made += 1) await transact(anvil.rpcUrl)
    const block = await waitFor(60_000, async () => {
      const deep = Number(await rpc.call<string>('eth_blockNumber')) - confirmations
      return deep > 0 ? `0x${deep.toString(16)}` : undefined
    })
    expect(Number(await rpc.call<string>('eth_getBalance', relay.address, block))).toBeGreaterThan(0)
    await anvil.stop()
  })

  it('the embedded chain keeps its data after a restart, and read-only commands do not save the state again', async () => {
    const first = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    const { hash, receipt } = await transact(first.rpcUrl)
    await first.stop()
    const state = join(dir, 'chain', 'state.json.gz')
    const before = await stat(state)
    const second = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    expect(second.rpcUrl).toBe(first.rpcUrl)
    expect(await readBack(second.rpcUrl, hash)).toEqual({ hash, logs: [hash], blockHash: receipt?.blockHash })
    await second.stop()
    const { ino, mtimeMs } = await stat(state)
    expect({ ino, mtimeMs }).toEqual({ ino: before.ino, mtimeMs: before.mtimeMs })
    expect((await readdir(join(dir, 'chain'))).filter((name) => name.startsWith('unpacked'))).toEqual([])
  })

  it('the embedded chain fails to start with an unreadable saved state, and keeps the file', async () => {
    const first = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    await transact(first.rpcUrl)
    await first.stop()
    const state = join(dir, 'chain', 'state.json.gz')
    const whole = await readFile(state)
    const reported: string[] = []
    const warn = (_facts: object, sentence: string) => void reported.push(sentence)
    for (const [broken, reason] of [
      [whole.subarray(0, whole.length / 2), 'unexpected end of file'],
      [Buffer.from('no archive'), 'incorrect header check'],
      [await promisify(gzip)('{"no": "chain"'), 'The embedded anvil did not start'],
    ] as const) {
      await writeFile(state, broken)
      await expect(startEmbeddedAnvil({ dir, log: { ...log, warn }, blockTime: 20 })).rejects.toThrow(
        new RegExp(`state\\.json\\.gz could not be loaded: ${reason}`),
      )
      expect(await readFile(state)).toEqual(broken)
    }
    expect(reported).toEqual([])
    await writeFile(state, whole)
  })

  it('the embedded chain keeps running if saving fails at shutdown, and the next start saves it', async () => {
    const reported: string[] = []
    const warn = (_facts: object, sentence: string) => void reported.push(sentence)
    const first = await startEmbeddedAnvil({ dir, log: { ...log, warn }, blockTime: 20 })
    const state = join(dir, 'chain', 'state.json.gz')
    expect(await waitFor(20_000, () => stat(state).catch(() => undefined))).toBeDefined()
    // A folder at this path makes saving fail.
    await rm(state)
    await mkdir(state)
    const { hash } = await transact(first.rpcUrl)
    await first.stop()
    expect(reported.join()).toContain('keeps running')
    await rm(state, { recursive: true })
    const next = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    expect(await savedState()).toContain(hash)
    await next.stop()
  })

  it('the embedded chain logs the same warning at each failed save', async () => {
    const reported = createTestLog()
    const chain = await startEmbeddedAnvil({ dir, log: reported, blockTime: 20 })
    const state = join(dir, 'chain', 'state.json.gz')
    expect(await waitFor(20_000, () => stat(state).catch(() => undefined))).toBeDefined()
    await rm(state)
    await mkdir(state)
    const { hash } = await transact(chain.rpcUrl)
    const refusals = () => reported.lines.filter(({ message }) => message.includes('Embedded chain failed'))
    const tries = await waitFor(60_000, async () => (refusals().length > 2 ? refusals() : undefined))
    expect(tries?.[0]).toMatchObject({ level: 'warn', fields: { reason: expect.stringContaining('EISDIR') } })
    expect(new Set(tries?.map((line) => JSON.stringify(line))).size).toBe(1)
    await rm(state, { recursive: true })
    const isSaved = async () => (await savedState().catch(() => '')).includes(hash) || undefined
    expect(await waitFor(60_000, isSaved)).toBe(true)
    await chain.stop()
  })

  it('the embedded chain removes half-written files of a killed owner', async () => {
    const folder = join(dir, 'chain')
    await mkdir(folder)
    for (const name of ['state.json.gz.0123456789ab', 'unpacked.json']) await writeFile(join(folder, name), 'half')
    const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    expect((await readdir(folder)).filter((name) => /0123|unpacked/.test(name))).toEqual([])
    await anvil.stop()
  })

  it('the embedded chain stops an anvil process whose owner was killed during its start', async () => {
    const starter = beginToHold('anvil', dir)
    const begun = await waitFor(20_000, async () => (await anvilsOf())[0])
    expect(begun).toBeDefined()
    // A suspended process never responds, even on a fast machine.
    process.kill(begun!, 'SIGSTOP')
    starter.kill('SIGKILL')
    await once(starter, 'exit')
    const anvil = await startEmbeddedAnvil({ dir, log })
    const anvils = await anvilsOf()
    expect(anvils).toHaveLength(1)
    expect(anvils).not.toContain(begun)
    await anvil.stop()
  })

  it('the embedded chain keeps all blocks when its owner is killed, and the next start mines', async () => {
    const holder = await hold('anvil', dir)
    const { hash, receipt } = await transact(holder.url)
    await end(holder, 'SIGKILL')
    const next = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    expect(next.rpcUrl).toBe(holder.url)
    const later = await transact(next.rpcUrl)
    expect(await readBack(next.rpcUrl, hash)).toEqual({ hash, logs: [hash, later.hash], blockHash: receipt?.blockHash })
    await next.stop()
  })

  it('the embedded chain restarts with all saved data if anvil is killed', async () => {
    const anvil = await startEmbeddedAnvil({ dir, log, blockTime: 20 })
    const { hash, receipt } = await transact(anvil.rpcUrl)
    expect(await waitFor(20_000, async () => (await savedState()).includes(hash) || undefined)).toBe(true)
    process.kill(await anvilPid(), 'SIGKILL')
    const back = await waitFor(20_000, () => readBack(anvil.rpcUrl, hash).catch(() => undefined))
    expect(back).toEqual({ hash, logs: [hash], blockHash: receipt?.blockHash })
    await anvil.stop()
  })

  it('a command can use the embedded chain of a running service, but a second service cannot', async () => {
    const service = await startEmbeddedAnvil({ dir, log, blockTime: 20, isService: true })
    const command = await startEmbeddedAnvil({ dir, log })
    expect(command.rpcUrl).toBe(service.rpcUrl)
    await command.stop()
    await transact(service.rpcUrl)
    await expect(startEmbeddedAnvil({ dir, log, isService: true })).rejects.toThrow(
      /^Another Annal service \(process \d+\) uses .*\. Stop it first\./,
    )
    await service.stop()
    await expect(createRpc({ url: service.rpcUrl }).call('eth_chainId')).rejects.toThrow()
  })
})
