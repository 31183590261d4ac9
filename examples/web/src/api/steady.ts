import { useState } from 'react'
import { type AnyVariables, stringifyVariables, type UseQueryArgs, useQuery } from 'urql'
import { isPassing } from './errors.ts'

/**
 * As `useQuery`. What was answered stays while asking again fails for a while, and while it is asked for anew then: nothing vanishes
 * from under somebody's hands.
 */
export function useSteadyQuery<Data, Variables extends AnyVariables>(args: UseQueryArgs<Variables, Data>) {
  const [state, execute] = useQuery<Data, Variables>(args)
  const about = stringifyVariables(args.variables ?? {})
  const [last, setLast] = useState<{ about: string; data: Data }>()
  // What came with an error is there without it as soon as it is asked for anew.
  const [partial, setPartial] = useState<Data>()
  if (state.data && state.error && isPassing(state.error) && state.data !== partial) setPartial(state.data)
  const isWhole = state.data && !state.error && state.data !== partial
  if (isWhole && state.data !== last?.data) setLast({ about, data: state.data! })
  const stays = !isWhole && (!state.error || isPassing(state.error)) && last?.about === about
  return [{ ...state, data: stays ? last.data : state.data }, execute] as const
}
