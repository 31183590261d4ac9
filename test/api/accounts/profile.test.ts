import { describe, expect, it } from 'vitest'
import { bothApis, type Input, restApi } from '../../support/api.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()

const settings = { language: 'zh-tw', defaultTag: 'travel', allowC2paDownload: false }

describe.each(bothApis)('profile and settings over $name', (api) => {
  const recordOf = async (user: Awaited<ReturnType<typeof app.newUser>>) =>
    expectOk(await user.rest('GET', 'auth/users/me/'))

  it('the settings can be changed together, and each setting alone', async () => {
    const user = await app.newUser()
    expect((await api.updateSettings(user, settings)).ok()).toMatchObject(settings)
    for (const change of [{ language: 'de-de' }, { defaultTag: '' }, { allowC2paDownload: true }]) {
      const before = await recordOf(user)
      ;(await api.updateSettings(user, change)).ok()
      const [name, value] = Object.entries(change)[0]!
      const field = { language: 'language', defaultTag: 'default_tag', allowC2paDownload: 'allow_c2pa_download' }[name]!
      expect((await recordOf(user)).results).toEqual([{ ...before.results[0], [field]: value }])
    }
  })

  it.each<Input>([{ language: 'x'.repeat(17) }, { defaultTag: 'x'.repeat(101) }])(
    'all settings stay unchanged if one setting is invalid: %j',
    async (wrong) => {
      const user = await app.newUser()
      const before = await recordOf(user)
      ;(await api.updateSettings(user, { ...settings, ...wrong })).fails('VALIDATION_FAILED')
      expect(await recordOf(user)).toEqual(before)
    },
  )

  it('a profile update changes only the profile fields that are sent', async () => {
    const user = await app.newUser()
    const description = 'Photographs, mostly of birds.'
    ;(await api.updateProfile(user, { displayName: ' Ana Ü. 𐍈 ', description: 'Old' })).ok()
    const profile = (await api.updateProfile(user, { description })).ok()
    expect(profile).toMatchObject({ displayName: 'Ana Ü. 𐍈', description })
    const document = 'query ($id: ID!) { node(id: $id) { ... on User { displayName description } } }'
    const { node } = expectOk(await app.graphql(document, { id: user.publicId }))
    expect(node).toEqual({ displayName: 'Ana Ü. 𐍈', description })
  })

  it.each<Input>([{ displayName: 'x'.repeat(101) }, { description: 'x'.repeat(1001) }, { description: 'a\0b' }])(
    'a profile update rejects an invalid field',
    async (fields) => {
      const user = await app.newUser()
      expect(Object.keys((await api.updateProfile(user, fields)).fails('VALIDATION_FAILED'))).toEqual(
        Object.keys(fields),
      )
    },
  )

  it('the profile and the settings reject anonymous callers', async () => {
    ;(await api.updateProfile(app)).fails('NOT_AUTHENTICATED')
    ;(await api.updateSettings(app)).fails('NOT_AUTHENTICATED')
  })
})

it('REST profile updates ignore unknown fields, and write no audit entry if nothing changes', async () => {
  const user = await app.newUser()
  const before = expectOk(await user.rest('GET', 'auth/users/me/'))
  for (const json of [{}, { email: 'other@example.org', username: 'other', role: 'ADMIN' }]) {
    expect(expectOk(await user.rest('PATCH', 'auth/users/me/', { json }))).toEqual(before)
  }
  const audited = `select from audit_entries where user_id = $1::uuid and action = 'profile.changed'`
  expect(await app.sql(audited, [user.id])).toEqual([])
  ;(await restApi.updateSettings(user, { allowC2paDownload: 'perhaps' })).fails('VALIDATION_FAILED')
})
