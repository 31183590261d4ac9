import { type ExecutionArgs, subscribe } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { createExecutor } from './execute.ts'

/** Has operations carried out by what both doors share. */
export const useExecute = ({ execute }: Pick<ReturnType<typeof createExecutor>, 'execute'>): Plugin => ({
  onExecute({ setExecuteFn }) {
    setExecuteFn((execution) => execute(execution as Parameters<typeof execute>[0]))
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn((execution) => subscribe(execution as ExecutionArgs))
  },
})
