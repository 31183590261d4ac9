import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { NodeContext } from './node-context.ts'

/** Tells a caller that the answer is that of an earlier request with the same idempotency key; a refusal is none. */
export const useReplayHeader = (): Plugin<Context & NodeContext> => ({
  onExecute: () => ({
    onExecuteDone({ args, result }) {
      const { idempotency, res } = args.contextValue
      const isRefused = !isAsyncIterable(result) && result.errors !== undefined
      if (idempotency.replayed && !isRefused) res.setHeader('Idempotency-Replayed', 'true')
    },
  }),
})
