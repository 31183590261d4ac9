/**
 * Concurrent writes can share one statement (decision 52). Each caller gets, pays and sees what they would alone. These tests start the
 * statements in one turn of the event loop, so that they share one, and check the results through the APIs.
 */
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyMetadata, metadataOf, metadataParams } from '../../../src/modules/assets/metadata.ts'
import { updateAssetStatement } from '../../../src/modules/assets/update-asset.ts'
import { insertOrder, payOrder } from '../../../src/modules/store/orders.sql.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { add } from '../../../src/shared/money.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createStore, type TestStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const { database } = app.installation
const unremembered = { scope: null, payloadHash: null }

const uuidOf = (id: string) => fromId(id)!.uuid
const transactionsOf = async (table: string, column: string, ids: string[]) =>
  (await app.sql(`select distinct xmin::text from ${table} where ${column} = any($1::uuid[])`, [ids])).length
const newUsers = (count: number, balance: object = { num: '10', points: '0' }) =>
  Promise.all(Array.from({ length: count }, () => app.newUser(balance)))

const feedOf = async (user: SignedIn) =>
  expectOk(await user.rest('GET', 'events?limit=100')).results.map(({ sequence, type }: Record<string, unknown>) => ({
    sequence,
    type,
  }))

async function hold(sql: string, ...values: unknown[]) {
  const client = new pg.Client({ connectionString: app.env.DATABASE_URL })
  await client.connect()
  let isOpen = true
  const release = async () => {
    if (isOpen) await client.end()
    isOpen = false
  }
  onTestFinished(release)
  await client.query('begin')
  await client.query(sql, values)
  return release
}

interface Owned {
  user: SignedIn
  nid: string
}

async function newAsset(balance?: object): Promise<Owned> {
  const user = await app.newUser(balance)
  return { user, nid: (await user.register()).id }
}

async function updateOf({ user, nid }: Owned, caption: string, more: object = {}) {
  const [{ id, sequence } = { id: '', sequence: 0 }] = await app.sql<{ id: string; sequence: number }>(
    'select id::text, head_sequence as sequence from assets where nid = $1',
    [nid],
  )
  return {
    ...{ user: user.id, message: caption, changes: JSON.stringify({ caption: ['', caption] }) },
    ...{ tree: '{}', treeCid: nid, treeSha256: 'ab'.repeat(32), fee: '0.1', gas: '0.079' },
    ...{ asset: id, nid, headSequence: sequence },
    ...metadataParams(metadataOf({ ...emptyMetadata, caption })),
    ...unremembered,
    ...more,
  }
}

