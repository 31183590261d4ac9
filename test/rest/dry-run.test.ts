/** `?dry_run=true`: everything is told, nothing is done. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromId } from '../../src/domain/ids.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import type { FormValue } from '../support/http-client.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const orders = 'store/network-app-orders/'

/** How many rows each table holds that a paid action writes, and every balance. */
const everything = () =>
  app.sql(`select (select count(*) from assets)::int as assets, (select count(*) from commits)::int as commits,
    (select count(*) from orders)::int as orders, (select count(*) from transfers)::int as transfers,
    (select count(*) from entries)::int as entries, (select count(*) from events)::int as events,
    (select count(*) from pins)::int as pins, (select count(*) from idempotency_keys)::int as keys,
    (select count(*) from jobs.job)::int as jobs,
    (select string_agg(concat(user_id, num, points, event_sequence), ',' order by user_id) from wallets) as wallets,
    (select string_agg(concat(id, caption, head_sequence, updated_at), ',' order by id) from assets) as heads,
    (select string_agg(concat(id, status), ',' order by id) from orders) as statuses`)

/** Carries a dry run out, and fails unless it left everything as it was. */
async function tried(send: () => ReturnType<SignedIn['rest']>) {
  const before = await everything()
  const answer = await send()
  expect(await everything()).toEqual(before)
  return answer
}

type Fields = Record<string, FormValue>
const post = (user: SignedIn, fields: Fields, query = '?dry_run=true', headers = {}) =>
  user.rest('POST', `assets/${query}`, { multipart: { asset_file: newFile(), ...fields }, headers })
const patch = (user: SignedIn, nid: string, json: object, query = '?dry_run=true', headers = {}) =>
  user.rest('PATCH', `assets/${nid}/${query}`, { json, headers })
const order = (user: SignedIn, json: object, query = '?dry_run=true', headers = {}) =>
  user.rest('POST', `${orders}${query}`, {
    json: { network_app: store.appId, ...json },
    headers: { ...store.service, ...headers },
  })
const confirm = (user: SignedIn, id: string, json: object = {}, query = '?dry_run=true', headers = {}) =>
  user.rest('POST', `${orders}${id}/confirm/${query}`, { json, headers: { ...store.service, ...headers } })

const told = ({ body }: { body: { errors: { type: string; field: string | null }[] } }) =>
  body.errors.map(({ type, field }) => (field ? `${type} ${field}` : type)).sort()

