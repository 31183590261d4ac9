/** HTTP clients for gateways that may be down at any time. */
import { until } from '../../test/support/eventually.ts'
import { type Answer, type Delivery, type Message, trySend } from '../../test/support/http-client.ts'

/** A request to any gateway. */
export interface Call extends Message {
  path: string
}

/** Callbacks for the stages of one request. */
export type Poller = Pick<Delivery, 'onSent' | 'onFirstByte'>

/** Counts how many requests with this watch were pending when the first of them got a response. */
export function countCrowd(): { watch: Poller; size(): number } {
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

/** Options of clients that soon treat an unresponsive gateway as down. */
export const soonGivingUp = { patience: 15_000 } satisfies Delivery

/** Returns true for a temporary error, after which a client sends the same request again. */
const isTransient = ({ status, headers }: Answer) =>
  status === 0 || status === 409 || (status === 503 && headers.has('retry-after'))

export interface Persistence {
  answer: Answer
  tries: number
}

/** Sends the same request until it gets a final response. `choose` selects the gateway of each attempt. */
export async function persist(
  choose: () => string | undefined,
  call: Call,
  watchOf?: (base: string) => Poller,
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

/** Sends a request and returns the response body. Throws if the status differs. */
export async function ask<Body = Record<string, string>>(base: string, call: Call, expected: number): Promise<Body> {
  const answer = await trySend(base, call)
  if (answer.status !== expected) throw new Error(`${call.path} was answered with ${JSON.stringify(answer)}`)
  return answer.body
}
