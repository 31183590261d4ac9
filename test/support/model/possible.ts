/**
 * The possible states of the service. Concurrent operations may have several valid orders. As in a linearizability checker, every
 * possible state is kept until later responses exclude it.
 */
import { differences } from './compare.ts'
import type { Result } from './requests.ts'
import type { State } from './state.ts'
import { type Attempt, type Decisions, step } from './step.ts'

/** One or more states, all different. */
export type PossibleStates = readonly State[]

export type CompletedAttempt = { attempt: Attempt; result: Result & { decisions?: Decisions } }

/** Maximum number of possible states. Above it, the sequence fails. Two thousand sequences needed twelve. */
export const MAX_STATES = 256

/** The service and the model differ: no order of operations explains the responses. */
export class Divergence extends Error {
  override readonly name = 'Divergence'
}

/** There are too many possible states. This says nothing about the service. */
export class TooManyStates extends Error {
  override readonly name = 'TooManyStates'
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)

const textOf = (state: State) =>
  JSON.stringify(state, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return isRecord(value) ? Object.fromEntries(Object.entries(value).toSorted(byName)) : value
  })

type Interleaving = { order: string[]; state: State; problems: string[] }

function* interleavings(
  state: State,
  completed: readonly CompletedAttempt[],
  before: string[] = [],
): Generator<Interleaving> {
  if (completed.length === 0) yield { order: before, state, problems: [] }
  for (const [index, { attempt, result }] of completed.entries()) {
    const after = structuredClone(state)
    const problems = differences(step(after, attempt, result.decisions), result)
    const order = [...before, attempt.name]
    if (problems.length > 0) yield { order, state: after, problems: problems.map((text) => `${attempt.name}: ${text}`) }
    else yield* interleavings(after, completed.toSpliced(index, 1), order)
  }
}

/**
 * Returns the distinct states that can follow these concurrent operations and that `wrongIn` accepts. Throws Divergence if there
 * are none, and TooManyStates above the maximum.
 */
export function nextStates(
  states: PossibleStates,
  completed: readonly CompletedAttempt[],
  stateDifferences: (state: State) => readonly string[] = () => [],
): PossibleStates {
  const found = new Map<string, State>()
  const refuted = new Set<string>()
  for (const before of states) {
    for (const { order, state, problems } of interleavings(before, completed)) {
      if (problems.length === 0) problems.push(...stateDifferences(state))
      if (problems.length === 0) found.set(textOf(state), state)
      else refuted.add(completed.length > 1 ? `${order.join(', ')} (${problems.join('; ')})` : problems.join('; '))
    }
  }
  if (found.size === 0) throw new Divergence([...refuted].join('; or '))
  if (found.size > MAX_STATES) throw new TooManyStates(`${found.size} states may be, and ${MAX_STATES} are kept at max`)
  return [...found.values()]
}
