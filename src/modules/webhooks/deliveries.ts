/** The log of webhook deliveries. Only administrators read it. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Prisma, WebhookDelivery } from '../../db/prisma/client.ts'
import { notFound } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { countLimit, searched } from '../../shared/lists.ts'
import { assertMay, canAdminister } from '../../shared/policy.ts'
import { writePayload } from './delivery-payload.ts'

type Reader = Use<'actor' | 'database'>

/** The fields of a delivery to load. Made from the GraphQL selection. */
type DeliveryQuery = Omit<Prisma.WebhookDeliveryFindManyArgs, 'where'>

const filterInput = z.strictObject({
  networkAppId: idInput('app').optional(),
  orderId: idInput('order').optional(),
  status: z.enum(['PENDING', 'DELIVERED', 'GIVEN_UP']).optional(),
  search: z.string().optional(),
})
/** IDs with their prefixes. */
export type DeliveryFilter = z.input<typeof filterInput>

/** Replaces the arguments of an order, because one of them may be a live token. */
const WITHHELD = '[withheld]'

/** Used in errors of use cases that call a receiver. */
export const SET_WEBHOOK_FIRST = "The app has no webhook, or its receiver is gone: set the app's webhook URL first."

function where(rawFilter: DeliveryFilter): Prisma.WebhookDeliveryWhereInput {
  const { networkAppId, orderId, status, search } = parse(filterInput, rawFilter)
  return {
    ...searched<Prisma.WebhookDeliveryWhereInput>(search, (word) => [
      { event: { type: word } },
      { networkApp: { name: word } },
    ]),
    ...(networkAppId !== undefined && { networkAppId: fromId(networkAppId)!.uuid }),
    ...(orderId !== undefined && { orderId: fromId(orderId)!.uuid }),
    ...(status !== undefined && { status }),
  }
}

/** Returns a delivery, or null if it does not exist or the caller may not see it. */
export async function findDelivery(
  { actor, database }: Reader,
  id: string,
  query: DeliveryQuery = {},
): Promise<WebhookDelivery | null> {
  const found = canAdminister(actor) && fromId(id, 'delivery')
  return found ? database.read.webhookDelivery.findFirst({ ...query, where: { id: found.uuid } }) : null
}

/** Returns a delivery. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
export async function getDelivery(context: Reader, id: string, query?: DeliveryQuery): Promise<WebhookDelivery> {
  assertMay(context.actor, 'store:administer')
  const delivery = await findDelivery(context, id, query)
  if (!delivery) throw notFound('Webhook delivery')
  return delivery
}

/** Lists deliveries, newest first. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
export async function listDeliveries(
  { actor, database }: Reader,
  filter: DeliveryFilter,
  query: DeliveryQuery,
): Promise<WebhookDelivery[]> {
  assertMay(actor, 'store:administer')
  return database.read.webhookDelivery.findMany({ ...query, orderBy: { id: 'desc' }, where: where(filter) })
}

/** Counts deliveries up to the limit for `offset`. Throws the errors of `listDeliveries`. */
export async function countDeliveries(
  { actor, database }: Reader,
  filter: DeliveryFilter,
  offset?: number | null,
): Promise<number> {
  assertMay(actor, 'store:administer')
  return database.read.webhookDelivery.count({ where: where(filter), take: countLimit(offset) })
}

/**
 * Returns the body of a call by the UUID of its event, without the arguments of an order. It does not authorize: the caller must already
 * have read the delivery.
 */
export async function readPayload(
  { findWebhookEvent }: Use<'findWebhookEvent'>,
  eventId: string,
): Promise<Record<string, unknown>> {
  const event = await findWebhookEvent(eventId)
  if (!event) throw notFound('Event')
  return JSON.parse(writePayload(event, event.action_args === null ? {} : WITHHELD))
}
