import { describe, expect, it } from 'vitest'
import { fromId } from '../../../src/shared/ids.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const user = await app.newUser({ points: '100', num: '10' })
const admin = await app.admin()

const texts = {
  headline: { headline: 'Blue whale' },
  caption: { caption: 'A WHALE in the Atlantic, 100% real' },
  tag: { tag: 'sea_life' },
  accents: { caption: 'Crème BRÛLÉE' },
  fileName: { asset_file: newFile('whale tail.png') },
  backslash: { caption: 'C:\\photos' },
}
const ids = {} as Record<keyof typeof texts, string>
for (const [name, fields] of Object.entries(texts)) {
  ids[name as keyof typeof texts] = (await user.register({ public_access: 'true', ...fields })).id
}

interface Page {
  count: number
  next: string | null
  results: { id: string; [key: string]: unknown }[]
}
const get = async (path: string, { rest }: Pick<SignedIn, 'rest'> = user): Promise<Page> =>
  expectOk(await rest('GET', path.replace(app.url, '')))
const find = (search: string, actor?: Pick<SignedIn, 'rest'>) =>
  get(`assets/?search=${encodeURIComponent(search)}`, actor)
const namesOf = ({ results }: Page) =>
  results.map(({ id }) => Object.entries(ids).find(([, known]) => known === id)?.[0]).toReversed()

describe('search of assets', () => {
  it.each<[string, (keyof typeof texts)[]]>([
    ['whale', ['headline', 'caption', 'fileName']],
    ['WhAl', ['headline', 'caption', 'fileName']],
    ['whale blue', ['headline']],
    ['atlantic,whale', ['caption']],
    ['  whale   tail  ', ['fileName']],
    ['whale shark', []],
    ['sea_life', ['tag']],
    ['crème brûlée', ['accents']],
    ['CRÈME', ['accents']],
    ['100%', ['caption']],
    ['%', ['caption']],
    ['_', ['tag']],
    ['s_a', []],
    ['\\', ['backslash']],
    ['\\photos', ['backslash']],
    ["'", []],
  ])('the search for "%s" finds assets that contain every word', async (search, expected) => {
    const page = await find(search)
    expect([namesOf(page), page.count]).toEqual([expected, expected.length])
    expect(namesOf(await find(search, app))).toEqual(expected)
  })

  it('a search without words returns the whole list', async () => {
    for (const search of ['', ' ', ',']) expect((await find(search)).count).toBe(6)
  })

  it('a search can be combined with pagination, filters and ordering', async () => {
    const first = await get('assets/?search=whale&page_size=2&ordering=created_at')
    expect([first.count, first.results.map(({ id }) => id)]).toEqual([3, [ids.headline, ids.caption]])
    const second = await get(first.next!)
    expect([second.count, second.results.map(({ id }) => id)]).toEqual([3, [ids.fileName]])
    expect((await get('assets/?search=sea&tag=sea_life')).count).toBe(1)
    expect((await get('assets/?search=whale&tag=sea_life')).count).toBe(0)
    expectError(await user.rest('GET', 'assets/?search=whale&page=2'), 'NOT_FOUND')
  })

  it('a search finds only assets that the caller may see', async () => {
    const other = await app.newUser()
    await other.register({ headline: 'Secret whale' })
    expect((await find('secret', other)).count).toBe(1)
    expect((await find('secret')).count).toBe(0)
    expect((await find('secret', app)).count).toBe(0)
  })

  it.each(['x'.repeat(201), 'a '.repeat(21), '\0'])('rejects an invalid search text', async (search) => {
    const refused = await user.rest('GET', `assets/?search=${encodeURIComponent(search)}`)
    expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toHaveProperty('search')
  })
})

it.each(['the caller', 'another user'])('sorts assets of %s by the time of their last update', async (whose) => {
  const owner = await app.newUser({ points: '100' })
  const actor = whose === 'the caller' ? owner : app
  const [first, second, third] = [
    await owner.register({ public_access: 'true' }),
    await owner.register({ public_access: 'true' }),
    await owner.register({ public_access: 'true' }),
  ]
  expectOk(await owner.rest('PATCH', `assets/${second.id}/`, { json: { caption: 'New' } }))
  const expected = [second.id, third.id, first.id]
  const idsOf = async (query: string) =>
    (await get(`assets/?owner=${encodeURIComponent(owner.email)}&${query}`, actor)).results.map(({ id }) => id)
  expect(await idsOf('ordering=-updated_at')).toEqual(expected)
  expect(await idsOf('ordering=updated_at')).toEqual(expected.toReversed())
  expect(await idsOf('ordering=-updated_at&limit=2&offset=1')).toEqual(expected.slice(1))
  expect(await idsOf('ordering=updated_at&page=2&page_size=2')).toEqual([second.id])
})

