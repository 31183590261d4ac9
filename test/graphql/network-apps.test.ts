import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const user = await app.newUser()

const WEBHOOK = 'https://receiver.example.org/hook'
const newName = (name = 'App') => `${name} ${randomUUID()}`

const CREATE = `mutation ($input: CreateNetworkAppInput!) {
  createNetworkApp(input: $input) {
    webhookSecret
    networkApp { id name priceMode price webhookUrl webhookDisabledAt deliveryFailurePolicy isActive deactivatedAt owner { id } }
  }
}`
const UPDATE =
  'mutation ($input: UpdateNetworkAppInput!) { updateNetworkApp(input: $input) { networkApp { price webhookUrl } } }'
const ROTATE =
  'mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { webhookSecret networkApp { id } } }'
const DEACTIVATE =
  'mutation ($input: DeactivateNetworkAppInput!) { deactivateNetworkApp(input: $input) { networkApp { isActive deactivatedAt } } }'
const READ = 'query ($id: ID!) { networkApp(id: $id) { name } }'
const LIST = `query ($filter: NetworkAppFilter, $first: Int, $after: String, $last: Int, $before: String) {
  networkApps(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { id } pageInfo { endCursor startCursor hasNextPage }
  }
}`

const missing = 'app_01h455vb4pex5vsknk084sn02q'
const create = async (fields: object = {}) => {
  const input = { name: newName(), price: '0.5', ...fields }
  return expectOk(await admin.graphql(CREATE, { input })).createNetworkApp
}

describe.each([
  ['createNetworkApp', CREATE, { input: { name: 'No', price: '1' } }],
  ['updateNetworkApp', UPDATE, { input: { id: missing, price: '1' } }],
  ['rotateWebhookSecret', ROTATE, { input: { id: missing } }],
  ['deactivateNetworkApp', DEACTIVATE, { input: { id: missing } }],
])('%s', (_, document, variables) => {
  it('is for administrators', async () => {
    expectError(await app.graphql(document, variables), 'NOT_AUTHENTICATED')
    expectError(await user.graphql(document, variables), 'PERMISSION_DENIED')
  })
})

it.each([
  [UPDATE, { input: { id: missing, price: '1' } }],
  [ROTATE, { input: { id: missing } }],
  [DEACTIVATE, { input: { id: missing } }],
  [READ, { id: missing }],
])('%s does not find what is not there', async (document, variables) => {
  expectError(await admin.graphql(document, variables), 'NOT_FOUND')
})

describe('createNetworkApp', () => {
  it('makes an app whose sales are the administrator’s', async () => {
    const name = newName()
    const { networkApp, webhookSecret } = await create({ name, webhookUrl: WEBHOOK, deliveryFailurePolicy: 'REFUND' })
    expect(webhookSecret).toMatch(/^whsec_/)
    expect(networkApp).toEqual({
      ...{ id: expect.stringMatching(/^app_/), name, priceMode: 'FIXED', price: '0.5', webhookUrl: WEBHOOK },
      ...{ webhookDisabledAt: null, deliveryFailurePolicy: 'REFUND', isActive: true, deactivatedAt: null },
      owner: { id: admin.publicId },
    })
  })

  it('tells everything that is wrong at once', async () => {
    const input = { name: '', price: 'much', webhookUrl: 'https://localhost/' }
    const answer = expectError(await admin.graphql(CREATE, { input }), 'VALIDATION_FAILED')
    expect(Object.keys(answer.body.errors[0].extensions.details).sort()).toEqual(['name', 'price', 'webhookUrl'])
  })

  it('shows a retry the same secret', async () => {
    const input = { name: newName(), price: '1', webhookUrl: WEBHOOK }
    const headers = { 'Idempotency-Key': randomUUID() }
    const first = expectOk(await admin.graphql(CREATE, { input }, { headers }))
    const again = await admin.graphql(CREATE, { input }, { headers })
    expect(expectOk(again)).toEqual(first)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })
})

it('updateNetworkApp changes what is given, and null removes the webhook', async () => {
  const { id } = (await create({ webhookUrl: WEBHOOK })).networkApp
  const update = async (fields: object) =>
    expectOk(await admin.graphql(UPDATE, { input: { id, ...fields } })).updateNetworkApp.networkApp
  expect(await update({ price: '2', name: null })).toEqual({ price: '2', webhookUrl: WEBHOOK })
  expect(await update({ webhookUrl: null })).toEqual({ price: '2', webhookUrl: null })
})

