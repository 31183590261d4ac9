import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { NodeContext } from './yoga.ts'

/**
 * Finds out who asks before the document is looked at: a request that is refused for its document counts against the
 * caller's limits as any other does.
 */
export const useCaller = (
  createContext: (req: IncomingMessage, res: ServerResponse) => Promise<Context>,
): Plugin<Context & NodeContext, NodeContext> => ({
  async onParams({ context }) {
    Object.assign(context, await createContext(context.req, context.res))
  },
})
