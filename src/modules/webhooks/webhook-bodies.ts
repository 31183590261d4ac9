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
  created_at: moment.describe('Time at which the order was created.'),
  paid_at: moment.describe('Time of the payment.'),
  buyer: z.string().describe('Identifier of the buyer.'),
}
const orderId = z.string().describe('Identifier of the order.')

/** The body of `order.paid`. */
export const orderPaidBody = z
  .object({
    type: z.literal('order.paid').describe('Type of the event.'),
    timestamp: moment.describe('Time of the event.'),
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
          .describe('The arguments of the order. An empty object without arguments.'),
      })
      .describe('The subject of the event.'),
  })
  .meta({ id: 'OrderPaidEvent', description: 'An order was paid: its action is to be carried out.' })

/** The body of `order.refunded`. */
export const orderRefundedBody = z
  .object({
    type: z.literal('order.refunded').describe('Type of the event.'),
    timestamp: moment.describe('Time of the event.'),
    data: z
      .object({
        order: z
          .object({
            id: orderId,
            status: z.enum(['partially_refunded', 'refunded']).describe('`refunded` if the full amount was refunded.'),
            ...order,
            num_refunded: amount.describe('Total refunded currency units, including earlier refunds.'),
            points_refunded: amount.describe('Total refunded points, including earlier refunds.'),
            total_refunded: amount.describe('Total refunded amount, including earlier refunds.'),
          })
          .describe('The order.'),
        refund: z
          .object({
            id: z.string().describe('Identifier of the refund.'),
            num: amount.describe('Refunded currency units.'),
            points: amount.describe('Refunded points.'),
            total: amount.describe('Refunded amount.'),
            created_at: moment.describe('Time of the refund.'),
          })
          .describe('Amounts of this refund.'),
      })
      .describe('The subject of the event.'),
  })
  .meta({ id: 'OrderRefundedEvent', description: 'An order was refunded.' })

/** The body of `webhook.test`. */
export const webhookTestBody = z
  .object({
    type: z.literal('webhook.test').describe('Type of the event.'),
    timestamp: moment.describe('Time of the event.'),
    data: z.object({ network_app_id: order.network_app_id }).describe('The subject of the event.'),
  })
  .meta({ id: 'WebhookTestEvent', description: 'An administrator tries the receiver: there is nothing to do.' })
