/** Schemas of webhook bodies. The sender takes its types from here, and the OpenAPI document its schemas. */
import { z } from 'zod'

const amount = z.string().regex(/^-?\d+(\.\d+)?$/)
const moment = z.iso.datetime()

const order = {
  network_app_id: z.string().describe('Identifier of the network app.'),
  network_app_name: z.string().describe('Name of the network app when the order was made.'),
  price: amount.describe('Price in currency units, frozen when the order was made.'),
  num_paid: amount.describe('Paid in currency units.'),
  points_paid: amount.describe('Paid in points.'),
  total_cost: amount.describe('Paid in all.'),
  created_at: moment.describe('When the order was made.'),
  paid_at: moment.describe('When it was paid.'),
  buyer: z.string().describe('Identifier of the buyer.'),
}
const orderId = z.string().describe('Identifier of the order.')

/** The body of `order.paid`. */
export const orderPaidBody = z
  .object({
    type: z.literal('order.paid').describe('What happened.'),
    timestamp: moment.describe('When it happened.'),
    data: z
      .object({
        order: z
          .object({
            id: orderId,
            status: z.literal('pending').describe('To be carried out: it is a success once this call is taken.'),
            ...order,
          })
          .describe('The order.'),
        action_args: z
          .record(z.string(), z.unknown())
          .describe('The arguments that the order was made with; an empty object when there were none.'),
      })
      .describe('What it is about.'),
  })
  .meta({ id: 'OrderPaidEvent', description: 'An order was paid: its action is to be carried out.' })

/** The body of `order.refunded`. */
export const orderRefundedBody = z
  .object({
    type: z.literal('order.refunded').describe('What happened.'),
    timestamp: moment.describe('When it happened.'),
    data: z
      .object({
        order: z
          .object({
            id: orderId,
            status: z.enum(['partially_refunded', 'refunded']).describe('`refunded` once nothing is left of it.'),
            ...order,
            num_refunded: amount.describe('Given back in currency units by this refund and those before it.'),
            points_refunded: amount.describe('Given back in points by this refund and those before it.'),
            total_refunded: amount.describe('Given back in all by this refund and those before it.'),
          })
          .describe('The order.'),
        refund: z
          .object({
            id: z.string().describe('Identifier of the refund.'),
            num: amount.describe('Given back in currency units.'),
            points: amount.describe('Given back in points.'),
            total: amount.describe('Given back in all.'),
            created_at: moment.describe('When it was given back.'),
          })
          .describe('What this refund gave back.'),
      })
      .describe('What it is about.'),
  })
  .meta({ id: 'OrderRefundedEvent', description: 'Money of an order was given back.' })

/** The body of `webhook.test`. */
export const webhookTestBody = z
  .object({
    type: z.literal('webhook.test').describe('What happened.'),
    timestamp: moment.describe('When it happened.'),
    data: z.object({ network_app_id: order.network_app_id }).describe('What it is about.'),
  })
  .meta({ id: 'WebhookTestEvent', description: 'An administrator tries the receiver: there is nothing to do.' })
