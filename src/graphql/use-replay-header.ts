import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { NodeContext } from './node-context.ts'

/** Tells a caller that the answer is that of an earlier request with the same idempotency key. */
export const useReplayHeader = (): Plugin<Context & NodeContext> => ({
  onExecute: () => ({
    onExecuteDone({ args }) {
      const { idempotency, res } = args.contextValue
      if (idempotency.replayed) res.setHeader('Idempotency-Replayed', 'true')
    },
  }),
})
