/**
 * Reads in Prisma's language, each as one prepared statement. The answer is Prisma's answer. Whatever this does not
 * read exactly as Prisma does, unusual arguments and wrong ones alike, goes to Prisma itself.
 */
import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import { type Semaphore, unlimited } from '../../shared/semaphore.ts'
import { noopTracer, type SpanOptions, type Tracer } from '../../telemetry/telemetry-types.ts'
import type { ReadClient } from '../database-types.ts'
import { Prisma, type PrismaClient } from '../prisma/client.ts'
import { createAsk, isDataException } from './ask.ts'
import { type Compiled, compile, type ReadMethod, readMethods } from './compile.ts'
import type { Row } from './decode.ts'
import { type Model, readModels } from './model.ts'
import type { Path } from './scope.ts'
import { type Arguments, isPlain, shapeOf, unsupported } from './shape.ts'

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