describe('a dry run', () => {
  it('of a registration tells the cost, writes nothing, and agrees with the real call', async () => {
    const user = await app.newUser({ points: '0.1', num: '3' })
    const file = newFile()
    const dry = await tried(() => post(user, { asset_file: file }))
    expect([dry.status, dry.headers.get('etag')]).toEqual([200, null])
    expect(dry.body).toEqual({
      dry_run: true,
      price: app.services.pricing().assetUpdateFee,
      gas: app.services.pricing().gasFee,
      total_cost: app.services.pricing().total,
      balance: { num: '3', points: '0.1' },
      available: '3.1',
      points_charged: '0.1',
      num_charged: expect.any(String),
      missing: '0',
      errors: [],
    })
    expectOk(await post(user, { asset_file: file, max_cost: dry.body.total_cost }, ''))
    const left = await app.wallet(user)
    expect(left.points).toBe('0')
    expect(Number(left.num)).toBeCloseTo(3 - Number(dry.body.num_charged), 12)
    const again = await tried(() => post(user, { asset_file: file }))
    expect(told(again)).toEqual(['duplicate_asset_not_allowed'])
  })

  it('of a registration tells everything that is wrong at once, each with its field', async () => {
    const user = await app.newUser({ points: '0.01' })
    const fields = {
      caption: 'x'.repeat(4001),
      headline: 'x'.repeat(101),
      public_access: 'perhaps',
      nit_commit_custom: '[1]',
      max_cost: '0.001',
      asset_file: new File([], 'empty.png'),
    }
    expect(told(await tried(() => post(user, fields)))).toEqual([
      'asset_commit_insufficient_fund',
      'price_exceeds_max_cost',
      'validation_error asset_file',
      'validation_error caption',
      'validation_error headline',
      'validation_error nit_commit_custom',
      'validation_error public_access',
    ])
  })

  it('of a registration without a file is told so, among the rest', async () => {
    const user = await app.newUser({ points: '0' })
    const answer = await tried(() =>
      user.rest('POST', 'assets/?dry_run=true', { multipart: { headline: 'x'.repeat(101), max_cost: 'much' } }),
    )
    expect(told(answer)).toEqual([
      'asset_commit_insufficient_fund',
      'validation_error asset_file',
      'validation_error headline',
      'validation_error max_cost',
    ])
  })

  it('keeps nothing of the file, however many blocks it has', async () => {
    const user = await app.newUser()
    const file = new File([randomBytes(600_000)], 'large.bin')
    expect((await post(user, { asset_file: file })).body.errors).toEqual([])
    const { cid } = await app.installation.contentStore.identifyFile(file.stream() as never)
    await expect(app.installation.contentStore.size(cid)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const registered = expectOk(await post(user, { asset_file: file }, ''))
    expect(registered.id).toBe(cid)
  })

  it('of an update agrees with it, and costs nothing when nothing changes', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ caption: 'before' })
    const dry = await tried(() => patch(user, id, { caption: 'after' }))
    expect(dry.body).toMatchObject({ total_cost: app.services.pricing().total, missing: '0', errors: [] })
    const same = await tried(() => patch(user, id, { caption: 'before', max_cost: '0' }))
    expect(same.body).toMatchObject({ price: '0', gas: '0', total_cost: '0', errors: [] })
    const { points } = await app.wallet(user)
    expectOk(await patch(user, id, { caption: 'before', max_cost: '0' }, ''))
    expect(await app.wallet(user)).toMatchObject({ points })
    expectOk(await patch(user, id, { caption: 'after' }, ''))
    const left = await app.wallet(user)
    expect(Number(points) - Number(left.points)).toBeCloseTo(Number(dry.body.points_charged), 12)
  })

  it('of an update tells an old head, bad fields and an empty wallet together', async () => {
    const user = await app.newUser({ points: app.services.pricing().total })
    const { id } = await user.register()
    const json = { caption: 'x'.repeat(4001), tag: 'x'.repeat(256), headline: 'fine', max_cost: '0.01' }
    const answer = await tried(() => patch(user, id, json, '?dry_run=true', { 'If-Match': '"commit_old"' }))
    expect(told(answer)).toEqual([
      'asset_commit_insufficient_fund',
      'conflict',
      'price_exceeds_max_cost',
      'validation_error caption',
      'validation_error tag',
    ])
    expect(answer.body.missing).toBe(app.services.pricing().total)
  })

  it('of an order and of its confirmation tell how the wallet would pay, and agree with the real calls', async () => {
    const user = await app.newUser({ points: '1', num: '5' })
    const quote = {
      dry_run: true,
      price: '2.5',
      gas: '0',
      total_cost: '2.5',
      balance: { num: '5', points: '1' },
      available: '6',
      points_charged: '1',
      num_charged: '1.5',
      missing: '0',
      errors: [],
    }
    expect((await tried(() => order(user, {}))).body).toEqual(quote)
    const { id } = expectOk(await order(user, { max_cost: 2.5 }, ''))
    expect((await tried(() => confirm(user, id))).body).toEqual(quote)
    expect(expectOk(await confirm(user, id, {}, ''))).toMatchObject({ points_paid: '1', num_paid: '1.5' })
    expect((await tried(() => confirm(user, id))).body).toMatchObject({ total_cost: '0', errors: [] })
  })

  it('of an order tells everything that is wrong at once', async () => {
    const user = await app.newUser({ points: '1' })
    const json = { action_args: { a: 'x'.repeat(65_536) }, max_cost: '2' }
    const poor = await tried(() => order(user, json))
    expect(told(poor)).toEqual(['insufficient_fund', 'price_exceeds_max_cost', 'validation_error action_args'])
    expect(poor.body).toMatchObject({ missing: '1.5', points_charged: '1', num_charged: '0' })
    const unknown = await tried(() => order(user, { network_app: 'nobody sells this', action_args: [1] }))
    expect(told(unknown)).toEqual(['invalid_network_app_name', 'validation_error action_args'])
    for (const network_app of ['', {}]) {
      expect(told(await tried(() => order(user, { network_app })))).toEqual(['validation_error network_app'])
    }
  })

  it('of a confirmation tells that the order is over, and what is missing', async () => {
    const user = await app.newUser({ points: '2.5' })
    const late = expectOk(await order(user, {}, ''))
    const withdrawn = expectOk(await order(user, {}, ''))
    expectOk(await confirm(user, expectOk(await order(user, {}, '')).id, {}, ''))
    expectOk(await user.rest('POST', `${orders}${withdrawn.id}/cancel/`))
    await app.sql(
      `update orders set created_at = now() - interval '15 minutes', expires_at = now() - interval '1 ms' where id = $1::uuid`,
      [fromId(late.id, 'order')!.uuid],
    )
    const overdue = await tried(() => confirm(user, late.id, { max_cost: '2' }))
    expect(told(overdue)).toEqual(['insufficient_fund', 'order_expired', 'price_exceeds_max_cost'])
    expect(told(await tried(() => confirm(user, withdrawn.id)))).toEqual([
      'insufficient_fund',
      'unable_to_confirm_order',
    ])
  })

  it('uses no key up: the real call is carried out with it', async () => {
    const user = await app.newUser({ points: '12' })
    const key = { 'Idempotency-Key': 'one' }
    expect((await tried(() => order(user, {}, '?dry_run=true', key))).headers.get('idempotency-replayed')).toBeNull()
    const made = await order(user, {}, '', key)
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect((await order(user, {}, '', key)).headers.get('idempotency-replayed')).toBe('true')
  })

  it('still refuses strangers, untrusted services and what is not there', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    const { id } = await user.register({ public_access: 'true' })
    const hidden = await user.register()
    const { id: orderId } = await store.order(user)
    const anonymous = { ...user, rest: app.rest }
    for (const send of [
      () => post(anonymous, {}),
      () => patch(anonymous, id, {}),
      () => order(anonymous, {}),
      () => confirm(anonymous, orderId),
    ]) {
      expectError(await tried(send), 'NOT_AUTHENTICATED')
    }
    expectError(await tried(() => patch(other, id, {})), 'ASSET_WRITE_PERMISSION_DENIED')
    expectError(await tried(() => patch(other, hidden.id, {})), 'NOT_FOUND')
    expectError(await tried(() => confirm(other, orderId)), 'NOT_FOUND')
    const json = { network_app: store.appId }
    expectError(await tried(() => user.rest('POST', `${orders}?dry_run=true`, { json })), 'UNTRUSTED_CLIENT')
    const path = `${orders}${orderId}/confirm/?dry_run=true`
    expectError(await tried(() => user.rest('POST', path)), 'UNTRUSTED_CLIENT')
  })

  it('of what has none is refused and not carried out, and so is a word that is neither yes nor no', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    expectError(await tried(() => user.rest('DELETE', `assets/${id}/?dry_run=true`)), 'VALIDATION_FAILED')
    expectError(await tried(() => patch(user, id, { caption: 'new' }, '?dry_run=perhaps')), 'VALIDATION_FAILED')
    expect(expectOk(await patch(user, id, { caption: 'new' }, '?dry_run=false')).caption).toBe('new')
  })
})

