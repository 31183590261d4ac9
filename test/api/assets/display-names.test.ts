/** The rules for display names and labels are the same in all APIs. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const [user, admin] = [await app.newUser(), await app.admin()]
const asset = await user.register({ public_access: 'false' })

const UPDATE = 'mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { user { displayName } } }'

const refusing = {
  'a profile': (name: string) => user.rest('PATCH', 'auth/users/profile/', { json: { display_name: name } }),
  'a profile over GraphQL': (name: string) => user.graphql(UPDATE, { input: { displayName: name } }),
  'a network app': (name: string) =>
    admin.rest('POST', 'store/network-apps/', { json: { name, price_mode: 'fixed', price: '1' } }),
  'an API key': (name: string) => admin.rest('POST', 'store/api-keys/', { json: { name } }),
}
const stripping = {
  'a session': async (name: string) => {
    const json = { email: user.email, password: PASSWORD, device: name }
    const { auth_token: token } = expectOk(await app.rest('POST', 'auth/token/login/', { json }))
    const [newest] = expectOk(await app.rest('GET', 'auth/sessions/?limit=1', { actor: { token } })).results
    return newest.name
  },
  'a link': async (label: string) =>
    expectOk(await user.rest('POST', `assets/${asset.id}/links/`, { json: { label } })).label,
}

const steering = [
  ['a line break', 'a\r\nBcc: x@example.org'],
  ['a line separator', 'a\u2028b'],
  ['a paragraph separator', 'a\u2029b'],
  ['a control character', 'a\u0085b'],
  ['a text direction override', '\u202eabc'],
  ['a text direction isolate', 'a\u2067bc\u2069'],
  ['a text direction mark', 'abc\u200f'],
  ['a soft hyphen', 'a\u00adb'],
  ['a byte order mark', 'a\ufeffb'],
] as const

const ordinary = [
  ['Persian', 'می‌خواهم'],
  ['Hindi', 'श्री‍राम क्‌ष'],
  ['Khmer', 'សុខ\u200bដារា'],
  ['Mongolian', 'ᠠᠷ\u180eᠠ'],
  ['Hebrew mixed with English', 'דנה Dana'],
  ['a family emoji', '👨‍👩‍👧'],
  ['a flag emoji of tag characters', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ['a heart emoji with a variation selector', '❤️'],
  ['an Arabic number sign', '\u0600١٢'],
] as const

describe.each(Object.entries(refusing))('rejected characters in the name of %s', (_what, give) => {
  it.each(steering)('a display name must not contain %s', async (_case, name) => {
    const { body } = expectError(await give(name), 'VALIDATION_FAILED')
    expect(JSON.stringify(body)).toContain('Enter a name without invisible characters.')
  })

  it.each(ordinary)('a display name may be %s', async (_case, ordinaryName) => {
    // Names of apps are unique.
    const name = `${ordinaryName} ${randomUUID().slice(0, 8)}`
    expect(JSON.stringify(expectOk(await give(name)))).toContain(`"${name}"`)
  })
})

describe.each(Object.entries(stripping))('removed characters in the name of %s', (_what, give) => {
  it.each(steering)('stores a display name without %s', async (_case, name) => {
    const kept = await give(name)
    expect(kept).not.toBe(name)
    expect([...name].filter((character) => kept.includes(character)).join('')).toBe(kept)
  })

  it.each(ordinary)('stores a display name with %s unchanged', async (_case, name) => {
    expect(await give(name)).toBe(name)
  })
})

it('a name without visible characters counts as empty', async () => {
  for (const name of ['\u200d', ' \u200b \u200c', '\u{e0067}\u{e007f}']) {
    expectError(await refusing['a network app'](name), 'VALIDATION_FAILED')
    expectError(await refusing['an API key'](name), 'VALIDATION_FAILED')
    expect(await stripping['a session'](name)).toBe('')
    expect(await stripping['a link'](name)).toBe('')
  }
})
