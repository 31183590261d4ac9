/** Each batch job: a failing item delays no other item, is logged once, and is listed for operators. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  type BatchJobName,
  batchJobItems,
  findJobFailures,
  retryJobFailures,
  withPublicItems,
} from '../../../src/jobs/batch-jobs.ts'
import { cleanUpDeletedAccounts } from '../../../src/modules/accounts/delete-account.ts'
import { requestThumbnails } from '../../../src/modules/assets/thumbnails.ts'
import { createDepositLedger } from '../../../src/modules/coins/deposit-ledger.ts'
import { eraseOrderArguments, expireOrders } from '../../../src/modules/store/expire-orders.ts'
import { fromId, UUID } from '../../../src/shared/ids.ts'
import { expectOk } from '../../support/expect-error.ts'
import { deposit } from '../../support/person.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const called = await createStore(app)
await app.sql(
  `update network_apps set webhook_url = 'https://receiver.example', webhook_secret = 'x' where id = $1::uuid`,
  [fromId(called.appId)!.uuid],
)
const { database } = app.installation

interface Scene {
  /** Makes an item that is due, and returns its identifier. */
  make(): Promise<string>
  /** SQL condition on the processed row. `undefined` if the row is deleted. */
  done?: string
  table: string
  key?: string
  run(): Promise<unknown>
}

const tidy = () => app.maintenance.run()
const sweepDeletions = () => cleanUpDeletedAccounts(app.context)

const order = async (fields: object = {}, of = store) => {
  const buyer = await app.newUser()
  const { id } = await of.order(buyer, { action_args: { secret: 'one' }, ...fields })
  return { buyer, id, uuid: fromId(id)!.uuid }
}
const remove = async ({ rest }: { rest: typeof app.rest }) =>
  expect((await rest('DELETE', 'auth/users/me/')).status).toBe(204)

const itemOf = async (text: string, parameter: string) =>
  Object.values((await app.sql<Record<string, string>>(text, [parameter]))[0]!)[0]!

