import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const admin = await app.admin()
const ids: string[] = []
for (let i = 0; i < 5; i++) ids.push((await user.register({ public_access: 'true' })).id)
const newestFirst = ids.toReversed()

interface Page {
  count: number
  next: string | null
  previous: string | null
  results: { id: string }[]
}
const get = async (path: string): Promise<Page> => expectOk(await user.rest('GET', path.replace(app.url, '')))
const list = (query: string) => get(`/api/v3/assets/?${query}`)
const idsOf = ({ results }: Page) => results.map(({ id }) => id)
const problem = async (path: string, rest = user.rest) =>
  expectError(await rest('GET', path), 'VALIDATION_FAILED').body.error.details

describe('page numbers', () => {
  it('a page number selects a page, and its links lead through all pages', async () => {
    const second = await list('page=2&page_size=2&unknown=kept')
    expect([second.count, idsOf(second)]).toEqual([5, newestFirst.slice(2, 4)])
    expect(second.next).toBe(`${app.url}/api/v3/assets/?page=3&page_size=2&unknown=kept`)
    expect(second.previous).toBe(`${app.url}/api/v3/assets/?page=1&page_size=2&unknown=kept`)
    const third = await get(second.next!)
    expect([idsOf(third), third.next]).toEqual([newestFirst.slice(4), null])
    const first = await get(second.previous!)
    expect([idsOf(first), first.previous]).toEqual([newestFirst.slice(0, 2), null])
    expect(await get(first.next!)).toMatchObject({ count: 5, next: second.next!.replace('&unknown', '&unknown') })
  })

  it('the page number "last" selects the last page', async () => {
    const last = await list('page=last&page_size=2')
    expect([idsOf(last), last.next]).toEqual([newestFirst.slice(4), null])
    expect(new URL(last.previous!).searchParams.get('page')).toBe('2')
    expect((await get('/api/v3/auth/users/me/audit-entries/?page=last')).count).toBeGreaterThan(-1)
  })

  it('the parameter page selects pages of 200 entries by default and 1000 at most', async () => {
    expect(idsOf(await list('page=1'))).toEqual(newestFirst)
    expect(idsOf(await list('page=1&page_size=5000'))).toEqual(newestFirst)
    for (const size of ['0', '-1', 'x', '']) expect(idsOf(await list(`page=1&page_size=${size}`))).toEqual(newestFirst)
  })

  it.each(['0', '-1', 'x', '1.5', '2', 'LAST', '99999999999999999999'])(
    'the invalid page number %s returns 404',
    async (page) => {
      expect(expectError(await user.rest('GET', `assets/?page=${page}`), 'NOT_FOUND').body).toEqual({
        error: { type: 'resource_not_found', message: 'Invalid page.' },
        status_code: 404,
        detail: 'Invalid page.',
      })
      expectError(await app.rest('GET', `assets/?page=${page}`), 'NOT_FOUND')
    },
  )

  it('the page number 1 selects the only page of an empty list', async () => {
    expect(await get('/api/v3/store/network-app-orders/?page=1')).toMatchObject({ count: 0, next: null, results: [] })
    expect(await get('/api/v3/store/network-app-orders/?page=last')).toMatchObject({ count: 0, previous: null })
    expectError(await user.rest('GET', 'store/network-app-orders/?page=2'), 'NOT_FOUND')
  })
})

describe('parameter `ordering`', () => {
  it.each([
    ['created_at', ids],
    ['-created_at', newestFirst],
    ['uploaded_at', ids],
    ['-uploaded_at', newestFirst],
    ['unknown', newestFirst],
    ['unknown,created_at', ids],
    [' created_at , -updated_at', ids],
    ['created_at,created_at', ids],
  ])('the parameter ordering=%s sorts a list', async (ordering, expected) => {
    expect(idsOf(await list(`ordering=${encodeURIComponent(ordering)}`))).toEqual(expected)
  })

  it('the parameter `ordering` applies to every page, and stays in the links', async () => {
    const first = await list('ordering=created_at&limit=2')
    const second = await get(first.next!)
    expect([idsOf(first), idsOf(second), idsOf(await get(second.next!))]).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4),
    ])
    expect(idsOf(await get(second.previous!))).toEqual(ids.slice(0, 2))
    expect(idsOf(await list('ordering=created_at&page=last&page_size=2'))).toEqual(ids.slice(4))
  })
})

describe('contradictory list parameters', () => {
  it.each([
    ['limit=2&limit=3', 'limit'],
    ['offset=1&offset=2', 'offset'],
    ['page=1&page=2', 'page'],
    ['tag=a&tag=b', 'tag'],
    ['limit=2&page=1', 'page'],
    ['offset=2&page=1', 'page'],
    ['limit=2&page_size=2', 'page_size'],
    ['ordering=created_at,-created_at', 'ordering'],
    ['ordering=created_at,-uploaded_at', 'ordering'],
    ['ordering=created_at&ordering=-created_at', 'ordering'],
    ['is_original_owner=true&is_original_owner=false', 'is_original_owner'],
  ])('rejects contradictory list parameters: ?%s', async (query, field) => {
    expect(await problem(`assets/?${query}`)).toHaveProperty(field)
  })

  it('rejects contradictory parameters in requests other than lists', async () => {
    expect(await problem(`assets/${ids[0]}/tree/?at=1&at=2`)).toHaveProperty('at')
    expect(await problem(`history/?nid=${ids[0]}&nid=${ids[1]}`)).toHaveProperty('nid')
    const refused = await user.rest('PATCH', `assets/${ids[0]}/?dry_run=true&dry_run=false`, { json: { caption: 'x' } })
    expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toHaveProperty('dry_run')
  })

  it('accepts a list parameter that is repeated with the same value', async () => {
    expect(idsOf(await list('limit=2&limit=2&unknown=1&unknown=2'))).toEqual(newestFirst.slice(0, 2))
  })
})

it.each([
  ['assets/?is_original_owner=maybe', 'is_original_owner'],
  ['wallet/deposits/?status=lost', 'status'],
  ['store/webhook-deliveries/?status=lost', 'status'],
  ['store/webhook-deliveries/?network_app_id=x', 'network_app_id'],
  ['store/webhook-deliveries/?order_id=x', 'order_id'],
  ['events/?after=x', 'after'],
  ['lookup/?sha256=x', 'sha256'],
  ['lookup/?cid=x', 'cid'],
])('rejects a list filter with an invalid value: %s', async (path, field) => {
  expect(await problem(path, admin.rest)).toHaveProperty(field)
})

it('the filter owner_service_name matches nothing', async () => {
  expect(await list('owner_service_name=other')).toEqual({ count: 0, next: null, previous: null, results: [] })
  expect((await list('owner_service_name=')).count).toBe(5)
  expectError(await user.rest('GET', 'assets/?owner_service_name=other&page=2'), 'NOT_FOUND')
})
