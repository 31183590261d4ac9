/** Refunds asked for at both interfaces, and what became of orders. Product and known-bad variant are judged alike. */
import { toId } from '../../src/domain/ids.ts'
import { add, toUnits } from '../../src/domain/money.ts'
import { arrayOf, type RowOf, statement, text, uuid } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import { until } from '../../test/support/eventually.ts'
import { trySend } from '../../test/support/http-client.ts'
import type { TakenMail } from '../../test/support/mail-server.ts'
import { parseMail } from '../../test/support/parse-mail.ts'
import type { ReceivedCall } from '../../test/support/receiver.ts'
import { type Call, soonGivingUp, type Watch } from './client.ts'
import type { DoorName } from './confirms.ts'
import { verdictOf } from './leavers.ts'
import { orderUuid } from './store.ts'
import { describeTally, tally } from './tally.ts'

export interface RefundWish {
  orderId: string
  /** The idempotency key, and the reason. */
  key: string
  /** Decimal string; all that is left when missing. */
  amount?: string
  door: DoorName
  /** Of an administrator. */
  token: string
}

/** What whoever asked was told in the end. */
export interface Given {
  orderId: string
  /** `done`, or the refusal's type as the REST door names it. */
  verdict: string
  /** When it is done. */
  refund?: { id: string; total: string }
}

const document = `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { refund { id total } } }`

function callOf({ orderId, key, amount, door, token }: RefundWish): Call {
  const about = { reason: key, ...(amount !== undefined && { amount }) }
  return door === 'REST'
    ? { method: 'POST', path: `/api/v3/store/network-app-orders/${orderId}/refunds/`, key, token, json: about }
    : {
        ...{ method: 'POST', path: '/graphql', key, token },
        json: { query: document, variables: { input: { orderId, ...about } } },
      }
}

/** Says "not now": the caller sends the same again. */
const passing = new Set(['no answer', 'conflict', 'service_unavailable', 'status 503'])

/** Sends the same, with the same key, until there is an answer that counts, each time to a gateway that `choose` names. */
export async function persistently(
  choose: () => string | undefined,
  call: Call,
  watch: Watch = {},
): Promise<{ verdict: string; body: unknown }> {
  return until(
    `an answer to ${call.key ?? call.path}`,
    async () => {
      const base = choose()
      if (!base) return undefined
      const answer = await trySend(base, call, { ...soonGivingUp, ...watch })
      const verdict = verdictOf(answer)
      return passing.has(verdict) ? undefined : { verdict, body: answer.body }
    },
    120_000,
    20,
  )
}

export async function giveBack(choose: () => string | undefined, wish: RefundWish, watch: Watch = {}): Promise<Given> {
  const { verdict, body } = await persistently(choose, callOf(wish), watch)
  if (verdict !== 'done') return { orderId: wish.orderId, verdict }
  const { data, id, total } = body as { data?: { refundOrder: { refund: Given['refund'] } }; id: string; total: string }
  return { orderId: wish.orderId, verdict, refund: data?.refundOrder.refund ?? { id, total } }
}

const refunded = {
  id: text,
  status: text,
  /** Decimal strings: paid, counted at the order as given back, the sum of its refunds, and what its buyer's wallet got of them. */
  paid: text,
  counted: text,
  refunded: text,
  returned: text,
  /** UUIDs: its refunds and their transfers, and the events of them that buyer and seller have and the webhook is called for. */
  refunds: arrayOf(uuid),
  transfers: arrayOf(uuid),
  told_buyer: arrayOf(uuid),
  told_seller: arrayOf(uuid),
  deliveries: arrayOf(uuid),
}
export type RefundedOrder = RowOf<typeof refunded>

const eventsOf = (person: string, column: string) =>
  `array(select e.${column} from events e where e.order_id = o.id and e.type = 'order.refunded' and e.owner_id = ${person} order by e.transfer_id)`

const findRefunded = statement(
  'proof_refunded_orders',
  { parameters: { orders: arrayOf(uuid) }, columns: refunded },
  `select o.id::text, o.status::text, (o.points_paid + o.num_paid)::text as paid,
     (o.points_refunded + o.num_refunded)::text as counted, sums.refunded, sums.refunds, sums.transfers,
     (select coalesce(sum(e.amount), 0)::text from entries e where e.transfer_id = any(sums.transfers) and e.wallet_id = o.buyer_id) as returned,
     ${eventsOf('o.buyer_id', 'transfer_id')} as told_buyer, ${eventsOf('a.owner_id', 'transfer_id')} as told_seller,
     array(select e.id from webhook_deliveries d join events e on e.id = d.event_id
       where d.order_id = o.id and e.type = 'order.refunded' order by e.transfer_id) as deliveries
   from orders o join network_apps a on a.id = o.network_app_id, lateral (
     select coalesce(sum(points + num), 0)::text as refunded, coalesce(array_agg(id), '{}') as refunds,
       coalesce(array_agg(transfer_id order by transfer_id), '{}') as transfers
     from refunds where order_id = o.id) as sums
   where o.id = any($orders)`,
)

