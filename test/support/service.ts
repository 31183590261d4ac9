/** Runs `annal serve` in its own process. Several processes with different roles can share an installation. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { inject } from 'vitest'
import { findFreePort } from '../../src/embedded/server-process.ts'
import { startAnnal } from './annal-command.ts'
import { eventually } from './eventually.ts'
import { fundedKey } from './test-app.ts'
import { createTestDatabase } from './test-database.ts'

export interface Service {
  url: string
  child: ReturnType<typeof startAnnal>
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>
  readiness(): Promise<{ status: number; body: { status: string; missing?: string[] } }>
  stop(signal?: NodeJS.Signals): ReturnType<() => Service['ended']>
}

export interface SharedInstallation {
  dir: string
  env: Record<string, string>
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
  start(args?: readonly string[], env?: Record<string, string>): Promise<Service>
  spawn(args?: readonly string[], env?: Record<string, string>): Promise<Service>
  remove(): Promise<void>
}

/** An installation that several processes share: a database, a folder and a chain key. */
export async function createSharedInstallation(variables: Record<string, string> = {}): Promise<SharedInstallation> {
  const dir = await mkdtemp(join(tmpdir(), 'annal-shared-'))
  const database = await createTestDatabase()
  const env = {
    DATABASE_URL: database.url,
    CHAIN_RPC_URL: inject('rpcUrl'),
    CHAIN_RELAY_KEYS: await fundedKey(),
    CHAIN_DEPLOY_REGISTRY: 'true',
    CHAIN_CONFIRMATIONS: '1',
    LOG_LEVEL: 'warn',
    ...variables,
  }
  const services: Service[] = []

  const spawn: SharedInstallation['spawn'] = async (args = [], more = {}) => {
    const port = more.PORT ?? String(await findFreePort())
    const url = `http://127.0.0.1:${port}`
    const child = startAnnal(dir, ['serve', ...args], { ...env, PORT: port, ...more })
    const output = Promise.all([text(child.stdout), text(child.stderr)])
    const ended = new Promise<Awaited<Service['ended']>>((resolve) => {
      child.once('exit', async (code, signal) => resolve({ code, signal, output: (await output).join('\n') }))
    })
    const service: Service = {
      url,
      child,
      ended,
      async readiness() {
        const answer = await fetch(`${url}/readyz`)
        return { status: answer.status, body: (await answer.json()) as { status: string; missing?: string[] } }
      },
      stop(signal = 'SIGTERM') {
        child.kill(signal)
        return ended
      },
    }
    services.push(service)
    return service
  }

  return {
    dir,
    env,
    async sql<Row>(query: string, values: unknown[] = []) {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      try {
        return (await client.query(query, values)).rows as Row[]
      } finally {
        await client.end()
      }
    },
    spawn,
    async start(args, more) {
      const service = await spawn(args, more)
      await eventually(
        async () => {
          if (service.child.exitCode !== null) throw new Error(`It ended: ${(await service.ended).output}`)
          return service.readiness().catch(() => undefined)
        },
        (found) => found?.status === 200,
        60_000,
      )
      return service
    },
    async remove() {
      await Promise.all(services.map((service) => service.stop('SIGKILL')))
      await database.drop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
