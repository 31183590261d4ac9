import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromId } from '../../src/domain/ids.ts'
import { webhookSecretContext } from '../../src/domain/store/network-app-service.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import type { Answer } from '../support/http-client.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const user = await app.newUser()

const WEBHOOK = 'https://receiver.example.org/hook'
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/
const newKey = () => ({ 'Idempotency-Key': randomUUID() })
const newName = (name = 'App') => `${name} ${randomUUID()}`
const path = (id: string) => `store/network-apps/${id}/`

const create = (fields: object = {}, headers = {}) =>
  admin.rest('POST', 'store/network-apps/', {
    json: { name: newName(), price_mode: 'fixed', price: '0.5', ...fields },
    headers,
  })
const created = async (fields: object = {}) => {
  const answer = await create(fields)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}
const patch = (id: string, json: object) => admin.rest('PATCH', path(id), { json })
const read = async (id: string) => expectOk(await admin.rest('GET', path(id)))
const details = (answer: Answer) => expectError(answer, 'VALIDATION_FAILED').body.error.details

interface Secrets {
  webhook_secret: Uint8Array | null
  previous_secret: Uint8Array | null
  remaining: number | null
}
async function secretsOf(id: string) {
  const { uuid } = fromId(id)!
  const [row] = await app.sql<Secrets>(
    `select webhook_secret, previous_secret, extract(epoch from previous_secret_expires_at - now())::float as remaining
     from network_apps where id = $1::uuid`,
    [uuid],
  )
  const open = (sealed: Uint8Array | null) =>
    sealed && app.installation.envelopeCipher.open(sealed, webhookSecretContext(uuid))
  return {
    now: await open(row!.webhook_secret),
    before: await open(row!.previous_secret),
    remaining: row!.remaining,
  }
}

const missing = 'app_01h455vb4pex5vsknk084sn02q'
describe.each([
  ['POST', 'store/network-apps/'],
  ['GET', 'store/network-apps/'],
  ['GET', 'store/network-apps/?name=upscale'],
  ['PATCH', path(missing)],
  ['DELETE', path(missing)],
  ['POST', `${path(missing)}rotate-secret/`],
])('%s %s', (method, target) => {
  it('is for administrators', async () => {
    expectError(await app.rest(method, target), 'NOT_AUTHENTICATED')
    expectError(await user.rest(method, target), 'PERMISSION_DENIED')
  })
})

it('a signed-in user reads a network app by its identifier, and lists network apps with GraphQL', async () => {
  const { id, name } = await created({ webhook_url: WEBHOOK })
  expect(expectOk(await user.rest('GET', path(id)))).toMatchObject({ id, price: '0.5', webhook_url: null })
  const list = 'query ($name: String) { networkApps(filter: { name: $name }) { nodes { id name price webhookUrl } } }'
  expect(expectOk(await user.graphql(list, { name })).networkApps.nodes).toEqual([
    { id, name, price: '0.5', webhookUrl: null },
  ])
  expect((await admin.rest('DELETE', path(id))).status).toBe(204)
  expectError(await user.rest('GET', path(id)), 'NOT_FOUND')
  expectError(await app.rest('GET', path(id)), 'NOT_AUTHENTICATED')
})

