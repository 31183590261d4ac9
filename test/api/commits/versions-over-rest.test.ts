import { afterEach, describe, expect, it, vi } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import type { Rest } from '../../support/rest-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()

afterEach(() => {
  vi.restoreAllMocks()
})

describe('ETags of assets', () => {
  it('the ETag of an asset stays the same until the next commit', async () => {
    const { id } = await user.register()
    const etag = async () => (await user.rest('GET', `assets/${id}/`)).headers.get('etag')
    const before = await etag()
    expect(before).toMatch(/^"commit_[0-9a-z]{26}\+[\w-]{22}"$/)
    expect(await etag()).toBe(before)
    const patched = await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    expect(patched.headers.get('etag')).not.toBe(before)
    expect(await etag()).toBe(patched.headers.get('etag'))
  })

  it.each([
    ['a single ETag', (etag: string) => etag],
    ['one of several ETags', (etag: string) => `"commit_other", ${etag}`],
    ['a weak ETag', (etag: string) => `W/${etag}`],
    ['an asterisk', () => '*'],
  ])('recognizes a matching ETag in If-None-Match: %s', async (_, write) => {
    for (const path of [`assets/${(await user.register()).id}/`, '/api/v3/openapi.json', '/graphql']) {
      const ask = (headers: object) => user.rest('GET', path, { headers: { Accept: 'text/html, */*', ...headers } })
      const { headers } = await ask({})
      const known = await ask({ 'If-None-Match': write(headers.get('etag')!) })
      expect([path, known.status, known.text]).toEqual([path, 304, ''])
      expect(known.headers.get('cache-control')).toBe(headers.get('cache-control'))
      expect((await ask({ 'If-None-Match': `${headers.get('etag')!.slice(0, -2)}"` })).status).toBe(200)
    }
  })

  it('the ETag of an asset differs between callers who see different fields, so a shared cache leaks nothing', async () => {
    const { id } = await user.register({ public_access: 'true' })
    const read = (rest: Rest, headers = {}) => rest('GET', `assets/${id}/`, { headers })
    const own = await read(user.rest)
    expect(own.body.owner).toBe(user.email)
    for (const rest of [app.rest, (await app.newUser()).rest]) {
      const answer = await read(rest, { 'If-None-Match': own.headers.get('etag')! })
      expect(expectOk(answer)).not.toHaveProperty('owner')
      expect((await read(user.rest, { 'If-None-Match': answer.headers.get('etag')! })).body.owner).toBe(user.email)
    }
  })

  it('the ETag of an asset changes with owner names and signed URLs, without causing write conflicts', async () => {
    const owner = await app.newUser()
    const { id } = await owner.register()
    const read = (etag?: string) =>
      owner.rest('GET', `assets/${id}/`, { headers: etag === undefined ? {} : { 'If-None-Match': etag } })
    const first = await read()
    const [etag, link] = [first.headers.get('etag')!, first.body.asset_file]
    expectOk(await owner.rest('PATCH', 'auth/users/profile/', { json: { display_name: 'Ada' } }))
    const renamed = await read(etag)
    expect(expectOk(renamed).owner_profile_display_name).toBe('Ada')
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + 3 * 3_600_000)
    expect((await app.rest('GET', new URL(link).pathname + new URL(link).search)).status).toBe(404)
    expect(expectOk(await read(renamed.headers.get('etag')!)).asset_file).not.toBe(link)
    const headers = { 'If-Match': etag }
    expectOk(await owner.rest('PATCH', `assets/${id}/`, { json: { caption: 'x' }, headers }))
    expectError(await owner.rest('PATCH', `assets/${id}/`, { json: { caption: 'y' }, headers }), 'CONFLICT')
  })

  it('an ETag in If-Match lets only the first of two concurrent updates succeed', async () => {
    const writer = await app.newUser()
    const { id } = await writer.register()
    const etag = (await writer.rest('GET', `assets/${id}/`)).headers.get('etag')!
    const write = (caption: string) =>
      writer.rest('PATCH', `assets/${id}/`, { json: { caption }, headers: { 'If-Match': etag } })
    const answers = await Promise.all([write('One'), write('Two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expectError(answers.find(({ status }) => status === 409)!, 'CONFLICT')
    expect(await app.commitCount(id)).toBe(2)
    expect(await app.wallet(writer)).toEqual({ num: '0', points: '11.642' })
  })

  it.each([
    '*',
    'W/"current"',
    '"current"',
    // The form used by earlier versions of Annal and by GraphQL's `headId`.
    '"head+thumbnail"',
    '"head"',
    // The form that Apache sends for compressed responses.
    '"current-gzip"',
  ])('an update accepts the If-Match header %s', async (form) => {
    const { id } = await user.register()
    const current = (await user.rest('GET', `assets/${id}/`)).headers.get('etag')!.replaceAll('"', '')
    const header = form.replace('current', current).replace('head', current.split('+')[0]!)
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'x' }, headers: { 'If-Match': header } }))
  })
})
