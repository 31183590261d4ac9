/** Runs `annal serve` in its own process. Several processes with different roles can share an installation. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { inject } from 'vitest'
import { startAnnal } from './annal-command.ts'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'
import { fundedKey } from './test-app.ts'
import { createTestDatabase } from './test-database.ts'

export type Service = Awaited<ReturnType<typeof startService>>

async function startService(dir: string, args: readonly string[], env: Record<string, string>) {
  const port = env.PORT ?? String(await findFreePort())
  const url = `http://127.0.0.1:${port}`
  const child = startAnnal(dir, ['serve', ...args], { ...env, PORT: port })
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const ended = once(child, 'exit').then(async ([code, signal]) => ({
    code,
    signal,
    output: (await output).join('\n'),
  }))
  return {
    url,
    child,
    ended,
    async readiness() {
      const answer = await fetch(`${url}/readyz`)
      return { status: answer.status, body: (await answer.json()) as { status: string; missing?: string[] } }
    },
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

export const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  )

/** An installation that several processes share: a database, a folder and a chain key. */
export async function createSharedInstallation(variables: Record<string, string> = {}) {
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

  const spawn = async (args: readonly string[] = [], more: Record<string, string> = {}) => {
    const service = await startService(dir, args, { ...env, ...more })
    services.push(service)
    return service
  }

  return {
    dir,
    env,
    async sql<Row = Record<string, unknown>>(query: string, values: unknown[] = []) {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      try {
        return (await client.query(query, values)).rows as Row[]
      } finally {
        await client.end()
      }
    },
    spawn,
    async start(...[args, more]: Parameters<typeof spawn>) {
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

export type SharedInstallation = Awaited<ReturnType<typeof createSharedInstallation>>
