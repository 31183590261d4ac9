/**
 * Deliberately faulty account deletion for controls, never part of the product. It reads the open data first, and deletes it in a second
 * transaction without locks.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface CarelessDeletion {
  look(): Promise<void>
  /** Deletes the data. Must be called after `look`. */
  delete(): Promise<void>
  close(): Promise<void>
}

export async function createCarelessDeletion(url: string, userId: string): Promise<CarelessDeletion> {
  const client = new pg.Client({ connectionString: url, application_name: 'careless deletion' })
  client.on('error', () => undefined)
  await client.connect()
  let orders: string[] = []
  let assets: string[] = []
  let balance = { points: '0', num: '0' }
  const idsOf = async (text: string) => (await client.query<{ id: string }>(text, [userId])).rows.map(({ id }) => id)

  async function write() {
    const transfer = randomUUID()
    await client.query(
      `with gone as (
         update orders set status = 'CANCELLED', settled_at = now(), action_args = null
         where id = any ($2::uuid[]) and status = 'CREATED' returning id
       ),
       feed as (
         update wallets set num = 0, points = 0, closed_at = now(), event_sequence = event_sequence + (select count(*)::int from gone)
         where user_id = $1::uuid returning event_sequence - (select count(*)::int from gone) as before
       )
       insert into events (owner_id, sequence, type, order_id)
       select $1::uuid, feed.before + row_number() over (order by gone.id), 'order.cancelled', gone.id from gone, feed`,
      [userId, orders],
    )
    await client.query('insert into transfers (id, reference) values ($1, $2)', [transfer, `forfeit:${userId}`])
    await client.query(
      `insert into entries (transfer_id, position, wallet_id, book, currency, amount)
       select $1, line.* from (values (1, $2::uuid, null::book, 'POINTS'::currency, -$3::numeric), (2, $2, null, 'NUM', -$4::numeric),
         (3, null, 'FORFEITED', 'POINTS', $3::numeric), (4, null, 'FORFEITED', 'NUM', $4::numeric)) as line (position, w, b, c, amount)
       where line.amount <> 0`,
      [transfer, userId, balance.points, balance.num],
    )
    await client.query('update assets set deleted_at = now() where id = any ($1::uuid[])', [assets])
    await client.query('delete from user_keys where user_id = $1', [userId])
    await client.query('delete from access_tokens where user_id = $1', [userId])
    await client.query('update network_apps set deactivated_at = now() where owner_id = $1', [userId])
    await client.query(
      `update users set deleted_at = now(), username = 'deleted_' || left(md5(id::text), 13), password_hash = '',
         email = id || '@deleted.invalid', asset_count = 0 where id = $1`,
      [userId],
    )
  }

  return {
    async look() {
      orders = await idsOf(`select id from orders where buyer_id = $1 and status = 'CREATED'`)
      assets = await idsOf('select id from assets where owner_id = $1 and deleted_at is null')
      const found = await client.query('select points::text, num::text from wallets where user_id = $1', [userId])
      balance = found.rows[0]
    },
    async delete() {
      await client.query('begin')
      await write()
      await client.query('commit')
    },
    close: () => client.end(),
  }
}
