/** Quotes: the routes below `quotes/`, and `?dry_run=true` on the routes that they quote. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readPricing } from '../../../src/modules/wallet/quote.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import type { FormValue } from '../../support/http-client.ts'
import type { RestOptions } from '../../support/rest-client.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const orders = 'store/network-app-orders/'

/** Counts the rows that a paid action writes, and reads every balance. */
const everything = () =>
  app.sql(`select (select count(*) from assets)::int as assets, (select count(*) from commits)::int as commits,
    (select count(*) from orders)::int as orders, (select count(*) from transfers)::int as transfers,
    (select count(*) from entries)::int as entries, (select count(*) from events)::int as events,
    (select count(*) from pins)::int as pins, (select count(*) from idempotency_keys)::int as keys,
    (select count(*) from jobs.job)::int as jobs,
    (select string_agg(concat(user_id, num, points, event_sequence), ',' order by user_id) from wallets) as wallets,
    (select string_agg(concat(id, caption, head_sequence, updated_at), ',' order by id) from assets) as heads,
    (select string_agg(concat(id, status), ',' order by id) from orders) as statuses`)

/** Sends a request, and fails if it changed anything. */
async function tried(send: () => ReturnType<SignedIn['rest']>) {
  const before = await everything()
  const answer = await send()
  expect(await everything()).toEqual(before)
  return answer
}

type Fields = Record<string, FormValue>
type Send = (
  user: SignedIn,
  method: 'POST' | 'PATCH',
  path: string,
  options?: RestOptions,
) => ReturnType<SignedIn['rest']>

/** The four kinds of paid requests, sent in one way. */
const requests = (send: Send) => ({
  post: (user: SignedIn, fields: Fields, query = '', headers = {}) =>
    send(user, 'POST', `assets/${query}`, { multipart: { asset_file: newFile(), ...fields }, headers }),
  patch: (user: SignedIn, nid: string, json: object, query = '', headers = {}) =>
    send(user, 'PATCH', `assets/${nid}/${query}`, { json, headers }),
  order: (user: SignedIn, json: object, query = '', headers = {}) =>
    send(user, 'POST', `${orders}${query}`, {
      json: { network_app: store.appId, ...json },
      headers: { ...store.service, ...headers },
    }),
  confirm: (user: SignedIn, id: string, json: object = {}, query = '', headers = {}) =>
    send(user, 'POST', `${orders}${id}/confirm/${query}`, { json, headers: { ...store.service, ...headers } }),
})

const real = requests((user, method, path, options) => user.rest(method, path, options))
const byDryRun: Send = (user, method, path, options) =>
  user.rest(method, `${path}${path.includes('?') ? '&' : '?'}dry_run=true`, options)
const byRoute: Send = (user, _method, path, options) =>
  user.rest('POST', `quotes/${path.replace(/^(store|wallet)\//, '')}`, options)

const reported = ({ body }: { body: { errors: { type: string; field: string | null }[] } }) =>
  body.errors.map(({ type, field }) => (field ? `${type} ${field}` : type)).sort()

