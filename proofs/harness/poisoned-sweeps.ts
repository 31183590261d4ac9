/**
 * Every sweep of the service over items that are made in bulk, some of which can never be dealt with: a trigger refuses them,
 * as bytes that do not open or a row that breaks a rule would. On a database of their own, whose books mean nothing.
 */
import { type App, createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { noCoins } from '../../src/domain/ports/coins.ts'
import type { Log } from '../../src/domain/ports/log.ts'
import type { SweepName } from '../../src/domain/sweep/sweep.ts'
import { createDepositBooks } from '../../src/domain/wallet/deposit-books.ts'
import { type Installation, openInstallation } from '../../src/installation.ts'
import type { Parts } from './parts.ts'
import { percentile } from './percentile.ts'
import type { ProofContext } from './proof.ts'
import { runSql } from './run-sql.ts'

export interface SweepScene {
  table: string
  /** SQL of a row `r`'s item. */
  key: string
  /** SQL: what is made of `$1` new people `p (id)`, oldest first; it returns `item`. */
  make: string
  /** Whether the people are deleted ones, and what their wallets have, as SQL. */
  areDeleted?: boolean
  wallet?: [columns: string, values: string]
  /** Milliseconds between two runs of the service. */
  every: number
  run(app: App, installation: Installation): Promise<unknown>
}

const HOUR = 3_600_000
const orderColumns = `orders (id, buyer_id, network_app_id, network_app_name, status, action_args, price, quoted_points, quoted_num,
  transfer_id, created_at, expires_at, paid_at, settled_at)`
const settledOrders = (settled: string) => `
  insert into ${orderColumns}
  select p.id, p.id, uuidv7(), 'an app', 'SUCCESS', 'x', 0, 0, 0, uuidv7(), now() - interval '41 days',
    now() - interval '39 days', now() - interval '40 days', ${settled} from p order by p.id returning id::text as item`
const assetsOf = (deleted: string, asked: string) => `
  insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, head_commit_id, deleted_at, thumbnail_asked)
  select p.id, 'proof-' || p.id, p.id, p.id, 'a', 'text/plain', 1, repeat('a', 64), p.id, ${deleted}, ${asked} from p order by p.id`

const deletions = ({ services }: App) => services.deletions.sweep()
const maintenance = (app: App) => app.maintenance.sweep()

export const sweepScenes: Record<SweepName, SweepScene> = {
  'expire-orders': {
    table: 'orders',
    key: 'r.id::text',
    wallet: ['open_orders', '1'],
    make: `insert into ${orderColumns} select p.id, p.id, uuidv7(), 'an app', 'CREATED', 'x', 0, 0, 0, null,
      now() - interval '1 hour', now() - interval '1 second', null, null from p order by p.id returning id::text as item`,
    every: 1_000,
    run: ({ services }) => services.orders.expire(),
  },
  'expire-points': {
    table: 'wallets',
    key: 'r.user_id::text',
    wallet: ['points, points_expire_at', `1, now() - interval '1 second'`],
    make: `insert into point_grants (wallet_id, amount, remaining, reason, expires_at)
      select p.id, 1, 1, 'a proof', now() - interval '1 second' from p order by p.id returning wallet_id::text as item`,
    every: 30_000,
    run: ({ services }) => services.grants.sweep(),
  },
  'ask-for-thumbnails': {
    table: 'assets',
    key: 'r.id::text',
    make: `${assetsOf('null', 'false')} returning id::text as item`,
    every: 10_000,
    run: ({ services }) => services.thumbnails.sweep(),
  },
  'erase-arguments': {
    table: 'orders',
    key: 'r.id::text',
    make: settledOrders(`now() - interval '31 days'`),
    every: HOUR,
    run: ({ services }) => services.orders.sweepArguments(),
  },
  'erase-arguments-of-deleted': {
    table: 'orders',
    key: 'r.id::text',
    areDeleted: true,
    make: settledOrders('now()'),
    every: HOUR,
    run: deletions,
  },
  'erase-webhooks-of-deleted': {
    table: 'network_apps',
    key: 'r.id::text',
    areDeleted: true,
    make: `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret)
      select p.id, p.id, p.id::text, 0, 'https://receiver.example', 'x' from p order by p.id returning id::text as item`,
    every: HOUR,
    run: deletions,
  },
  'erase-addresses-of-deleted': {
    table: 'audit_entries',
    key: 'r.id::text',
    areDeleted: true,
    make: `insert into audit_entries (id, user_id, action, address) select p.id, p.id, 'session.started', '192.0.2.1'
      from p order by p.id returning id::text as item`,
    every: HOUR,
    run: deletions,
  },
  'erase-answers-of-deleted': {
    table: 'webhook_attempts',
    key: 'r.delivery_id::text',
    areDeleted: true,
    make: `made as (${settledOrders('now()').replace('id::text as item', 'id')}),
      told as (
        insert into webhook_deliveries (id, event_id, network_app_id, order_id, status, settled_at)
        select id, id, id, id, 'DELIVERED', now() from made returning id
      ),
      answered as (
        insert into webhook_attempts (delivery_id, number, duration, response)
        select id, 1, 1, 'an answer' from told returning delivery_id
      )
      select delivery_id::text as item from answered order by delivery_id`,
    every: HOUR,
    run: deletions,
  },
  'erase-deleted-assets': {
    table: 'assets',
    key: 'r.id::text',
    make: `made as (${assetsOf('now()', 'true')} returning id),
      told as (
        insert into commits (id, asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
        select id, id, 1, id, '{}', 'a tree', 'bafk', repeat('a', 64) from made returning id
      ),
      relayed as (insert into commit_relays (commit_id, status) select id, 'FINAL' from told)
      select id::text as item from made order by id`,
    every: HOUR,
    run: maintenance,
  },
  'forfeit-left-over': {
    table: 'wallets',
    key: 'r.user_id::text',
    areDeleted: true,
    wallet: ['num, closed_at', '1, now()'],
    make: 'select p.id::text as item from p order by p.id',
    every: HOUR,
    run: deletions,
  },
  'forget-idempotency-keys': {
    table: 'idempotency_keys',
    key: `encode(r.scope, 'hex')`,
    make: `insert into idempotency_keys (scope, payload_hash, result, created_at)
      select uuid_send(p.id) || sha256(uuid_send(p.id)), 'x', p.id::text, now() - interval '8 days'
      from p order by p.id returning encode(scope, 'hex') as item`,
    every: HOUR,
    run: maintenance,
  },
  'forget-tokens': {
    table: 'access_tokens',
    key: 'r.id::text',
    make: `insert into access_tokens (id, user_id, hash, expires_at)
      select p.id, p.id, sha256(uuid_send(p.id)), now() - interval '1 day' from p order by p.id returning id::text as item`,
    every: HOUR,
    run: maintenance,
  },
  'forget-idle-sessions': {
    table: 'access_tokens',
    key: 'r.id::text',
    make: `insert into access_tokens (id, user_id, hash, created_at)
      select uuidv7(interval '-366 days'), p.id, sha256(uuid_send(p.id)), now() - interval '366 days' from p order by p.id returning id::text as item`,
    every: HOUR,
    run: maintenance,
  },
  'forget-one-time-tokens': {
    table: 'one_time_tokens',
    key: `encode(r.hash, 'hex')`,
    make: `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
      select p.id, 'PASSWORD_RESET', p.id, sha256(uuid_send(p.id)), 'x', now() - interval '8 days' from p order by p.id returning encode(hash, 'hex') as item`,
    every: HOUR,
    run: maintenance,
  },
  'forget-deliveries': {
    table: 'webhook_deliveries',
    key: 'r.id::text',
    make: `insert into webhook_deliveries (id, event_id, network_app_id, status, settled_at)
      select uuidv7(interval '-91 days'), p.id, p.id, 'DELIVERED', now() - interval '91 days' from p order by p.id returning id::text as item`,
    every: HOUR,
    run: maintenance,
  },
  'forget-events': {
    table: 'events',
    key: 'r.id::text',
    wallet: ['event_sequence', '1'],
    make: `insert into events (id, owner_id, sequence, type, created_at)
      select uuidv7(interval '-91 days'), p.id, 1, 'points.granted', now() - interval '91 days' from p order by p.id returning id::text as item`,
    every: HOUR,
    run: maintenance,
  },
  'credit-deposits': {
    table: 'deposits',
    key: 'r.reference',
    make: `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
      select 'deposit:' || p.id || ':-1', 'COIN', 'PENDING', p.id::text, p.id, 1, 1, 'a block' from p order by p.id returning reference as item`,
    every: 1_000,
    async run(_, { database, log }) {
      const books = createDepositBooks({ database, notifications: { notify() {} }, log })
      await books.begin(1, 'here')
      await books.creditDue({ chainId: 1, position: 'here' }, 1)
    },
  },
}

export interface SweepsUnderTest {
  app: App
  installation: Installation
  env: Record<string, string>
  /** Makes so many items; the first of them, the oldest, can never be dealt with. */
  make(name: SweepName, count: number, poisoned: number): Promise<{ bad: string[]; good: string[] }>
  /** Runs the sweep until all of these are done; when 99 % of them were, in milliseconds. Infinity when that takes longer than `deadline`. */
  measure(run: () => Promise<unknown>, good: readonly string[], deadline: number): Promise<number>
}

export async function openSweeps(context: ProofContext, parts: Parts, log: Log): Promise<SweepsUnderTest> {
  const env = { ...parts.env, DATABASE_URL: await parts.copyDatabase('sweeps') }
  const installation = await openInstallation(readConfig(env), log, { mayMigrate: true })
  context.afterwards(() => installation.close())
  const { database } = installation
  const app = createApp({
    ...installation,
    relay: { wake() {} },
    coins: noCoins,
    publicUrl: 'http://annal.test',
    missing: async () => [],
  })
  const ask = (text: string, values: unknown[] = []) => database.prisma.$queryRawUnsafe(text, ...values)
  await ask('create table proof_poison (item text primary key)')
  await ask('create table proof_done (item text, at timestamptz)')
  await ask('create index on proof_done (item)')
  for (const table of new Set(Object.values(sweepScenes).map((scene) => scene.table))) {
    const { key } = Object.values(sweepScenes).find((scene) => scene.table === table)!
    await ask(`create function proof_refuse_${table}() returns trigger language plpgsql as $$
      declare r ${table} := old;
      begin
        if exists (select from proof_poison where item = ${key}) then raise exception 'This can never be done.'; end if;
        insert into proof_done values (${key}, clock_timestamp());
        return coalesce(new, old);
      end $$`)
    await ask(
      `create trigger proof_refuse before update or delete on ${table} for each row execute function proof_refuse_${table}()`,
    )
  }

  return {
    app,
    installation,
    env,
    async make(name, count, poisoned) {
      const { make, areDeleted = false, wallet = ['num', '0'] } = sweepScenes[name]
      const [columns, values] = wallet
      const making = `with p as materialized (select uuidv7() as id from generate_series(1, $1::int)),
         people as (
           insert into users (id, username, username_key, email, password_hash, display_name, deleted_at)
           select id, right(id::text, 20), id::text, id || '@proof.invalid', '', 'x', ${areDeleted ? 'now()' : 'null'} from p
         ),
         purses as (insert into wallets (user_id, address, ${columns}) select id, id::text, ${values} from p)
         ${/^made as/.test(make) ? `, ${make}` : /^select/.test(make) ? make : `, made as (${make}) select item from made`}`
      const rows = await database.transaction(async (query) => {
        await runSql({ query }, `set local session_replication_role = 'replica'`)
        return runSql<{ item: string }>({ query }, making, [count])
      })
      const items = rows.map(({ item }) => item).sort()
      const bad = items.slice(0, poisoned)
      await ask('insert into proof_poison select unnest($1::text[])', [bad])
      await ask('analyze')
      return { bad, good: items.slice(poisoned) }
    },

    async measure(run, good, deadline) {
      const [start] = (await ask('select clock_timestamp()::text as at')) as { at: string }[]
      const begin = performance.now()
      for (;;) {
        await run().catch(() => undefined)
        const done = (await ask(
          `select extract(epoch from max(at) - $2::timestamptz)::float8 * 1000 as milliseconds
           from proof_done where item = any ($1::text[]) group by item`,
          [good, start!.at],
        )) as { milliseconds: number }[]
        if (done.length === good.length) return percentile(done, 0.99)
        if (performance.now() - begin > deadline) return Number.POSITIVE_INFINITY
      }
    },
  }
}
