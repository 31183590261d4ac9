/**
 * Reads in Prisma's language, each as one prepared statement. The answer is Prisma's answer. Whatever this does not
 * read exactly as Prisma does, unusual arguments and wrong ones alike, goes to Prisma itself.
 */
import { LRUCache } from 'lru-cache'
import type { ClientBase, Connection, Pool, PoolClient, Submittable } from 'pg'
import { createBatchLoader } from '../../shared/async.ts'
import { type Semaphore, unlimited } from '../../shared/semaphore.ts'
import { noopTracer, type SpanOptions, type Tracer } from '../../telemetry/telemetry-types.ts'
import type { ReadClient } from '../database-types.ts'
import { Prisma, type PrismaClient } from '../prisma/client.ts'
import { type Compiled, compile, type ReadMethod, type Row, readMethods } from './compile.ts'
import { type Model, readModels } from './model.ts'
import { type Arguments, isPlain, type Path, shapeOf, unsupported } from './scope.ts'

const MOST_NAMES = 500
/** Characters of all together: 18 MB or so at each connection. */
const MOST_CHARACTERS = 300_000

/** What the types leave out: the texts that a connection keeps, by their names. */
type Wire = Connection & { parsedStatements: Record<string, string> }

const wireOf = (client: ClientBase) => (client as unknown as { connection: Wire }).connection

/** Has a connection close statements. It is in a line with what is asked there next, which may be one of them. */
class Closing implements Submittable {
  readonly #names: readonly string[]

  constructor(names: readonly string[]) {
    this.#names = names
  }

  submit(connection: Connection) {
    const wire = connection as Wire
    for (const name of this.#names) {
      delete wire.parsedStatements[name]
      wire.close({ type: 'S', name }, true)
    }
    wire.sync()
  }

  /** The driver tells everybody in the line how it went. Closing does not fail, and who asks next hears of a connection that is lost. */
  handleReadyForQuery() {}
  handleError() {}
}

/** Names of reads, and of the same for many at once. A pool has other statements, which stay. */
const OURS = /^read_[\w-]{22}(?:_many)?$/

/** Returns what names a statement that is asked now; undefined for one that goes without. */
export function createStatementNames(pool: Pool): (asked: { name: string; text: string }) => string | undefined {
  /** How many were given up so far, and how many were when a connection was last looked at. */
  let forgotten = 0
  const seen = new WeakMap<PoolClient, number>()
  const kept = new LRUCache<string, string>({
    max: MOST_NAMES,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (text) => text.length,
    dispose: () => {
      forgotten += 1
    },
  })

  pool.on('acquire', (client) => {
    if ((seen.get(client) ?? 0) === forgotten) return
    seen.set(client, forgotten)
    const given = Object.keys(wireOf(client).parsedStatements)
    const closed = given.filter((name) => OURS.test(name) && !kept.has(name))
    if (closed.length > 0) client.query(new Closing(closed))
  })

  return ({ name, text }) => {
    if (kept.get(name) === undefined) kept.set(name, text)
    return kept.has(name) ? name : undefined
  }
}

/** One connection is busy with a batch until all of it is answered. */
const MOST_AT_ONCE = 16

type Values = readonly unknown[]
type Asked = Pick<Compiled, 'name' | 'text' | 'isList'>

/**
 * The statement for many at once, whose parameters are lists; it answers each row after the place of who asked. Undefined where a
 * parameter is a list already.
 */
function manyOf({ name, text, isList }: Asked, types: readonly string[]): Asked | undefined {
  if (types.length === 0 || types.some((type) => type.endsWith('[]'))) return undefined
  // Of a list in a query of its own the planner knows no length: one plan serves all, where it would make one for each list else.
  const lists = types.map((type, at) => `(select $${at + 1}::${type}[])`).join(', ')
  const columns = types.map((_, at) => `p${at + 1}`).join(', ')
  const one = text.replace(/\$(\d+)/g, 'k.p$1')
  return {
    name: `${name}_many`,
    text: `select k.place::int, r.* from unnest(${lists}) with ordinality k(${columns}, place) cross join lateral (${one}) r`,
    isList,
  }
}

