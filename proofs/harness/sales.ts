/** Network apps with webhooks, sales of them through the front door, and what became of their deliveries. */
import { randomBytes, randomUUID } from 'node:crypto'
import { toId } from '../../src/domain/ids.ts'
import {
  arrayOf,
  bytes,
  int,
  orNull,
  type RowOf,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../../src/domain/sql.ts'
import { webhookSecretContext } from '../../src/domain/store/network-app-service.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import { createEnvelopeCipher } from '../../src/platform/vault/envelope-cipher.ts'
import { createLocalKeyVault } from '../../src/platform/vault/local-key-vault.ts'
import { ask } from './client.ts'
import type { Parts } from './parts.ts'
import { orderUuid, type Store } from './store.ts'

export interface App {
  /** UUID. */
  id: string
  secret: string
}

const insertApp = statement(
  'proof_webhook_app',
  { parameters: { app: uuid, owner: uuid, url: text, secret: bytes } },
  `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret)
   values ($app, $owner, 'app ' || $app::text, 1, $url, $secret)`,
)

/** The safe of a gateway on these parts. */
export const openSafe = ({ env }: Parts) =>
  createEnvelopeCipher({ vault: createLocalKeyVault({ key: env.KEY_ENCRYPTION_KEY, dir: env.ANNAL_DIR! }) })

/** Another app of the seller, at a price of 1. */
export async function addApp(parts: Parts, { seller }: { seller: { id: string } }, webhookUrl: string): Promise<App> {
  const id = randomUUID()
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const sealed = await openSafe(parts).seal(secret, webhookSecretContext(id))
  await parts.database.query(insertApp, { app: id, owner: seller.id, url: webhookUrl, secret: sealed })
  return { id, secret }
}

const AT_ONCE = 10

/** Orders and confirms so many times at one gateway. Returns the orders' ids. Raises when one is refused. */
export async function sell({ gateways, buyer, apiKey }: Store, app: App, count: number, at = 0): Promise<string[]> {
  const base = gateways[at]!.url
  const orders = '/api/v3/store/network-app-orders/'
  const common = { token: buyer.token, apiKey }
  const sellOne = async () => {
    const json = { network_app: toId('app', app.id), action_args: { nid: buyer.nid } }
    const { id } = await ask<{ id: string }>(base, { ...common, path: orders, json }, 201)
    await ask(base, { ...common, path: `${orders}${id}/confirm/`, json: {} }, 200)
    return id
  }
  const ids: string[] = []
  while (ids.length < count)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - ids.length) }, sellOne))))
  return ids
}

const delivery = {
  /** UUID. */
  id: text,
  orderId: text,
  /** The `webhook-id`. */
  eventId: text,
  status: textOf<'PENDING' | 'DELIVERED' | 'GIVEN_UP'>(),
  orderStatus: text,
  createdAt: timestamp,
  attempts: int,
}
export type Delivery = RowOf<typeof delivery>

const findDeliveries = statement(
  'proof_deliveries',
  { parameters: { orders: arrayOf(uuid) }, columns: delivery },
  `select d.id::text, d.order_id::text as "orderId", d.event_id::text as "eventId", d.status::text,
     o.status::text as "orderStatus", d.created_at as "createdAt", d.attempt_count as attempts
   from webhook_deliveries d join orders o on o.id = d.order_id where d.order_id = any($orders) order by d.id`,
)

export async function readDeliveries(database: ConnectedDatabase, orderIds: readonly string[]): Promise<Delivery[]> {
  const rows = await database.query(findDeliveries, { orders: orderIds.map(orderUuid) })
  return rows.map((row) => ({ ...row, eventId: toId('event', row.eventId) }))
}

const attempt = {
  deliveryId: text,
  number: int,
  /** Milliseconds. */
  duration: int,
  statusCode: orNull(int),
  failure: orNull(text),
  response: text,
}
export type AttemptRow = RowOf<typeof attempt>

const findAttempts = statement(
  'proof_attempts',
  { parameters: { deliveries: arrayOf(uuid) }, columns: attempt },
  `select delivery_id::text as "deliveryId", number, duration, status_code as "statusCode", failure, response
   from webhook_attempts where delivery_id = any($deliveries) order by delivery_id, number`,
)

export const readAttempts = (database: ConnectedDatabase, deliveryIds: readonly string[]) =>
  database.query(findAttempts, { deliveries: deliveryIds })

const makeDue = statement(
  'proof_pass_time',
  { parameters: { deliveries: arrayOf(uuid) } },
  `with due as (update webhook_deliveries set next_attempt_at = now() where id = any($deliveries) returning id::text)
   update jobs.job set start_after = now() from due
   where name = 'webhook-delivery' and data->>'deliveryId' = due.id and state < 'active'`,
)

/** Lets the time until the next attempts pass. */
export const passTime = (database: ConnectedDatabase, deliveryIds: readonly string[]) =>
  database.query(makeDue, { deliveries: deliveryIds })
