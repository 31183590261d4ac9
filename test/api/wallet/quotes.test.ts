/** The query `quote`: the cost of every paid mutation, and the reasons for a rejection. */
import { describe, expect, it } from 'vitest'
import { readPricing } from '../../../src/modules/wallet/quote.ts'
import { fromUnits, toUnits } from '../../../src/shared/money.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const { total: commitTotal, assetUpdateFee, gasFee } = readPricing(app.context)

const quoteQuery = `query ($input: QuoteInput!) { quote(input: $input) {
  __typename total available problems { code message field }
  ... on PaymentQuote { price gas num points pointsCharged numCharged missing }
  ... on RefundQuote { num points }
} }`

const things = {
  registerAsset: 'asset',
  updateAssetMetadata: 'asset',
  revertAsset: 'asset',
  createOrder: 'order',
  confirmOrder: 'order',
  refundOrder: 'refund',
} as const
type Name = keyof typeof things

const asked = async (user: SignedIn, name: Name, input: object) =>
  expectOk(await user.graphql(quoteQuery, { input: { [name]: input } }, { headers: store.service })).quote

const send = (user: SignedIn, name: Name, input: object, file?: File) =>
  user.graphql(
    `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${things[name]} { id } } }`,
    { input: { ...input, ...(file && { assetFile: file }) } },
    { headers: store.service },
  )

/** Sends a mutation that was quoted, and checks the charge. */
async function expectCharge(user: SignedIn, name: Name, input: object, quote: Record<string, string>, file?: File) {
  const before = await app.wallet(user)
  expectOk(await send(user, name, { ...input, maxCost: quote.total }, file))
  const left = (balance: string, charged: string | undefined) => fromUnits(toUnits(balance) - toUnits(charged!))
  expect(await app.wallet(user)).toEqual({
    points: left(before.points, quote.pointsCharged),
    num: left(before.num, quote.numCharged),
  })
}

