/** Snapshots of the complete database, to detect changes by a request and to restore it. */
import { cp } from 'node:fs/promises'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { runSql } from './run-sql.ts'

/** Tables that record requests themselves: rate limits, concurrent requests and token use. */
const notes = new Set(['public.concurrency_counters', 'public.limits'])
const noteColumn = 'last_used_at'

/** Rows as JSON text, by table. */
type Rows = Map<string, Set<string>>

export interface Change {
  table: string
  kind: 'written' | 'gone'
  row: string
}

export interface State {
  /** Returns the differences from the snapshot. */
  changes(): Promise<Change[]>
  /** Reverts these changes and the rate limit counters. */
  restore(changes: readonly Change[]): Promise<void>
}

interface Table {
  name: string
  copy: string
  columns: string
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Takes a snapshot. It includes the vault in `<dir>/keys`, because deleting an account also deletes its keys. */
export async function takeState(database: ConnectedDatabase, dir: string): Promise<State> {
  const vault = { keys: `${dir}/keys`, copy: `${dir}/keys-before` }
  await cp(vault.keys, vault.copy, { recursive: true })
  const run = <Row>(text: string) => runSql<Row>(database, text)

  const found = await run<{ schema: string; name: string; columns: string[] }>(
    `select n.nspname as schema, c.relname as name,
       array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind = 'r' and n.nspname in ('public', 'jobs') group by 1, 2 order by 1, 2`,
  )
  const tables = found.map(
    ({ schema, name, columns }): Table => ({
      name: `${schema}.${name}`,
      copy: `before.${quote(`${schema}.${name}`)}`,
      columns: columns.map(quote).join(),
    }),
  )
  await run('create schema before')
  for (const { name, copy } of tables) await run(`create table ${copy} as table ${name}`)

  const readAll = tables
    .filter(({ name }) => !notes.has(name))
    .map(({ name }) => `select '${name}' as name, (to_jsonb(t) - '${noteColumn}')::text as row from ${name} t`)
    .join(' union all ')
  async function read(): Promise<Rows> {
    const rows: Rows = new Map()
    for (const { name, row } of await run<{ name: string; row: string }>(readAll)) {
      const known = rows.get(name)
      if (known) known.add(row)
      else rows.set(name, new Set([row]))
    }
    return rows
  }

  const before = await read()

  async function changes(): Promise<Change[]> {
    const after = await read()
    const missing = (from: Rows, to: Rows, kind: Change['kind']) =>
      [...from].flatMap(([table, rows]) =>
        [...rows].filter((row) => !to.get(table)?.has(row)).map((row): Change => ({ table, kind, row })),
      )
    return [...missing(before, after, 'gone'), ...missing(after, before, 'written')]
  }

  const back = (names: ReadonlySet<string>) => {
    const steps = tables
      .filter(({ name }) => names.has(name))
      .map(
        ({ name, copy, columns }) =>
          `delete from ${name}; insert into ${name} (${columns}) overriding system value select ${columns} from ${copy};`,
      )
    // Disables triggers and foreign keys, because they would prevent the restore.
    return `do $$ begin set local session_replication_role = replica; ${steps.join(' ')} end $$`
  }

  return {
    changes,
    async restore(changed) {
      const names = new Set([...notes, ...changed.map(({ table }) => table)])
      await run(back(names))
      if (names.has('public.user_keys')) await cp(vault.copy, vault.keys, { recursive: true })
    },
  }
}
