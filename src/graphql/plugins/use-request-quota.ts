import type { Plugin } from 'graphql-yoga'
import type { Context } from '../../services-context.ts'

/** Characters of a document that cost as much to parse and validate as a request. */
const CHARACTERS_PER_REQUEST = 2_000

/**
 * Counts the parsing and validation of a new document against the caller's quota, before it happens. Place this plugin after those that find
 * a document by its identifier. Throws THROTTLED.
 */
export const useRequestQuota = ({ isKnown }: { isKnown(text: string): boolean }): Plugin<Context, Context> => ({
  async onParams({ params: { query }, context: { actor, services } }) {
    if (typeof query !== 'string' || query.length < CHARACTERS_PER_REQUEST || isKnown(query)) return
    await services.requestQuota.consume(actor, Math.floor(query.length / CHARACTERS_PER_REQUEST))
  },
})
