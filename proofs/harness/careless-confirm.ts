/**
 * Deliberately faulty confirm for controls, never part of the product. It reads, checks and writes in separate transactions. It uses the
 * clock of its own process, also for transfer IDs.
 */
import pg from 'pg'
import { v7 } from 'uuid'
import { add, fromUnits, toUnits } from '../../src/shared/money.ts'
import type { Outcome } from './confirms.ts'
import { orderUuid } from './store.ts'

/** Database constraints that would stop even a faulty writer. They are removed, so that the proof's own checks must detect the fault. */
const guards = [
  'drop index if exists transfers_reference_key',
  'drop index if exists events_order_paid_key',
  'alter table wallets drop constraint if exists wallets_open_orders_not_negative',
]

/** Returns an amount minus the platform's share. */
const lessShare = (amount: string) => fromUnits(toUnits(amount) - (toUnits(amount) * 12n + 50n) / 100n)

export interface CarelessConfirm {
  /** Confirms an order. It awaits `turn` before each of its statements. */
  confirm(orderId: string, turn?: (statement: string) => Promise<void>): Promise<Outcome>
  close(): Promise<void>
}

export async function createCarelessConfirm(
  url: string,
  { connections = 20, now = () => new Date() }: { connections?: number; now?: () => Date } = {},
): Promise<CarelessConfirm> {
  const pool = new pg.Pool({ connectionString: url, max: connections, application_name: 'careless confirm' })
  pool.on('error', () => undefined)
  for (const text of guards) await pool.query(text)

  async function pay(id: string, turn: (statement: string) => Promise<void>): Promise<string> {
    const query = async (text: string, values: unknown[]) => {
      await turn(`${id}: ${text.trim().slice(0, 24)}`)
      return pool.query(text, values)
    }
    const { rows } = await query(
      `select o.*, o.price::text as price, a.owner_id, a.webhook_url, w.points::text, w.num::text,
         s.points::text as seller_points, s.num::text as seller_num from orders o
       join network_apps a on a.id = o.network_app_id join wallets w on w.user_id = o.buyer_id
       join wallets s on s.user_id = a.owner_id where o.id = $1`,
      [id],
    )
    const [found] = rows
    const at = now()
    if (found.status !== 'CREATED') return 'paid'
    if (at >= found.expires_at) return 'order_expired'
    const price = toUnits(found.price)
    const left = toUnits(add(found.points, found.num)) - price
    if (left < 0n) return 'insufficient_fund'
    const paid = toUnits(found.points) < price ? found.points : found.price
    const points = fromUnits(toUnits(found.points) - toUnits(paid))
    const num = fromUnits(left - toUnits(points))
    await query('update wallets set points = $2, num = $3, open_orders = open_orders - 1 where user_id = $1', [
      found.buyer_id,
      points,
      num,
    ])
    const numPaid = fromUnits(price - toUnits(paid))
    const earned = { points: lessShare(paid), num: lessShare(numPaid) }
    if (found.owner_id !== found.buyer_id) {
      const held = [add(found.seller_points, earned.points), add(found.seller_num, earned.num)]
      await query('update wallets set points = $2, num = $3 where user_id = $1', [found.owner_id, ...held])
    }
    const transfer = v7({ msecs: at.getTime() })
    await query('insert into transfers (id, reference) values ($1, $2)', [transfer, `order:${id}`])
    await query(
      `insert into entries (transfer_id, position, wallet_id, book, currency, amount)
       select $1, * from (values (1, $2::uuid, null::book, 'POINTS'::currency, -$4::numeric), (2, $2, null, 'NUM', -$5::numeric),
         (3, $3::uuid, null, 'POINTS', $6::numeric), (4, $3, null, 'NUM', $7::numeric),
         (5, null, 'REVENUE', 'POINTS', $4::numeric - $6::numeric), (6, null, 'REVENUE', 'NUM', $5::numeric - $7::numeric)) as line (p, w, b, c, amount)
       where amount <> 0`,
      [transfer, found.buyer_id, found.owner_id, paid, numPaid, earned.points, earned.num],
    )
    await query(
      `update orders set status = case when $4 then 'PENDING' else 'SUCCESS' end::order_status, paid_at = $2, transfer_id = $3,
         points_paid = $5::numeric, num_paid = price - $5::numeric, settled_at = case when $4 then null else $2::timestamptz end
       where id = $1`,
      [id, at, transfer, found.webhook_url !== null, paid],
    )
    for (const owner of [found.owner_id, found.buyer_id]) {
      await query(
        `with feed as (update wallets set event_sequence = event_sequence + 1 where user_id = $1 returning event_sequence),
         told as (insert into events (owner_id, sequence, type, order_id, transfer_id)
           select $1, event_sequence, 'order.paid', $2, $3 from feed returning id)
         insert into webhook_deliveries (event_id, network_app_id, order_id) select id, $4, $2 from told where $5`,
        [owner, id, transfer, found.network_app_id, found.webhook_url !== null && owner === found.owner_id],
      )
    }
    return 'paid'
  }

  return {
    async confirm(orderId, turn = async () => undefined) {
      const started = performance.now()
      const verdict = await pay(orderUuid(orderId), turn).catch((error: Error) => `status 500: ${error.message}`)
      return { door: 'control', orderId, verdict, milliseconds: performance.now() - started }
    },
    close: () => pool.end(),
  }
}
