/** Mutations that are carried out once, however often they are sent. */
import { useRef } from 'react'
import {
  type AnyVariables,
  type Operation,
  type OperationContext,
  type OperationResult,
  stringifyVariables,
  type TypedDocumentNode,
  useMutation,
} from 'urql'
import { codeOf } from './errors.ts'

const HEADER = 'Idempotency-Key'

/** Whether an operation carries a key, by which the server knows it again. */
export const isSafeToRepeat = ({ context: { fetchOptions } }: Operation) =>
  typeof fetchOptions === 'object' && new Headers(fetchOptions.headers).has(HEADER)

/**
 * As `useMutation`, with an idempotency key. What is sent again unchanged carries the same key until it has succeeded: a double
 * click, or another try after an answer got lost, does not charge twice. Something else gets another key.
 */
export function useOnce<Data, Variables extends AnyVariables>(document: TypedDocumentNode<Data, Variables>) {
  const [state, execute] = useMutation(document)
  const attempt = useRef<{ intention: string; key: string } | null>(null)
  const running = useRef<Promise<OperationResult<Data, Variables>> | null>(null)

  const send = async (variables: Variables, context: Partial<OperationContext>) => {
    const intention = stringifyVariables(variables, true)
    if (attempt.current?.intention !== intention) attempt.current = { intention, key: crypto.randomUUID() }
    const headers = { [HEADER]: attempt.current.key }
    const result = await execute(variables, { ...context, fetchOptions: { headers } })
    // Whatever else went wrong, the same thing may be tried again: what is refused uses no key up.
    if (!result.error || codeOf(result.error) === 'IDEMPOTENCY_KEY_REUSED') attempt.current = null
    return result
  }

  const executeOnce = (variables: Variables, context: Partial<OperationContext> = {}) => {
    running.current ??= send(variables, context).finally(() => {
      running.current = null
    })
    return running.current
  }
  return [state, executeOnce] as const
}
