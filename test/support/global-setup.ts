/** Starts one PostgreSQL server and one chain for the whole run. Each test file clones the migrated database and funds its own keys. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { prepareDatabase } from '../../src/db/migrations.ts'
import { startEmbeddedAnvil } from '../../src/embedded/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import { createTestLog } from './test-log.ts'
import { createTestHasher, PASSWORD } from './user.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    templateUrl: string
    rpcUrl: string
    passwordHash: string
  }
}

const BLOCK_TIME = 80

async function makeQuick(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('alter system set fsync = off')
  await client.query('alter system set full_page_writes = off')
  await client.query('alter system set plan_cache_mode = force_generic_plan')
  await client.query('select pg_reload_conf()')
  await client.end()
}

export default async function setup(project: TestProject) {
  const dir = await mkdtemp(join(tmpdir(), 'annal-test-'))
  const log = createTestLog()
  const [postgres, chain, passwordHash] = await Promise.all([
    startEmbeddedPostgres({ dir, log }),
    startEmbeddedAnvil({ dir, log, blockTime: BLOCK_TIME }),
    createTestHasher().hash(PASSWORD),
  ])
  await makeQuick(postgres.url)
  await prepareDatabase(postgres.url)
  project.provide('templateUrl', postgres.url)
  project.provide('rpcUrl', chain.rpcUrl)
  project.provide('passwordHash', passwordHash)
  return async () => {
    await Promise.all([postgres.stop(), chain.stop()])
    await rm(dir, { recursive: true, force: true })
  }
}