describe('a new network app', () => {
  it('is answered with all its fields, and read and listed as the same', async () => {
    const name = newName()
    const answer = await create({ name, webhook_url: WEBHOOK })
    expect(answer.status).toBe(201)
    const { webhook_secret, ...record } = answer.body
    expect(webhook_secret).toMatch(SECRET)
    expect(record).toEqual({
      id: expect.stringMatching(/^app_[0-9a-z]{26}$/),
      name,
      price_mode: 'fixed',
      price: '0.5',
      webhook_url: WEBHOOK,
      is_active: true,
      delivery_failure_policy: 'keep',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(await read(record.id)).toEqual(record)
    expect(expectOk(await admin.rest('GET', 'store/network-apps/')).results[0]).toEqual(record)
  })

  it('without a webhook has no secret', async () => {
    const made = await created()
    expect(made).toMatchObject({ webhook_url: null, webhook_secret: null })
    expect(await secretsOf(made.id)).toEqual({ now: null, before: null, remaining: null })
  })

  it.each([
    ['a form', { urlencoded: { price_mode: 'fixed', price: '1.50', webhook_url: '' } }, '1.5'],
    ['multipart', { multipart: { price_mode: 'fixed', price: '0' } }, '0'],
    ['a JSON number', { json: { price_mode: 'fixed', price: 2.25 } }, '2.25'],
    ['a small JSON number', { json: { price_mode: 'fixed', price: 1e-7 } }, '0.0000001'],
    ['a long JSON number', { json: { price_mode: 'fixed', price: 0.30000000000000004 } }, '0.30000000000000004'],
  ])('is read from %s', async (_, body, price) => {
    const [[encoding, fields]] = Object.entries(body) as [[string, object]]
    const answer = await admin.rest('POST', 'store/network-apps/', { [encoding]: { name: newName(), ...fields } })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.body).toMatchObject({ price, webhook_url: null })
  })

  it('hears of everything that is wrong at once', async () => {
    const json = { name: ' ', price_mode: 'fixed', price: '-1', webhook_url: 'http://user@10.0.0.1/' }
    expect(details(await admin.rest('POST', 'store/network-apps/', { json }))).toEqual({
      name: ['This field may not be blank.'],
      price: ['Ensure this value is greater than or equal to 0.'],
      webhook_url: [expect.any(String)],
    })
    const nothing = await admin.rest('POST', 'store/network-apps/', { json: { price_mode: 'fixed' } })
    expect(Object.keys(details(nothing))).toEqual(['name', 'price'])
  })

  it.each([{}, { price_mode: null }])('is refused without a price mode (%j)', async (fields) => {
    const json = { name: newName(), price: '1', ...fields }
    const answer = await admin.rest('POST', 'store/network-apps/', { json })
    expect(details(answer)).toEqual({ price_mode: ['This field is required.'] })
  })

  it.each([
    ['price', '1e-7', /exponent/],
    ['price', 1e21, /12 digits/],
    ['price', 'many', /decimal number/],
    ['price', '1,5', /decimal number/],
    ['price', '.5', /decimal number/],
    ['price', '1234567890123', /12 digits/],
    ['price', '0.1234567890123456789', /18 decimal places/],
    ['price_mode', 'per_use', /fixed/],
    ['price_mode', '', /fixed/],
    ['delivery_failure_policy', 'pray', /keep, refund/],
    ['name', 'x'.repeat(101), /no more than 100 characters/],
    ['name', 'a\0b', /Null characters/],
    ['name', missing, /identifier/],
    ['webhook_url', 'http://receiver.example.org/', /https/],
    ['webhook_url', 'https://127.0.0.1/', /internal/],
    ['webhook_url', 'https://[::1]/', /internal/],
    ['webhook_url', 'https://169.254.169.254/latest', /internal/],
    ['webhook_url', 'https://a:b@receiver.example.org/', /credentials/],
  ])('with %s %j is refused', async (field, value, message) => {
    expect(details(await create({ [field]: value }))).toEqual({ [field]: [expect.stringMatching(message)] })
  })

  it('takes a name that nobody has, in whatever case', async () => {
    const name = newName('Upscale')
    await created({ name })
    expect(details(await create({ name: ` ${name.toUpperCase()}` }))).toEqual({
      name: ['A network app with this name already exists.'],
    })
  })

  it('asked for twice with one key is one app with one secret', async () => {
    const headers = newKey()
    const fields = { name: newName(), webhook_url: WEBHOOK }
    const answers = [await create(fields, headers), await create(fields, headers)]
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([201, answers[0]!.text]))
    expect(answers[1]!.headers.get('idempotency-replayed')).toBe('true')
    expect((await secretsOf(answers[0]!.body.id)).now).toBe(answers[0]!.body.webhook_secret)
    expectError(await create({ ...fields, price: '7' }, headers), 'IDEMPOTENCY_KEY_REUSED')
  })

  it('asked for ten times at once with one key is one app', async () => {
    const headers = newKey()
    const fields = { name: newName(), webhook_url: WEBHOOK }
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(fields, headers)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(expectOk(await admin.rest('GET', `store/network-apps/?name=${fields.name}`)).count).toBe(1)
  })
})