describe('the highest price a caller agrees to', () => {
  it('refuses each paid call that costs more, with nothing written', async () => {
    const user = await app.newUser({ num: '10' })
    const { id } = await user.register()
    const { id: orderId } = await store.order(user)
    for (const send of [
      () => post(user, { max_cost: '0.1' }, ''),
      () => post(user, { max_cost: '0.1' }, '', { 'Idempotency-Key': 'dear' }),
      () => patch(user, id, { caption: 'dear', max_cost: 0.1 }, ''),
      () => patch(user, id, { caption: 'dear' }, '?max_cost=0.1'),
      () => confirm(user, orderId, {}, '?max_cost=2.4'),
      () => order(user, { max_cost: '2.499999999999999999' }, ''),
      () => confirm(user, orderId, { max_cost: '2.499999999999999999' }, ''),
    ]) {
      expectError(await tried(send), 'PRICE_EXCEEDS_MAX_COST')
    }
  })

  it('is an amount wherever it is given: empty, it is no leave to charge anything', async () => {
    const user = await app.newUser({ num: '10' })
    const { id: orderId } = await store.order(user)
    for (const send of [
      () => order(user, { max_cost: '' }, ''),
      () => confirm(user, orderId, { max_cost: '' }, ''),
      () => confirm(user, orderId, {}, '?max_cost='),
    ]) {
      expectError(await tried(send), 'VALIDATION_FAILED')
    }
  })

  it('is the same in the body and in the address, or the call is refused', async () => {
    const user = await app.newUser({ num: '10' })
    const { id } = await user.register()
    const refused = expectError(
      await patch(user, id, { caption: 'new', max_cost: '9' }, '?max_cost=8'),
      'VALIDATION_FAILED',
    )
    expect(Object.keys(refused.body.error.details)).toEqual(['max_cost'])
    expectOk(await patch(user, id, { caption: 'new', max_cost: '9' }, '?max_cost=9.00'))
    const dry = await tried(() =>
      patch(user, id, { caption: 'x'.repeat(4001), max_cost: '9' }, '?dry_run=true&max_cost=8'),
    )
    expect(told(dry)).toEqual(['validation_error caption', 'validation_error max_cost'])
  })

  it('lets pass what costs just as much', async () => {
    const user = await app.newUser({ num: '10' })
    const total = app.services.pricing().total
    const { id } = expectOk(await post(user, { max_cost: total }, ''))
    expectOk(await patch(user, id, { caption: 'new', max_cost: total }, ''))
    const made = expectOk(await order(user, { max_cost: '2.5' }, ''))
    expectOk(await confirm(user, made.id, { max_cost: '2.50' }, ''))
  })
})