const scenes: Record<BatchJobName, Scene> = {
  'expire-orders': {
    ...{ table: 'orders', done: `status = 'EXPIRED'`, run: () => expireOrders(app.context) },
    async make() {
      const { uuid } = await order()
      await app.sql(`update orders set expires_at = now() - interval '1 ms' where id = $1::uuid`, [uuid])
      return uuid
    },
  },
  'request-thumbnails': {
    ...{ table: 'assets', done: 'thumbnail_requested', run: () => requestThumbnails(app.context) },
    async make() {
      const { uuid } = await asset()
      await app.sql('update assets set thumbnail_requested = false where id = $1::uuid', [uuid])
      return uuid
    },
  },
  'erase-arguments': {
    ...{ table: 'orders', done: 'action_args is null', run: () => eraseOrderArguments(app.context) },
    async make() {
      const { buyer, id, uuid } = await order()
      expectOk(await store.confirm(buyer, id))
      await app.sql(`update orders set settled_at = now() - interval '31 days' where id = $1::uuid`, [uuid])
      return uuid
    },
  },
  'erase-arguments-of-deleted': {
    ...{ table: 'orders', done: 'action_args is null', run: sweepDeletions },
    async make() {
      const { buyer, id, uuid } = await order({}, called)
      expectOk(await called.confirm(buyer, id))
      await remove(buyer)
      await giveUp(uuid)
      return uuid
    },
  },
  'erase-webhooks-of-deleted': {
    ...{ table: 'network_apps', done: 'webhook_secret is null', run: sweepDeletions },
    async make() {
      const owner = await app.admin()
      const json = { name: randomUUID(), price_mode: 'fixed', price: '1', webhook_url: 'https://receiver.example' }
      const { id } = expectOk(await owner.rest('POST', 'store/network-apps/', { json }))
      await remove(owner)
      return fromId(id)!.uuid
    },
  },
  'erase-addresses-of-deleted': {
    ...{ table: 'audit_entries', done: 'address is null', run: sweepDeletions },
    async make() {
      const user = await app.newUser()
      await remove(user)
      return itemOf(
        `insert into audit_entries (user_id, action, address) values ($1::uuid, 'session.started', '192.0.2.1') returning id::text`,
        user.id,
      )
    },
  },
  'erase-responses-of-deleted': {
    ...{ table: 'webhook_attempts', key: 'delivery_id', done: `response = ''`, run: sweepDeletions },
    async make() {
      const { buyer, id, uuid } = await order({}, called)
      expectOk(await called.confirm(buyer, id))
      await remove(buyer)
      await giveUp(uuid)
      return itemOf(
        `insert into webhook_attempts (delivery_id, number, duration, response)
         select id, 1, 5, 'Served Ada' from webhook_deliveries where order_id = $1::uuid returning delivery_id::text as id`,
        uuid,
      )
    },
  },
  'erase-deleted-assets': {
    ...{
      table: 'assets',
      done: `erased_through = head_sequence and not exists (select from commits c where c.asset_id = t.id and c.tree <> '')`,
      run: tidy,
    },
    async make() {
      const { user, nid, uuid } = await asset({ caption: 'to be erased' })
      expect((await user.rest('DELETE', `assets/${nid}/`)).status).toBe(204)
      await settle(uuid)
      return uuid
    },
  },
  'forfeit-balances': {
    ...{ table: 'wallets', key: 'user_id', done: 'num = 0', run: sweepDeletions },
    async make() {
      const user = await app.newUser({ points: '0' })
      await remove(user)
      await database.query(deposit, { user: user.id, amount: '3' })
      return user.id
    },
  },
  'delete-idempotency-keys': {
    ...{ table: 'idempotency_keys', key: `encode(scope, 'hex')`, run: tidy },
    async make() {
      const user = await app.newUser()
      const request = { json: { description: 'Hello' }, headers: { 'Idempotency-Key': randomUUID() } }
      await user.rest('PATCH', 'auth/users/profile/', request)
      return itemOf(
        `update idempotency_keys set created_at = now() - interval '8 days' where result = $1 returning encode(scope, 'hex') as item`,
        user.id,
      )
    },
  },
  'delete-expired-sessions': {
    ...{ table: 'access_tokens', run: tidy },
    make: async () =>
      itemOf(
        `update access_tokens set expires_at = now() - interval '1 day' where user_id = $1::uuid returning id::text`,
        (await app.newUser()).id,
      ),
  },
  'delete-idle-sessions': {
    ...{ table: 'access_tokens', run: tidy },
    make: async () =>
      itemOf(
        `update access_tokens set id = uuidv7(interval '-366 days'), created_at = now() - interval '366 days'
         where user_id = $1::uuid returning id::text`,
        (await app.newUser()).id,
      ),
  },
  'delete-one-time-tokens': {
    ...{ table: 'one_time_tokens', key: `encode(hash, 'hex')`, run: tidy },
    make: async () =>
      itemOf(
        `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
         values ($1::uuid, 'PASSWORD_RESET', uuidv7(), sha256(uuid_send($1::uuid)), 'x', now() - interval '8 days')
         returning encode(hash, 'hex') as item`,
        (await app.newUser()).id,
      ),
  },
  'delete-deliveries': {
    ...{ table: 'webhook_deliveries', run: tidy },
    async make() {
      const { buyer, id, uuid } = await order({}, called)
      expectOk(await called.confirm(buyer, id))
      await giveUp(uuid)
      return itemOf(
        `with reported as (update orders set settled_at = now() - interval '91 days' where id = $1::uuid returning id)
         update webhook_deliveries d set id = uuidv7(interval '-91 days'), settled_at = now() - interval '91 days'
         from reported where d.order_id = reported.id returning d.id::text`,
        uuid,
      )
    },
  },
  'delete-events': {
    ...{ table: 'events', run: tidy },
    make: async () =>
      itemOf(
        `with fed as (update wallets set event_sequence = event_sequence + 1 where user_id = $1::uuid returning *)
         insert into events (id, owner_id, sequence, type, created_at)
         select uuidv7(interval '-91 days'), user_id, event_sequence, 'points.granted', now() - interval '91 days' from fed
         returning id::text`,
        (await app.newUser()).id,
      ),
  },
  'credit-deposits': {
    ...{ table: 'deposits', key: 'reference', done: `t.status = 'CREDITED'` },
    async make() {
      const { id } = await app.newUser({ points: '0' })
      const hash = `0x${randomUUID()}`
      const reference = `deposit:${hash}:-1`
      await app.sql(
        `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
         values ($1, 'COIN', 'PENDING', $2, $3::uuid, 1.5, 1, '0xbb')`,
        [reference, hash, id],
      )
      return reference
    },
    async run() {
      const books = createDepositLedger(app.installation)
      await books.begin(1, 'here')
      await books.creditDue({ chainId: 1, position: 'here' }, 1)
    },
  },
}

async function asset(fields: Record<string, string> = {}) {
  const user = await app.newUser()
  const { id: nid } = await user.register(fields)
  const [row] = await app.sql<{ id: string }>('select id::text from assets where nid = $1', [nid])
  return { user, nid: nid as string, uuid: row!.id }
}

/** Marks the commits of an asset as final, like the relay. */
const settle = (assetId: string) =>
  app.sql(
    `update commit_relays r set status = 'FINAL' from commits c where c.id = r.commit_id and c.asset_id = $1::uuid`,
    [assetId],
  )

const giveUp = (orderId: string) =>
  app.sql(
    `with given_up as (
       update webhook_deliveries set status = 'GIVEN_UP', settled_at = now(), next_attempt_at = null
       where order_id = $1::uuid returning order_id
     )
     update orders set status = 'FAILURE', settled_at = now() from given_up where orders.id = given_up.order_id`,
    [orderId],
  )

await app.sql(`create function test_refuse() returns trigger language plpgsql as
  $$ begin raise exception 'for a test'; end $$`)