describe.each([
  ['?dry_run=true', byDryRun],
  ['a quote route', byRoute],
] as const)('quotes through %s', (_, send) => {
  const { post, patch, order, confirm } = requests(send)

  it('a quote of a registration returns its cost, writes nothing, and agrees with the real call', async () => {
    const user = await app.newUser({ points: '0.1', num: '3' })
    const file = newFile()
    const dry = await tried(() => post(user, { asset_file: file }))
    expect([dry.status, dry.headers.get('etag')]).toEqual([200, null])
    expect(dry.body).toEqual({
      dry_run: true,
      price: readPricing(app.context).assetUpdateFee,
      gas: readPricing(app.context).gasFee,
      total_cost: readPricing(app.context).total,
      balance: { num: '3', points: '0.1' },
      available: '3.1',
      points_charged: '0.1',
      num_charged: expect.any(String),
      missing: '0',
      errors: [],
    })
    expectOk(await real.post(user, { asset_file: file, max_cost: dry.body.total_cost }))
    const left = await app.wallet(user)
    expect(left.points).toBe('0')
    expect(Number(left.num)).toBeCloseTo(3 - Number(dry.body.num_charged), 12)
    expect(reported(await tried(() => post(user, { asset_file: file })))).toEqual(['duplicate_asset_not_allowed'])
  })

  it('a quote of a registration reports every problem with its field', async () => {
    const user = await app.newUser({ points: '0.01' })
    const fields = {
      caption: 'x'.repeat(4001),
      headline: 'x'.repeat(101),
      public_access: 'perhaps',
      nit_commit_custom: '[1]',
      max_cost: '0.001',
      asset_file: new File([], 'empty.png'),
    }
    expect(reported(await tried(() => post(user, fields)))).toEqual([
      'asset_commit_insufficient_fund',
      'price_exceeds_max_cost',
      'validation_error asset_file',
      'validation_error caption',
      'validation_error headline',
      'validation_error nit_commit_custom',
      'validation_error public_access',
    ])
  })

  it('a quote of a registration reports a missing file together with the other problems', async () => {
    const user = await app.newUser({ points: '0' })
    const answer = await tried(() =>
      send(user, 'POST', 'assets/', { multipart: { headline: 'x'.repeat(101), max_cost: 'much' } }),
    )
    expect(reported(answer)).toEqual([
      'asset_commit_insufficient_fund',
      'validation_error asset_file',
      'validation_error headline',
      'validation_error max_cost',
    ])
  })

  it('a quote of a registration stores nothing of the file', async () => {
    const user = await app.newUser()
    const file = new File([randomBytes(600_000)], 'large.bin')
    expect((await post(user, { asset_file: file })).body.errors).toEqual([])
    const { cid } = await app.installation.contentStore.identifyFile(file.stream() as never)
    await expect(app.installation.contentStore.size(cid)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(expectOk(await real.post(user, { asset_file: file })).id).toBe(cid)
  })

  it('a quote of an update returns its cost, or 0 if nothing changes', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ caption: 'before' })
    const dry = await tried(() => patch(user, id, { caption: 'after' }))
    expect(dry.body).toMatchObject({ total_cost: readPricing(app.context).total, missing: '0', errors: [] })
    const same = await tried(() => patch(user, id, { caption: 'before', max_cost: '0' }))
    expect(same.body).toMatchObject({ price: '0', gas: '0', total_cost: '0', errors: [] })
    const { points } = await app.wallet(user)
    expectOk(await real.patch(user, id, { caption: 'before', max_cost: '0' }))
    expect(await app.wallet(user)).toMatchObject({ points })
    expectOk(await real.patch(user, id, { caption: 'after' }))
    const left = await app.wallet(user)
    expect(Number(points) - Number(left.points)).toBeCloseTo(Number(dry.body.points_charged), 12)
  })

  it('a quote of an update reports an outdated head, invalid fields and an empty wallet together', async () => {
    const user = await app.newUser({ points: readPricing(app.context).total })
    const { id } = await user.register()
    const json = { caption: 'x'.repeat(4001), tag: 'x'.repeat(256), headline: 'fine', max_cost: '0.01' }
    const answer = await tried(() => patch(user, id, json, '', { 'If-Match': '"commit_old"' }))
    expect(reported(answer)).toEqual([
      'asset_commit_insufficient_fund',
      'conflict',
      'price_exceeds_max_cost',
      'validation_error caption',
      'validation_error tag',
    ])
    expect(answer.body.missing).toBe(readPricing(app.context).total)
  })

  it('a quote of an order returns the charged currencies, and agrees with the real calls', async () => {
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
    const { id } = expectOk(await real.order(user, { max_cost: 2.5 }))
    expect((await tried(() => confirm(user, id))).body).toEqual(quote)
    expect(expectOk(await real.confirm(user, id))).toMatchObject({ points_paid: '1', num_paid: '1.5' })
    expect((await tried(() => confirm(user, id))).body).toMatchObject({ total_cost: '0', errors: [] })
  })

  it('a quote of an order reports every problem', async () => {
    const user = await app.newUser({ points: '1' })
    const json = { action_args: { a: 'x'.repeat(65_536) }, max_cost: '2' }
    const poor = await tried(() => order(user, json))
    expect(reported(poor)).toEqual(['insufficient_fund', 'price_exceeds_max_cost', 'validation_error action_args'])
    expect(poor.body).toMatchObject({ missing: '1.5', points_charged: '1', num_charged: '0' })
    const unknown = await tried(() => order(user, { network_app: 'nobody sells this', action_args: [1] }))
    expect(reported(unknown)).toEqual(['invalid_network_app_name', 'validation_error action_args'])
    for (const network_app of ['', {}]) {
      expect(reported(await tried(() => order(user, { network_app })))).toEqual(['validation_error network_app'])
    }
  })

  it('a quote of a confirmation reports an expired order and the missing amount', async () => {
    const user = await app.newUser({ points: '2.5' })
    const late = expectOk(await real.order(user, {}))
    const withdrawn = expectOk(await real.order(user, {}))
    expectOk(await real.confirm(user, expectOk(await real.order(user, {})).id))
    expectOk(await user.rest('POST', `${orders}${withdrawn.id}/cancel/`))
    await app.sql(
      `update orders set created_at = now() - interval '15 minutes', expires_at = now() - interval '1 ms' where id = $1::uuid`,
      [fromId(late.id, 'order')!.uuid],
    )
    const overdue = await tried(() => confirm(user, late.id, { max_cost: '2' }))
    expect(reported(overdue)).toEqual(['insufficient_fund', 'order_expired', 'price_exceeds_max_cost'])
    expect(reported(await tried(() => confirm(user, withdrawn.id)))).toEqual([
      'insufficient_fund',
      'unable_to_confirm_order',
    ])
  })

  it('a quote does not use up an idempotency key', async () => {
    const user = await app.newUser({ points: '12' })
    const key = { 'Idempotency-Key': 'one' }
    expect((await tried(() => order(user, {}, '', key))).headers.get('idempotency-replayed')).toBeNull()
    const made = await real.order(user, {}, '', key)
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect((await real.order(user, {}, '', key)).headers.get('idempotency-replayed')).toBe('true')
  })

  it('a quote rejects anonymous callers, untrusted services and missing resources', async () => {
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
    expectError(await tried(() => send(user, 'POST', orders, { json })), 'UNTRUSTED_CLIENT')
    expectError(await tried(() => send(user, 'POST', `${orders}${orderId}/confirm/`)), 'UNTRUSTED_CLIENT')
  })

  it('a quote of a revert returns its cost', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ caption: 'before' })
    expectOk(await real.patch(user, id, { caption: 'after' }))
    const [first] = expectOk(await user.rest('GET', `assets/${id}/history/`)).commits
    const answer = await tried(() => send(user, 'POST', `assets/${id}/revert/`, { json: { revert_to: first.id } }))
    expect(answer.body).toMatchObject({ total_cost: readPricing(app.context).total, errors: [] })
    expect(reported(await tried(() => send(user, 'POST', `assets/${id}/revert/`)))).toEqual([
      'validation_error revert_to',
    ])
  })

  it('a quote of a refund returns the amount of the refund', async () => {
    const user = await app.newUser({ points: '1', num: '5' })
    const admin = await app.admin()
    const { id } = expectOk(await real.order(user, {}))
    expectOk(await real.confirm(user, id))
    const refund = (json: object) => tried(() => send(admin, 'POST', `${orders}${id}/refunds/`, { json }))
    expect((await refund({ amount: '2', reason: 'Late.' })).body).toEqual({
      dry_run: true,
      num: '1.5',
      points: '0.5',
      total: '2',
      refundable: '2.5',
      errors: [],
    })
    expect(reported(await refund({ amount: '3' }))).toEqual(['validation_error amount', 'validation_error reason'])
    expectError(await send(user, 'POST', `${orders}${id}/refunds/`, { json: {} }), 'PERMISSION_DENIED')
  })

  it('a quote of a withdrawal returns the charged amount, without a password', async () => {
    const user = await app.newUser({ num: '5' })
    const withdraw = (json: object) => tried(() => send(user, 'POST', 'wallet/withdrawals/', { json }))
    expect((await withdraw({ amount: '2', to: `0x${'e1'.repeat(20)}` })).body).toMatchObject({
      dry_run: true,
      amount: '2',
      available: '5',
      errors: [],
    })
    expect(reported(await withdraw({ to: 'nowhere', max_fee: 'much' }))).toEqual([
      'validation_error amount',
      'validation_error max_fee',
      'validation_error to',
    ])
  })
})

