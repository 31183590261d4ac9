import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { webhookSecretContext } from '../../../src/modules/store/network-apps.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { bothApis, type Caller, type Input, restApi } from '../../support/api.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const user = await app.newUser()

const WEBHOOK = 'https://receiver.example.org/hook'
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const missing = 'app_01h455vb4pex5vsknk084sn02q'
const newName = (name = 'App') => `${name} ${randomUUID()}`
const newKey = () => ({ headers: { 'Idempotency-Key': randomUUID() } })

interface Secrets {
  webhook_secret: Uint8Array | null
  previous_secret: Uint8Array | null
  seconds: number | null
}

/** Decrypts the current and the previous secret. `seconds`: remaining lifetime of the previous one. */
async function secretsOf(id: string) {
  const { uuid } = fromId(id)!
  const [row] = await app.sql<Secrets>(
    `select webhook_secret, previous_secret, extract(epoch from previous_secret_expires_at - now())::float as seconds
     from network_apps where id = $1::uuid`,
    [uuid],
  )
  const open = (sealed: Uint8Array | null) =>
    sealed && app.installation.envelopeCipher.open(sealed, webhookSecretContext(uuid))
  return { now: await open(row!.webhook_secret), before: await open(row!.previous_secret), seconds: row!.seconds }
}

