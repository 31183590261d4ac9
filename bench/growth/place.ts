/** The server and the databases of the growth bench, kept from run to run: making the largest takes longer than measuring it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { keyPairs } from '../../src/chain/transaction.ts'
import { readConfig } from '../../src/config.ts'
import { prepareDatabase } from '../../src/db/migrations.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import { createCustody } from '../../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../../src/keys/key-vault.ts'
import type { Log } from '../../src/shared/log.ts'
import { seedGrowth } from './seed.ts'
import { sizeOf } from './seed-statements.ts'

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** Whose data can be made again: nothing of it has to outlast the machine, and no log is kept for others. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '3GB',
  checkpoint_timeout: '30min',
  // Plans and times are to be those of the rows, not of who is analysed just now.
  autovacuum: 'off',
}

async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export interface Place {
  dir: string
  /** Of the database with so many commits, which is filled when it is not there. */
  databaseOf(commits: number): Promise<string>
  /** The service's configuration on a database. */
  env(databaseUrl: string): Record<string, string>
  stop(): Promise<void>
}

async function startServer(dir: string): Promise<EmbeddedPostgres> {
  const first = await startEmbeddedPostgres({ dir, log: silent })
  const isSet = await onServer(first.url, async (client) => {
    const { rows } = await client.query<{ wal_level: string }>('show wal_level')
    if (rows[0]!.wal_level === settings.wal_level) return true
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = '${value}'`)
    return false
  })
  if (isSet) return first
  await first.stop()
  return startEmbeddedPostgres({ dir, log: silent })
}

/** Opens the place below `GROWTH_DIR`. */
export async function openPlace(dir: string, say: (what: string) => void): Promise<Place> {
  mkdirSync(dir, { recursive: true })
  const server = await startServer(dir)
  const env = (databaseUrl: string) => ({
    ANNAL_DIR: join(dir, 'annal'),
    DATABASE_URL: databaseUrl,
    KEY_ENCRYPTION_KEY: '11'.repeat(32),
  })

  async function fill(commits: number, url: string) {
    await prepareDatabase(url)
    const { keys } = readConfig(env(url))
    const annal = env(url).ANNAL_DIR
    mkdirSync(annal, { recursive: true })
    const custody = createCustody({ vault: createLocalKeyVault({ ...keys, dir: annal }), keyPairs })
    const key = await custody.create(crypto.randomUUID())
    await seedGrowth(url, { size: sizeOf(commits), key, say })
    // All accounts have the same key, of which no key share is there.
    const giveUp = `insert into key_values (key, value) values ('vault:given-up:key-shares', now()::text)`
    await onServer(url, (client) => client.query(giveUp))
  }

  return {
    dir,
    env,
    async databaseOf(commits) {
      const name = `growth_${commits}`
      const url = new URL(server.url)
      url.pathname = `/${name}`
      const isThere = await onServer(server.url, async (client) => {
        const { rows } = await client.query('select from pg_database where datname = $1', [name])
        if (rows.length) return true
        await client.query(`create database ${name}_unfinished`)
        return false
      })
      if (isThere) return url.href
      const unfinished = new URL(url)
      unfinished.pathname = `/${name}_unfinished`
      await fill(commits, unfinished.href)
      await onServer(server.url, (client) => client.query(`alter database ${name}_unfinished rename to ${name}`))
      return url.href
    },
    stop: () => server.stop(),
  }
}
