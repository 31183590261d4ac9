/** Subscribes all kinds of callers to each stream, and then triggers an event. */
import { type EventReader, readEvents } from '../../test/support/event-stream.ts'
import { until } from '../../test/support/eventually.ts'
import { type Credentials, trySend } from '../../test/support/http-client.ts'
import type { RootCall } from './authz-documents.ts'
import { addressOf, outcomeOf, refusalIn, type Told } from './authz-doors.ts'
import type { Kind } from './authz-kinds.ts'
import type { Person } from './authz-scene.ts'
import type { RestCall } from './authz-values.ts'
import type { Call } from './client.ts'

/** Actions of the owner that trigger an event for each subscription. */
export const triggers: Record<string, (owner: Person) => Call> = {
  'Subscription.commitUpdated': ({ nid, token }) => ({
    method: 'PATCH',
    path: `/api/v3/assets/${nid}/`,
    token,
    json: { caption: 'Something happens' },
  }),
  'Subscription.orderUpdated': ({ orderId, token }) => ({
    method: 'POST',
    path: `/api/v3/store/network-app-orders/${orderId}/cancel/`,
    token,
  }),
}

interface Listening {
  kind: Kind
  isAllowed: boolean
  credentials: Credentials
  body: { query: string; variables: Record<string, unknown> }
}

type GraphQLAnswer = Parameters<typeof outcomeOf>[0]

/** Returns the first message of a stream. */
const firstIn = ({ events }: EventReader): GraphQLAnswer | undefined => events[0]?.data

/** Throws if an allowed caller gets no event, or if a forbidden caller gets no error. */
export async function subscribeAll(
  url: string,
  { key, field }: RootCall,
  { asking, owner }: { asking: readonly Listening[]; owner: Person },
): Promise<{ kind: Kind; told: Told }[]> {
  const streams = await Promise.all(
    asking.map(async (each) => {
      const stream = await readEvents(`${url}/graphql`, { ...each.credentials, body: each.body })
      return { ...each, stream }
    }),
  )
  try {
    const isRefused = ({ stream }: (typeof streams)[number]) => stream.hasEnded || stream.text.includes('"errors"')
    for (const each of streams.filter(({ isAllowed }) => !isAllowed)) {
      // A caller without an error is subscribed, and is checked by the received events.
      await until(`${key} refuses ${each.kind}`, () => isRefused(each), 2_000).catch(() => undefined)
    }
    const done = await trySend(url, triggers[key]!(owner))
    if (done.status === 0 || done.status >= 300) throw new Error(`${key} was not triggered: ${JSON.stringify(done)}`)
    for (const each of streams.filter((each) => !isRefused(each))) {
      await until(`${key} tells ${each.kind}`, () => firstIn(each.stream), 10_000)
    }
    return streams.map(({ kind, body, stream }) => {
      const { text } = stream
      const answer = firstIn(stream) ?? {}
      const told = { outcome: outcomeOf(answer, field), sent: JSON.stringify(body), text, value: answer.data?.[field] }
      return { kind, told }
    })
  } finally {
    for (const { stream } of streams) stream.close()
  }
}

/** Opens an event feed. The outcome is `allow` if it delivers the next event. */
export async function streamRoute(
  url: string,
  credentials: Credentials,
  { method, path, call }: { method: string; path: string; call: RestCall },
): Promise<Told> {
  const address = addressOf(path, call)
  const stream = await readEvents(url + address, credentials)
  try {
    const isRefused = stream.status >= 400
    await until(
      `${address} tells something`,
      () => (isRefused ? stream.hasEnded : stream.text.includes('data:')),
      10_000,
    )
    return { outcome: refusalIn(stream), sent: `${method} ${address}`, text: stream.text }
  } finally {
    stream.close()
  }
}
