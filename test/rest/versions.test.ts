import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()

describe('the version of an asset', () => {
  it('stands in ETag, and is the same until a commit', async () => {
    const { id } = await user.register()
    const etag = async () => (await user.rest('GET', `assets/${id}/`)).headers.get('etag')
    const before = await etag()
    expect(before).toMatch(/^"commit_[0-9a-z]{26}"$/)
    expect(await etag()).toBe(before)
    const patched = await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    expect(patched.headers.get('etag')).not.toBe(before)
    expect(await etag()).toBe(patched.headers.get('etag'))
  })

  it('given in If-None-Match spares the body', async () => {
    const { id } = await user.register()
    const { headers } = await user.rest('GET', `assets/${id}/`)
    const same = await user.rest('GET', `assets/${id}/`, { headers: { 'If-None-Match': headers.get('etag')! } })
    expect([same.status, same.text]).toEqual([304, ''])
    const other = await user.rest('GET', `assets/${id}/`, { headers: { 'If-None-Match': '"commit_other"' } })
    expect(other.status).toBe(200)
  })

  it.each([
    ['alone', (etag: string) => etag],
    ['among others', (etag: string) => `"commit_other", ${etag}`],
    ['as a weak one', (etag: string) => `W/${etag}`],
    ['by an asterisk', () => '*'],
  ])('is known wherever If-None-Match names it %s', async (_, write) => {
    const { id } = await user.register()
    for (const path of [`assets/${id}/`, '/api/v3/openapi.json', '/graphql']) {
      const ask = (headers: object) => user.rest('GET', path, { headers: { Accept: 'text/html, */*', ...headers } })
      const { headers } = await ask({})
      const known = await ask({ 'If-None-Match': write(headers.get('etag')!) })
      expect([path, known.status, known.text]).toEqual([path, 304, ''])
      expect(known.headers.get('cache-control')).toBe(headers.get('cache-control'))
      const part = headers.get('etag')!.slice(0, -2)
      expect((await ask({ 'If-None-Match': `${part}"` })).status).toBe(200)
    }
  })

  it('given in If-Match lets only the first of two writers through', async () => {
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

  it.each(['*', 'W/current', 'current'])('taken as %s lets a writer through', async (form) => {
    const { id } = await user.register()
    const etag = (await user.rest('GET', `assets/${id}/`)).headers.get('etag')!
    const header = form === '*' ? '*' : form.replace('current', etag)
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'x' }, headers: { 'If-Match': header } }))
  })
})
