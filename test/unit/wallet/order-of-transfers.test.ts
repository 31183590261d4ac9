/** A wallet statement has the order of the balance changes, for every kind of transfer and despite clock skew. */

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { cleanUpDeletedAccounts } from '../../../src/modules/accounts/delete-account.ts'
import { failCommit } from '../../../src/modules/commits/commits.sql.ts'
import { grantPoints } from '../../../src/modules/wallet/grant-points.ts'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { add } from '../../../src/shared/money.ts'
import { creditDepositsOf } from '../../support/deposits.ts'
import { expectOk } from '../../support/expect-error.ts'
import { waiting } from '../../support/held-rows.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const { database } = app.installation

const give = (user: SignedIn) =>
  grantPoints(asSystem(app.context), { userId: user.publicId, amount: '3', reason: 'Test' })

async function openOrder(buyer: SignedIn, owner: SignedIn) {
  const store = await createStore(app, { price: '1', owner })
  const order = await store.order(buyer)
  return { store, order, confirm: async () => expectOk(await store.confirm(buyer, order.id)) }
}

async function paidInVain(buyer: SignedIn, owner: SignedIn) {
  const { store, confirm } = await openOrder(buyer, owner)
  const uuid = fromId(store.appId)!.uuid
  const refunding = `update network_apps set webhook_url = 'https://example.org', webhook_secret = '\\x00', delivery_failure_policy = 'REFUND'`
  await app.sql(`${refunding} where id = $1::uuid`, [uuid])
  await confirm()
  const [delivery] = await app.sql('select id from webhook_deliveries where network_app_id = $1::uuid', [uuid])
  return () => app.jobs['abandoned-delivery']({ deliveryId: delivery!.id! })
}

async function commitOf(user: SignedIn): Promise<string> {
  await user.register()
  const [commit] = await app.sql('select id from commits where author_id = $1::uuid', [user.id])
  return commit!.id!
}

const withdraw = async (user: SignedIn): Promise<{ id: string }> => {
  const json = { amount: '0.1', to: `0x${'e1'.repeat(20)}`, current_password: PASSWORD }
  return expectOk(await user.rest('POST', 'wallet/withdrawals/', { json }))
}

const movements: Record<string, [count: number, prepare: (user: SignedIn) => Promise<() => Promise<unknown>>]> = {
  'a grant': [1, async (user) => () => give(user)],
  'a commit': [1, async (user) => () => user.register()],
  'the refund of a failed commit': [
    1,
    async (user) => {
      const commit = await commitOf(user)
      return () => database.query(failCommit, { commit, reason: 'for a test' })
    },
  ],
  'a purchase': [1, async (user) => (await openOrder(user, await app.newUser())).confirm],
  'a sale': [1, async (user) => (await openOrder(await app.newUser(), user)).confirm],
  'the refund of a failed purchase': [1, async (user) => paidInVain(user, await app.newUser())],
  'the reversal of a failed sale': [1, async (user) => paidInVain(await app.newUser(), user)],
  'a withdrawal': [
    1,
    async (user) => {
      await creditDepositsOf(app, user, 1)
      return () => withdraw(user)
    },
  ],
  'a cancelled withdrawal': [
    1,
    async (user) => {
      await creditDepositsOf(app, user, 1)
      const { id } = await withdraw(user)
      return async () => expectOk(await user.rest('POST', `wallet/withdrawals/${id}/cancel/`))
    },
  ],
  'two deposits in one block': [2, async (user) => () => creditDepositsOf(app, user, 2)],
}

interface Line {
  id: string
  num: string
  points: string
  balance_num: string
  balance_points: string
  created_at: string
}
const readLines = async (user: SignedIn): Promise<Line[]> =>
  expectOk(await user.rest('GET', 'wallet/transfers/')).results

