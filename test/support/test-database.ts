import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

const withDatabase = (url: string, name: string) => {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

async function onServer<T>(work: (client: pg.Client) => Promise<T>, name = 'postgres'): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(inject('templateUrl'), name) })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const clockSql = (database: string) => `
  create schema clock;
  create table clock.stopped (at timestamptz not null);
  create function clock.clock_timestamp() returns timestamptz language sql volatile as
    'select coalesce((select at from clock.stopped), pg_catalog.clock_timestamp())';
  create function clock.now() returns timestamptz language sql stable as
    'select coalesce((select at from clock.stopped), pg_catalog.now())';
  alter database ${database} set search_path = clock, pg_catalog, public`

/** Clones a new database from the migrated template. `withClock`: tests can stop its clock. */
export async function createTestDatabase({ withClock = false } = {}) {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const template = new URL(inject('templateUrl')).pathname.slice(1)
  await onServer((client) => client.query(`create database ${name} template ${template} strategy file_copy`))
  if (withClock) await onServer((client) => client.query(clockSql(name)), name)
  return {
    url: withDatabase(inject('templateUrl'), name),
    async drop() {
      const left = await onServer(async (client) => {
        const sessions = `select application_name, state, query from pg_stat_activity where datname = $1`
        // A closed session may still be ending. DROP DATABASE waits for it.
        const error = await client.query(`drop database ${name}`).catch((reason: unknown) => reason)
        if (!(error instanceof Error)) return []
        const { rows } = await client.query(sessions, [name])
        await client.query(`drop database ${name} with (force)`)
        return rows.length ? rows : [error.message]
      })
      if (left.length) throw new Error(`A test left connections to its database open: ${JSON.stringify(left, null, 2)}`)
    },
  }
}

const OBJECT_IN_USE = '55006'
const MOST_TRIES = 3

async function alone<T>(client: pg.Client, name: string, work: () => Promise<T>): Promise<T> {
  await client.query(`alter database ${name} allow_connections false`)
  try {
    for (let tries = 1; ; tries += 1) {
      await client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [name])
      try {
        return await work()
      } catch (error) {
        // A session that was still connecting was not visible before.
        if ((error as { code?: string }).code !== OBJECT_IN_USE || tries === MOST_TRIES) throw error
      }
    }
  } finally {
    await client.query(`alter database ${name} allow_connections true`)
  }
}

/** Creates a backup of a database. `restore` replaces the lost database with it, once. */
export async function backUp(url: string): Promise<{ restore(): Promise<void> }> {
  const name = new URL(url).pathname.slice(1)
  const [backup, lost] = [`${name}_backup`, `${name}_lost`]
  await onServer((client) =>
    alone(client, name, () => client.query(`create database ${backup} template ${name} strategy file_copy`)),
  )
  return {
    restore: () =>
      onServer(async (client) => {
        await alone(client, name, () => client.query(`alter database ${name} rename to ${lost}`)).catch((error) => {
          // The database has a different name by then.
          if (!/does not exist/.test(String(error))) throw error
        })
        await client.query(`alter database ${backup} rename to ${name}`)
        await client.query(`drop database ${lost} with (force)`)
      }),
  }
}

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>
