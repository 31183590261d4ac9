/** The anvil process itself: find it, start it from its state file, or take over one that lives. */
import { mkdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Log } from '../domain/ports.ts'
import { findFreePort, isServerAlive, readLogTail, replaceFile, spawnServer, waitFor } from './child-process.ts'

export const chainId = 31337

const startMilliseconds = 20_000

/** JSON-RPC over HTTP. Raises an Error with the method and the server's sentence. */
export type Rpc = <T>(method: string, params?: unknown[]) => Promise<T>

export const createRpc =
  (url: string, timeoutMilliseconds = 30_000): Rpc =>
  async <T>(method: string, params: unknown[] = []) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMilliseconds),
    })
    const answer = (await response.json()) as { result: T; error?: { message: string } }
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result
  }

export interface AnvilFiles {
  folder: string
  /** Port and process number of the one that runs, or ran last. */
  record: string
  state: string
  log: string
  users: string
}

export const anvilFiles = (dir: string): AnvilFiles => {
  const folder = join(dir, 'chain')
  return {
    folder,
    record: join(folder, 'anvil.json'),
    state: join(folder, 'state.json'),
    log: join(folder, 'anvil.log'),
    users: join(folder, 'users'),
  }
}

export interface AnvilProcess {
  pid: number
  port: number
}

/** The platform's binary: the package's own command wraps it in a second Node process. */
const findBinary = () => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const system = process.platform === 'win32' ? 'win32' : process.platform
  const name = `@foundry-rs/anvil-${system}-${arch}`
  try {
    const anvil = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'))
    return anvil.resolve(`${name}/bin/anvil${process.platform === 'win32' ? '.exe' : ''}`)
  } catch (cause) {
    throw new Error(
      `No embedded chain for this machine: the package ${name} is not installed. Run npm ci, or set CHAIN_RPC_URL.`,
      {
        cause,
      },
    )
  }
}

const answers = async (port: number, timeoutMilliseconds: number) => {
  const rpc = createRpc(`http://127.0.0.1:${port}`, timeoutMilliseconds)
  const id = await rpc<string>('eth_chainId').catch(() => undefined)
  return id === undefined ? undefined : Number(id) === chainId
}

const readRecord = async (files: AnvilFiles): Promise<AnvilProcess | undefined> => {
  const text = await readFile(files.record, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as AnvilProcess)
}

/** The one of ours that runs, if any. One that lives but does not answer is ended: what counts is in the state file. */
export const findRunning = async (files: AnvilFiles, log: Log): Promise<AnvilProcess | undefined> => {
  const record = await readRecord(files)
  if (!record || !(await isServerAlive(record.pid, files.folder))) return undefined
  if (await waitFor(5_000, () => answers(record.port, 2_000))) return record
  log.warn({ pid: record.pid }, 'The embedded chain lives but does not answer; starting a new one.')
  process.kill(record.pid, 'SIGKILL')
  await waitFor(5_000, async () => ((await isServerAlive(record.pid, files.folder)) ? undefined : true))
  return undefined
}

/** Starts anvil from the state file, if there is one, on the port it had before, if that is free. */
export const startAnvil = async (files: AnvilFiles): Promise<AnvilProcess> => {
  await mkdir(files.folder, { recursive: true })
  const saved = await stat(files.state).then(
    () => true,
    () => false,
  )
  const previous = (await readRecord(files))?.port
  for (const port of [...(previous ? [previous] : []), await findFreePort()]) {
    const server = await spawnServer({
      binary: findBinary(),
      args: [
        ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--accounts', '1'],
        ...(saved ? ['--load-state', files.state] : []),
        // Blocks come from `mineWhenNeeded`. Enough states stay in memory for a reorganisation; none goes to disk.
        ...['--no-mining', '--prune-history', '128'],
        // Also tells our process from others, see `findRunning`.
        ...['--cache-path', files.folder],
        '--quiet',
      ],
      env: { HOME: files.folder },
      cwd: files.folder,
      logFile: files.log,
    })
    let failure: string | undefined
    void server.ended.then((reason) => {
      failure = reason
    })
    const started = await waitFor(startMilliseconds, async () => {
      if (failure !== undefined) return false
      // A foreign server on the port would answer too, while ours is about to fail.
      return (await answers(port, 1_000)) && (await isServerAlive(server.pid, files.folder)) ? true : undefined
    })
    if (started && failure === undefined) {
      const running = { pid: server.pid, port }
      await replaceFile(files.record, JSON.stringify(running))
      return running
    }
    const tail = await readLogTail(files.log)
    if (/Address already in use/.test(tail) && port === previous) continue
    throw new Error(`The embedded chain did not start (${failure ?? 'too slow'}). The end of ${files.log}:\n${tail}`)
  }
  throw new Error('No free port for the embedded chain on 127.0.0.1.')
}

/**
 * Writes the chain's state, blocks, transactions and receipts to the state file, in one step. anvil's own option writes
 * the file every second even when nothing happened, and a kill in the middle leaves half of it.
 */
export const saveState = async (files: AnvilFiles, rpc: Rpc) => {
  const dump = await rpc<string>('anvil_dumpState')
  await replaceFile(files.state, await promisify(gunzip)(Buffer.from(dump.slice(2), 'hex')))
}
