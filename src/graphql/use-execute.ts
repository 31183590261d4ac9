import type { Plugin } from 'graphql-yoga'
import type { createExecute } from './execute.ts'

/** Has operations carried out by what both doors share. */
export const useExecute = (execute: ReturnType<typeof createExecute>): Plugin => ({
  onExecute({ setExecuteFn }) {
    setExecuteFn((execution) => execute(execution as Parameters<typeof execute>[0]))
  },
})
