/** Reads and replays webhook deliveries, for administrators. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { DeliveryStatus, type Prisma, type WebhookDelivery } from '../../db/prisma/client.ts'
import { statement, text, uuid } from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/queues.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams, onceSql, onceTypes } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { createReader, searched } from '../../shared/lists.ts'
import { assertMay, canAdminister } from '../../shared/policy.ts'
import { audited, auditorOf, auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { replayDelivery as replayDeliveryStatement } from './deliveries.sql.ts'
import { writePayload } from './delivery-payload.ts'
import { deliveryJobs } from './webhook-schedule.ts'

const filterInput = z
  .strictObject({ networkAppId: idInput('app'), orderId: idInput('order'), status: z.enum(DeliveryStatus) })
  .extend({ search: z.string() })
  .partial()

/** Text that replaces the arguments of an order, which may contain a valid access token. */
const WITHHELD = '[withheld]'

/** Error message for an app whose webhook cannot be called. */
export const SET_WEBHOOK_FIRST = "The app has no webhook, or its webhook is disabled. Set the app's webhook URL first."

export type DeliveryFilter = z.input<typeof filterInput>

/** Reads webhook deliveries, newest first, for administrators. */
export const deliveryReader = createReader<WebhookDelivery, Omit<Prisma.WebhookDeliveryFindManyArgs, 'where'>>()({
  ...{ model: 'webhookDelivery', prefix: 'delivery', label: 'Webhook delivery', action: 'store:administer' },
  orderBy: [{ id: 'desc' }],
  isBounded: true,
  visible: (actor) => (canAdminister(actor) ? {} : undefined),
  where(rawFilter: DeliveryFilter): Prisma.WebhookDeliveryWhereInput {
    const { search, ...filter } = parse(filterInput, rawFilter)
    return { ...filter, ...searched(search, (word) => [{ event: { type: word } }, { networkApp: { name: word } }]) }
  },
})

/**
 * Returns the body of a webhook call by the UUID of its event, without the arguments of the order. It checks no
 * permission, so call it only after the delivery was read.
 */
export async function readPayload(
  { findWebhookEvent }: Use<'findWebhookEvent'>,
  eventId: string,
): Promise<Record<string, unknown>> {
  const event = await findWebhookEvent(eventId)
  if (!event) throw notFound('Event')
  return JSON.parse(writePayload(event, event.action_args === null ? {} : WITHHELD))
}

/** Explains why a delivery cannot be sent again. Throws NOT_FOUND, VALIDATION_FAILED. */
async function rejectReplay({ database }: Use<'database'>, id: string): Promise<never> {
  const select = { event: { select: { type: true } }, order: { select: { status: true, actionArgsErasedAt: true } } }
  const delivery = await database.read.webhookDelivery.findFirst({ where: { id }, select })
  if (!delivery) throw notFound('Webhook delivery')
  const order = delivery.event.type === 'order.paid' ? delivery.order : null
  const isRefunded = order?.status === 'REFUNDED'
  const cause = isRefunded
    ? 'The order was refunded'
    : order?.actionArgsErasedAt && 'The arguments of the order are erased'
  throw validationFailed({ id: [cause ? `${cause}, so its webhook is not called again.` : SET_WEBHOOK_FIRST] })
}

/**
 * Sends a delivery again now, with the same event ID and body. If the attempt fails, the retry schedule continues.
 * Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
 */
export async function replayDelivery(context: IdempotentContext, { id }: { id: string }) {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'delivery', 'Webhook delivery')
  await once(context, 'replayWebhookDelivery', { uuid }, async () => {
    const parameters = { delivery: uuid, subject: id, ...onceParams(context), ...auditorOf(actor) }
    const [due] = await database.query(replayDeliveryStatement, parameters)
    return due ? due.id : rejectReplay(context, uuid)
  })
  return { id: uuid }
}

/**
 * Inserts a test event into the feed of the app's owner, and its delivery. `subject`: prefixed ID of the app. Returns
 * no row if the app has no webhook.
 */
const insertTestEvent = statement(
  'webhook_test',
  { parameters: { app: uuid, subject: text, ...onceTypes, ...audited }, columns: { id: uuid, owner_id: uuid } },
  `with called_app as materialized (
     select id, owner_id from network_apps where id = $app and webhook_url is not null and webhook_disabled_at is null
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + 1 from called_app
     where w.user_id = called_app.owner_id returning w.user_id, w.event_sequence as sequence
   ),
   ${eventSql({ from: 'updated_wallets', owner: 'user_id', sequence: 'sequence', type: 'webhook.test' })},
   inserted_delivery as (
     insert into webhook_deliveries (event_id, network_app_id)
     select inserted_events.id, called_app.id from inserted_events, called_app returning id, network_app_id
   ),
   ${enqueueSql('enqueued_jobs', deliveryJobs('inserted_delivery'))},
   ${auditSql({ from: 'inserted_delivery', user: '$actor', action: 'network-app.webhook-tested', subject: '$subject', address: '$address' })},
   ${onceSql('id::text', 'inserted_delivery')}
   select inserted_delivery.id, called_app.owner_id
   from inserted_delivery, called_app, (select count(*) from enqueued_jobs) as jobs`,
)

/** Calls the webhook of an app once with a test event. Throws PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED. */
export async function sendTestEvent(
  context: IdempotentContext & Use<'notifications'>,
  { networkAppId }: { networkAppId: string },
): Promise<{ id: string }> {
  const { actor, database, notifications } = context
  assertMay(actor, 'store:administer')
  const app = uuidFrom(networkAppId, 'app', 'Network app')
  const id = await once(context, 'sendTestEvent', { app }, async () => {
    const parameters = { app, subject: networkAppId, ...onceParams(context), ...auditorOf(actor) }
    const [sent] = await database.query(insertTestEvent, parameters)
    if (!sent) {
      const found = await database.read.networkApp.findFirst({ where: { id: app }, select: { id: true } })
      throw found ? validationFailed({ networkAppId: [SET_WEBHOOK_FIRST] }) : notFound('Network app')
    }
    notifications.notify(sent.owner_id)
    return sent.id
  })
  return { id }
}
