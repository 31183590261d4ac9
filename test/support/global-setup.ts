/** One PostgreSQL and one chain for the whole run. Each test file clones the migrated database and funds keys of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedAnvil } from '../../src/platform/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { createPasswordHasher } from '../../src/platform/passwords.ts'
import { prepareDatabase } from '../../src/platform/prepare-database.ts'
import { createTestLog } from './test-log.ts'
import { PASSWORD } from './user.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The migrated database that is cloned. Nobody may connect to it: a template must have no sessions. */
    templateUrl: string
    rpcUrl: string
    /** Of `PASSWORD`: hashing takes a tenth of a second, and seeded users are many. */
    passwordHash: string
  }
}

/** Milliseconds from block to block. */
const BLOCK_TIME = 40

export default async function setup(project: TestProject) {
  const dir = await mkdtemp(join(tmpdir(), 'annal-test-'))
  const log = createTestLog()
  const [postgres, anvil, passwordHash] = await Promise.all([
    startEmbeddedPostgres({ dir, log }),
    startEmbeddedAnvil({ dir, log, blockTime: BLOCK_TIME }),
    createPasswordHasher().hash(PASSWORD),
  ])
  await prepareDatabase(postgres.url)
  project.provide('templateUrl', postgres.url)
  project.provide('rpcUrl', anvil.rpcUrl)
  project.provide('passwordHash', passwordHash)
  return async () => {
    await Promise.all([postgres.stop(), anvil.stop()])
    await rm(dir, { recursive: true, force: true })
  }
}
