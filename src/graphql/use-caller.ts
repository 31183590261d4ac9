import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { NodeContext } from './yoga.ts'

/**
 * Finds out who asks before the body is read: a request that is refused for its document counts against the caller's limits
 * as any other does, and nobody who is refused is listened to.
 */
export const useCaller = (
  createContext: (req: IncomingMessage, res: ServerResponse) => Promise<Context>,
): Plugin<Context & NodeContext, NodeContext> => ({
  async onRequestParse({ request, serverContext }) {
    if (request.method === 'OPTIONS') return
    Object.assign(serverContext, await createContext(serverContext.req, serverContext.res))
  },
})
