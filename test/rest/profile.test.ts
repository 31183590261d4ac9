import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const UPDATE = `mutation ($input: UpdateProfileInput!) {
  updateProfile(input: $input) { user { id displayName description language defaultTag allowC2paDownload } }
}`

describe('the settings', () => {
  it('are changed as the phone app does, and answered with the whole record', async () => {
    const user = await app.newUser()
    const before = expectOk(await user.rest('GET', '/auth/users/me'))
    const json = { language: 'zh-tw', default_tag: 'travel', allow_c2pa_download: false }
    const changed = expectOk(await user.rest('PATCH', '/auth/users/me', { json }))
    const self = { ...before.results[0], ...json }
    expect(changed).toEqual({ ...self, results: [self] })
    expect(expectOk(await user.rest('GET', 'auth/users/me/'))).toEqual(changed)
  })

  it.each([
    ['language', 'de-de'],
    ['default_tag', 'news'],
    ['default_tag', ''],
    ['allow_c2pa_download', false],
  ])('change alone: %s', async (field, value) => {
    const user = await app.newUser()
    const before = expectOk(await user.rest('GET', 'auth/users/me/'))
    const changed = expectOk(await user.rest('PATCH', 'auth/users/me/', { json: { [field]: value } }))
    expect(changed.results).toEqual([{ ...before.results[0], [field]: value }])
  })

  it.each([
    ['language', 'x'.repeat(17)],
    ['default_tag', 'x'.repeat(101)],
    ['allow_c2pa_download', 'perhaps'],
  ])('are refused when they are not valid, all of them: %s', async (field, value) => {
    const user = await app.newUser()
    const before = expectOk(await user.rest('GET', 'auth/users/me/'))
    const json = { language: 'de', default_tag: 'kept out', allow_c2pa_download: true, [field]: value }
    expectError(await user.rest('PATCH', 'auth/users/me/', { json }), 'VALIDATION_FAILED')
    expect(expectOk(await user.rest('GET', 'auth/users/me/'))).toEqual(before)
  })

  it('stay as they are when nothing or nothing known is sent', async () => {
    const user = await app.newUser()
    const before = expectOk(await user.rest('GET', 'auth/users/me/'))
    for (const json of [{}, { email: 'other@example.org', username: 'other', role: 'ADMIN' }]) {
      expect(expectOk(await user.rest('PATCH', 'auth/users/me/', { json }))).toEqual(before)
    }
    const audited =
      "select count(*)::int as n from audit_entries where user_id = $1::uuid and action = 'profile.changed'"
    expect(await app.sql(audited, [user.id])).toEqual([{ n: 0 }])
  })
})

describe('the profile', () => {
  it('is changed by a multipart form, and others see it', async () => {
    const user = await app.newUser()
    const multipart = { display_name: ' Ana Ü. 𐍈 ', description: 'Photographs, mostly of birds.' }
    const profile = expectOk(await user.rest('PATCH', '/auth/users/profile', { multipart }))
    expect(profile).toMatchObject({ display_name: 'Ana Ü. 𐍈', description: 'Photographs, mostly of birds.' })
    expect(expectOk(await user.rest('GET', '/auth/users/profile/'))).toEqual(profile)
    expect(expectOk(await user.rest('GET', '/auth/users/me/')).profile).toEqual(profile)
    const document = 'query ($id: ID!) { node(id: $id) { ... on User { displayName description } } }'
    expect(expectOk(await app.graphql(document, { id: user.publicId })).node).toEqual({
      displayName: profile.display_name,
      description: profile.description,
    })
  })

  it('changes one field alone, and by JSON as well', async () => {
    const user = await app.newUser()
    expectOk(await user.rest('PATCH', 'auth/users/profile/', { json: { description: 'First.' } }))
    const profile = expectOk(await user.rest('PATCH', 'auth/users/profile/', { multipart: { display_name: 'Ana' } }))
    expect(profile).toMatchObject({ display_name: 'Ana', description: 'First.' })
  })

  it.each([
    ['display_name', 'x'.repeat(101)],
    ['description', 'x'.repeat(1001)],
    ['description', 'a\0b'],
  ])('refuses a %s that is not valid', async (field, value) => {
    const user = await app.newUser()
    expectError(await user.rest('PATCH', 'auth/users/profile/', { multipart: { [field]: value } }), 'VALIDATION_FAILED')
  })

  it('is changed once for one key, and the retry gets the same answer', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    const patch = (display_name: string, options = {}) =>
      user.rest('PATCH', 'auth/users/profile/', { json: { display_name }, ...options })
    const first = expectOk(await patch('One', { headers }))
    expectOk(await patch('Two'))
    const again = await patch('One', { headers })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(expectOk(again)).toEqual(first)
    expect(expectOk(await user.rest('GET', 'auth/users/me/')).profile.display_name).toBe('Two')
    expectError(await patch('Three', { headers }), 'IDEMPOTENCY_KEY_REUSED')
  })
})

it('both doors need a token, and GraphQL changes the same record', async () => {
  const user = await app.newUser()
  for (const path of ['auth/users/me/', 'auth/users/profile/']) {
    expectError(await app.rest('PATCH', path, { json: {} }), 'NOT_AUTHENTICATED')
  }
  expectError(await app.graphql(UPDATE, { input: {} }), 'NOT_AUTHENTICATED')
  const input = { displayName: 'Bo', language: 'fr', allowC2paDownload: false }
  expect(expectOk(await user.graphql(UPDATE, { input })).updateProfile.user).toEqual({
    ...{ id: user.publicId, displayName: 'Bo', description: '', language: 'fr' },
    ...{ defaultTag: '', allowC2paDownload: false },
  })
})
