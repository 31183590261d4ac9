/** A gateway as a separate process that can be killed and restarted. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../test/support/eventually.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import type { ProofContext } from './proof.ts'
import type { Random } from './random.ts'

export interface Gateway {
  name: string
  url: string
  isReady(): boolean
  /** Returns the process ID of the current or last process. */
  pid(): number | undefined
  /** Starts the process and waits until it is ready. */
  start(): Promise<void>
  /** Sends SIGKILL. Returns false if the process is not running. */
  kill(): boolean
  /** Sends SIGSTOP and waits until the process is stopped. Throws if there is no process. */
  freeze(): Promise<void>
  /** Sends SIGCONT and waits until the process is ready again. */
  thaw(): Promise<void>
  /** Sends SIGTERM and waits. Returns the exit code. */
  stop(): Promise<number | null>
}

/** Sends SIGSTOP and waits until the process is stopped. Throws if there is no process. */
export async function freezeProcess(child: ChildProcess | undefined): Promise<void> {
  child?.kill('SIGSTOP')
  await until('a process stands still', async () => {
    const stat = await readFile(`/proc/${child?.pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
  })
}

/** Returns a function that selects a random ready gateway, or undefined if none is ready. */
export const chooseReady = (gateways: readonly Gateway[], random: Random) => (): string | undefined => {
  const ready = gateways.filter((gateway) => gateway.isReady())
  return ready.length > 0 ? random.pick(ready).url : undefined
}

const STARTS = 5

/** Starts a gateway, with retries because a required service may be down. Throws if all attempts fail. */
export async function startWithRetries(gateway: Gateway): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await gateway.start()
    } catch (error) {
      if (tries === STARTS) throw error
    }
  }
}

const root = join(import.meta.dirname, '../..')

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
/** The Node.js options of `npm start` without `--import`, because a proof stops its gateways itself. */
const nodeOptions = scripts.start.split(' ').filter((word) => word.startsWith('--') && word !== '--import')

/** Returns the end of a log file. */
const lastWords = async (file: string) => (await readFile(file, 'utf8')).slice(-2_000).trim()

export async function createGateway(
  { dir, afterwards }: Pick<ProofContext, 'dir' | 'afterwards'>,
  name: string,
  env: Record<string, string>,
): Promise<Gateway> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  let ready = false

  const gone = async () => {
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  afterwards(async () => {
    child?.kill('SIGKILL')
    await gone()
  })

  const canServe = async () => {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    return answer?.status === 200
  }

  return {
    name,
    url,
    isReady: () => ready,
    pid: () => child?.pid,
    async start() {
      await gone()
      const output = openSync(join(dir, `${name}.log`), 'a')
      const started = spawn(process.execPath, [...nodeOptions, join(root, 'src/main.ts')], {
        env: {
          PATH: process.env.PATH ?? '',
          HOME: dir,
          // Uses the same compile cache as `npm start`.
          NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/annal'),
          PORT: String(port),
          PUBLIC_URL: 'http://annal.test',
          ...env,
        },
        stdio: ['ignore', output, output],
      })
      closeSync(output)
      child = started
      started.once('exit', () => {
        ready = false
      })
      await until(
        `${name} is ready; see ${dir}/${name}.log`,
        async () => {
          if (started.exitCode !== null || started.signalCode !== null)
            throw new Error(`${name} ended while it started: ${await lastWords(join(dir, `${name}.log`))}`)
          return canServe()
        },
        180_000,
        25,
      )
      ready = true
    },
    kill() {
      if (!ready) return false
      ready = false
      return child!.kill('SIGKILL')
    },
    freeze: () => freezeProcess(child),
    async thaw() {
      child?.kill('SIGCONT')
      await until(`${name} serves again`, canServe, 60_000, 50)
    },
    async stop() {
      ready = false
      child?.kill('SIGTERM')
      await gone()
      return child?.exitCode ?? null
    },
  }
}