describe('concurrent asset updates', () => {
  it('concurrent updates by several users share a transaction, and each user pays for their own commit', async () => {
    const owned = await Promise.all(Array.from({ length: 8 }, () => newAsset({ num: '5', points: '0.2' })))
    const asked = await Promise.all(owned.map((each, n) => updateOf(each, `Caption ${n}`)))
    const written = (await Promise.all(asked.map((each) => database.query(updateAssetStatement, each)))).flat()
    const commits = written.map(({ commit_id: id }) => id)
    expect([new Set(commits).size, await transactionsOf('commits', 'id', commits)]).toEqual([8, 1])
    for (const [n, { user, nid }] of owned.entries()) {
      // Points are charged first. The registration leaves 0.2 - 0.179 = 0.021 points.
      expect(await app.wallet(user)).toEqual({ points: '0', num: '4.842' })
      expect(expectOk(await user.rest('GET', `assets/${nid}/`)).caption).toBe(`Caption ${n}`)
      expect(await feedOf(user)).toEqual([1, 2].map((sequence) => ({ sequence, type: 'commit.accepted' })))
    }
  })

  it('concurrent updates succeed even if another caller cannot pay or has an outdated version', async () => {
    const [poor, stale, good] = [
      await newAsset({ num: '0.2', points: '0' }),
      await newAsset({ num: '5', points: '0' }),
      await newAsset({ num: '5', points: '0' }),
    ]
    const asked = [
      await updateOf(poor, 'Poor'),
      await updateOf(stale, 'Stale', { headSequence: 7 }),
      await updateOf(good, 'Good'),
    ]
    const written = await Promise.all(asked.map((each) => database.query(updateAssetStatement, each)))
    expect(written.map((rows) => rows.length)).toEqual([0, 0, 1])
    const commits = await Promise.all([poor, stale, good].map(({ nid }) => app.commitCount(nid)))
    expect(commits).toEqual([1, 1, 2])
    expect((await app.wallet(poor.user)).num).toBe('0.021')
    expect((await app.wallet(stale.user)).num).toBe('4.821')
  })

  it('concurrent updates store the idempotency key of each request', async () => {
    const owned = [await newAsset(), await newAsset(), await newAsset()]
    const keys = ['first', 'second'].map((word) => Buffer.from(word.padEnd(48, '.')))
    const asked = await Promise.all(
      owned.map((each, n) => updateOf(each, 'Kept', { scope: keys[n] ?? null, payloadHash: keys[n] ?? null })),
    )
    await Promise.all(asked.map((each) => database.query(updateAssetStatement, each)))
    const kept = await app.sql<{ scope: string; result: string }>(
      `select rtrim(convert_from(scope, 'utf8'), '.') as scope, result from idempotency_keys where scope = any($1::bytea[]) order by scope`,
      [keys],
    )
    expect(kept).toEqual([
      { scope: 'first', result: owned[0]!.nid },
      { scope: 'second', result: owned[1]!.nid },
    ])
  })

  it('concurrent updates skip a locked row, and process it after the lock is released', async () => {
    const [held, ...others] = await Promise.all(Array.from({ length: 5 }, () => newAsset()))
    for (const [table, column] of [
      ['assets', 'owner_id'],
      ['wallets', 'user_id'],
      ['users', 'id'],
    ] as const) {
      const release = await hold(`select from ${table} where ${column} = $1 for update`, held!.user.id)
      const patch = ({ user, nid }: Owned) => user.rest('PATCH', `assets/${nid}/`, { json: { caption: table } })
      const asked = await Promise.all([held!, ...others].map((each) => updateOf(each, table)))
      const [late, ...rest] = asked.map((each) => database.query(updateAssetStatement, each))
      expect((await Promise.all(rest)).flat(), table).toHaveLength(4)
      // Also by an API request, while the first caller still waits.
      expect(expectOk(await patch(others[0]!)).caption).toBe(table)
      await release()
      expect(await late, table).toHaveLength(1)
    }
  })
})

describe('concurrent orders', () => {
  it('concurrent orders by several users share a transaction, with the same results as separate orders', async () => {
    const owner = await app.newUser({ num: '10', points: '0', role: 'ADMIN' })
    const [store, other] = [await createStore(app, { owner }), await createStore(app, { price: '1' })]
    const [poor, full, ...buyers] = [...(await newUsers(1, { num: '0.5', points: '0' })), ...(await newUsers(6))]
    const orderOf = (buyer: SignedIn, { appId, name }: TestStore, more: object = {}) => ({
      ...{ order: crypto.randomUUID(), buyer: buyer.id, app: uuidOf(appId), name, actionArgs: Buffer.from(buyer.id) },
      ...{ window: 900, maxCost: null, maxOpen: 10, ...unremembered, ...more },
    })
    const asked = [
      orderOf(poor!, store),
      orderOf(full!, store, { maxOpen: 0 }),
      ...buyers.map((buyer) => orderOf(buyer, store)),
      orderOf(store.owner, other, { app: null, name: other.name.toUpperCase() }),
    ]
    const made = (await Promise.all(asked.map((each) => database.query(insertOrder, each)))).flat()
    expect(made.map(({ buyerId }) => buyerId)).toEqual([...buyers, store.owner].map(({ id }) => id))
    const ids = made.map(({ id }) => id)
    expect(await transactionsOf('orders', 'id', ids)).toBe(1)
    expect(made.map(({ price }) => Number(price))).toEqual([2.5, 2.5, 2.5, 2.5, 2.5, 1])
    for (const [n, buyer] of buyers.entries()) {
      expect(made[n]!.actionArgs!.toString()).toBe(buyer.id)
      expect(await feedOf(buyer)).toEqual([{ sequence: 1, type: 'order.created' }])
    }
    expect(await feedOf(poor!)).toEqual([])
  })
})