const moveSql = (id: string) => `
  with paid as (update wallets w set num = num + 1 where user_id = $1::uuid returning user_id, ${id} as id),
  moved as (
    insert into transfers (id, reference, created_at) select id, 'deposit:' || id, clock_timestamp() from paid returning id
  )
  insert into entries (transfer_id, position, wallet_id, book, currency, amount)
  select moved.id, line.* from moved, lateral (values
    (1, $1::uuid, null::book, 'NUM'::currency, 1::numeric), (2, null, 'DEPOSITS', 'NUM', -1)) as line
  returning transfer_id::text as id`

function expectSums(lines: Line[]) {
  const times = lines.map(({ created_at }) => created_at)
  expect(times).toEqual(times.toSorted().toReversed())
  for (const [index, line] of lines.entries()) {
    const before = lines[index + 1]
    expect(add(before?.balance_num ?? '0', line.num)).toBe(line.balance_num)
    expect(add(before?.balance_points ?? '0', line.points)).toBe(line.balance_points)
  }
}

async function whileHeld(user: SignedIn, begin: () => Promise<unknown>, text: string) {
  const other = new pg.Client({ connectionString: app.env.DATABASE_URL })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query('begin')
  await other.query('select from wallets where user_id = $1::uuid for update', [user.id])
  const begun = begin()
  await waiting(app, 1)
  const done = await other.query(text, [user.id])
  await other.query('commit')
  await begun
  return done
}

describe.each(Object.entries(movements))('order of transfers: %s', (_, [count, prepare]) => {
  it.each([
    ['', undefined],
    [', and above a transfer that a fast clock dated', '10 minutes'],
  ])('a wallet statement lists a transfer above the transfer whose wallet lock it waited for%s', async (_, ahead) => {
    const user = await app.newUser()
    const move = await prepare(user)
    if (ahead) await app.sql(moveSql(`uuidv7(interval '${ahead}')`), [user.id])
    const before = await readLines(user)
    const { rows } = await whileHeld(user, move, moveSql('(next_transfer_ids(w.user_id))[1]'))
    const after = await readLines(user)
    expect(after.slice(count + 1)).toEqual(before)
    expect(after[count]!.id).toBe(toId('transfer', rows[0].id))
    expectSums(after)
  })
})

it('lists an order above the order whose wallet lock it waited for', async () => {
  const user = await app.newUser()
  const store = await createStore(app, { price: '1' })
  let waited: { id: string } | undefined
  const order = async () => {
    waited = await store.order(user)
  }
  const { rows } = await whileHeld(
    user,
    order,
    `insert into orders (buyer_id, network_app_id, network_app_name, price, quoted_points, quoted_num, status, created_at,
       expires_at, settled_at)
     select $1::uuid, id, name, 0, 0, 0, 'EXPIRED', clock_timestamp(), now(), now() from network_apps limit 1 returning id`,
  )
  const { results } = expectOk(await user.rest('GET', 'store/network-app-orders/'))
  expect(results.map(({ id }: { id: string }) => id)).toEqual([waited!.id, toId('order', rows[0].id)])
})

it("the last transfer of a deleted account's wallet is the forfeiture", async () => {
  const user = await app.newUser()
  await app.sql(moveSql(`uuidv7(interval '10 minutes')`), [user.id])
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  await creditDepositsOf(app, user, 1)
  await cleanUpDeletedAccounts(app.context)
  const kinds = await app.sql(
    `select distinct t.id, split_part(reference, ':', 1) as kind from entries e join transfers t on t.id = e.transfer_id
     where e.wallet_id = $1::uuid order by t.id`,
    [user.id],
  )
  expect(kinds.map(({ kind }) => kind)).toEqual(['sign-up', 'deposit', 'forfeit', 'deposit', 'forfeit'])
})

it('the database formats IDs like the API', async () => {
  const edges = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
  const uuids = [...edges, randomUUID(), randomUUID()]
  const found = await app.sql(`select type_id('session', id) as id from unnest($1::uuid[]) as id`, [uuids])
  expect(found.map(({ id }) => id)).toEqual(uuids.map((uuid) => toId('session', uuid)))
})
