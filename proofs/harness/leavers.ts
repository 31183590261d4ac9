/** Active accounts, and the requests that they get while they are deleted. */

import type { ConnectedDatabase } from '../../src/db/database.ts'
import { boolean, statement, uuid } from '../../src/db/sql.ts'
import { toId } from '../../src/shared/ids.ts'
import { until } from '../../test/support/eventually.ts'
import { type Answer, trySend } from '../../test/support/http-client.ts'
import { type Account, nothingAcknowledged, openAccount, registerCall, updateCall } from './callers.ts'
import { ask, type Call, countCrowd, type Poller } from './client.ts'
import { confirmOnce, type DoorName } from './confirms.ts'
import type { Parts } from './parts.ts'
import type { Random } from './random.ts'
import { type App, addApp } from './sales.ts'
import { readUserId, type Store } from './store.ts'

export interface Leaver extends Account {
  /** UUID of the account. */
  id: string
  app: App
  /** Open orders: their own, and another user's orders for their app. */
  orders: string[]
  sales: string[]
}

export type Wish = 'delete' | 'update' | 'confirm' | 'sale' | 'order' | 'register' | 'sign in'

export interface Told {
  wish: Wish
  /** `done`, or the error type of the REST API. */
  verdict: string
}

/** Divisor for the number of all other requests. */
const OTHERS = 10
/** Maximum number of sign-ins. After the deletion, each counts as a wrong guess, which is limited. */
const GUESSES = 4

const orderCall = ({ buyer, apiKey }: Store, app: App): Call => ({
  method: 'POST',
  path: '/api/v3/store/network-app-orders/',
  token: buyer.token,
  apiKey,
  json: { network_app: toId('app', app.id), action_args: { nid: buyer.nid } },
})

/** Creates orders. Throws if one is rejected. */
async function order(store: Store, app: App, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const { id } = await ask<{ id: string }>(
      store.gateways[index % store.gateways.length]!.url,
      orderCall(store, app),
      201,
    )
    ids.push(id)
  }
  return ids
}

const refundAll = statement(
  'proof_refund_policy',
  { parameters: { app: uuid } },
  `update network_apps set delivery_failure_policy = 'REFUND' where id = $app`,
)
const callNobody = statement(
  'proof_call_nobody',
  { parameters: { app: uuid } },
  'update network_apps set webhook_url = null, webhook_secret = null where id = $app',
)

/**
 * Creates an account with an asset and `count` open orders. The app of these orders refunds failed deliveries. The account also has an app
 * of its own, with an unpaid order of another user.
 */
export async function openLeaver(
  store: Store,
  parts: Parts,
  { username, count, webhookUrl }: { username: string; count: number; webhookUrl: string },
): Promise<Leaver> {
  const account = await openAccount(store.gateways[0]!.url, username, nothingAcknowledged())
  const seller = { ...account, id: await readUserId(parts.database, username) }
  const app = await addApp(parts, store, webhookUrl)
  const own = await addApp(parts, { ...store, seller }, webhookUrl)
  await parts.database.query(refundAll, { app: app.id })
  await parts.database.query(callNobody, { app: own.id })
  const orders = await order({ ...store, buyer: seller }, app, count)
  return { ...seller, app, orders, sales: await order(store, own, Math.ceil(count / OTHERS)) }
}

interface Refusal {
  error?: { type: string }
  errors?: { extensions?: { code?: string } }[]
}

/** REST names that differ from those of GraphQL. */
const restNames: Record<string, string> = {
  not_found: 'resource_not_found',
  validation_failed: 'validation_error',
  internal: 'internal_error',
  unavailable: 'service_unavailable',
}

/** Returns `done`, or the error type. */
export function verdictOf(answer: Answer): string {
  if (answer.status === 0) return 'no answer'
  if (answer.status >= 500) return `status ${answer.status}`
  const { error, errors } = (answer.body ?? {}) as Refusal
  if (error) return error.type
  const code = errors?.[0]?.extensions?.code?.toLowerCase()
  if (code === undefined) return answer.status < 300 && !errors ? 'done' : `status ${answer.status}`
  return restNames[code] ?? code
}

const updateDocument = `mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id headId } } }`

const deleteCall = (door: DoorName, token: string): Call =>
  door === 'REST'
    ? { method: 'DELETE', path: '/api/v3/auth/users/me/', token }
    : { method: 'POST', path: '/graphql', token, json: { query: 'mutation { deleteAccount { id } }' } }

function changeCall(door: DoorName, leaver: Leaver, message: string): Call {
  if (door === 'REST') return updateCall(leaver, message)
  const input = { id: leaver.nid, caption: message, commitMessage: message }
  const json = { query: updateDocument, variables: { input } }
  return { method: 'POST', path: '/graphql', token: leaver.token, json }
}

