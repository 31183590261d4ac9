/**
 * Queries PostgreSQL. Reads of one row with the same shape in one turn of the event loop become one statement (decision 2): a
 * round trip costs more than the row.
 */
import type { Pool } from 'pg'
import { createBatchLoader } from '../../shared/async.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import type { Compiled } from './compile.ts'
import type { Row } from './decode.ts'
import { createStatementNames } from './statement-names.ts'

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
