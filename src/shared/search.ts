/** Searches of lists: every word must occur in one of the text fields of a record, whatever its case. */
import { z } from 'zod'
import { parse, text } from './input.ts'

/** Maximum length of a search, in characters. */
export const MAX_SEARCH_LENGTH = 200
const MAX_WORDS = 20

const searchInput = z.strictObject({
  search: text(MAX_SEARCH_LENGTH)
    .transform((search) =>
      search
        .normalize()
        .split(/[\s,]+/)
        .filter((word) => word !== ''),
    )
    .refine((words) => words.length <= MAX_WORDS, `Search for no more than ${MAX_WORDS} words.`),
})

/** A search as a caller gives it. */
export type Search = string | null | undefined

/** The words of a search. Without a search there are none. Raises VALIDATION_FAILED. */
export const searchWords = (search: Search): string[] => parse(searchInput, { search: search ?? '' }).search

/** The words with the special characters of LIKE escaped. */
const escapedWords = (search: Search) => searchWords(search).map((word) => word.replace(/[\\%_]/g, '\\$&'))

/** The patterns of a search for SQL: `a ilike all ($patterns)`. Raises VALIDATION_FAILED. */
export const searchPatterns = (search: Search): string[] => escapedWords(search).map((word) => `%${word}%`)

/** A filter of a text field in Prisma's language. */
interface Contains {
  contains: string
  mode: 'insensitive'
}

/**
 * The condition of a search in Prisma's language. `fieldsWith` returns the alternatives for a word: each text field with the filter.
 * Raises VALIDATION_FAILED.
 */
export function searched<Where>(search: Search, fieldsWith: (word: Contains) => Where[]): { AND?: { OR: Where[] }[] } {
  const words = escapedWords(search)
  if (words.length === 0) return {}
  return { AND: words.map((word) => ({ OR: fieldsWith({ contains: word, mode: 'insensitive' }) })) }
}