describe('concurrent payments', () => {
  const pay = (buyer: SignedIn, orderId: string, more: object = {}) =>
    database.query(payOrder, {
      ...{ order: uuidOf(orderId), buyer: buyer.id, platformShare: '0.1', maxCost: null, ...unremembered },
      ...more,
    })

  it('concurrent payments to one seller share a transaction, and the seller gets one event per payment', async () => {
    const store = await createStore(app)
    const before = await app.wallet(store.owner)
    const buyers = [...(await newUsers(6)), ...(await newUsers(3, { num: '1', points: '2' }))]
    const orders: string[] = []
    for (const buyer of buyers) orders.push((await store.order(buyer)).id)
    const paid = (await Promise.all(buyers.map((buyer, n) => pay(buyer, orders[n]!)))).flat()
    expect(paid.map(({ id }) => id)).toEqual(orders.map(uuidOf))
    expect(await transactionsOf('orders', 'id', orders.map(uuidOf))).toBe(1)
    for (const [n, buyer] of buyers.entries()) {
      expect(await app.wallet(buyer)).toEqual(n < 6 ? { num: '7.5', points: '0' } : { num: '0.5', points: '0' })
      expect(await feedOf(buyer)).toEqual([
        { sequence: 1, type: 'order.created' },
        { sequence: 2, type: 'order.paid' },
      ])
    }
    // 90 % of six payments of 2.5 units and three payments of 0.5 units and 2 points.
    expect(await app.wallet(store.owner)).toEqual({ num: add(before.num, '14.85'), points: add(before.points, '5.4') })
    expect(await feedOf(store.owner)).toEqual(
      Array.from({ length: 9 }, (_, n) => ({ sequence: n + 1, type: 'order.paid' })),
    )
    const mails = await app.sql<{ n: number }>(
      `select count(*)::int as n from jobs.job where name = 'mail' and data->>'orderId' = any($1::text[])
       group by data->>'orderId', data->>'template'`,
      [orders.map(uuidOf)],
    )
    expect(mails).toEqual(Array.from({ length: 18 }, () => ({ n: 1 })))
  })

  it('concurrent payments skip users who cannot pay, are late or set a lower maximum cost', async () => {
    const store = await createStore(app)
    const [poor, late, thrifty, paid, good] = await newUsers(5)
    const ids: string[] = []
    for (const buyer of [poor, late, thrifty, paid, good]) ids.push((await store.order(buyer!)).id)
    expectOk(await store.confirm(paid!, ids[3]!))
    expectOk(await store.confirm(poor!, (await store.order(poor!)).id))
    await app.sql(`update orders set expires_at = created_at + interval '1 ms' where id = $1::uuid`, [uuidOf(ids[1]!)])
    const more = [{}, {}, { maxCost: '2' }, {}, {}]
    const drained = await createStore(app, { price: '7' })
    expectOk(await drained.confirm(poor!, (await drained.order(poor!)).id))
    const answers = await Promise.all(
      [poor, late, thrifty, paid, good].map((buyer, n) => pay(buyer!, ids[n]!, more[n])),
    )
    expect(answers.map((rows) => rows.length)).toEqual([0, 0, 0, 0, 1])
    expect((await app.wallet(poor!)).num).toBe('0.5')
    expect((await app.wallet(thrifty!)).num).toBe('10')
    expect((await app.wallet(paid!)).num).toBe('7.5')
  })

  it('concurrent payments to a seller with a locked wallet do not block other payments', async () => {
    const [held, free] = [await createStore(app), await createStore(app)]
    const buyers = await newUsers(4)
    const orders = [await held.order(buyers[0]!)]
    for (const buyer of buyers.slice(1)) orders.push(await free.order(buyer))
    const release = await hold('select from wallets where user_id = $1 for update', held.owner.id)
    const [late, ...others] = buyers.map((buyer, n) => pay(buyer, orders[n]!.id))
    expect((await Promise.all(others)).flat()).toHaveLength(3)
    await release()
    expect(await late).toHaveLength(1)
  })
})
