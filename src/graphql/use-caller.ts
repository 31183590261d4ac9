import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { authenticationFailed } from '../domain/errors.ts'
import { mediaTypeOf } from '../platform/http/headers.ts'
import { maskError } from './mask-error.ts'
import type { NodeContext } from './node-context.ts'

/**
 * Authenticates the caller before the body is read. A request that is rejected for its document also counts against the
 * caller's limits. Raises AUTHENTICATION_FAILED for an upload with an invalid token.
 */
export const useCaller = (): Plugin<Context & NodeContext, NodeContext> => ({
  async onRequestParse({ request, serverContext }) {
    if (request.method === 'OPTIONS') return
    const context = await serverContext.findCaller().catch((error: unknown) => {
      throw maskError(error, serverContext.log)
    })
    // No operation that accepts an invalid token takes files, so the body need not be read.
    const hasFiles = mediaTypeOf(serverContext.req.headers['content-type']) === 'multipart/form-data'
    if (context.hasStaleToken && hasFiles) throw authenticationFailed()
    Object.assign(serverContext, context)
  },
})
