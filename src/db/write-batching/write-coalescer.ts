/**
 * Runs concurrent writes of the same kind as one statement (decision 52): starting a statement, its transaction and its round trip
 * cost more than the changes of one caller. A caller who gets no row is served again alone.
 */

import type { Origin } from '../../telemetry/telemetry-types.ts'
import type { Statement, Together } from '../sql.ts'

/** Callers that one statement serves. The others wait for the next one. */
const MOST_TOGETHER = 32

/** Of those who wait for a statement that does not end: then the next one is begun beside it. */
const PATIENCE_MS = 200

/** What one caller gives or gets. */
export type Row = Readonly<Record<string, unknown>>

/** What one caller asks with, and where it began. */
export interface Asked {
  given: Row
  origin: Origin
}

/** Answers a caller's row, of the statement for many or of `alone`, the caller's own; none where neither served the caller. */
export type JoinedWrite = (asked: Asked, alone: () => Promise<Row[]>) => Promise<Row[]>

interface Waiting extends Asked {
  /** Undefined when the caller is to be served alone. */
  answer(row: Row | undefined): void
  fail(error: unknown): void
  /** Resolves once the caller has been served. */
  served: Promise<void>
}

/**
 * Errors after which a statement has changed nothing for certain, because of one caller's values or of somebody else's lock. Classes: data
 * exception, violated constraint, transaction rolled back, program limit exceeded; and a lock that did not come.
 */
const isOneCallers = (error: unknown) =>
  error instanceof Error && 'code' in error && /^(22|23|40|54|55P03)/.test(String(error.code))

/** The first callers of whom no two change the same, and the others. */
function apartOf(waiting: readonly Waiting[], apart: readonly string[]) {
  const taken = new Set<string>()
  const together: Waiting[] = []
  const others: Waiting[] = []
  for (const each of waiting) {
    const keys = apart.map((name) => `${name} ${each.given[name]}`)
    const isFree = together.length < MOST_TOGETHER && !keys.some((key) => taken.has(key))
    if (isFree) for (const key of keys) taken.add(key)
    ;(isFree ? together : others).push(each)
  }
  return { together, others }
}

/** What `statement` is asked with for all of them. */
const listsOf = ({ parameters }: Statement<never, unknown>, asked: readonly Asked[]) =>
  Object.fromEntries(
    parameters.map(({ name }) => [name, asked.map(({ given, origin }) => (name === 'origins' ? origin : given[name]))]),
  )

/** Until it is done, or for so many milliseconds. */
async function orAfter(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

/**
 * Joins the callers of one write. While one statement is under way, those who come wait for the next. Raises what the statement raised that
 * a caller was in.
 */
export function joinWrite(
  { statement, apart }: Together,
  query: (statement: Statement<never, unknown>, given: unknown) => Promise<Row[]>,
): JoinedWrite {
  let waiting: Waiting[] = []
  let isUnderWay = false

  /** Raises nothing: each caller hears what became of theirs. */
  async function serve(callers: readonly Waiting[]) {
    // One caller alone is served no sooner by the statement for many.
    if (callers.length === 1) return callers[0]!.answer(undefined)
    try {
      const rows = new Map((await query(statement, listsOf(statement, callers))).map((row) => [row.place, row]))
      for (const [index, { answer }] of callers.entries()) answer(rows.get(index + 1))
    } catch (error) {
      for (const { answer, fail } of callers) isOneCallers(error) ? answer(undefined) : fail(error)
    }
  }

  async function serveAll() {
    while (waiting.length > 0) {
      const { together, others } = apartOf(waiting, apart)
      waiting = others
      void serve(together)
      // Those who are served alone may hold what the next ones want.
      await orAfter(Promise.all(together.map(({ served }) => served)), PATIENCE_MS)
    }
    isUnderWay = false
  }

  function wait(asked: Asked, served: Promise<void>): Promise<Row | undefined> {
    const { promise, resolve: answer, reject: fail } = Promise.withResolvers<Row | undefined>()
    waiting.push({ ...asked, answer, fail, served })
    if (!isUnderWay) {
      isUnderWay = true
      setImmediate(() => void serveAll())
    }
    return promise
  }

  return async (asked, alone) => {
    const { promise: served, resolve: end } = Promise.withResolvers<void>()
    try {
      const row = await wait(asked, served)
      return row ? [row] : await alone()
    } finally {
      end()
    }
  }
}