describe('the list', () => {
  it('gives the app of exactly the name first, then the newest that hold it', async () => {
    const name = `Résize_${randomUUID().slice(0, 8)}`
    const exact = await created({ name })
    const longer = await created({ name: `The ${name}` })
    const longest = await created({ name: `The best ${name} of all` })
    const list = async (query: string) => expectOk(await admin.rest('GET', `store/network-apps/?${query}`))
    const word = encodeURIComponent(name.toLowerCase())
    expect(await list(`name=${word}`)).toMatchObject({
      count: 3,
      next: null,
      results: [{ id: exact.id }, { id: longest.id }, { id: longer.id }],
    })
    const first = await list(`name=${word}&limit=2`)
    expect(first.results.map(({ id }: { id: string }) => id)).toEqual([exact.id, longest.id])
    const second = await app.rest('GET', first.next.slice(app.url.length), { actor: admin })
    expect(expectOk(second).results).toMatchObject([{ id: longer.id }])
  })

  it.each(['%', '_pp', 'no such app'])('holds nothing for %j, which is in no name', async (name) => {
    await created()
    expect(expectOk(await admin.rest('GET', `store/network-apps/?name=${encodeURIComponent(name)}`))).toMatchObject({
      count: 0,
      results: [],
    })
  })
})

describe('an app', () => {
  it('changes only in what is given', async () => {
    const { id, webhook_secret, ...before } = await created({ webhook_url: WEBHOOK })
    const name = newName()
    const changed = expectOk(await patch(id, { name, price: 3, delivery_failure_policy: 'refund' }))
    expect(changed).toEqual({
      ...{ id, ...before, name, price: '3', delivery_failure_policy: 'refund' },
      updated_at: expect.any(String),
    })
    expect(await read(id)).toEqual(changed)
    expect((await secretsOf(id)).now).toBe(webhook_secret)
    expect(expectOk(await patch(id, {}))).toEqual(changed)
  })

  it('asks a new price of new orders only', async () => {
    const { id } = await created({ price: '0.5' })
    const { key } = await app.services.apiKeys.issue(
      { kind: 'system' },
      { name: 'Shop' },
      { key: undefined, replayed: false },
    )
    const order = async () => {
      const json = { network_app: id }
      const answer = await user.rest('POST', 'store/network-app-orders/', { json, headers: { 'x-api-key': key } })
      return expectOk(answer)
    }
    const before = await order()
    expectOk(await patch(id, { price: '2' }))
    expect(expectOk(await user.rest('GET', `store/network-app-orders/${before.id}/`)).price).toBe('0.5')
    expect((await order()).price).toBe('2')
  })

  it.each([null, ''])('loses its webhook by %j', async (webhook_url) => {
    const { id } = await created({ webhook_url: WEBHOOK })
    expect(expectOk(await patch(id, { webhook_url })).webhook_url).toBeNull()
    expectError(await admin.rest('POST', `${path(id)}rotate-secret/`), 'VALIDATION_FAILED')
  })

  it('is called again once it has a new URL', async () => {
    const { id } = await created({ webhook_url: WEBHOOK })
    await app.sql('update network_apps set webhook_disabled_at = now() where id = $1::uuid', [fromId(id)!.uuid])
    expectOk(await patch(id, { webhook_url: `${WEBHOOK}/2` }))
    const rows = await app.sql('select webhook_disabled_at, webhook_url from network_apps where id = $1::uuid', [
      fromId(id)!.uuid,
    ])
    expect(rows).toEqual([{ webhook_disabled_at: null, webhook_url: `${WEBHOOK}/2` }])
  })

  it('gets a secret with its first URL', async () => {
    const { id } = await created()
    const changed = expectOk(await patch(id, { webhook_url: WEBHOOK }))
    expect(changed).not.toHaveProperty('webhook_secret')
    expect((await secretsOf(id)).now).toMatch(SECRET)
  })

  it('refuses a change that is wrong, and stays as it was', async () => {
    const { name } = await created()
    const { id, webhook_secret: _, ...before } = await created()
    expect(details(await patch(id, { name }))).toEqual({ name: [expect.stringMatching(/already exists/)] })
    const wrong = { name: '', price: '1e5', webhook_url: 'ftp://x' }
    expect(Object.keys(details(await patch(id, wrong))).sort()).toEqual(['name', 'price', 'webhook_url'])
    expect(await read(id)).toEqual({ id, ...before })
  })

  it('is deactivated, and stays so', async () => {
    const { id } = await created()
    expect(await admin.rest('DELETE', path(id))).toMatchObject({ status: 204, text: '' })
    expect((await admin.rest('DELETE', path(id))).status).toBe(204)
    expect(await read(id)).toMatchObject({ id, is_active: false })
  })

  it.each(['GET', 'PATCH', 'DELETE'])('that is unknown is not found by %s', async (method) => {
    const body = method === 'PATCH' ? { json: { price: '1' } } : {}
    for (const id of [missing, 'rubbish', admin.publicId, randomUUID()]) {
      expectError(await admin.rest(method, path(id), body), 'NOT_FOUND')
    }
  })
})

