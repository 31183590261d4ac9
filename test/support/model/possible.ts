/**
 * The possible states of the service. Concurrent operations may have several valid orders. As in a linearizability checker, every
 * possible state is kept until later responses exclude it.
 */
import { differences } from './compare.ts'
import type { Told } from './requests.ts'
import type { State } from './state.ts'
import { type Attempt, type Seen, step } from './step.ts'

/** One or more states, all different. */
export type Possible = readonly State[]

/** An operation and its response. */
export interface Happened {
  attempt: Attempt
  told: Told & { seen?: Seen }
}

/** Maximum number of possible states. Above it, the sequence fails. Two thousand sequences needed twelve. */
export const MOST_STATES = 256

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

interface Ending {
  order: string[]
  state: State
  wrong: string[]
}

function* endings(state: State, happened: readonly Happened[], before: string[] = []): Generator<Ending> {
  if (happened.length === 0) yield { order: before, state, wrong: [] }
  for (const [index, { attempt, told }] of happened.entries()) {
    const after = structuredClone(state)
    const wrong = differences(step(after, attempt, told.seen), told)
    const order = [...before, attempt.name]
    if (wrong.length > 0) yield { order, state: after, wrong: wrong.map((text) => `${attempt.name}: ${text}`) }
    else yield* endings(after, happened.toSpliced(index, 1), order)
  }
}

/**
 * Returns the distinct states that can follow these concurrent operations and that `wrongIn` accepts. Throws Divergence if there
 * are none, and TooManyStates above the maximum.
 */
export function following(
  states: Possible,
  happened: readonly Happened[],
  wrongIn: (state: State) => readonly string[] = () => [],
): Possible {
  const found = new Map<string, State>()
  const refuted = new Set<string>()
  for (const before of states) {
    for (const { order, state, wrong } of endings(before, happened)) {
      if (wrong.length === 0) wrong.push(...wrongIn(state))
      if (wrong.length === 0) found.set(textOf(state), state)
      else refuted.add(happened.length > 1 ? `${order.join(', ')} (${wrong.join('; ')})` : wrong.join('; '))
    }
  }
  if (found.size === 0) throw new Divergence([...refuted].join('; or '))
  if (found.size > MOST_STATES)
    throw new TooManyStates(`${found.size} states may be, and ${MOST_STATES} are kept at most`)
  return [...found.values()]
}
