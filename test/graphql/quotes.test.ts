/** What paid mutations would cost and did cost: the query, the dry run and the receipt say the same. */
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const { total, assetUpdateFee, gasFee } = app.services.pricing()

const fields = 'price gas total num points available pointsCharged numCharged missing problems { code message field }'
const quoteQuery = `query ($input: QuoteInput!) { quote(input: $input) { ${fields} } }`
const mutation = (name: string, thing: string) =>
  `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${thing} { id } quote { ${fields} } } }`

const things = {
  registerAsset: 'asset',
  updateAssetMetadata: 'asset',
  revertAsset: 'asset',
  createOrder: 'order',
  confirmOrder: 'order',
} as const
type Name = keyof typeof things

const asked = async (user: SignedIn, name: Name, input: object) =>
  expectOk(await user.graphql(quoteQuery, { input: { [name]: input } }, { headers: store.service })).quote

const send = (user: SignedIn, name: Name, input: object, { file, key }: { file?: File; key?: string } = {}) =>
  user.graphql(
    mutation(name, things[name]),
    { input: { ...input, ...(file && { assetFile: file }) } },
    { headers: { ...store.service, ...(key && { 'Idempotency-Key': key }) } },
  )

const carriedOut = async (...sent: Parameters<typeof send>) => expectOk(await send(...sent))[sent[1]]

