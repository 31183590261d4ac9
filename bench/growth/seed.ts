/** Fills an empty database with a history as long as wanted. Indexes are built when the rows are there: that is several times faster. */
import pg from 'pg'
import { dropFunctions, fills, functions, noteBalances, type Size } from './seed-statements.ts'

/** A key pair as the vault seals it, for all who were made up: it opens for none of them, and their wallets are never opened. */
export interface SeededKey {
  version: number
  vaultKeyId: string
  wrappedDataKey: Uint8Array
  sealedPrivateKey: Uint8Array
}

export interface SeedOptions {
  size: Size
  key: SeededKey
  /** Told of each table that is filled and each index that is built. */
  say?(what: string): void
}

interface Definition {
  name: string
  table: string
  text: string
}

/** Indexes that no constraint stands on, in the order in which they were made. */
const indexesSql = `
  select c.relname as name, t.relname as table, pg_get_indexdef(i.indexrelid) as text
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
  where t.relnamespace = 'public'::regnamespace and t.relname = any ($1)
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  order by i.indexrelid`

const keysSql = `
  select k.conname as name, k.conrelid::regclass::text as table, pg_get_constraintdef(k.oid) as text
  from pg_constraint k where k.contype = 'p' and k.conrelid::regclass::text = any ($1)`
/** Tables whose primary key has values in no order: it is built afterwards. Nothing refers to them. */
const unordered = ['pins', 'asset_blocks', 'idempotency_keys']

/** Connections that fill tables and build indexes side by side. */
const LANES = 3
/** Triggers and foreign keys are left out: the rows are right by how they are made. */
const session = `set session_replication_role = replica; set maintenance_work_mem = '512MB'; set statement_timeout = 0`

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

async function inLanes(
  clients: readonly pg.Client[],
  work: readonly (readonly [what: string, text: string])[],
  tell: (what: string) => void,
) {
  const left = [...work]
  await Promise.all(
    clients.map(async (client) => {
      for (let next = left.shift(); next; next = left.shift()) {
        await client.query(next[1])
        tell(next[0])
      }
    }),
  )
}

/** Fills a table that the transaction has written anew: of that, PostgreSQL writes no log (`wal_level = minimal`). */
function fillAnew(fill: string, { table, name }: Definition): string {
  const dropped = unordered.includes(table) ? `alter table ${table} drop constraint "${name}"` : ''
  return `begin; cluster ${table} using "${name}"; alter table ${table} set without cluster; ${dropped}; ${fill}; commit`
}

/** Fills the database, which has no users yet. */
export async function seedGrowth(url: string, { size, key, say = () => undefined }: SeedOptions): Promise<void> {
  const started = performance.now()
  const tell = (what: string) => say(`${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${what}`)
  const sealed = { wrappedDataKey: hex(key.wrappedDataKey), sealedPrivateKey: hex(key.sealedPrivateKey) }
  const statements = fills(size, { ...key, ...sealed })
  const clients = Array.from({ length: LANES }, () => new pg.Client({ connectionString: url }))
  const [first] = clients as [pg.Client]
  try {
    for (const client of clients) {
      await client.connect()
      await client.query(session)
    }
    const { rows: indexes } = await first.query<Definition>(indexesSql, [Object.keys(statements)])
    const { rows: keys } = await first.query<Definition>(keysSql, [Object.keys(statements)])
    const keyOf = new Map(keys.map((key) => [key.table, key]))
    for (const { name } of indexes) await first.query(`drop index "${name}"`)
    await first.query(`update _prisma_migrations set started_at = now() - interval '100 days'`)
    for (const text of functions(size, Date.now())) await first.query(text)
    await inLanes(
      clients,
      Object.entries(statements).map(([table, fill]) => [table, fillAnew(fill, keyOf.get(table)!)] as const),
      tell,
    )
    // A key wants its table for itself; indexes of one table are built side by side.
    for (const { name, table, text } of keys.filter((key) => unordered.includes(key.table)))
      await first.query(`alter table ${table} add constraint "${name}" ${text}`)
    await inLanes(
      clients,
      indexes.map(({ name, text }) => [name, text] as const),
      tell,
    )
    await first.query(noteBalances)
    tell('balances')
    await first.query(dropFunctions)
    await first.query('vacuum (analyze, freeze)')
    tell('analysed')
  } finally {
    for (const client of clients) await client.end()
  }
}
