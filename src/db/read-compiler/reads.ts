/**
 * Executes Prisma's read arguments as one prepared statement each, and returns what Prisma returns. Prisma itself
 * executes all arguments that the compiler does not support.
 */
import { LRUCache } from 'lru-cache'
import type { Connection, Pool, PoolClient, Submittable } from 'pg'
import { createBatchLoader } from '../../shared/async.ts'
import type { Semaphore } from '../../shared/limiters.ts'
import type { SpanOptions, Tracer } from '../../telemetry/telemetry-types.ts'
import type { ReadClient } from '../database-types.ts'
import type { PrismaClient } from '../prisma/client.ts'
import { type Compiled, compile, type ReadMethod, readMethods } from './compile.ts'
import { type Model, readModels } from './model.ts'
import { type Arguments, isPlain, type Row, readParameter, shapeOf, unsupported } from './values.ts'

const MAX_NAMES = 500
/** Maximum total length of the prepared statements per connection, in characters. They take about 18 MB. */
const MAX_CHARACTERS = 300_000

/** Undocumented driver state: the texts of the prepared statements of a connection, by name. */
type Wire = Connection & { parsedStatements: Record<string, string> }

/** Closes prepared statements on a connection. The driver queues this like a query. Later queries can prepare again. */
const closing = (names: readonly string[]): Submittable => ({
  submit(connection) {
    const wire = connection as Wire
    for (const name of names) {
      delete wire.parsedStatements[name]
      wire.close({ type: 'S', name }, true)
    }
    wire.sync()
  },
  // The driver calls both methods on each queued object. Closing cannot fail. Queries report a lost connection.
  ...{ handleReadyForQuery() {}, handleError() {} },
})

/** Matches the names of compiled reads and their batches. Other prepared statements are never closed. */
const READ_NAME = /^read_[\w-]{22}(?:_many)?$/

/** Returns a function that gives the name of a prepared statement, or undefined for an unnamed one. */
function createStatementNames(pool: Pool): (query: { name: string; text: string }) => string | undefined {
  /** Total number of evicted statements, and that number when each connection was last checked. */
  let evicted = 0
  const seen = new WeakMap<PoolClient, number>()
  const names = new LRUCache<string, string>({
    max: MAX_NAMES,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (text) => text.length,
    dispose: () => {
      evicted += 1
    },
  })

  pool.on('acquire', (client) => {
    if ((seen.get(client) ?? 0) === evicted) return
    seen.set(client, evicted)
    const { connection } = client as unknown as { connection: Wire }
    const closed = Object.keys(connection.parsedStatements).filter((name) => READ_NAME.test(name) && !names.has(name))
    if (closed.length > 0) client.query(closing(closed))
  })

  return ({ name, text }) => {
    if (names.get(name) === undefined) names.set(name, text)
    return names.has(name) ? name : undefined
  }
}

/** Maximum number of reads in a batch. A batch occupies a connection until its last row is read. */
const MAX_BATCH = 16

type Values = readonly unknown[]
type StatementText = Pick<Compiled, 'name' | 'text' | 'isList'>

/**
 * Returns the statement for a batch. Its parameters are lists, and each row has the position of its read. Returns
 * undefined if a parameter is already a list.
 */
function batchStatement({ name, text, isList }: StatementText, types: readonly string[]): StatementText | undefined {
  if (types.length === 0 || types.some((type) => type.endsWith('[]'))) return undefined
  // The planner does not see the length of a list in a subquery, so one plan serves all lengths.
  const lists = types.map((type, at) => `(select $${at + 1}::${type}[])`).join(', ')
  const columns = types.map((_, at) => `p${at + 1}`).join(', ')
  const one = text.replace(/\$(\d+)/g, 'k.p$1')
  return {
    name: `${name}_many`,
    text: `select k.place::int, r.* from unnest(${lists}) with ordinality k(${columns}, place) cross join lateral (${one}) r`,
    isList,
  }
}

/** Returns true for a value that its column cannot hold: SQLSTATE class 22. */
const isDataException = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('22')

