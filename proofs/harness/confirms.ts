/** Confirms orders over REST and GraphQL, and checks the orders afterwards. The product and the controls use the same checks. */
import { isDeepStrictEqual } from 'node:util'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { arrayOf, boolean, int, type RowOf, statement, text, uuid } from '../../src/db/sql.ts'
import { trySend } from '../../test/support/http-client.ts'
import { type Call, countCrowd, type Poller } from './client.ts'
import type { Random } from './random.ts'
import { orderUuid, type Store } from './store.ts'

export type DoorName = 'REST' | 'GraphQL'

export interface Outcome {
  door: DoorName | 'control'
  orderId: string
  /** `paid`, or the error type of the REST API. */
  verdict: string
  /** The order, if it was paid. */
  order?: Record<string, unknown>
  milliseconds: number
}

const document = `mutation ($input: ConfirmOrderInput!) { confirmOrder(input: $input) { order {
  id status networkAppId networkAppName actionArgs price pointsQuoted numQuoted pointsPaid numPaid transferId createdAt expiresAt paidAt } } }`

const callOf = (door: DoorName, { buyer, apiKey }: Store, id: string): Call => ({
  method: 'POST',
  path: door === 'REST' ? `/api/v3/store/network-app-orders/${id}/confirm/` : '/graphql',
  token: buyer.token,
  apiKey,
  json: door === 'REST' ? {} : { query: document, variables: { input: { id } } },
})

interface Body {
  error?: { type: string }
  errors?: { extensions?: { code?: string } }[]
  data?: { confirmOrder?: { order: Record<string, unknown> } }
}

/** Confirms the buyer's order once. Never throws: errors are returned as the verdict. */
export async function confirmOnce(
  store: Store,
  door: DoorName,
  gateway: number,
  orderId: string,
  watch: Poller = {},
): Promise<Outcome> {
  const started = performance.now()
  const answer = await trySend(store.gateways[gateway]!.url, callOf(door, store, orderId), watch)
  const milliseconds = performance.now() - started
  const done = (verdict: string, order?: Record<string, unknown>) => ({ door, orderId, verdict, order, milliseconds })
  if (answer.status === 0) return done('no answer')
  if (answer.status >= 500) return done(`status ${answer.status}`)
  const body = answer.body as Body & Record<string, unknown>
  if (door === 'REST') return answer.status === 200 ? done('paid', body) : done(body.error?.type ?? 'unknown')
  const order = body.data?.confirmOrder?.order
  return order ? done('paid', order) : done(body.errors?.[0]?.extensions?.code?.toLowerCase() ?? 'unknown')
}

export interface Storm {
  outcomes: Outcome[]
  /** Number of pending requests when the first response arrived. */
  atOnce: number
  /** Time from the first request to the last response, in milliseconds. */
  duration: number
}

/** Sends all confirms concurrently and in random order, alternating between gateways and between REST and GraphQL. */
export async function storm(store: Store, random: Random, orderIds: readonly string[]): Promise<Storm> {
  const started = performance.now()
  const crowd = countCrowd()
  const all = orderIds.map((id, index) => ({
    id,
    door: index % 2 ? ('REST' as const) : ('GraphQL' as const),
    gateway: (index >> 1) % store.gateways.length,
  }))
  const outcomes = await Promise.all(
    random.shuffle(all).map(({ id, door, gateway }) => confirmOnce(store, door, gateway, id, crowd.watch)),
  )
  return { outcomes, atOnce: crowd.size(), duration: performance.now() - started }
}

/** Counts the outcomes by verdict. */
export function countVerdicts(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { verdict } of outcomes) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}

/** Returns a message for each verdict that is not allowed. */
export const unexpected = (outcomes: readonly Outcome[], allowed: readonly string[]): string[] =>
  Object.entries(countVerdicts(outcomes))
    .filter(([verdict]) => !allowed.includes(verdict))
    .map(([verdict, count]) => `${count} confirms were answered with "${verdict}".`)

/** Returns the payment fields of an order. The status is excluded, because a webhook delivery can change it meanwhile. */
const settled = ({ status, ...order }: Record<string, unknown>) => ({
  ...order,
  status: ['pending', 'success'].includes(String(status).toLowerCase()) ? 'paid' : status,
})

/** Returns a message for each API whose responses about the same order differ. */
export function differingBodies(outcomes: readonly Outcome[]): string[] {
  const first = new Map<string, unknown>()
  const reasons = new Set<string>()
  for (const { door, orderId, order } of outcomes) {
    if (!order) continue
    const told = settled(order)
    const key = `${door} ${orderId}`
    if (!first.has(key)) first.set(key, told)
    else if (!isDeepStrictEqual(first.get(key), told)) reasons.add(`${door} told different things of ${orderId}.`)
  }
  return [...reasons]
}

const standing = {
  id: text,
  status: text,
  charges: int,
  /** Amount charged to the buyer as a decimal string, and a flag that is true if it equals the price. */
  charged: text,
  isPrice: boolean,
  /** Number of `order.paid` events in the feeds of seller and buyer. */
  sold: int,
  bought: int,
  /** Number of `order.expired` events in the buyer's feed. */
  ended: int,
  deliveries: int,
}
export type Standing = RowOf<typeof standing>

const findStandings = statement(
  'proof_standings',
  { parameters: { orders: arrayOf(uuid) }, columns: standing },
  `select o.id::text, o.status::text, c.charges, c.charged::text, c.charged = o.price as "isPrice",
     (select count(*)::int from events e where e.order_id = o.id and e.type = 'order.paid' and e.owner_id = a.owner_id) as sold,
     (select count(*)::int from events e where e.order_id = o.id and e.type = 'order.paid' and e.owner_id = o.buyer_id) as bought,
     (select count(*)::int from events e where e.order_id = o.id and e.type = 'order.expired' and e.owner_id = o.buyer_id) as ended,
     (select count(*)::int from webhook_deliveries d where d.order_id = o.id) as deliveries
   from orders o join network_apps a on a.id = o.network_app_id, lateral (
     select count(distinct t.id)::int as charges, coalesce(-sum(e.amount), 0) as charged
     from transfers t join entries e on e.transfer_id = t.id and e.wallet_id = o.buyer_id
     where t.reference = 'order:' || o.id) as c
   where o.id = any($orders)`,
)

export const readStandings = (database: ConnectedDatabase, orderIds: readonly string[]) =>
  database.query(findStandings, { orders: orderIds.map(orderUuid) })

/** Returns problems of orders. Each order must be paid exactly once everywhere or not at all, and expire at most once. */
export function judgeStandings(standings: readonly Standing[], calls: 0 | 1): string[] {
  const wrong = standings.filter(({ status, charges, charged, isPrice, sold, bought, ended, deliveries }) => {
    const isPaid = ['PENDING', 'SUCCESS', 'FAILURE'].includes(status)
    if (ended !== (status === 'EXPIRED' ? 1 : 0)) return true
    if (!isPaid) return charges + sold + bought + deliveries !== 0 || Number(charged) !== 0
    return charges !== 1 || !isPrice || sold !== 1 || bought !== 1 || deliveries !== calls
  })
  return wrong.length
    ? [`${wrong.length} orders are not paid or ended exactly once, such as ${JSON.stringify(wrong[0])}`]
    : []
}