const signInCall = (username: string): Call => ({
  method: 'POST',
  path: '/api/v3/auth/token/login/',
  json: { email: `${username}@example.org`, password: `password of ${username}`.slice(0, 32) },
})

export interface Departure {
  told: Told[]
  /** Number of pending requests when the first response arrived. */
  atOnce: number
}

export interface DepartureOptions {
  /** Number of deletions, updates and confirms each. */
  times: number
  /** Fraction of the other requests (0 to 1) that are sent one by one, each after a response. */
  following?: number
  /** Delays the other requests until this promise resolves. */
  until?: Promise<unknown>
  /** Returns false for kinds of requests to omit. */
  wants?(wish: Wish): boolean
  /** Called when a request succeeded. */
  onDone?(wish: Wish): void
}

/** Sends all requests concurrently and in random order, alternating between gateways and between REST and GraphQL. */
export async function depart(
  store: Store,
  random: Random,
  leaver: Leaver,
  { times, following = 0, until: moment, wants = () => true, onDone }: DepartureOptions,
): Promise<Departure> {
  const crowd = countCrowd()
  const wishes = wishesOf(store, leaver, times, crowd.watch)
  const all = (Object.keys(wishes) as Wish[])
    .filter(wants)
    .flatMap((wish) => Array.from({ length: wishes[wish].count }, (_, index) => ({ wish, index })))
  const told: Told[] = []
  const waiting: typeof all = []
  const atFirst: typeof all = []
  for (const one of random.shuffle(all))
    (one.wish !== 'delete' && random.next() < following ? waiting : atFirst).push(one)
  const carryOut = async ({ wish, index }: (typeof all)[number]): Promise<void> => {
    if (wish !== 'delete') await moment
    const verdict = await wishes[wish].ask(index)
    told.push({ wish, verdict })
    if (verdict === 'done') onDone?.(wish)
    const next = waiting.pop()
    if (next) await carryOut(next)
  }
  await Promise.all(atFirst.map(carryOut))
  return { told, atOnce: crowd.size() }
}

/** Returns all kinds of requests of an account, the `index`th of each kind. */
function wishesOf(
  store: Store,
  leaver: Leaver,
  times: number,
  watch: Poller,
): Record<Wish, { count: number; ask(index: number): Promise<string> }> {
  const gatewayOf = (index: number) => (index >> 1) % store.gateways.length
  const doorOf = (index: number): DoorName => (index % 2 ? 'REST' : 'GraphQL')
  const buyer = { ...store, buyer: leaver }
  const attempt = async (index: number, call: Call) =>
    verdictOf(await trySend(store.gateways[gatewayOf(index)]!.url, call, watch))
  const confirm = async (by: Store, index: number, id: string) => {
    const { verdict } = await confirmOnce(by, doorOf(index), gatewayOf(index), id, watch)
    return verdict === 'paid' ? 'done' : (restNames[verdict] ?? verdict)
  }
  const few = Math.ceil(times / OTHERS)
  return {
    delete: { count: times, ask: (index) => attempt(index, deleteCall(doorOf(index), leaver.token)) },
    update: {
      count: times,
      ask: (index) => attempt(index, changeCall(doorOf(index), leaver, `change ${index} of ${leaver.username}`)),
    },
    confirm: { count: times, ask: (index) => confirm(buyer, index, leaver.orders[index]!) },
    sale: { count: leaver.sales.length, ask: (index) => confirm(store, index, leaver.sales[index]!) },
    order: { count: few, ask: (index) => attempt(index, orderCall(buyer, leaver.app)) },
    register: {
      count: few,
      ask: (index) => attempt(index, registerCall(leaver.token, `late ${index} of ${leaver.username}`)),
    },
    'sign in': { count: Math.min(few, GUESSES), ask: (index) => attempt(index, signInCall(leaver.username)) },
  }
}

const findBeginning = statement(
  'proof_deletion_begun',
  { parameters: { user: uuid }, columns: { has_begun: boolean } },
  `select deleted_at is not null or exists (
     select from pg_locks where locktype = 'advisory' and granted
       and (classid::bigint << 32 | objid::bigint) = hashtextextended('deletion:' || id, 0)) as has_begun
   from users where id = $user`,
)

/** Resolves when a deletion of the account holds its lock, or has finished. */
export const deletionBegins = (database: ConnectedDatabase, { id }: Leaver) =>
  until('a deletion begins', async () => (await database.query(findBeginning, { user: id }))[0]!.has_begun)

/** Counts the verdicts by kind of request. */
export function countTold(told: readonly { wish: string; verdict: string }[]): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {}
  for (const { wish, verdict } of told) {
    counts[wish] ??= {}
    counts[wish][verdict] = (counts[wish][verdict] ?? 0) + 1
  }
  return counts
}
