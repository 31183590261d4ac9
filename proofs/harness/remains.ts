/** Everything that a service leaves behind: its tables, its files, what it wrote on its way. */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { statement, text } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import type { Haystack } from './canaries.ts'
import { runSql } from './run-sql.ts'

interface Table {
  schema: string
  name: string
}

/** A row as text holds bytes as hex; they are added as they are. */
const withBytes = (rows: string) =>
  Buffer.concat([
    Buffer.from(`${rows}\n`),
    ...Array.from(rows.matchAll(/\\x([0-9a-f]{2,})/g), ([, hex]) => Buffer.from(`${hex!}0a`, 'hex')),
  ])

const findTables = statement(
  'proof_tables',
  { columns: { schema: text, name: text } },
  `select n.nspname::text as schema, c.relname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'm') and n.nspname not in ('information_schema', 'pg_catalog', 'pg_toast')
   order by 1, 2`,
)

/** Every row of every table but PostgreSQL's own, also the queues' and the notes of who is connected; or only those of one name. */
export async function dumpTables(database: ConnectedDatabase, only?: string): Promise<Haystack[]> {
  const tables = await database.query(findTables)
  const views: Table[] = ['pg_stat_activity', 'pg_settings', 'pg_db_role_setting'].map((name) => ({
    schema: 'pg_catalog',
    name,
  }))
  const dumped: Haystack[] = []
  for (const { schema, name } of [...tables, ...views]) {
    if (only !== undefined && name !== only) continue
    const quoted = `"${schema}"."${name}"`
    const rows = await runSql<{ row: string }>(database, `select t::text as row from ${quoted} t`)
    dumped.push({ place: `table ${schema}.${name}`, bytes: withBytes(rows.map(({ row }) => row).join('\n')) })
  }
  return dumped
}

/** Files below a folder, read one at a time. Names in `but`, relative to it, are left out. */
export async function* readFiles(dir: string, but: readonly string[]): AsyncGenerator<Haystack> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = relative(dir, path)
    if (but.some((left) => name === left || name.startsWith(`${left}/`))) continue
    const bytes = await readFile(path).catch(() => undefined)
    // A path is something left behind, too.
    if (bytes) yield { place: `file ${name}`, bytes: Buffer.concat([Buffer.from(`${name}\n`), bytes]) }
  }
}