/** Whether a value is none that its column could hold: class 22 of PostgreSQL's error codes. */
export const isDataException = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('22')

/** Returns what asks for the rows of a statement with its values, through the gate for lists where it reads many rows. */
export function createAsk({ pool, lists, isPooled }: { pool: Pool; lists: Semaphore; isPooled: boolean }) {
  const nameOf = createStatementNames(pool)
  const batches = new WeakMap<Compiled, (values: Values) => Promise<PromiseSettledResult<Row[]>>>()

  async function query(asked: Asked, values: Values): Promise<Row[]> {
    const wanted = {
      name: isPooled ? undefined : nameOf(asked),
      text: asked.text,
      values: [...values],
      rowMode: 'array' as const,
    }
    const run = () => pool.query<unknown[]>(wanted)
    return (await (asked.isList ? lists(run) : run())).rows
  }

  /** What the parameters of a statement are, as the server reads it. */
  async function describe({ name, text }: Asked): Promise<string[]> {
    const described = `"described_${name}"`
    const answers = (await pool.query({
      text: `prepare ${described} as ${text};
        select parameter_types::text[] as types from pg_prepared_statements where name = '${described.slice(1, -1)}';
        deallocate ${described}`,
    })) as unknown as { rows: { types: string[] }[] }[]
    return answers[1]!.rows[0]!.types
  }

  function createBatched(statement: Compiled) {
    const eachAlone = (all: Values[]) => Promise.allSettled(all.map((values) => query(statement, values)))
    let many: Asked | undefined | null = null

    return createBatchLoader(async (all: Values[]): Promise<PromiseSettledResult<Row[]>[]> => {
      if (all.length === 1) return eachAlone(all)
      if (many === null) many = manyOf(statement, await describe(statement))
      if (many === undefined) return eachAlone(all)
      const columns = statement.parameters.map((_, at) => all.map((values) => values[at]))
      const answers = all.map((): PromiseFulfilledResult<Row[]> => ({ status: 'fulfilled', value: [] }))
      try {
        for (const [place, row] of await query(many, columns)) answers[(place as number) - 1]!.value.push([row])
        return answers
      } catch (error) {
        // Of somebody's values one is none that its column could hold: that is their affair alone.
        if (isDataException(error)) return eachAlone(all)
        throw error
      }
    }, MOST_AT_ONCE)
  }

  return async (statement: Compiled, values: Values): Promise<Row[]> => {
    if (!statement.isSingle) return query(statement, values)
    let batched = batches.get(statement)
    if (!batched) {
      batched = createBatched(statement)
      batches.set(statement, batched)
    }
    const settled = await batched(values)
    if (settled.status === 'rejected') throw settled.reason
    return settled.value
  }
}

/** What reads go by, and what they are held to. */
export interface ReadsOptions {
  /** Shared with everything else that speaks SQL. */
  pool: Pool
  /** Answers what is not supported here. */
  prisma: PrismaClient
  /** What a caller gets to see of a failure of the database. By default, the driver's error. */
  translate?: (error: unknown) => unknown
  /** What lists wait for before they take a connection. */
  lists?: Semaphore | undefined
  /** Told of each read that Prisma answers, because it is not known here. */
  onFallback?: (model: string, method: ReadMethod) => void
  /** Pages of `findMany` end early rather than read texts and JSON of more bytes than this. */
  pageBytes?: number | undefined
  /** True when the pool leads through PgBouncer in transaction mode. Statements have no names then. */
  isPooled?: boolean
  /** Follows reads by what is read. */
  tracer?: Tracer
}

/** Shapes kept compiled; the one not used for longest goes first. */
const MOST_SHAPES = 500

const manyMethods: ReadonlySet<ReadMethod> = new Set(['findMany', 'count'])

const sqlSpan: SpanOptions = { kind: 'client', facts: { 'db.system.name': 'postgresql' } }

type Delegate = Record<ReadMethod, (args: unknown) => Promise<unknown>>