it('rotateWebhookSecret shows another secret', async () => {
  const { networkApp, webhookSecret } = await create({ webhookUrl: WEBHOOK })
  const rotated = expectOk(await admin.graphql(ROTATE, { input: { id: networkApp.id } })).rotateWebhookSecret
  expect(rotated).toEqual({ networkApp: { id: networkApp.id }, webhookSecret: expect.stringMatching(/^whsec_/) })
  expect(rotated.webhookSecret).not.toBe(webhookSecret)
})

it('deactivateNetworkApp takes an app out of sale', async () => {
  const { id, name } = (await create()).networkApp
  const { networkApp } = expectOk(await admin.graphql(DEACTIVATE, { input: { id } })).deactivateNetworkApp
  expect(networkApp).toEqual({ isActive: false, deactivatedAt: expect.any(String) })
  const count = async (isActive: boolean) =>
    expectOk(await admin.graphql(LIST, { filter: { name, isActive } })).networkApps.totalCount
  expect([await count(true), await count(false)]).toEqual([0, 1])
})

describe('networkApps', () => {
  it('is paged from both ends, the app of exactly the name first', async () => {
    const name = newName('Resize')
    const exact = (await create({ name })).networkApp.id
    const others: string[] = []
    for (const n of [1, 2, 3]) others.unshift((await create({ name: `${name} ${n}` })).networkApp.id)
    const wanted = [exact, ...others]
    const page = async (variables: object) => {
      const { networkApps } = expectOk(await admin.graphql(LIST, { filter: { name }, ...variables }))
      return { ...networkApps, ids: networkApps.nodes.map(({ id }: { id: string }) => id) }
    }
    const first = await page({ first: 2 })
    expect(first).toMatchObject({ totalCount: 4, ids: wanted.slice(0, 2), pageInfo: { hasNextPage: true } })
    const rest = await page({ first: 5, after: first.pageInfo.endCursor })
    expect(rest).toMatchObject({ ids: wanted.slice(2), pageInfo: { hasNextPage: false } })
    expect((await page({ last: 3 })).ids).toEqual(wanted.slice(1))
    expect((await page({ last: 5, before: rest.pageInfo.startCursor })).ids).toEqual(wanted.slice(0, 2))
  })

  it('refuses a cursor that it did not give', async () => {
    expectError(await admin.graphql(LIST, { first: 1, after: 'rubbish' }), 'VALIDATION_FAILED')
  })
})

describe('who may buy an app', () => {
  const node = 'query ($id: ID!) { node(id: $id) { id ... on NetworkApp { name } } }'

  it('sees it with its price, and not where it is called', async () => {
    const { id, name } = (await create({ webhookUrl: WEBHOOK })).networkApp
    const document = 'query ($id: ID!) { networkApp(id: $id) { name price isActive webhookUrl webhookDisabledAt } }'
    const seen = { name, price: '0.5', isActive: true, webhookUrl: null, webhookDisabledAt: null }
    expect(expectOk(await user.graphql(document, { id })).networkApp).toEqual(seen)
    expect(expectOk(await user.graphql(LIST, { filter: { name } })).networkApps).toMatchObject({
      totalCount: 1,
      nodes: [{ id }],
    })
    expect(expectOk(await user.graphql(node, { id })).node).toEqual({ id, name })
  })

  it('sees it no more once it is out of sale, when administrators still do', async () => {
    const { id, name } = (await create()).networkApp
    expectOk(await admin.graphql(DEACTIVATE, { input: { id } }))
    expectError(await user.graphql(READ, { id }), 'NOT_FOUND')
    expect(expectOk(await user.graphql(node, { id })).node).toBeNull()
    for (const filter of [{ name }, { name, isActive: false }]) {
      const { totalCount, nodes } = expectOk(await user.graphql(LIST, { filter })).networkApps
      expect({ totalCount, nodes }).toEqual({ totalCount: 0, nodes: [] })
    }
    expect(expectOk(await admin.graphql(READ, { id })).networkApp).toEqual({ name })
    expect(expectOk(await admin.graphql(LIST, { filter: { name } })).networkApps.totalCount).toBe(1)
  })

  it('is signed in', async () => {
    const { id } = (await create()).networkApp
    expectError(await app.graphql(READ, { id }), 'NOT_AUTHENTICATED')
    expectError(await app.graphql(LIST), 'NOT_AUTHENTICATED')
    expect(expectOk(await app.graphql(node, { id })).node).toBeNull()
  })
})