describe('a webhook secret', () => {
  it('is shown once, and stored sealed', async () => {
    const { id, webhook_secret } = await created({ webhook_url: WEBHOOK })
    expect((await admin.rest('GET', path(id))).text).not.toContain('whsec_')
    expect((await admin.rest('GET', 'store/network-apps/')).text).not.toContain('whsec_')
    const tables = ['network_apps', 'idempotency_keys']
    const rows = await Promise.all(tables.map((table) => app.sql(`select t::text as row from ${table} t`)))
    const bytes = Buffer.from(webhook_secret.slice('whsec_'.length), 'base64').toString('hex')
    const text = Buffer.from(webhook_secret).toString('hex')
    for (const clear of [webhook_secret, bytes, text]) expect(JSON.stringify(rows)).not.toContain(clear)
    expect((await secretsOf(id)).now).toBe(webhook_secret)
  })

  it('is rotated: the one before stays for a day', async () => {
    const { id, webhook_secret } = await created({ webhook_url: WEBHOOK })
    const rotated = expectOk(await admin.rest('POST', `${path(id)}rotate-secret/`))
    expect(rotated).toMatchObject({ id, webhook_secret: expect.stringMatching(SECRET) })
    expect(rotated.webhook_secret).not.toBe(webhook_secret)
    const { now, before, remaining } = await secretsOf(id)
    expect({ now, before }).toEqual({ now: rotated.webhook_secret, before: webhook_secret })
    expect(remaining).toBeGreaterThan(86_000)
    expect(remaining).toBeLessThanOrEqual(86_400)
  })

  it('is rotated once by a request that is sent twice with one key', async () => {
    const { id, webhook_secret } = await created({ webhook_url: WEBHOOK })
    const headers = newKey()
    const rotate = () => admin.rest('POST', `${path(id)}rotate-secret/`, { headers })
    const [first, again] = [await rotate(), await rotate()]
    expect(again.text).toBe(first.text)
    expect(await secretsOf(id)).toMatchObject({ now: first.body.webhook_secret, before: webhook_secret })
  })
})