describe.each(bothApis)('network apps over $name', (api) => {
  const policy = (name: string) => (api.name === 'REST' ? name.toLowerCase() : name)
  const create = (fields: Input = {}, options = {}) =>
    api.createNetworkApp(admin, { name: newName(), price: '0.5', ...fields }, options)
  const created = async (fields: Input = {}) => (await create(fields)).ok()
  const update = (id: string, fields: Input) => api.updateNetworkApp(admin, { id, ...fields })
  const read = async (id: string, caller: Caller = admin) => (await api.readNetworkApp(caller, { id })).ok()

  it('only administrators can create, change and deactivate network apps', async () => {
    for (const [caller, code] of [
      [app, 'NOT_AUTHENTICATED'],
      [user, 'PERMISSION_DENIED'],
    ] as const) {
      ;(await api.createNetworkApp(caller, { name: 'No', price: '1' })).fails(code)
      ;(await api.updateNetworkApp(caller, { id: missing, price: '1' })).fails(code)
      ;(await api.rotateWebhookSecret(caller, { id: missing })).fails(code)
      ;(await api.deactivateNetworkApp(caller, { id: missing })).fails(code)
    }
  })

  it('a network app keeps all fields that were sent', async () => {
    const fields = { name: newName(), webhookUrl: WEBHOOK, deliveryFailurePolicy: policy('REFUND') }
    const { webhookSecret, ...made } = await created(fields)
    expect(webhookSecret).toMatch(SECRET)
    expect(made).toMatchObject({
      ...{ id: expect.stringMatching(/^app_[0-9a-z]{26}$/), name: fields.name, priceMode: 'FIXED', price: '0.5' },
      ...{ webhookUrl: WEBHOOK, deliveryFailurePolicy: 'REFUND', isActive: true },
    })
    expect(await read(made.id)).toEqual(made)
  })

  it('a network app has no secret without a webhook, and gets a secret with its first webhook URL', async () => {
    const { id, webhookUrl, webhookSecret } = await created()
    expect({ webhookUrl, webhookSecret }).toEqual({ webhookUrl: null, webhookSecret: null })
    expect(await secretsOf(id)).toEqual({ now: null, before: null, seconds: null })
    ;(await api.rotateWebhookSecret(admin, { id })).fails('VALIDATION_FAILED')
    expect((await update(id, { webhookUrl: WEBHOOK })).text).not.toContain('whsec_')
    expect((await secretsOf(id)).now).toMatch(SECRET)
  })

  it('an invalid network app is rejected with all problems in one response', async () => {
    const wrong = { name: ' ', price: '-1', webhookUrl: 'http://user@10.0.0.1/' }
    expect((await create(wrong)).fails('VALIDATION_FAILED')).toEqual({
      name: ['This field may not be blank.'],
      price: ['Ensure this value is greater than or equal to 0.'],
      webhookUrl: [expect.any(String)],
    })
  })

  it.each<[string, unknown, RegExp]>([
    ...['1e-7', 'many', '1,5', '.5', '1234567890123', '0.1234567890123456789'].map(
      (price) => ['price', price, /12 digits before and 18 digits after/] as [string, unknown, RegExp],
    ),
    ['name', 'x'.repeat(101), /no more than 100 characters/],
    ['name', 'a\0b', /Null characters/],
    ['name', missing, /identifier/],
    ['webhookUrl', 'http://receiver.example.org/', /https/],
    ['webhookUrl', 'https://127.0.0.1/', /internal/],
    ['webhookUrl', 'https://[::1]/', /internal/],
    ['webhookUrl', 'https://169.254.169.254/latest', /internal/],
    ['webhookUrl', 'https://a:b@receiver.example.org/', /credentials/],
  ])('rejects a network app if the %s is %j', async (field, value, message) => {
    const details = (await create({ [field]: value })).fails('VALIDATION_FAILED')
    expect(details).toEqual({ [field]: [expect.stringMatching(message)] })
  })

  it('network apps have names that are unique regardless of case', async () => {
    const name = newName('Upscale')
    await created({ name })
    const taken = ['A network app with this name already exists.']
    expect((await create({ name: ` ${name.toUpperCase()}` })).fails('VALIDATION_FAILED')).toEqual({ name: taken })
    expect((await update((await created()).id, { name })).fails('VALIDATION_FAILED')).toEqual({ name: taken })
  })

  it('ten requests with one idempotency key create one network app with one secret', async () => {
    const options = newKey()
    const fields = { name: newName(), webhookUrl: WEBHOOK }
    const results = await Promise.all(Array.from({ length: 10 }, () => create(fields, options)))
    results.push(await create(fields, options))
    expect(results.at(-1)!.headers.get('idempotency-replayed')).toBe('true')
    expect(new Set(results.map(({ text }) => text)).size).toBe(1)
    const { id, webhookSecret } = results[0]!.ok()
    expect((await secretsOf(id)).now).toBe(webhookSecret)
    ;(await create({ ...fields, price: '7' }, options)).fails('IDEMPOTENCY_KEY_REUSED')
    expect(await app.sql('select from network_apps where name = $1', [fields.name])).toHaveLength(1)
  })

  it('an update of a network app changes only the fields that are sent', async () => {
    const { webhookSecret, ...made } = await created({ webhookUrl: WEBHOOK })
    const name = newName()
    const changed = (await update(made.id, { name, price: '3', deliveryFailurePolicy: policy('REFUND') })).ok()
    expect(changed).toMatchObject({
      id: made.id,
      name,
      price: '3',
      deliveryFailurePolicy: 'REFUND',
      webhookUrl: WEBHOOK,
    })
    expect((await update(made.id, {})).ok()).toEqual(changed)
    const wrong = { name: '', price: '1e5', webhookUrl: 'ftp://x' }
    const details = (await update(made.id, wrong)).fails('VALIDATION_FAILED')
    expect(Object.keys(details).sort()).toEqual(['name', 'price', 'webhookUrl'])
    expect(await read(made.id)).toEqual(changed)
    expect((await secretsOf(made.id)).now).toBe(webhookSecret)
    expect((await update(made.id, { webhookUrl: null })).ok().webhookUrl).toBeNull()
  })

  it('a new URL enables the disabled webhook of a network app again', async () => {
    const { id } = await created({ webhookUrl: WEBHOOK })
    const { uuid } = fromId(id)!
    await app.sql('update network_apps set webhook_disabled_at = now() where id = $1::uuid', [uuid])
    ;(await update(id, { webhookUrl: `${WEBHOOK}/2` })).ok()
    const row = 'select webhook_disabled_at, webhook_url from network_apps where id = $1::uuid'
    expect(await app.sql(row, [uuid])).toEqual([{ webhook_disabled_at: null, webhook_url: `${WEBHOOK}/2` }])
  })

  it('users see a network app without its webhook until the app is deactivated', async () => {
    const { id } = await created({ webhookUrl: WEBHOOK })
    expect(await read(id, user)).toMatchObject({ id, price: '0.5', webhookUrl: null })
    for (let times = 0; times < 2; times += 1) (await api.deactivateNetworkApp(admin, { id })).ok()
    expect(await read(id)).toMatchObject({ id, isActive: false })
    ;(await api.readNetworkApp(user, { id })).fails('NOT_FOUND')
    ;(await api.readNetworkApp(app, { id })).fails('NOT_AUTHENTICATED')
  })

  it.each([missing, 'rubbish', admin.publicId, randomUUID()])(
    'returns 404 for a network app with the unknown ID %s',
    async (id) => {
      ;(await api.readNetworkApp(admin, { id })).fails('NOT_FOUND')
      ;(await update(id, { price: '1' })).fails('NOT_FOUND')
      ;(await api.rotateWebhookSecret(admin, { id })).fails('NOT_FOUND')
      ;(await api.deactivateNetworkApp(admin, { id })).fails('NOT_FOUND')
    },
  )

  it('the previous webhook secret stays valid for one day after a rotation, even if the rotation is retried', async () => {
    const { id, webhookSecret } = await created({ webhookUrl: WEBHOOK })
    const options = newKey()
    const rotate = () => api.rotateWebhookSecret(admin, { id }, options)
    const rotated = (await rotate()).ok()
    expect(rotated).toMatchObject({ id, webhookSecret: expect.stringMatching(SECRET) })
    expect(rotated.webhookSecret).not.toBe(webhookSecret)
    expect((await rotate()).ok().webhookSecret).toBe(rotated.webhookSecret)
    const { seconds, ...secrets } = await secretsOf(id)
    expect(secrets).toEqual({ now: rotated.webhookSecret, before: webhookSecret })
    expect(seconds).toBeGreaterThan(86_000)
    expect(seconds).toBeLessThanOrEqual(86_400)
  })

  it('a network app shows its webhook secret once, and stores the secret encrypted', async () => {
    const { id, webhookSecret } = await created({ webhookUrl: WEBHOOK })
    expect((await api.readNetworkApp(admin, { id })).text).not.toContain('whsec_')
    expect((await admin.rest('GET', 'store/network-apps/')).text).not.toContain('whsec_')
    const tables = ['network_apps', 'idempotency_keys']
    const rows = JSON.stringify(await Promise.all(tables.map((table) => app.sql(`select t::text from ${table} t`))))
    const bytes = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64').toString('hex')
    const text = Buffer.from(webhookSecret).toString('hex')
    for (const clear of [webhookSecret, bytes, text]) expect(rows).not.toContain(clear)
    expect((await secretsOf(id)).now).toBe(webhookSecret)
  })
})