describe('search of other lists', async () => {
  const store = await createStore(app, { price: '1' })
  await app.sql(`update network_apps set name = 'Print 50%' where id = $1::uuid`, [fromId(store.appId)!.uuid])
  const paid = await store.order(user)
  expectOk(await store.confirm(user, paid.id))
  await store.order(user)
  const other = await createStore(app, { price: '1' })
  await other.order(user)
  const refunds = `store/network-app-orders/${paid.id}/refunds/`
  expectOk(await admin.rest('POST', refunds, { json: { amount: '0.5', reason: 'Paper jam' } }))
  expectOk(await admin.rest('POST', refunds, { json: { amount: '0.25', reason: 'Goodwill' } }))
  for (const commit_message of ['First draft', 'Second draft', 'Final']) {
    expectOk(await user.rest('PATCH', `assets/${ids.tag}/`, { json: { caption: commit_message, commit_message } }))
  }
  const links = `assets/${ids.tag}/links/`
  for (const label of ['For Ada', 'For Bob']) expectOk(await user.rest('POST', links, { json: { label } }))
  await app.sql(`update access_tokens set name = 'Ada’s phone' where user_id = $1::uuid`, [user.id])
  await app.sql(`insert into audit_entries (user_id, action, subject) values ($1::uuid, 'session.revoked', 'x_y')`, [
    user.id,
  ])
  const withdrawal = { amount: '1', to: `0x${'e1'.repeat(20)}`, current_password: PASSWORD }
  expectOk(await user.rest('POST', 'wallet/withdrawals/', { json: withdrawal }))
  await app.sql(
    `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
     values ('deposit:0xabc1:-1', 'COIN', 'PENDING', '0xabc1', $1::uuid, 1, 1, '0xb')`,
    [user.id],
  )
  const webhook = { name: 'Hooked', price_mode: 'fixed', price: '1', webhook_url: 'https://hook.example.org/' }
  const { id: hooked } = expectOk(await admin.rest('POST', 'store/network-apps/', { json: webhook }))
  expectOk(await admin.rest('POST', `store/network-apps/${hooked}/test-events/`))
  const { proof_hash: hash } = expectOk(await user.rest('GET', `assets/${ids.headline}/`))

  it.each<[string, string, number, SignedIn]>([
    ['store/network-app-orders/', 'print', 2, user],
    ['store/network-app-orders/', '50%', 2, user],
    [refunds, 'JAM paper', 1, user],
    ['store/network-apps/', 'print 50%', 1, admin],
    ['store/api-keys/', store.name.slice(4), 1, admin],
    ['auth/sessions/', 'phone ada', 1, user],
    ['auth/users/me/audit-entries/', 'revoked x_y', 1, user],
    ['store/webhook-deliveries/', 'test hooked', 1, admin],
    ['wallet/withdrawals/', 'E1E1', 1, user],
    ['wallet/deposits/', 'ABC1', 1, user],
    ['wallet/transfers/', 'refund order', 2, user],
    ['wallet/transfers/', 'withdrawal', 1, user],
    [`assets/${ids.tag}/history/`, 'draft', 2, user],
    [links, 'bob', 1, user],
    ['events/', 'paid', 1, user],
    ['auth/users/', 'example.org', 1, user],
    [`lookup/?sha256=${hash}`, 'whale', 1, user],
  ])('the search in %s for "%s" finds %i entries', async (path, search, count, actor) => {
    const with_ = (words: string) => `${path}${path.includes('?') ? '&' : '?'}search=${encodeURIComponent(words)}`
    const page = await get(with_(search), actor)
    const itemsOf = (found: object): unknown[] => Object.values(found).find(Array.isArray) ?? []
    expect([page.count, itemsOf(page).length]).toEqual([count, count])
    expect(await get(with_('no-such-word'), actor)).toMatchObject({ count: 0, next: null, previous: null })
    const backwards = await get(`${with_(search)}&ordering=created_at`, actor)
    const forwards = await get(`${with_(search)}&ordering=-created_at`, actor)
    expect(itemsOf(backwards)).toEqual(itemsOf(forwards).toReversed())
    expect(await get(`${with_(search)}&limit=1&offset=${count - 1}`, actor)).toMatchObject({ count, next: null })
  })

  it('a search of wallet transfers returns the balance after each transfer', async () => {
    const all = (await get('wallet/transfers/')).results
    const found = (await get('wallet/transfers/?search=order')).results
    expect(found.length).toBeGreaterThan(2)
    expect(found).toEqual(all.filter(({ kind }) => String(kind).includes('order')))
  })
})