const models: { [Name in keyof ReadClient]: Capitalize<Name> } = {
  user: 'User',
  wallet: 'Wallet',
  asset: 'Asset',
  commit: 'Commit',
  apiKey: 'ApiKey',
  auditEntry: 'AuditEntry',
  transfer: 'Transfer',
  networkApp: 'NetworkApp',
  order: 'Order',
  event: 'Event',
  deposit: 'Deposit',
  withdrawal: 'Withdrawal',
  refund: 'Refund',
  webhookDelivery: 'WebhookDelivery',
  webhookAttempt: 'WebhookAttempt',
}

/**
 * Creates a read client that compiles each shape of arguments once (decision 2). It raises Prisma's errors. `translate` converts
 * failures of the database.
 */
export const createReads = ({
  pool,
  prisma,
  translate = (error) => error,
  lists = unlimited,
  onFallback = () => undefined,
  pageBytes,
  tracer = noopTracer,
  isPooled = false,
}: ReadsOptions): ReadClient => {
  const described = readModels(prisma)
  const shapes = new LRUCache<string, Compiled | typeof unsupported>({ max: MOST_SHAPES })

  const compiled = (model: Model, method: ReadMethod, args: Arguments) => {
    const key = `${model.name}\u0001${method}\u0001${shapeOf(args)}`
    let found = shapes.get(key)
    if (found === undefined) {
      found = refusable(() => compile(model, method, args, { pageBytes }))
      shapes.set(key, found)
    }
    return found
  }

  /** The statement and its values, or `unsupported`. */
  const prepare = (model: Model, method: ReadMethod, args: Arguments) => {
    const statement = compiled(model, method, args)
    if (statement === unsupported) return unsupported
    return { statement, values: statement.parameters.map(({ path, encode }) => encode(valueAt(args, path))) }
  }

  const ask = createAsk({ pool, lists, isPooled })

  const reader = (model: Model, method: ReadMethod, delegate: Delegate) => {
    const told = `${model.name}.${method}`
    const leave = (given: unknown) => {
      onFallback(model.name, method)
      return delegate[method](given)
    }
    return async (given?: unknown) => {
      const args = given ?? {}
      const prepared = isPlain(args) ? refusable(() => prepare(model, method, args)) : unsupported
      if (prepared === unsupported) return manyMethods.has(method) ? lists(() => leave(given)) : leave(given)
      const { statement, values } = prepared
      let rows: Row[]
      try {
        rows = await tracer.span(told, sqlSpan, () => ask(statement, values))
      } catch (error) {
        // A value that its column cannot hold, such as a malformed UUID: Prisma has words of its own for it.
        if (isDataException(error)) return delegate[method](given)
        throw translate(error)
      }
      const answer = statement.decode(rows)
      if (answer !== undefined) return answer
      if (method === 'findUniqueOrThrow') throw recordNotFound(model, method)
      return null
    }
  }

  const client: Record<string, Delegate> = {}
  for (const [name, modelName] of Object.entries(models)) {
    const model = described.get(modelName)
    if (!model) throw new Error(`The data model has no ${modelName}. Run \`prisma generate\`.`)
    const delegate = prisma[name as keyof ReadClient] as unknown as Delegate
    client[name] = Object.fromEntries(
      readMethods.map((method) => [method, reader(model, method, delegate)]),
    ) as Delegate
  }
  // Prisma's types compute the answer from the arguments, which only its own implementation could be checked against.
  return client as unknown as ReadClient
}

const refusable = <T>(work: () => T): T | typeof unsupported => {
  try {
    return work()
  } catch (error) {
    if (error === unsupported) return unsupported
    throw error
  }
}

const valueAt = (args: Arguments, path: Path): unknown => {
  let value: unknown = args
  for (const key of path) value = (value as Record<string | number, unknown>)[key]
  return value
}

const recordNotFound = ({ name }: Model, method: ReadMethod) =>
  new Prisma.PrismaClientKnownRequestError(
    `\nInvalid \`prisma.${name.charAt(0).toLowerCase()}${name.slice(1)}.${method}()\` invocation:\n\n\n` +
      'An operation failed because it depends on one or more records that were required but not found. ' +
      'No record was found for a query.',
    { code: 'P2025', clientVersion: Prisma.prismaVersion.client, meta: { modelName: name, operation: 'a query' } },
  )
