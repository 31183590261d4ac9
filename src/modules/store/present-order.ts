import { z } from 'zod'
import type { OrderRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { always, amount, anyObject, moment, same } from '../../http/rest/values.ts'

/** What is read of an order. */
export const OrderRecord = graphql(/* GraphQL */ `
  fragment OrderRecord on Order {
    id
    status
    networkAppId
    networkAppName
    actionArgs
    price
    pointsQuoted
    numQuoted
    pointsPaid
    numPaid
    transferId
    createdAt
    expiresAt
    buyer {
      email
    }
  }
`)

/** An order as it is answered. */
export const orderRecord = z
  .object({
    id: same('Order.id', z.string()),
    status: z
      .enum(['created', 'pending', 'success', 'failure'])
      .describe(
        '`created`: to be confirmed before it expires. `pending`: paid, the webhook not delivered yet. `success`: paid, and the webhook delivered if there is one. `failure`: it ended without the paid action: expired, cancelled, refunded, or its webhook given up.',
      ),
    network_app_id: same('Order.networkAppId', z.string()),
    network_app_name: same('Order.networkAppName', z.string()),
    action: z.string().describe('The same as `network_app_name`.'),
    action_args: anyObject.describe(
      'Arguments for the webhook, as they were sent; an empty object when there were none.',
    ),
    price: same('Order.price', amount),
    fee: z.literal('0').describe('Nothing is added to the price.'),
    num_charged: same('Order.numQuoted', amount),
    points_charged: same('Order.pointsQuoted', amount),
    num_paid: same('Order.numPaid', amount),
    points_paid: same('Order.pointsPaid', amount),
    total_cost: amount.describe('The same as `price`.'),
    quantity: z.literal(1).describe('An order is of one action.'),
    fund_crypto_transaction_id: always(null),
    fund_tx_hash: always(''),
    payment_crypto_transaction_id: same('Order.transferId', z.string().nullable()),
    payment_tx_hash: z.string().describe('The same as `payment_crypto_transaction_id`. Empty until the order is paid.'),
    workflow_id: always(null),
    owner: z.string().describe('E-mail address of the buyer.'),
    created_at: same('Order.createdAt', moment),
    expired_at: same('Order.expiresAt', moment),
  })
  .meta({ id: 'Order', description: 'One purchase of a network app. Only its buyer sees it.' })

type OrderAnswer = z.output<typeof orderRecord>

/** Old callers know four statuses: whatever ended without the paid action is a failure to them. */
const statuses: Record<OrderRecordFragment['status'], OrderAnswer['status']> = {
  CREATED: 'created',
  PENDING: 'pending',
  SUCCESS: 'success',
  FAILURE: 'failure',
  EXPIRED: 'failure',
  CANCELLED: 'failure',
  REFUNDED: 'failure',
}

/** An order as old callers read it, who know four statuses. */
export const presentOrder = (order: OrderRecordFragment): OrderAnswer => ({
  id: order.id,
  status: statuses[order.status],
  network_app_id: order.networkAppId,
  network_app_name: order.networkAppName,
  action: order.networkAppName,
  action_args: order.actionArgs,
  price: order.price,
  // The platform's share comes out of the price: nothing is added to it.
  fee: '0',
  num_charged: order.numQuoted,
  points_charged: order.pointsQuoted,
  num_paid: order.numPaid,
  points_paid: order.pointsPaid,
  total_cost: order.price,
  quantity: 1,
  // Wallets are funded before an order, not for it.
  fund_crypto_transaction_id: null,
  fund_tx_hash: '',
  // The charge as it stands in the wallet's transfers.
  payment_crypto_transaction_id: order.transferId,
  payment_tx_hash: order.transferId ?? '',
  workflow_id: null,
  // Told to the buyer alone, who is the only one to see the order.
  owner: order.buyer.email!,
  created_at: order.createdAt,
  expired_at: order.expiresAt,
})
