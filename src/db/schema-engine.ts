/**
 * Prisma's schema engine, compiled to WebAssembly. It needs no download and connects through the driver adapter.
 * Development only: it writes and compares migrations, and `migrations.ts` applies them.
 */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from '@prisma/driver-adapter-utils'
import type { SchemaEngine } from '@prisma/schema-engine-wasm'
import type pg from 'pg'
import { createPool, DatabaseClient } from './database-client.ts'

type EngineModule = typeof import('@prisma/schema-engine-wasm') & { __wbg_set_wasm(exports: object): void }

interface EngineGlobals {
  /** The part of WebAssembly's API that is used. TypeScript declares it only for browsers. */
  WebAssembly: {
    instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>
  }
  /** Registry to which the engine writes before it panics. Without it, the message is lost. */
  PRISMA_WASM_PANIC_REGISTRY: { set_message(message: string): void }
}

const CONNECT_TIMEOUT_MS = 5_000

let loaded: Promise<EngineModule> | undefined

/** Makes the engine's timers idle. Otherwise the timer of its lock would delay the end of the process by ten seconds. */
const withIdleTimers = (engine: EngineModule): object =>
  Object.fromEntries(
    Object.entries(engine).map(([name, part]) =>
      name.startsWith('__wbg_setTimeout_')
        ? [name, (callback: () => void, milliseconds: number) => setTimeout(callback, milliseconds >>> 0).unref()]
        : [name, part],
    ),
  )

/** Loads the engine. Importing the package's main file also works, but prints a warning about an experimental feature. */
const loadEngine = async (): Promise<EngineModule> => {
  const glue = '@prisma/schema-engine-wasm/schema_engine_bg'
  const engine = (await import(glue)) as EngineModule
  const folder = dirname(fileURLToPath(import.meta.resolve(glue)))
  const bytes = await readFile(join(folder, 'schema_engine_bg.wasm'))
  const globals = globalThis as unknown as EngineGlobals
  globals.PRISMA_WASM_PANIC_REGISTRY = {
    set_message: (message) => {
      throw new Error(`Prisma's schema engine failed: ${message}`)
    },
  }
  const { instance } = await globals.WebAssembly.instantiate(bytes, { './schema_engine_bg.js': withIdleTimers(engine) })
  engine.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return engine
}

/**
 * Type IDs of PostgreSQL's one-byte "char", which its catalogs use, and of its array. The adapter does not know "char", and the engine expects a
 * character. It is passed as an array of "char", because no catalog query of the engine returns one.
 */
const CATALOG_CHAR = 18
const CATALOG_CHAR_ARRAY = 1002

/**
 * Connects with a single connection, because the engine's lock belongs to a session. PostgreSQL gets a script in one message, which makes it one
 * transaction. The adapter would split it at every semicolon, even inside a function body.
 */
const connect = async (url: string, afterDispose: () => Promise<void>): Promise<SqlDriverAdapter> => {
  const pool = createPool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  // The pool replaces an idle connection that is lost.
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
  const { Character, CharacterArray } = ColumnTypeEnum
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

/**
 * Connects to a new shadow database. The adapter's own shadow database would be the real one, because its pool
 * prefers the name in the connection string. It also drops the database while it is still connected.
 */
const connectToShadow = async (url: string): Promise<SqlDriverAdapter> => {
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
export const withSchemaEngine = async <T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>) => {
  loaded ??= loadEngine()
  const { SchemaEngine: Engine } = await loaded
  const open: SqlDriverAdapter[] = []
  const remember = async (connecting: Promise<SqlDriverAdapter>) => {
    const adapter = await connecting
    open.push(adapter)
    return adapter
  }
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => remember(connect(databaseUrl, async () => undefined)),
    connectToShadowDb: () => remember(connectToShadow(databaseUrl)),
  })
  const engine = await Engine.new({ datamodels: undefined }, () => undefined, factory)
  try {
    return await work(engine)
  } finally {
    engine.free()
    for (const adapter of open) await adapter.dispose()
  }
}