async function refuse({ table, key = 'id', done }: Scene, item: string) {
  await app.sql(
    `create trigger test_refuse before ${done === undefined ? 'delete' : 'update'} on ${table} for each row
     when ((${key.replace(/(\w+)(?=[,)]|$)/, 'old.$1')})::text = '${item}') execute function test_refuse()`,
  )
  return () => app.sql(`drop trigger test_refuse on ${table}`)
}

const isDone = async ({ table, key = 'id', done }: Scene, item: string) => {
  const rows = await app.sql(`select 1 from ${table} t where (${key})::text = $1 and not (${done ?? 'false'})`, [item])
  return rows.length === 0
}

const jobFailureOf = async (item: string) =>
  (await database.query(findJobFailures, { limit: 1_000 })).find((row) => row.item === item)
const lines = (job: string) => app.log.lines.filter(({ fields }) => 'job' in fields && fields.job === job)

describe.each(Object.keys(batchJobItems) as BatchJobName[])('batch job %s', (name) => {
  const scene = scenes[name]

  it('a batch job processes all other items if one item always fails, and retries that item with backoff', async () => {
    const bad = await scene.make()
    const good = [await scene.make(), await scene.make()]
    const allow = await refuse(scene, bad)
    const look = () => Promise.all([bad, ...good].map((item) => isDone(scene, item)))
    expect(await look()).toEqual([false, false, false])
    await scene.run()
    expect(await look()).toEqual([false, true, true])
    const first = (await jobFailureOf(bad))!
    expect(first).toMatchObject({ job: name, attempts: 1, last_error: 'for a test' })
    expect(+first.next_attempt_at - +first.since).toBeGreaterThanOrEqual(5_000)

    await app.sql(`update job_failures set next_attempt_at = next_attempt_at + interval '1 hour'`)
    const later = await scene.make()
    await scene.run()
    expect([await isDone(scene, later), (await jobFailureOf(bad))!.attempts]).toEqual([true, 1])
    const [clock] = await app.sql<{ now: Date }>(
      `with due as (update job_failures set next_attempt_at = now() - interval '1 ms') select now() as now`,
    )
    await scene.run()
    const again = (await jobFailureOf(bad))!
    expect(again.attempts).toBe(2)
    expect(+again.next_attempt_at - +clock!.now).toBeGreaterThanOrEqual(10_000)
    const [shown] = await withPublicItems(database, [{ job: name, item: bad }])
    expect(shown!.item).not.toMatch(UUID)
    expect(lines(name)).toMatchObject([{ level: 'error', fields: { count: 1, items: [shown!.item] } }])

    await allow()
    await scene.run()
    expect(await isDone(scene, bad)).toBe(false)
    await database.query(retryJobFailures)
    await scene.run()
    expect([await isDone(scene, bad), await jobFailureOf(bad)]).toEqual([true, undefined])
  })
})

it('erases a history that is too long for one statement without delaying other items', async () => {
  const { user, nid, uuid } = await asset({ caption: 'long' })
  await app.sql(
    `with made as (
       insert into commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
       select $1::uuid, n, $2::uuid, '{}', 'tree ' || n, 'bafk-' || n, repeat('a', 64) from generate_series(2, 1200) n
       returning id, sequence
     ),
     relayed as (insert into commit_relays (commit_id, status) select id, 'FINAL' from made),
     paid as (insert into transfers (reference) select 'commit:' || id from made),
     pinned as (insert into pins (cid, asset_id, kind) select 'bafk-' || sequence, $1::uuid, 'TREE' from made)
     update assets set head_sequence = 1200, head_commit_id = (select id from made where sequence = 1200) where id = $1::uuid`,
    [uuid, user.id],
  )
  await settle(uuid)
  expect((await user.rest('DELETE', `assets/${nid}/`)).status).toBe(204)
  const left = async () =>
    (
      await app.sql<{ trees: number; pins: number }>(
        `select (select count(*)::int from commits where asset_id = $1::uuid and tree <> '') as trees,
           (select count(*)::int from pins where asset_id = $1::uuid) as pins`,
        [uuid],
      )
    )[0]!
  expect(await left()).toEqual({ trees: 700, pins: expect.any(Number) })
  await tidy()
  expect(await left()).toEqual({ trees: 0, pins: 0 })
})

it('keeps the tree of a commit that is not final, and erases earlier trees of the asset', async () => {
  const { user, nid, uuid } = await asset({ caption: 'first' })
  await settle(uuid)
  expectOk(await user.rest('PATCH', `assets/${nid}/`, { json: { caption: 'second' } }))
  expect((await user.rest('DELETE', `assets/${nid}/`)).status).toBe(204)
  const find = `select tree <> '' as is_kept from commits where asset_id = $1::uuid order by sequence`
  const trees = async () => (await app.sql<{ is_kept: boolean }>(find, [uuid])).map(({ is_kept }) => is_kept)
  await tidy()
  expect(await trees()).toEqual([false, true])
  await settle(uuid)
  await tidy()
  expect(await trees()).toEqual([false, false])
})