describe('quotes', () => {
  it('of a registration are the same by query and dry run, and what it charges', async () => {
    const user = await app.newUser({ points: '0.1', num: '1' })
    const file = newFile()
    const quote = await asked(user, 'registerAsset', { caption: 'New' })
    expect(quote).toMatchObject({ price: assetUpdateFee, gas: gasFee, total, pointsCharged: '0.1', problems: [] })
    const dry = await carriedOut(user, 'registerAsset', { caption: 'New', dryRun: true }, { file })
    expect(dry).toEqual({ asset: null, quote })
    expect(await app.wallet(user)).toEqual({ points: '0.1', num: '1' })
    const real = await carriedOut(user, 'registerAsset', { caption: 'New', maxCost: total }, { file })
    const { price, gas, pointsCharged, numCharged } = quote
    expect(real.quote).toMatchObject({ price, gas, total, pointsCharged, numCharged, missing: '0', problems: [] })
    expect(real.quote).toMatchObject(await app.wallet(user))
  })

  it('of an update are the same by query and dry run, and what it charges, which may be nothing', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ caption: 'Old' })
    const quote = await asked(user, 'updateAssetMetadata', { id, caption: 'New' })
    expect(quote).toMatchObject({ total, problems: [] })
    const dry = await carriedOut(user, 'updateAssetMetadata', { id, caption: 'New', dryRun: true })
    expect(dry).toEqual({ asset: { id }, quote })
    expect(await app.commitCount(id)).toBe(1)
    const real = await carriedOut(user, 'updateAssetMetadata', { id, caption: 'New' })
    expect(real.quote).toMatchObject({ total, pointsCharged: quote.pointsCharged, ...(await app.wallet(user)) })
    const same = await carriedOut(user, 'updateAssetMetadata', { id, caption: 'New', maxCost: '0' })
    expect(same.quote).toMatchObject({ total: '0', pointsCharged: '0', numCharged: '0' })
    expect(await asked(user, 'updateAssetMetadata', { id, caption: 'New' })).toMatchObject({ total: '0' })
  })

  it('of an order are the same by query and dry run, and what its confirmation charges', async () => {
    const user = await app.newUser({ points: '1', num: '5' })
    const input = { networkApp: store.name, actionArgs: { a: 1 } }
    const quote = await asked(user, 'createOrder', input)
    expect(quote).toMatchObject({ price: '2.5', total: '2.5', pointsCharged: '1', numCharged: '1.5', problems: [] })
    expect(await carriedOut(user, 'createOrder', { ...input, dryRun: true })).toEqual({ order: null, quote })
    const made = await carriedOut(user, 'createOrder', input)
    expect(made.quote).toEqual(quote)
    const { id } = made.order
    expect(await asked(user, 'confirmOrder', { id })).toEqual(quote)
    expect(await carriedOut(user, 'confirmOrder', { id, dryRun: true })).toEqual({ order: { id }, quote })
    const paid = await carriedOut(user, 'confirmOrder', { id, maxCost: '2.5' }, { key: 'pay' })
    expect(paid.quote).toMatchObject({ total: '2.5', pointsCharged: '1', numCharged: '1.5', points: '0', num: '3.5' })
    const repeated = await carriedOut(user, 'confirmOrder', { id, maxCost: '2.5' }, { key: 'pay' })
    expect(repeated).toEqual(paid)
    expect((await carriedOut(user, 'confirmOrder', { id })).quote.total).toBe('0')
  })

  it('of a confirmation that finds its order paid say so however often it is repeated', async () => {
    const user = await app.newUser()
    const { id } = await store.order(user)
    await carriedOut(user, 'confirmOrder', { id }, { key: 'first' })
    const pay = async (key: string) => (await carriedOut(user, 'confirmOrder', { id }, { key })).quote
    for (const _ of ['once', 'again']) {
      expect(await pay('late')).toMatchObject({ total: '0', pointsCharged: '0', numCharged: '0' })
      expect((await pay('first')).total).toBe('2.5')
    }
  })

  it('of one confirmation that is sent several times at once all tell its charge', async () => {
    const user = await app.newUser()
    const { id } = await store.order(user)
    const sent = Array.from({ length: 8 }, () => carriedOut(user, 'confirmOrder', { id }, { key: 'at once' }))
    expect((await Promise.all(sent)).map(({ quote }) => quote.total)).toEqual(Array(8).fill('2.5'))
  })

  it('tell all problems at once, with the field of each', async () => {
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

  it('are the same by both doors', async () => {
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

  it('are for one mutation at a time, and only for those who may', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    const { id } = await user.register()
    const both = { registerAsset: {}, updateAssetMetadata: { id } }
    expectError(await user.graphql(quoteQuery, { input: both }), 'VALIDATION_FAILED')
    expectError(await user.graphql(quoteQuery, { input: {} }), 'VALIDATION_FAILED')
    expectError(await app.graphql(quoteQuery, { input: { registerAsset: {} } }), 'NOT_AUTHENTICATED')
    expectError(await other.graphql(quoteQuery, { input: { updateAssetMetadata: { id } } }), 'NOT_FOUND')
    const order = { createOrder: { networkApp: store.appId } }
    expectError(await user.graphql(quoteQuery, { input: order }), 'UNTRUSTED_CLIENT')
  })

  it('cannot be told for a repeated update, whose own commit is not known any more', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const input = { id, caption: 'Once' }
    expect((await carriedOut(user, 'updateAssetMetadata', input, { key: 'again' })).quote.total).toBe(total)
    expect((await carriedOut(user, 'updateAssetMetadata', input, { key: 'again' })).quote).toBeNull()
  })
})

it('no paid mutation costs more than was agreed to', async () => {
  const user = await app.newUser()
  const { id } = await user.register()
  const order = await store.order(user)
  const before = await app.wallet(user)
  const maxCost = '0.000000000000000001'
  const refused = [
    await send(user, 'registerAsset', { maxCost }, { file: newFile() }),
    await send(user, 'updateAssetMetadata', { id, caption: 'New', maxCost }),
    await send(user, 'createOrder', { networkApp: store.appId, maxCost }),
    await send(user, 'confirmOrder', { id: order.id, maxCost }),
  ]
  for (const answer of refused) expectError(answer, 'PRICE_EXCEEDS_MAX_COST')
  expect(await app.wallet(user)).toEqual(before)
  expect(await app.commitCount(id)).toBe(1)
})
