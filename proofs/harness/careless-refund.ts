/**
 * The known-bad variant of refunds, never part of the product: it reads what is left, checks, and then writes, each in a
 * transaction of its own and with no lock on the order.
 */
import pg from 'pg'
import { v7 } from 'uuid'
import { toId } from '../../src/domain/ids.ts'
import { add, fromUnits, toUnits } from '../../src/domain/money.ts'
import type { Given } from './refunds.ts'
import { orderUuid } from './store.ts'

/** What the database would refuse even a careless writer. It is taken away, so that the proof's own checks must catch it. */
const guard = 'drop index if exists refunds_order_id_num_before_points_before_key'

export interface CarelessRefund {
  /** Gives an amount of what was paid in currency units back. */
  refund(orderId: string, amount: string): Promise<Given>
  close(): Promise<void>
}

export async function createCarelessRefund(url: string): Promise<CarelessRefund> {
  const pool = new pg.Pool({ connectionString: url, max: 20, application_name: 'careless refund' })
  pool.on('error', () => undefined)
  await pool.query(guard)

  async function write(orderId: string, amount: string): Promise<Given> {
    const { rows } = await pool.query(
      'select buyer_id, num_paid::text as paid, num_refunded::text as before from orders where id = $1',
      [orderId],
    )
    const [{ buyer_id: buyer, paid, before }] = rows
    const left = toUnits(paid) - toUnits(before)
    if (toUnits(amount) > left) return { orderId, verdict: 'validation_error' }
    const [refund, transfer] = [v7(), v7()]
    await pool.query('update wallets set num = num + $2 where user_id = $1', [buyer, amount])
    await pool.query('insert into transfers (id, reference) values ($1, $2)', [
      transfer,
      `order-refund:${orderId}:${refund}`,
    ])
    await pool.query(
      `insert into entries (transfer_id, position, wallet_id, book, currency, amount)
       values ($1, 1, $2, null, 'NUM', $3::numeric), ($1, 2, null, 'REVENUE', 'NUM', -$3::numeric)`,
      [transfer, buyer, amount],
    )
    await pool.query(
      `insert into refunds (id, order_id, transfer_id, points, num, points_before, num_before, reason)
       values ($1, $2, $3, 0, $4, 0, $5, 'careless')`,
      [refund, orderId, transfer, amount, before],
    )
    await pool.query('update orders set num_refunded = $2 where id = $1', [orderId, add(before, amount)])
    return { orderId, verdict: 'done', refund: { id: toId('refund', refund), total: fromUnits(toUnits(amount)) } }
  }

  return {
    refund: (orderId, amount) =>
      write(orderUuid(orderId), amount).catch((error: Error) => ({ orderId, verdict: `status 500: ${error.message}` })),
    close: () => pool.end(),
  }
}