export const readRefunded = (database: ConnectedDatabase, orderIds: readonly string[]) =>
  database.query(findRefunded, { orders: orderIds.map(orderUuid) })

const isSame = (one: string, other: string) => toUnits(one) === toUnits(other)

/** A sentence for all that is wrong with the money of orders, and with who was told of it in their feed. */
export function judgeRefunds(orders: readonly RefundedOrder[], given: readonly Given[]): string[] {
  const wrong = orders.flatMap((order) => {
    const { id, paid, counted, refunded, returned, transfers, status } = order
    return [
      ...(toUnits(refunded) > toUnits(paid) ? [`${id}: ${refunded} was given back of ${paid}.`] : []),
      ...(isSame(counted, refunded) ? [] : [`${id} counts ${counted}, and its refunds are ${refunded}.`]),
      ...(isSame(returned, refunded) ? [] : [`${id}: the buyer got ${returned} of ${refunded}.`]),
      ...(isSame(refunded, paid) === (status === 'REFUNDED')
        ? []
        : [`${id} is ${status} with ${refunded} of ${paid}.`]),
      ...([order.told_buyer, order.told_seller].every((told) => told.join() === transfers.join())
        ? []
        : [
            `${id}: ${order.told_buyer.length} and ${order.told_seller.length} events for ${transfers.length} refunds.`,
          ]),
      ...(order.deliveries.length === transfers.length
        ? []
        : [`${id}: ${order.deliveries.length} deliveries for ${transfers.length} refunds.`]),
    ]
  })
  const done = given.flatMap(({ refund }) => (refund ? [refund] : []))
  const made = orders.flatMap(({ refunds }) => refunds.map((uuid) => toId('refund', uuid)))
  const promised = add(...done.map(({ total }) => total))
  const sum = add(...orders.map(({ refunded }) => refunded))
  return [
    ...wrong,
    ...describeTally(
      'refunds',
      tally(
        done.map(({ id }) => id),
        made,
      ),
    ),
    ...(isSame(promised, sum) ? [] : [`${promised} was told to be given back, ${sum} is.`]),
  ]
}

/** How often each was heard that is known by one of these names; `strange`: those of no name. */
function countHeard(names: readonly string[], heard: readonly string[]) {
  const counts = new Map(names.map((name) => [name, 0]))
  let strange = 0
  for (const name of heard) {
    if (counts.has(name)) counts.set(name, counts.get(name)! + 1)
    else strange += 1
  }
  const all = [...counts.values()]
  const doubles = all.reduce((sum, count) => sum + Math.max(0, count - 1), 0)
  return { missing: all.filter((count) => count === 0).length, doubles, strange }
}

export interface Heard {
  reasons: string[]
  /** Calls and mails that came again. */
  doubles: number
}

/**
 * Whether the webhook was called for each refund, with one body. `mayDouble`: a call may come again after a gateway died, whose note
 * of it is lost.
 */
export function judgeCalls(
  orders: readonly RefundedOrder[],
  calls: readonly ReceivedCall[],
  mayDouble: boolean,
): Heard {
  const names = orders.flatMap(({ deliveries }) => deliveries.map((uuid) => toId('event', uuid)))
  const ours = new Set(orders.map(({ id }) => toId('order', id)))
  const about = calls.filter(({ body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { order: { id: string } } }
    return type === 'order.refunded' && ours.has(data.order.id)
  })
  const { missing, doubles, strange } = countHeard(
    names,
    about.map(({ id }) => id),
  )
  const bodies = new Map<string, Set<string>>()
  for (const { id, body } of about) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
  const differing = [...bodies.values()].filter((all) => all.size > 1).length
  return {
    reasons: [
      ...(missing + strange ? [`${missing} refunds were never heard of, ${strange} calls are of none.`] : []),
      ...(differing ? [`${differing} refunds were told with different bodies.`] : []),
      ...(doubles && !mayDouble ? [`${doubles} calls came again, though no gateway died.`] : []),
    ],
    doubles,
  }
}

/** Whether each refund brought its buyer one mail; one that came again has the same Message-ID. */
export function judgeMails(orders: readonly RefundedOrder[], mails: readonly TakenMail[], mayDouble: boolean): Heard {
  const names = new Map(orders.flatMap(({ transfers }) => transfers.map((uuid) => [toId('transfer', uuid), uuid])))
  const about = mails.flatMap(({ source }) => {
    const { text: told, headers } = parseMail(source)
    const found = (told.match(/transfer_[0-9a-z]{26}/g) ?? []).filter((name) => names.has(name))
    return found.map((name) => ({ name, id: headers['message-id']?.[0] ?? '' }))
  })
  const { missing, doubles } = countHeard(
    [...names.keys()],
    about.map(({ name }) => name),
  )
  const differing = [...Map.groupBy(about, ({ name }) => name).values()].filter(
    (all) => new Set(all.map(({ id }) => id)).size > 1,
  ).length
  return {
    reasons: [
      ...(missing ? [`${missing} refunds brought no mail.`] : []),
      ...(differing ? [`${differing} refunds brought different mails.`] : []),
      ...(doubles && !mayDouble ? [`${doubles} mails came again, though no gateway died.`] : []),
    ],
    doubles,
  }
}
