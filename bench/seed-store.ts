/** The store of the benchmark: ten network apps of one administrator, a trusted service, and what every user has bought. */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { SealedKey } from '../src/keys/key-types.ts'

/** Of the runner's requests, see `ours.json`. */
const API_KEY = 'bench-api-key'
const APPS = 10
const ORDERS_PER_USER = 20

/** $1 id, $2 address, $3 vault key, $4 data key, $5 private key, $6 version. */
const insertOwner = `
  with created as (
    insert into users (id, username, username_key, email, password_hash, display_name, role)
    values ($1::uuid, 'bench-shop', username_key('bench-shop'), 'shop@example.org', '!', 'bench-shop', 'ADMIN')
  ),
  opened as (
    insert into wallets (user_id, address) values ($1::uuid, $2)
  )
  insert into user_keys (user_id, vault_key_id, wrapped_data_key, sealed_private_key, version) values ($1::uuid, $3, $4, $5, $6)`

/** Apps are named by number, and the first one is what the runner buys. $1 owner, $2 how many. */
const insertApps = `
  insert into network_apps (owner_id, name, price) select $1::uuid, n::text, 1 from generate_series(1, $2::int) as n`

const insertApiKey = `insert into api_keys (name, prefix, hash) values ('bench', 'bench-ap', $1)`

/** Paid orders with their charges and events. Every buyer had what they paid. $1 owner, $2 orders of each user, $3 apps. */
const insertOrders = `
  with bought as materialized (
    select uuidv7(bought.at - now()) as id, uuidv7(bought.at - now()) as transfer_id, u.id as buyer_id, a.id as app_id, a.name, bought.at,
      row_number() over (partition by u.id order by bought.at) as buyer_sequence, row_number() over (order by bought.at) as owner_sequence
    from users u cross join generate_series(1, $2::int) as n
      cross join lateral (select now() - make_interval(secs => 86400 * 30 + n * 60 + (hashtext(u.id::text || n) & 32767)) as at) as bought
      join network_apps a on a.name = (1 + (n - 1) % $3::int)::text
    where u.id <> $1::uuid
  ),
  made as (
    insert into orders (id, buyer_id, network_app_id, network_app_name, status, price, quoted_points, quoted_num, num_paid,
      transfer_id, created_at, expires_at, paid_at, settled_at)
    select id, buyer_id, app_id, name, 'SUCCESS', 1, 0, 1, 1, transfer_id, at, at + interval '15 minutes', at + interval '1 second',
      at + interval '1 second'
    from bought
  ),
  topped as materialized (
    select uuidv7(interval '-91 days') as transfer_id, buyer_id, count(*) as num from bought group by buyer_id
  ),
  moved as (
    insert into transfers (id, reference, created_at)
    select transfer_id, 'order:' || id, at + interval '1 second' from bought
    union all
    select transfer_id, 'deposit:' || buyer_id || ':-1', now() - interval '91 days' from topped
  ),
  booked as (
    insert into entries (transfer_id, position, wallet_id, book, currency, amount)
    select transfer_id, position, wallet_id, book, 'NUM'::currency, amount
    from bought, lateral (values
      (2, buyer_id, null::book, -1), (4, $1::uuid, null, 0.88), (6, null, 'REVENUE', 0.12)
    ) as line (position, wallet_id, book, amount)
    union all
    select transfer_id, position, wallet_id, book, 'NUM'::currency, amount
    from topped, lateral (values (1, buyer_id, null::book, num), (2, null, 'DEPOSITS', -num)) as line (position, wallet_id, book, amount)
  ),
  told as (
    insert into events (owner_id, sequence, type, order_id, transfer_id, created_at)
    select buyer_id, buyer_sequence, 'order.paid', id, transfer_id, at from bought
    union all
    select $1::uuid, owner_sequence, 'order.paid', id, transfer_id, at from bought
  )
  update wallets w set
    num = w.num + case when w.user_id = $1::uuid then 0.88 * $2::int * (select count(*) from topped) else 0 end,
    event_sequence = case when w.user_id = $1::uuid then $2::int * (select count(*) from topped) else $2::int end`

export async function seedStore(client: pg.Client, owner: SealedKey & { id: string; address: string }): Promise<void> {
  const { id, address, version, vaultKeyId, wrappedDataKey, sealedPrivateKey } = owner
  await client.query(insertOwner, [
    ...[id, address, vaultKeyId],
    ...[Buffer.from(wrappedDataKey), Buffer.from(sealedPrivateKey), version],
  ])
  await client.query(insertApps, [id, APPS])
  await client.query(insertApiKey, [createHash('sha256').update(API_KEY).digest()])
  await client.query('analyze users')
  await client.query(insertOrders, [id, ORDERS_PER_USER, APPS])
}
