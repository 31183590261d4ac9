/** What goes on for as long as somebody listens: asked for by everybody at once, then something happens. */
import { until } from '../../test/support/eventually.ts'
import type { RootCall } from './authz-documents.ts'
import { addressOf, type Credentials, openStream, outcomeOf, refusalIn, type Told } from './authz-doors.ts'
import type { Kind } from './authz-kinds.ts'
import type { Person } from './authz-scene.ts'
import type { RestCall } from './authz-values.ts'
import { type Call, jsonBody, tryOnce } from './client.ts'

/** What makes a subscription tell something: the owner does it. */
export const triggers: Record<string, (owner: Person) => Call> = {
  'Subscription.commitUpdated': ({ nid, token }) => ({
    method: 'PATCH',
    path: `/api/v3/assets/${nid}/`,
    token,
    body: jsonBody({ caption: 'Something happens' }),
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

/** The first thing that a stream of answers has told. */
function firstIn(text: string): GraphQLAnswer | undefined {
  const line = text.split('\n').find((each) => each.startsWith('data:') && each.length > 'data:'.length + 1)
  return line && text.includes(`${line}\n`) ? (JSON.parse(line.slice('data:'.length)) as GraphQLAnswer) : undefined
}

/** Raises when those who may listen hear nothing, or those who may not are not told so. */
export async function subscribeAll(
  url: string,
  { key, field }: RootCall,
  { asking, owner }: { asking: readonly Listening[]; owner: Person },
): Promise<{ kind: Kind; told: Told }[]> {
  const streams = await Promise.all(
    asking.map(async (each) => ({ ...each, stream: await openStream(`${url}/graphql`, each.credentials, each.body) })),
  )
  try {
    const isRefused = ({ stream }: (typeof streams)[number]) => stream.hasEnded() || stream.text().includes('"errors"')
    for (const each of streams.filter(({ isAllowed }) => !isAllowed)) {
      // Who is not refused listens, and is judged by what they hear.
      await until(`${key} refuses ${each.kind}`, () => isRefused(each), 2_000).catch(() => undefined)
    }
    const done = await tryOnce(url, triggers[key]!(owner))
    if (!done || done.status >= 300) throw new Error(`${key} was not triggered: ${JSON.stringify(done)}`)
    for (const each of streams.filter((each) => !isRefused(each))) {
      await until(`${key} tells ${each.kind}`, () => firstIn(each.stream.text()), 10_000)
    }
    return streams.map(({ kind, body, stream }) => {
      const text = stream.text()
      const answer = firstIn(text) ?? {}
      const told = { outcome: outcomeOf(answer, field), sent: JSON.stringify(body), text, value: answer.data?.[field] }
      return { kind, told }
    })
  } finally {
    for (const { stream } of streams) stream.close()
  }
}

/** A feed: allowed when it tells the next event. */
export async function streamRoute(
  url: string,
  credentials: Credentials,
  { method, path, call }: { method: string; path: string; call: RestCall },
): Promise<Told> {
  const address = addressOf(path, call)
  const stream = await openStream(url + address, credentials)
  try {
    const isRefused = stream.response.status >= 400
    await until(
      `${address} tells something`,
      () => (isRefused ? stream.hasEnded() : stream.text().includes('data:')),
      10_000,
    )
    return { outcome: refusalIn(stream.response, stream.text()), sent: `${method} ${address}`, text: stream.text() }
  } finally {
    stream.close()
  }
}
