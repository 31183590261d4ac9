/** The service on a primary of its own with a standby, as operators run it by `DATABASE_REPLICA_URL`. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareDatabase } from '../../src/platform/database/prepare-database.ts'
import { findFreePort } from '../../src/platform/embedded/child-process.ts'
import type { ReadOutcome } from '../../src/platform/replicas/replicas.ts'
import { atEnd } from './at-end.ts'
import { until } from './eventually.ts'
import { startPostgresServer } from './postgres-server.ts'
import { type Standby, startStandby } from './standby.ts'
import { createTestApp, type TestApp } from './test-app.ts'

export interface ReplicatedApp {
  app: TestApp
  standby: Standby
  /** Makes another standby, which nobody reads from yet. */
  another(): Promise<Standby>
  /** How often reads were answered so. */
  count(outcome: ReadOutcome): number
  /** Does something until a replica has answered it, which must happen; returns what was answered. */
  fromReplica<T>(ask: () => Promise<T>): Promise<T>
  /** Has the replica show everything, and then nothing that comes later, while `work` goes on. */
  whilePaused<T>(work: () => Promise<T>): Promise<T>
}

/** Starts both and the service, which are stopped after the file's last test. `addressOf`: where the service reaches the standby, if not there. */
export async function createReplicatedApp(
  env: Record<string, string> = {},
  addressOf: (standby: Standby) => Promise<string> = async ({ url }) => url,
): Promise<ReplicatedApp> {
  const dir = await mkdtemp(join(tmpdir(), 'annal-replicated-'))
  // PostgreSQL does not run as whoever made it.
  await chmod(dir, 0o755)
  const place = { dir: join(dir, 'primary'), hosts: ['127.0.0.1'], port: await findFreePort() }
  const primary = await startPostgresServer(place)
  atEnd(async () => {
    await primary.kill()
    await rm(dir, { recursive: true, force: true })
  })
  await primary.configure({ fsync: 'off' })
  await prepareDatabase(primary.url)
  let made = 0
  const another = async () => {
    made += 1
    const standby = await startStandby(primary, join(dir, `standby-${made}`))
    atEnd(standby.kill)
    return standby
  }
  const standby = await another()
  const app = await createTestApp({
    database: { url: primary.url, drop: async () => {} },
    env: { DATABASE_REPLICA_URL: await addressOf(standby), DATABASE_REPLICA_LAG_SECONDS: '60', ...env },
  })
  const { outcomes } = app.installation.database.replicas
  const count = (outcome: ReadOutcome) => outcomes.get(outcome) ?? 0

  return {
    app,
    standby,
    another,
    count,
    fromReplica: (ask) =>
      until(
        () => `an answer of the replica, instead of ${JSON.stringify([...outcomes])}`,
        async () => {
          const before = count('replica')
          const answer = await ask()
          return count('replica') > before ? { answer } : undefined
        },
      ).then(({ answer }) => answer),
    async whilePaused(work) {
      await standby.catchUp()
      await standby.pause()
      try {
        return await work()
      } finally {
        await standby.resume()
      }
    },
  }
}
