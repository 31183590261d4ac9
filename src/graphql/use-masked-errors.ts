import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { maskError } from './mask-error.ts'

type Result = Parameters<typeof handleStreamOrSingleExecutionResult>[0]

/** Masks the errors of an execution and logs the unexpected ones with the request ID. Yoga masks without the context. */
export function useMaskedErrors(): Plugin<Context> {
  const mask = (payload: Result, { log }: Context) =>
    handleStreamOrSingleExecutionResult(payload, ({ result, setResult }) => {
      if (result.errors) setResult({ ...result, errors: result.errors.map((error) => maskError(error, log)) })
    })
  return {
    onExecute: ({ args: { contextValue } }) => ({ onExecuteDone: (payload) => mask(payload, contextValue) }),
    onSubscribe: ({ args: { contextValue } }) => ({
      onSubscribeResult: (payload) => mask(payload, contextValue),
      onSubscribeError: ({ error, setError }) => setError(maskError(error, contextValue.log)),
    }),
  }
}
