/** Callers of gateways that may be gone at any time. */
import { until } from '../../test/support/eventually.ts'
import { type Answer, type Delivery, type Message, trySend } from '../../test/support/http-client.ts'

/** A request to whichever gateway. */
export interface Call extends Message {
  path: string
}

/** Moments of one request that somebody else may want to know of. */
export type Watch = Pick<Delivery, 'onSent' | 'onFirstByte'>

/** Counts how many requests with this watch were under way when the first of them was answered. */
export function countCrowd(): { watch: Watch; size(): number } {
  let sent = 0
  let size = 0
  const watch = {
    onSent() {
      sent += 1
    },
    onFirstByte() {
      size ||= sent
    },
  }
  return { watch, size: () => size }
}

/** For those who soon take a gateway that says nothing for dead. */
export const soonGivingUp = { patience: 15_000 } satisfies Delivery

/** Answers that say "not now": a caller sends the same again. */
const isTransient = ({ status, headers }: Answer) =>
  status === 0 || status === 409 || (status === 503 && headers.has('retry-after'))

export interface Persistence {
  answer: Answer
  tries: number
}

/** Never gives up: sends the same until there is an answer that counts, each time to a gateway that `choose` names. */
export async function persist(
  choose: () => string | undefined,
  call: Call,
  watchOf?: (base: string) => Watch,
): Promise<Persistence> {
  let tries = 0
  let last: Answer | undefined
  const answer = await until(
    () =>
      `an answer to ${call.method} ${call.path}; the last of ${tries} was ${last?.status} ${last?.text.slice(0, 300)}`,
    async () => {
      const base = choose()
      if (!base) return undefined
      tries += 1
      const got = await trySend(base, call, { ...soonGivingUp, ...watchOf?.(base) })
      last = got
      return !isTransient(got) && got
    },
    120_000,
    20,
  )
  return { answer, tries }
}

/** Raises unless it is answered with this status. Returns the answer's body. */
export async function ask<Body = Record<string, string>>(base: string, call: Call, expected: number): Promise<Body> {
  const answer = await trySend(base, call)
  if (answer.status !== expected) throw new Error(`${call.path} was answered with ${JSON.stringify(answer)}`)
  return answer.body
}
