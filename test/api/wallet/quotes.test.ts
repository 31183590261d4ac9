/** The query `quote`: the cost of every paid mutation, and the reasons for a rejection. */
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)

const quoteQuery = `query ($input: QuoteInput!) { quote(input: $input) {
  __typename total available problems { code message field }
  ... on PaymentQuote { price gas num points pointsCharged numCharged missing } ... on RefundQuote { num points } } }`

const asked = async (user: SignedIn, name: 'registerAsset' | 'createOrder', input: object) =>
  expectOk(await user.graphql(quoteQuery, { input: { [name]: input } }, { headers: store.service })).quote

describe('quotes', () => {
  it('report all problems, each with its field', async () => {
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

  it('are the same in REST and GraphQL', async () => {
    const user = await app.newUser({ points: '1' })
    const input = { networkApp: store.appId, maxCost: '2' }
    const { problems, ...quote } = await asked(user, 'createOrder', input)
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

  it('accept one mutation, and only callers who may send it', async () => {
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
