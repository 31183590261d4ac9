/**
 * Runs concurrent writes of one kind as one statement (decision 52). The fixed cost of a statement, its transaction
 * and its round trip exceeds the cost of one caller's changes. A caller without a row runs again alone.
 */

import type { Origin } from '../../telemetry/telemetry-types.ts'
import type { Statement, Together } from '../sql.ts'

const MAX_CALLERS = 32

/** Milliseconds after which the next statement starts beside a slow one. */
const NEXT_BATCH_AFTER_MS = 200

/** Parameters or result of one caller. */
export type Row = Readonly<Record<string, unknown>>

/** Parameters of one caller, and the trace context of the call. */
interface Call {
  given: Row
  origin: Origin
}

/** Returns the caller’s row from the batch or, if it has none, the rows of `alone`. */
export type CoalescedWrite = ReturnType<typeof coalesceWrites>

interface Waiting extends Call {
  /** Passes the caller's row from the batch. Pass undefined if the caller must run alone. */
  resolve(row: Row | undefined): void
  reject(error: unknown): void
  /** Resolves when the caller has its result, after it possibly ran alone. */
  served: Promise<void>
}

/**
 * Returns true for errors that one caller's values or a lock caused. The statement has then changed nothing. SQLSTATE
 * classes: data exception, constraint violation, transaction rollback, program limit exceeded, and lock not available.
 */
const isCallerError = (error: unknown) =>
  error instanceof Error && 'code' in error && /^(22|23|40|54|55P03)/.test(String(error.code))

/** Separates callers with distinct keys, which can share a statement, from the others. */
function splitByKeys(waiting: readonly Waiting[], apart: readonly string[]) {
  const usedKeys = new Set<string>()
  const together: Waiting[] = []
  const others: Waiting[] = []
  for (const each of waiting) {
    const keys = apart.map((name) => `${name} ${each.given[name]}`)
    const isFree = together.length < MAX_CALLERS && !keys.some((key) => usedKeys.has(key))
    if (isFree) for (const key of keys) usedKeys.add(key)
    ;(isFree ? together : others).push(each)
  }
  return { together, others }
}

/** Returns one list for each parameter of the batch. */
const listsOf = ({ parameters }: Statement<never, unknown>, calls: readonly Call[]) => {
  const listOf = (name: string) => calls.map(({ given, origin }) => (name === 'origins' ? origin : given[name]))
  return Object.fromEntries(parameters.map(({ name }) => [name, listOf(name)]))
}

async function withTimeout(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

/** Batches the callers of one write. Callers that arrive while a statement runs wait for the next statement. */
export function coalesceWrites(
  { statement, apart }: Together,
  query: (statement: Statement<never, unknown>, given: unknown) => Promise<Row[]>,
) {
  let waiting: Waiting[] = []
  let isUnderWay = false

  /** Executes the write for some callers. Never throws, because each caller gets its own result or error. */
  async function serve(callers: readonly Waiting[]) {
    // A batch has no benefit for one caller.
    if (callers.length === 1) return callers[0]!.resolve(undefined)
    try {
      const rows = new Map((await query(statement, listsOf(statement, callers))).map((row) => [row.place, row]))
      for (const [index, { resolve }] of callers.entries()) resolve(rows.get(index + 1))
    } catch (error) {
      for (const { resolve, reject } of callers) isCallerError(error) ? resolve(undefined) : reject(error)
    }
  }

  async function serveAll() {
    while (waiting.length > 0) {
      const { together, others } = splitByKeys(waiting, apart)
      waiting = others
      void serve(together)
      // Callers that run alone may hold locks that the next batch needs.
      await withTimeout(Promise.all(together.map(({ served }) => served)), NEXT_BATCH_AFTER_MS)
    }
    isUnderWay = false
  }

  return async (call: Call, alone: () => Promise<Row[]>): Promise<Row[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>()
    const { promise: served, resolve: end } = Promise.withResolvers<void>()
    waiting.push({ ...call, resolve, reject, served })
    if (!isUnderWay) {
      isUnderWay = true
      setImmediate(() => void serveAll())
    }
    try {
      const row = await promise
      return row ? [row] : await alone()
    } finally {
      end()
    }
  }
}
