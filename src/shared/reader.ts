import type { Database, ReadClient } from '../db/database-types.ts'
import { notFound } from './errors.ts'
import { type IdPrefix, uuidFrom } from './ids.ts'
import { type Cuttable, countLimit, readClientOf } from './lists.ts'
import type { Actor } from './policy.ts'
import { type Action, assertMay } from './policy.ts'

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
  label: string
  action: Action
  /** Returns undefined if the actor may see no rows. */
  visible(actor: Actor): Where | undefined
  where(filter: Filter, context: ReaderContext): Where | Promise<Where>
  orderBy: readonly object[]
  /** True if `count` stops shortly after the page at `offset`. */
  isBounded?: boolean
}

/** Creates the reads of a model. `get`, `list` and `count` throw NOT_AUTHENTICATED, PERMISSION_DENIED. */
export const createReader =
  <Row, Query extends object>() =>
  <Filter, Where extends object>(options: ReaderOptions<Filter, Where>) => {
    const { model, prefix, label, action, visible, where, orderBy, isBounded } = options
    const rowsOf = ({ database, cutsPages }: ReaderContext) =>
      readClientOf(database, cutsPages)[model] as unknown as Rows<Row>

    /** Returns null if the row does not exist or the actor may not see it. */
    const find = async (context: ReaderContext, id: string, query?: Query): Promise<Row | null> => {
      const condition = visible(context.actor)
      return condition ? rowsOf(context).findFirst({ ...query, where: { id, ...condition } }) : null
    }

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

      async get(context: ReaderContext, id: string, query?: Query): Promise<Row> {
        assertMay(context.actor, action)
        return getByUuid(context, uuidFrom(id, prefix, label), query)
      },

      async list(context: ReaderContext, filter: Filter, query?: Query): Promise<Row[]> {
        return rowsOf(context).findMany({ ...query, orderBy, where: await conditionOf(context, filter) })
      },

      async count(context: ReaderContext, filter: Filter, offset?: number | null): Promise<number> {
        const condition = await conditionOf(context, filter)
        return rowsOf(context).count({ where: condition, ...(isBounded && { take: countLimit(offset) }) })
      },
    }
  }
