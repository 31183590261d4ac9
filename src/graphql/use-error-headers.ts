import type { Plugin } from 'graphql-yoga'
import type { NodeContext } from './yoga.ts'

/** `Retry-After` of the refusal that asks for the longest wait. */
export const useErrorHeaders = (): Plugin<object, NodeContext> => ({
  onResultProcess({ result, serverContext }) {
    if (Array.isArray(result) || !('errors' in result)) return
    const waits = (result.errors ?? []).map(({ extensions }) => Number(extensions?.retryAfter ?? 0))
    const longest = Math.max(0, ...waits)
    if (longest > 0) serverContext.res.setHeader('Retry-After', String(longest))
  },
})