it('rejects ?dry_run=true on a request without a quote, and a value that is not a boolean', async () => {
  const user = await app.newUser()
  const { id } = await user.register()
  expectError(await tried(() => user.rest('DELETE', `assets/${id}/?dry_run=true`)), 'VALIDATION_FAILED')
  expectError(await tried(() => real.patch(user, id, { caption: 'new' }, '?dry_run=perhaps')), 'VALIDATION_FAILED')
  expect(expectOk(await real.patch(user, id, { caption: 'new' }, '?dry_run=false')).caption).toBe('new')
})

describe('max_cost', () => {
  it('max_cost rejects each paid request that costs more, and writes nothing', async () => {
    const user = await app.newUser({ num: '10' })
    const { id } = await user.register()
    const { id: orderId } = await store.order(user)
    for (const send of [
      () => real.post(user, { max_cost: '0.1' }),
      () => real.post(user, { max_cost: '0.1' }, '', { 'Idempotency-Key': 'dear' }),
      () => real.patch(user, id, { caption: 'dear', max_cost: 0.1 }),
      () => real.patch(user, id, { caption: 'dear' }, '?max_cost=0.1'),
      () => real.confirm(user, orderId, {}, '?max_cost=2.4'),
      () => real.order(user, { max_cost: '2.499999999999999999' }),
      () => real.confirm(user, orderId, { max_cost: '2.499999999999999999' }),
    ]) {
      expectError(await tried(send), 'PRICE_EXCEEDS_MAX_COST')
    }
  })

  it('max_cost must be an amount, and an empty value is rejected', async () => {
    const user = await app.newUser({ num: '10' })
    const { id: orderId } = await store.order(user)
    for (const send of [
      () => real.order(user, { max_cost: '' }),
      () => real.confirm(user, orderId, { max_cost: '' }),
      () => real.confirm(user, orderId, {}, '?max_cost='),
    ]) {
      expectError(await tried(send), 'VALIDATION_FAILED')
    }
  })

  it('rejects different values of max_cost in the body and the query', async () => {
    const user = await app.newUser({ num: '10' })
    const { id } = await user.register()
    const refused = expectError(
      await real.patch(user, id, { caption: 'new', max_cost: '9' }, '?max_cost=8'),
      'VALIDATION_FAILED',
    )
    expect(Object.keys(refused.body.error.details)).toEqual(['max_cost'])
    expectOk(await real.patch(user, id, { caption: 'new', max_cost: '9' }, '?max_cost=9.00'))
    const dry = await tried(() =>
      real.patch(user, id, { caption: 'x'.repeat(4001), max_cost: '9' }, '?dry_run=true&max_cost=8'),
    )
    expect(reported(dry)).toEqual(['validation_error caption', 'validation_error max_cost'])
  })

  it('max_cost accepts a request that costs exactly as much', async () => {
    const user = await app.newUser({ num: '10' })
    const total = readPricing(app.context).total
    const { id } = expectOk(await real.post(user, { max_cost: total }))
    expectOk(await real.patch(user, id, { caption: 'new', max_cost: total }))
    expectOk(await real.confirm(user, expectOk(await real.order(user, { max_cost: '2.5' })).id, { max_cost: '2.50' }))
  })
})
