import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { authenticationFailed } from '../domain/errors.ts'
import type { NodeContext } from './node-context.ts'

/**
 * Finds out who asks before the body is read: a request that is refused for its document counts against the caller's limits
 * as any other does, and nobody who is refused is listened to.
 */
export const useCaller = (): Plugin<Context & NodeContext, NodeContext> => ({
  async onRequestParse({ request, serverContext }) {
    if (request.method === 'OPTIONS') return
    const context = await serverContext.findCaller()
    // What is open to a stale token takes no files, and only a document tells whether it asks for that.
    const hasFiles = (serverContext.req.headers['content-type'] ?? '').startsWith('multipart/form-data')
    if (context.hasStaleToken && hasFiles) throw authenticationFailed()
    Object.assign(serverContext, context)
  },
})
