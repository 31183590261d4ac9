import type { Database, ReadClient } from '../db/database-types.ts'
import { notFound } from './errors.ts'
import { type IdPrefix, uuidFrom } from './ids.ts'
import { type Cuttable, countLimit, readClientOf } from './lists.ts'
import type { Actor } from './policy.ts'
import { type Action, assertMay } from './policy.ts'

/** The parts of a context that reads need. */
export interface ReaderContext extends Cuttable {
  readonly actor: Actor
  readonly database: Database
}

/** Prisma's methods for one model. Compiled reads accept the same arguments. */
interface Rows<Row> {
  findFirst(args: object): Promise<Row | null>
  findMany(args: object): Promise<Row[]>
  count(args: object): Promise<number>
}

interface ReaderOptions<Filter, Where> {
  model: keyof ReadClient
  prefix: IdPrefix
  /** Name of the resource in error messages. */
  label: string
  /** Permission that `get`, `list` and `count` need. */
  action: Action
  /** Returns the condition for the rows that the actor may see, or undefined if there are none. */
  visible(actor: Actor): Where | undefined
  /** Converts the filter of a list to a condition. Throws VALIDATION_FAILED. */
  where(filter: Filter, context: ReaderContext): Where | Promise<Where>
  orderBy: readonly object[]
  /** True if `count` stops shortly after the page at `offset`. */
  isBounded?: boolean
}

/** Creates the reads of a model: one row by ID, a page of rows, and their number. */
export const createReader =
  <Row, Query extends object>() =>
  <Filter, Where extends object>(options: ReaderOptions<Filter, Where>) => {
    const { model, prefix, label, action, visible, where, orderBy, isBounded } = options
    const rowsOf = ({ database, cutsPages }: ReaderContext) =>
      readClientOf(database, cutsPages)[model] as unknown as Rows<Row>

    /** Returns a row by its UUID, or null if it does not exist or the actor may not see it. */
    const find = async (context: ReaderContext, id: string, query?: Query): Promise<Row | null> => {
      const condition = visible(context.actor)
      return condition ? rowsOf(context).findFirst({ ...query, where: { id, ...condition } }) : null
    }

    /** Returns a row by its UUID. Throws NOT_FOUND. */
    const getByUuid = async (context: ReaderContext, uuid: string, query?: Query): Promise<Row> => {
      const row = await find(context, uuid, query)
      if (!row) throw notFound(label)
      return row
    }

    const conditionOf = async (context: ReaderContext, filter: Filter) => {
      assertMay(context.actor, action)
      return { ...(await where(filter, context)), ...visible(context.actor) }
    }

    return {
      find,
      getByUuid,

      /** Returns a row by its public ID. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
      async get(context: ReaderContext, id: string, query?: Query): Promise<Row> {
        assertMay(context.actor, action)
        return getByUuid(context, uuidFrom(id, prefix, label), query)
      },

      /** Returns a page of rows. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
      async list(context: ReaderContext, filter: Filter, query?: Query): Promise<Row[]> {
        return rowsOf(context).findMany({ ...query, orderBy, where: await conditionOf(context, filter) })
      },

      /** Returns the number of rows on all pages. Throws the errors of `list`. */
      async count(context: ReaderContext, filter: Filter, offset?: number | null): Promise<number> {
        const condition = await conditionOf(context, filter)
        return rowsOf(context).count({ where: condition, ...(isBounded && { take: countLimit(offset) }) })
      },
    }
  }
