import type { OrderRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'

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

/** Old callers know four statuses: whatever ended without the paid action is a failure to them. */
const statuses: Record<OrderRecordFragment['status'], string> = {
  CREATED: 'created',
  PENDING: 'pending',
  SUCCESS: 'success',
  FAILURE: 'failure',
  EXPIRED: 'failure',
  CANCELLED: 'failure',
  REFUNDED: 'failure',
}

/** An order as old callers read it, who know four statuses. */
export const presentOrder = (order: OrderRecordFragment) => ({
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
  fund_tx_hash: null,
  // The charge as it stands in the wallet's transfers.
  payment_crypto_transaction_id: order.transferId,
  payment_tx_hash: order.transferId,
  workflow_id: null,
  owner: order.buyer.email,
  created_at: order.createdAt,
  expired_at: order.expiresAt,
})
