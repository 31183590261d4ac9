/** Rules of lists: pages, cursors, counts and searches. */
import { z } from 'zod'
import type { Database, ReadClient } from '../db/database-types.ts'
import { LARGEST_INT } from '../db/sql.ts'
import { validationFailed } from './errors.ts'
import { fromId, type IdPrefix } from './ids.ts'
import { parse, text } from './input.ts'

/** Option of a list whose pages may end early because of long texts. See `Database.readCut`. */
export interface Cuttable {
  cutsPages?: boolean | undefined
}

/** Returns the read client that ends pages with long texts early, if `cutsPages` is set. */
export const readClientOf = (
  { read, readCut }: Pick<Database, 'read' | 'readCut'>,
  cutsPages: boolean | undefined,
): ReadClient => (cutsPages ? readCut : read)

/** The time by which a list is sorted. */
export type ListOrder = 'CREATED_AT' | 'UPDATED_AT'

/** Maximum offset in a list. */
export const MAX_OFFSET = LARGEST_INT
/** Maximum offset in a list of other users' items. */
export const MAX_FOREIGN_OFFSET = 10_000

/** Rejects a large offset in a list of other users' items. Throws VALIDATION_FAILED. */
export function assertOffset(offset: number): void {
  if (offset <= MAX_FOREIGN_OFFSET) return
  const problem = `Ensure this value is ${MAX_FOREIGN_OFFSET} or less. Continue with the cursors of GraphQL, or filter the list.`
  throw validationFailed({ offset: [problem] })
}

/** Returns the UUID of a cursor, or null without one. Throws VALIDATION_FAILED. */
export function cursorUuid(name: 'after' | 'before', cursor: string | undefined, prefix: IdPrefix): string | null {
  if (cursor === undefined) return null
  const found = fromId(cursor, prefix)
  if (!found) throw validationFailed({ [name]: ['The value is not a cursor of this connection.'] })
  return found.uuid
}

/** Maximum count of other users' items. Counting all items would take longer every day. */
export const MAX_COUNTED = 10_000
/** Maximum page length of a list of other users' items. */
export const MAX_PER_PAGE = 1_000

/** Returns the maximum number of rows to count for a page at `offset`: one row more than the largest page. */
export const countLimit = (offset: number | null | undefined): number =>
  Math.min(Math.max(MAX_COUNTED, (offset ?? 0) + MAX_PER_PAGE + 1), LARGEST_INT)

const MAX_SEARCH_LENGTH = 200
const MAX_WORDS = 20

const searchInput = z.strictObject({
  search: text(MAX_SEARCH_LENGTH)
    .transform((search) => search.normalize().match(/[^\s,]+/g) ?? [])
    .refine((words) => words.length <= MAX_WORDS, `Search for no more than ${MAX_WORDS} words.`),
})

/** Search words. Each word must occur in one of the text fields of a record. Case does not matter. */
export type Search = string | null | undefined

/** Returns the words of a search. Throws VALIDATION_FAILED. */
export const searchWords = (search: Search): string[] => parse(searchInput, { search: search ?? '' }).search

/** Returns the words of a search, escaped for LIKE. */
const escapedWords = (search: Search) => searchWords(search).map((word) => word.replace(/[\\%_]/g, '\\$&'))

/** Returns the patterns of a search for `ilike all ($patterns)` in SQL. Throws VALIDATION_FAILED. */
export const searchPatterns = (search: Search): string[] => escapedWords(search).map((word) => `%${word}%`)

type Contains = { contains: string; mode: 'insensitive' }

/** Returns the Prisma condition of a search. `fieldsWith` applies a word to each text field. Throws VALIDATION_FAILED. */
export function searched<Where>(search: Search, fieldsWith: (word: Contains) => Where[]): { AND?: { OR: Where[] }[] } {
  const words = escapedWords(search)
  if (words.length === 0) return {}
  return { AND: words.map((word) => ({ OR: fieldsWith({ contains: word, mode: 'insensitive' }) })) }
}