describe('network apps over REST', () => {
  const post = (fields: object, encoding = 'json') =>
    admin.rest('POST', 'store/network-apps/', { [encoding]: { name: newName(), price_mode: 'fixed', ...fields } })

  it('REST returns network apps with exactly the fields of the contract', async () => {
    const { webhook_secret, ...record } = expectOk(await post({ price: '0.5', webhook_url: WEBHOOK }))
    expect(webhook_secret).toMatch(SECRET)
    expect(record).toEqual({
      ...{ id: expect.stringMatching(/^app_/), name: expect.any(String), price_mode: 'fixed', price: '0.5' },
      ...{ webhook_url: WEBHOOK, is_active: true, delivery_failure_policy: 'keep' },
      ...{ created_at: expect.stringMatching(/^\d{4}-.*Z$/), updated_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    })
    expect(expectOk(await admin.rest('GET', 'store/network-apps/')).results[0]).toEqual(record)
  })

  it.each([
    ['a form', 'urlencoded', { price: '1.50', webhook_url: '' }, '1.5'],
    ['multipart', 'multipart', { price: '0' }, '0'],
    ['a JSON number', 'json', { price: 2.25 }, '2.25'],
    ['a small JSON number', 'json', { price: 1e-7 }, '0.0000001'],
    ['a long JSON number', 'json', { price: 0.30000000000000004 }, '0.30000000000000004'],
  ])('a network app accepts the price in %s', async (_, encoding, fields, price) => {
    expect(expectOk(await post(fields, encoding))).toMatchObject({ price, webhook_url: null })
  })

  it.each([
    [{ price_mode: undefined }, { price_mode: ['This field is required.'] }],
    [{ price_mode: null }, { price_mode: ['This field is required.'] }],
    [{ price_mode: 'per_use' }, { price_mode: [expect.stringMatching(/fixed/)] }],
    [{ price_mode: '' }, { price_mode: [expect.stringMatching(/fixed/)] }],
    [{ delivery_failure_policy: 'pray' }, { delivery_failure_policy: [expect.stringMatching(/keep, refund/)] }],
    [{ price: 1e21 }, { price: [expect.stringMatching(/12 digits/)] }],
  ])('a network app rejects the fields %j', async (fields, details) => {
    expect(expectError(await post({ price: '1', ...fields }), 'VALIDATION_FAILED').body.error.details).toEqual(details)
  })

  it('only administrators can search network apps by name, and the exact match is first', async () => {
    const name = `Résize_${randomUUID().slice(0, 8)}`
    const ids: string[] = []
    for (const each of [name, `The ${name}`, `The best ${name} of all`]) {
      ids.push(expectOk(await post({ name: each, price: '1' })).id)
    }
    const wanted = [ids[0], ids[2], ids[1]]
    const list = async (path: string) => {
      const { results, ...page } = expectOk(await admin.rest('GET', path))
      return { ...page, ids: results.map(({ id }: { id: string }) => id) }
    }
    const path = `store/network-apps/?name=${encodeURIComponent(name.toLowerCase())}`
    expect(await list(path)).toEqual({ count: 3, next: null, previous: null, ids: wanted })
    const first = await list(`${path}&limit=2`)
    expect(first.ids).toEqual(wanted.slice(0, 2))
    expect((await list(first.next.slice(app.url.length))).ids).toEqual(wanted.slice(2))
    for (const none of ['%', '_pp', 'no such app']) {
      expect((await list(`store/network-apps/?name=${encodeURIComponent(none)}`)).count).toBe(0)
    }
    expectError(await app.rest('GET', path), 'NOT_AUTHENTICATED')
    expectError(await user.rest('GET', path), 'PERMISSION_DENIED')
  })
})

describe('network apps over GraphQL', () => {
  const LIST = `query ($filter: NetworkAppFilter, $first: Int, $after: String, $last: Int, $before: String) {
    networkApps(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      totalCount nodes { id webhookUrl } pageInfo { endCursor startCursor hasNextPage }
    }
  }`
  const NODE = 'query ($id: ID!) { node(id: $id) { id ... on NetworkApp { isActive owner { id displayName } } } }'
  const create = async (name: string) =>
    (await restApi.createNetworkApp(admin, { name, price: '1', webhookUrl: WEBHOOK })).ok().id
  const list = async (caller: Caller, variables: object) => {
    const page = expectOk(await caller.graphql(LIST, variables)).networkApps
    return { ...page, ids: page.nodes.map(({ id }: { id: string }) => id) }
  }

  it('GraphQL pages network apps from both ends, with the exact name match first', async () => {
    const name = newName('Resize')
    const exact = await create(name)
    const others: string[] = []
    for (const n of [1, 2, 3]) others.unshift(await create(`${name} ${n}`))
    const wanted = [exact, ...others]
    const filter = { name }
    const first = await list(admin, { filter, first: 2 })
    expect(first).toMatchObject({ totalCount: 4, ids: wanted.slice(0, 2), pageInfo: { hasNextPage: true } })
    const rest = await list(admin, { filter, first: 5, after: first.pageInfo.endCursor })
    expect(rest).toMatchObject({ ids: wanted.slice(2), pageInfo: { hasNextPage: false } })
    expect((await list(admin, { filter, last: 3 })).ids).toEqual(wanted.slice(1))
    expect((await list(admin, { filter, last: 5, before: rest.pageInfo.startCursor })).ids).toEqual(wanted.slice(0, 2))
    expectError(await admin.graphql(LIST, { first: 1, after: 'rubbish' }), 'VALIDATION_FAILED')
  })

  it('users see network apps that are on sale, and administrators see all apps', async () => {
    const name = newName()
    const id = await create(name)
    const node = async (caller: Caller) => expectOk(await caller.graphql(NODE, { id })).node
    expect(await list(user, { filter: { name } })).toMatchObject({ totalCount: 1, nodes: [{ id, webhookUrl: null }] })
    expect(await node(user)).toMatchObject({ id, isActive: true, owner: { id: admin.publicId } })
    ;(await restApi.deactivateNetworkApp(admin, { id })).ok()
    for (const filter of [{ name }, { name, isActive: false }]) {
      expect(await list(user, { filter })).toMatchObject({ totalCount: 0, nodes: [] })
    }
    expect([await node(user), await node(app)]).toEqual([null, null])
    const counts = [{ name }, { name, isActive: true }, { name, isActive: false }]
    const found = await Promise.all(counts.map((filter) => list(admin, { filter })))
    expect(found.map(({ totalCount }) => totalCount)).toEqual([1, 0, 1])
    expectError(await app.graphql(LIST), 'NOT_AUTHENTICATED')
  })
})
