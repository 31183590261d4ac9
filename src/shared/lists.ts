import { z } from 'zod'
import type { Database, ReadClient } from '../db/database-types.ts'
import { LARGEST_INT } from '../db/sql.ts'
import { notFound, validationFailed } from './errors.ts'
import { fromId, type IdPrefix, uuidFrom } from './ids.ts'
import { parse, text } from './input.ts'
import { type Action, type Actor, assertMay } from './policy.ts'

/** If true, long texts may end a page early. See `Database.readCut`. */
export interface Cuttable {
  cutsPages?: boolean | undefined
}

export const readClientOf = (
  { read, readCut }: Pick<Database, 'read' | 'readCut'>,
  cutsPages: boolean | undefined,
): ReadClient => (cutsPages ? readCut : read)

export type ListOrder = 'CREATED_AT' | 'UPDATED_AT'

/** Maximum offset in a list. */
export const MAX_OFFSET = LARGEST_INT
export const MAX_FOREIGN_OFFSET = 10_000

export function assertOffset(offset: number): void {
  if (offset <= MAX_FOREIGN_OFFSET) return
  const problem = `Ensure this value is ${MAX_FOREIGN_OFFSET} or less. Continue with the cursors of GraphQL, or filter the list.`
  throw validationFailed({ offset: [problem] })
}

export function cursorUuid(name: 'after' | 'before', cursor: string | undefined, prefix: IdPrefix): string | null {
  if (cursor === undefined) return null
  const found = fromId(cursor, prefix)
  if (!found) throw validationFailed({ [name]: ['The value is not a cursor of this connection.'] })
  return found.uuid
}

/** Maximum count of other users' items. Counting all would take longer every day. */
export const MAX_COUNTED = 10_000
/** Maximum page length of a list of other users' items. */
export const MAX_PER_PAGE = 1_000

/** Number of rows to count for a page at `offset`: one more than the largest page. */
export const countLimit = (offset: number | null | undefined): number =>
  Math.min(Math.max(MAX_COUNTED, (offset ?? 0) + MAX_PER_PAGE + 1), LARGEST_INT)

const MAX_SEARCH_LENGTH = 200
const MAX_WORDS = 20

const searchInput = z.strictObject({
  search: text(MAX_SEARCH_LENGTH)
    .transform((search) => search.normalize().match(/[^\s,]+/g) ?? [])
    .refine((words) => words.length <= MAX_WORDS, `Search for no more than ${MAX_WORDS} words.`),
})

/** Each word must occur in one of the text fields of a record. Case does not matter. */
export type Search = string | null | undefined
export const searchWords = (search: Search): string[] => parse(searchInput, { search: search ?? '' }).search
const escapedWords = (search: Search) => searchWords(search).map((word) => word.replace(/[\\%_]/g, '\\$&'))

/** Returns patterns for `ilike all ($patterns)`. Throws VALIDATION_FAILED. */
export const searchPatterns = (search: Search): string[] => escapedWords(search).map((word) => `%${word}%`)
type Contains = { contains: string; mode: 'insensitive' }

/** `fieldsWith` applies a word to each text field. Throws VALIDATION_FAILED. */
export function searched<Where>(search: Search, fieldsWith: (word: Contains) => Where[]): { AND?: { OR: Where[] }[] } {
  const words = escapedWords(search)
  if (words.length === 0) return {}
  return { AND: words.map((word) => ({ OR: fieldsWith({ contains: word, mode: 'insensitive' }) })) }
}

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
