import type { Use } from '../../context.ts'
import type { Event, Order } from '../../db/prisma/client.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { assertMay } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { replayDelivery as replayDeliveryStatement } from './deliveries.sql.ts'
import { SET_WEBHOOK_FIRST } from './deliveries.ts'

interface Replayable {
  event: Pick<Event, 'type'>
  order: Pick<Order, 'status' | 'actionArgsErasedAt'> | null
}

function explain({ event, order }: Replayable): string {
  const paid = event.type === 'order.paid' ? order : null
  if (paid?.status === 'REFUNDED') return 'The order was refunded, so its webhook is not called again.'
  if (paid?.actionArgsErasedAt)
    return 'The order is long over and its arguments are erased, so its webhook is not called again.'
  return SET_WEBHOOK_FIRST
}

async function rejectReplay({ database }: Use<'database'>, id: string): Promise<never> {
  const select = {
    event: { select: { type: true } },
    order: { select: { status: true, actionArgsErasedAt: true } },
  } as const
  const delivery = await database.read.webhookDelivery.findFirst({ where: { id }, select })
  if (!delivery) throw notFound('Webhook delivery')
  throw validationFailed({ id: [explain(delivery)] })
}

/**
 * Sends a delivery again now, with the same event ID and body. If the attempt fails, the schedule continues. Returns the ID of the delivery.
 * Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
 */
export async function replayDelivery(context: IdempotentContext, { id }: { id: string }): Promise<string> {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'delivery', 'Webhook delivery')
  await once(context, 'replayWebhookDelivery', { uuid }, async () => {
    const parameters = { delivery: uuid, subject: id, ...idempotencyParams(context), ...auditorOf(actor) }
    const [due] = await database.query(replayDeliveryStatement, parameters)
    return due ? due.id : rejectReplay(context, uuid)
  })
  return id
}