describe('quotes', () => {
  it('a quote returns the cost of a registration, and writes nothing', async () => {
    const user = await app.newUser({ points: '0.1', num: '1' })
    const [file, caption] = [newFile(), 'New']
    const quote = await asked(user, 'registerAsset', { caption, assetFile: file })
    expect(quote).toMatchObject({
      ...{ __typename: 'PaymentQuote', price: assetUpdateFee, gas: gasFee, total: commitTotal },
      ...{ available: '1.1', pointsCharged: '0.1', missing: '0', problems: [] },
    })
    expect(await app.wallet(user)).toEqual({ points: '0.1', num: '1' })
    await expectCharge(user, 'registerAsset', { caption }, quote, file)
  })

  it('a quote returns the cost of an update, and zero for an update without changes', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ caption: 'Old' })
    const update = { id, caption: 'New' }
    const quote = await asked(user, 'updateAssetMetadata', update)
    expect(quote).toMatchObject({ total: commitTotal, problems: [] })
    expect(await app.commitCount(id)).toBe(1)
    await expectCharge(user, 'updateAssetMetadata', update, quote)
    const same = await asked(user, 'updateAssetMetadata', update)
    expect(same).toMatchObject({ total: '0', pointsCharged: '0', numCharged: '0' })
    await expectCharge(user, 'updateAssetMetadata', update, same)
  })

  it("a quote returns the cost of an order's confirmation, and zero for a paid order", async () => {
    const user = await app.newUser({ points: '1', num: '5' })
    const input = { networkApp: store.name, actionArgs: { a: 1 } }
    const quote = await asked(user, 'createOrder', input)
    expect(quote).toMatchObject({ price: '2.5', total: '2.5', pointsCharged: '1', numCharged: '1.5', problems: [] })
    const { order } = expectOk(await send(user, 'createOrder', input)).createOrder
    expect(await asked(user, 'confirmOrder', order)).toEqual(quote)
    await expectCharge(user, 'confirmOrder', order, quote)
    const paid = await asked(user, 'confirmOrder', order)
    expect(paid).toMatchObject({ total: '0', points: '0', num: '3.5' })
    await expectCharge(user, 'confirmOrder', order, paid)
  })

  it('a quote returns the amount of a refund, and writes nothing', async () => {
    const [user, admin] = [await app.newUser({ points: '1', num: '5' }), await app.admin()]
    const { id: orderId } = await store.order(user)
    await store.confirm(user, orderId)
    const input = { orderId, amount: '2', reason: 'Late' }
    expect(await asked(admin, 'refundOrder', input)).toEqual({
      ...{ __typename: 'RefundQuote', total: '2', num: '1.5', points: '0.5', available: '2.5', problems: [] },
    })
    expect(await app.wallet(user)).toEqual({ points: '0', num: '3.5' })
    expectOk(await send(admin, 'refundOrder', input))
    expect(await app.wallet(user)).toEqual({ points: '0.5', num: '5' })
    expect((await asked(admin, 'refundOrder', input)).problems).toMatchObject([{ code: 'VALIDATION_FAILED' }])
  })

  it('a quote reports all problems, each with its field', async () => {
    const user = await app.newUser({ points: '0' })
    const problems = (quote: { problems: { code: string; field: string | null }[] }) =>
      quote.problems.map(({ code, field }) => [code, field])
    const input = { headline: 'x'.repeat(101), meta: '{', maxCost: '0.01' }
    expect(problems(await asked(user, 'registerAsset', input))).toEqual([
      ['VALIDATION_FAILED', 'headline'],
      ['VALIDATION_FAILED', 'meta'],
      ['PRICE_EXCEEDS_MAX_COST', null],
      ['ASSET_COMMIT_INSUFFICIENT_FUND', null],
    ])
    const order = { networkApp: store.appId, actionArgs: { a: 'x'.repeat(65_536) }, maxCost: '1' }
    expect(problems(await asked(user, 'createOrder', order))).toEqual([
      ['VALIDATION_FAILED', 'actionArgs'],
      ['PRICE_EXCEEDS_MAX_COST', null],
      ['INSUFFICIENT_FUND', null],
    ])
  })

  it('quotes are the same in REST and GraphQL', async () => {
    const user = await app.newUser({ points: '1' })
    const { problems, ...quote } = await asked(user, 'createOrder', { networkApp: store.appId, maxCost: '2' })
    const { body } = await user.rest('POST', 'store/network-app-orders/?dry_run=true', {
      json: { network_app: store.appId, max_cost: '2' },
      headers: store.service,
    })
    expect(body).toEqual({
      dry_run: true,
      price: quote.price,
      gas: quote.gas,
      total_cost: quote.total,
      balance: { num: quote.num, points: quote.points },
      available: quote.available,
      points_charged: quote.pointsCharged,
      num_charged: quote.numCharged,
      missing: quote.missing,
      errors: problems.map(({ code, ...problem }: { code: string }) => ({ type: code.toLowerCase(), ...problem })),
    })
  })

  it('a quote accepts exactly one mutation, and only callers who may send the mutation', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    const { id } = await user.register()
    const both = { registerAsset: {}, updateAssetMetadata: { id } }
    expectError(await user.graphql(quoteQuery, { input: both }), 'VALIDATION_FAILED')
    expectError(await user.graphql(quoteQuery, { input: {} }), 'VALIDATION_FAILED')
    expectError(await app.graphql(quoteQuery, { input: { registerAsset: {} } }), 'NOT_AUTHENTICATED')
    expectError(await other.graphql(quoteQuery, { input: { updateAssetMetadata: { id } } }), 'NOT_FOUND')
    expectError(
      await user.graphql(quoteQuery, { input: { refundOrder: { orderId: id, reason: 'x' } } }),
      'PERMISSION_DENIED',
    )
    const order = { createOrder: { networkApp: store.appId } }
    expectError(await user.graphql(quoteQuery, { input: order }), 'UNTRUSTED_CLIENT')
  })
})

it('each paid mutation is rejected if it costs more than its maxCost', async () => {
  const user = await app.newUser()
  const { id } = await user.register()
  const order = await store.order(user)
  const before = await app.wallet(user)
  const maxCost = '0.000000000000000001'
  const refused = [
    await send(user, 'registerAsset', { maxCost }, newFile()),
    await send(user, 'updateAssetMetadata', { id, caption: 'New', maxCost }),
    await send(user, 'createOrder', { networkApp: store.appId, maxCost }),
    await send(user, 'confirmOrder', { id: order.id, maxCost }),
  ]
  for (const answer of refused) expectError(answer, 'PRICE_EXCEEDS_MAX_COST')
  expect(await app.wallet(user)).toEqual(before)
  expect(await app.commitCount(id)).toBe(1)
})