/** Creates a function that runs a compiled statement. */
function createQuery({ pool, lists, isPooled }: ReadsOptions) {
  const nameOf = createStatementNames(pool)
  const batches = new WeakMap<Compiled, (values: Values) => Promise<PromiseSettledResult<Row[]>>>()

  async function query(statement: StatementText, values: Values): Promise<Row[]> {
    const name = isPooled ? undefined : nameOf(statement)
    const run = () => pool.query<unknown[]>({ name, text: statement.text, values: [...values], rowMode: 'array' })
    return (await (statement.isList ? lists(run) : run())).rows
  }

  /** Returns the parameter types of a statement, as the server reports them. */
  async function describe({ name, text }: StatementText): Promise<string[]> {
    const described = `"described_${name}"`
    const results = (await pool.query({
      text: `prepare ${described} as ${text};
        select parameter_types::text[] as types from pg_prepared_statements where name = '${described.slice(1, -1)}';
        deallocate ${described}`,
    })) as unknown as { rows: { types: string[] }[] }[]
    return results[1]!.rows[0]!.types
  }

  function createBatched(statement: Compiled) {
    const eachAlone = (all: Values[]) => Promise.allSettled(all.map((values) => query(statement, values)))
    let many: StatementText | undefined | null = null

    return createBatchLoader(async (all: Values[]): Promise<PromiseSettledResult<Row[]>[]> => {
      if (all.length === 1) return eachAlone(all)
      if (many === null) many = batchStatement(statement, await describe(statement))
      if (many === undefined) return eachAlone(all)
      const columns = statement.parameters.map((_, at) => all.map((values) => values[at]))
      const results = all.map((): PromiseFulfilledResult<Row[]> => ({ status: 'fulfilled', value: [] }))
      try {
        for (const [place, row] of await query(many, columns)) results[(place as number) - 1]!.value.push([row])
        return results
      } catch (error) {
        // One caller passed an invalid value; run each read separately so that only that caller fails.
        if (isDataException(error)) return eachAlone(all)
        throw error
      }
    }, MAX_BATCH)
  }

  return async (statement: Compiled, values: Values): Promise<Row[]> => {
    if (!statement.isSingle) return query(statement, values)
    const batched = batches.get(statement) ?? createBatched(statement)
    batches.set(statement, batched)
    const settled = await batched(values)
    if (settled.status === 'rejected') throw settled.reason
    return settled.value
  }
}

interface ReadsOptions {
  pool: Pool
  prisma: PrismaClient
  /** Converts a database error to the error that callers see. */
  translate: (error: unknown) => unknown
  /** Semaphore that limits concurrent reads of many rows. */
  lists: Semaphore
  /** Called for each read that Prisma executes because the compiler does not support its arguments. */
  onFallback: (model: string, method: ReadMethod) => void
  /** Maximum bytes of texts and JSON in a page of `findMany`. Longer pages end early. */
  pageBytes?: number
  /** True if the pool connects through PgBouncer in transaction mode. Statements are unnamed then. */
  isPooled: boolean
  /** False to let Prisma execute every read. */
  isCompiling: boolean
  tracer: Tracer
}

/** Maximum number of compiled shapes. The least recently used one is evicted. */
const MAX_SHAPES = 500

const sqlSpan: SpanOptions = { kind: 'client', facts: { 'db.system.name': 'postgresql' } }

type Delegate = Record<ReadMethod, (args: unknown) => Promise<unknown>>

/** Creates a read client that compiles each shape of arguments once (decision 2). It throws Prisma’s errors. */
export const createReads = (options: ReadsOptions): ReadClient => {
  const { prisma, translate, lists, pageBytes, tracer, onFallback, isCompiling } = options
  const shapes = new LRUCache<string, Compiled | typeof unsupported>({ max: MAX_SHAPES })
  const query = createQuery(options)

  const prepare = (model: Model, method: ReadMethod, args: Arguments) => {
    const key = `${model.name}\u0001${method}\u0001${shapeOf(args)}`
    let statement = shapes.get(key)
    if (statement === undefined) {
      statement = orUnsupported(() => compile(model, method, args, pageBytes))
      shapes.set(key, statement)
    }
    if (statement === unsupported) return unsupported
    return { statement, values: statement.parameters.map((parameter) => readParameter(args, parameter)) }
  }

  const reader = (model: Model, method: ReadMethod, delegate: Delegate) => {
    const spanName = `${model.name}.${method}`
    const isMany = method === 'findMany' || method === 'count'
    const leave = (given: unknown) => {
      if (isCompiling) onFallback(model.name, method)
      return delegate[method](given)
    }
    return async (given?: unknown) => {
      const args = given ?? {}
      const prepared = isCompiling && isPlain(args) ? orUnsupported(() => prepare(model, method, args)) : unsupported
      if (prepared === unsupported) return isMany ? lists(() => leave(given)) : leave(given)
      const { statement, values } = prepared
      let rows: Row[]
      try {
        rows = await tracer.span(spanName, sqlSpan, () => query(statement, values))
      } catch (error) {
        // A column cannot hold the value, such as a malformed UUID. Prisma throws its own error for it.
        if (isDataException(error)) return delegate[method](given)
        throw translate(error)
      }
      const result = statement.decode(rows)
      // Prisma throws its own error for a missing row.
      return result === null && method === 'findUniqueOrThrow' ? delegate[method](given) : result
    }
  }

  const delegates = prisma as unknown as Record<string, Delegate>
  const clients = [...readModels(prisma).values()].map((model) => {
    const name = model.name.charAt(0).toLowerCase() + model.name.slice(1)
    return [name, Object.fromEntries(readMethods.map((method) => [method, reader(model, method, delegates[name]!)]))]
  })
  // Prisma computes result types from arguments. TypeScript cannot check this client against them.
  return Object.fromEntries(clients) as ReadClient
}

const orUnsupported = <T>(work: () => T): T | typeof unsupported => {
  try {
    return work()
  } catch (error) {
    if (error === unsupported) return unsupported
    throw error
  }
}
