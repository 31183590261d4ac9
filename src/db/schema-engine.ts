/**
 * Prisma's schema engine, compiled to WebAssembly: needs no download, and talks through the driver adapter. Only for
 * developers: it writes migrations and compares them; what applies them is `migrations.ts`.
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

/** As far as we need it: TypeScript knows WebAssembly only as a part of browsers. */
interface WebAssemblyApi {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>
}

interface EngineGlobals {
  WebAssembly: WebAssemblyApi
  /** The engine writes here before it panics; without it, the message is lost. */
  PRISMA_WASM_PANIC_REGISTRY: { set_message(message: string): void }
}

/** Milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000

let loaded: Promise<EngineModule> | undefined

/** The engine leaves the alarm of its lock behind, and a process that has nothing else to do must not wait ten seconds for it. */
const withIdleTimers = (engine: EngineModule): object =>
  Object.fromEntries(
    Object.entries(engine).map(([name, part]) =>
      name.startsWith('__wbg_setTimeout_')
        ? [name, (callback: () => void, milliseconds: number) => setTimeout(callback, milliseconds >>> 0).unref()]
        : [name, part],
    ),
  )

/** Importing the package's main file works too, but prints a warning about an experimental feature. */
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
 * PostgreSQL's one-byte "char", in which its catalog keeps kinds. The adapter does not know it, and the engine wants it as
 * a character: it travels through the adapter as an array of "char", which no catalog query of the engine returns.
 */
const CATALOG_CHAR = 18
const CATALOG_CHAR_ARRAY = 1002

/**
 * One connection, because the engine's own lock belongs to a session. A script goes to PostgreSQL in one message, which
 * makes it one transaction; the adapter would cut it at every semicolon, also inside a function's body.
 */
const connect = async (url: string, afterDispose: () => Promise<void>): Promise<SqlDriverAdapter> => {
  const pool = createPool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  // One that is lost while it idles is replaced.
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
    executeScript: async (script: string) => {
      await query(script)
    },
    // The engine leaves some adapters open; `withSchemaEngine` closes all of them, and waits for each.
    dispose: () => {
      disposing ??= pool.end().then(afterDispose)
      return disposing
    },
  })
}

/**
 * The adapter's own shadow database would be the real one: its pool prefers the name in the connection string over the
 * shadow's, and its DROP comes while it is still connected.
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

/** Runs `work` with an engine on the database. Raises the engine's message as an Error. */
export const withSchemaEngine = async <T>(
  databaseUrl: string,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> => {
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
