/** Prisma's schema engine in WebAssembly. It writes and compares migrations during development. */
import { randomUUID } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from '@prisma/driver-adapter-utils'
import { SchemaEngine } from '@prisma/schema-engine-wasm'
import type pg from 'pg'
import { createPool, DatabaseClient } from './database-client.ts'

const CONNECT_TIMEOUT_MS = 5_000

/**
 * Type IDs of PostgreSQL's one-byte "char" and of its array. The adapter knows only the array, and the engine expects
 * a character. No catalog query of the engine returns an array of "char".
 */
const CATALOG_CHAR = 18
const CATALOG_CHAR_ARRAY = 1002
const { Character, CharacterArray } = ColumnTypeEnum

/**
 * Connects with a single connection, because the engine's lock belongs to a session. PostgreSQL gets a script in one
 * message. The adapter would split it at every semicolon, even inside a function body.
 */
async function connect(url: string, afterDispose?: () => Promise<void>): Promise<SqlDriverAdapter> {
  const pool = createPool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  // Errors of idle connections are ignored, because the pool replaces lost connections.
  pool.on('error', () => undefined)
  const query = pool.query.bind(pool)
  const readable = Object.assign(pool, {
    query: async (config: pg.QueryConfig) => {
      const result = await query(config)
      for (const field of result.fields) if (field.dataTypeID === CATALOG_CHAR) field.dataTypeID = CATALOG_CHAR_ARRAY
      return result
    },
  })
  const adapter = await new PrismaPg(readable).connect()
  const queryRaw = adapter.queryRaw.bind(adapter)
  let disposing: Promise<void> | undefined
  return Object.assign(adapter, {
    queryRaw: async (sql: SqlQuery) => {
      const result = await queryRaw(sql)
      return { ...result, columnTypes: result.columnTypes.map((type) => (type === CharacterArray ? Character : type)) }
    },
    executeScript: async (script: string) => void (await query(script)),
    // The engine leaves some adapters open. `withSchemaEngine` closes all of them.
    dispose: () => (disposing ??= pool.end().then(afterDispose)),
  })
}

/** Connects to a new shadow database. The adapter's own method would connect to the database of the URL instead. */
async function connectToShadow(url: string): Promise<SqlDriverAdapter> {
  const name = `annal_shadow_${randomUUID().replaceAll('-', '')}`
  const administer = async (sql: string) => {
    const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await administer(`CREATE DATABASE ${name}`)
  const shadow = new URL(url)
  shadow.pathname = `/${name}`
  return await connect(shadow.href, () => administer(`DROP DATABASE ${name} WITH (FORCE)`))
}

/** Runs `work` with an engine for the database. Throws the engine's message as an Error. */
export async function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>) {
  const open: SqlDriverAdapter[] = []
  const track = async (connecting: Promise<SqlDriverAdapter>) => {
    const adapter = await connecting
    open.push(adapter)
    return adapter
  }
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => track(connect(databaseUrl)),
    connectToShadowDb: () => track(connectToShadow(databaseUrl)),
  })
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, factory)
  try {
    return await work(engine)
  } finally {
    engine.free()
    for (const adapter of open) await adapter.dispose()
  }
}
