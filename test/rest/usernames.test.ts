import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const user = await app.newUser()
let serial = 0

const signUp = (fields: object) => {
  serial += 1
  return app.rest('POST', 'auth/users/', { json: { email: `n${serial}@example.org`, password: PASSWORD, ...fields } })
}
const signUpByGraphQL = (username: string, email = `g${++serial}@example.org`) =>
  app.graphql('mutation ($input: SignUpInput!) { signUp(input: $input) { user { username } } }', {
    input: { username, email, password: PASSWORD },
  })
const rename = (newUsername: string) =>
  user.rest('POST', 'auth/users/set_username/', { json: { new_username: newUsername, current_password: PASSWORD } })

describe('a username', () => {
  it.each([
    ['of another case', 'Zoë Müller', 'ZOË MÜLLER'],
    ['composed in another way', 'Am\u00e9lie', 'Ame\u0301lie'],
    ['of another width', 'fullwidth', 'ｆｕｌｌｗｉｄｔｈ'],
    ['with a ligature', 'ﬁnn', 'finn'],
    ['with a sharp s', 'Strauß', 'STRAUSS'],
    ['of half-width kana', 'カタカナ', 'ｶﾀｶﾅ'],
  ])('%s is the same name', async (_what, name, twin) => {
    await app.newUser({ username: name })
    expectError(await signUp({ username: twin }), 'DUPLICATE_USERNAME')
  })

  it('is compared by whatever door it comes, and when it is changed', async () => {
    await app.newUser({ username: 'Dörte' })
    expectError(await signUpByGraphQL('DO\u0308RTE'), 'DUPLICATE_USERNAME')
    expectError(await rename('ＤÖＲＴＥ'), 'DUPLICATE_USERNAME')
  })

  it('is shown as it was typed, composed', async () => {
    const { id } = expectOk(await signUp({ username: '  Ｚo\u0308e 日本 ' }))
    expect(
      await app.sql('select username, display_name, username_key from users where username = $1', ['Ｚöe 日本']),
    ).toEqual([{ username: 'Ｚöe 日本', display_name: 'Ｚöe 日本', username_key: 'zöe 日本' }])
    expect(id).toMatch(/^user_/)
  })

  it.each([
    ['nothing', ''],
    ['spaces', '   '],
    ['a zero-width space', 'ad\u200ba'],
    ['a joiner', 'ad\u200da'],
    ['a soft hyphen', 'a\u00adda'],
    ['a variation selector', 'ada\ufe0f'],
    ['a Hangul filler', '\u3164'],
    ['an empty Braille cell', 'a\u2800b'],
    ['an override of the direction', 'ada\u202egnp'],
    ['a control character', 'a\u0007b'],
    ['a line break', 'a\nb'],
    ['a no-break space', 'a\u00a0b'],
    ['two spaces', 'a  b'],
    ['a private character', 'a\ue000'],
    ['a character that is none', 'a\uffff'],
    ['a replacement character', 'a\ufffd'],
    ['a mark without its letter', '\u0301ada'],
    ['both directions', 'ada\u05d0\u05d1'],
    ['22 characters', 'x'.repeat(22)],
    ['22 characters when it is compared', `${'x'.repeat(19)}\ufb03`],
    ['an unpaired surrogate', 'a\ud800'],
  ])('of %s is refused by its name', async (_what, username) => {
    const { body } = expectError(await signUp({ username }), 'VALIDATION_FAILED')
    expect(Object.keys(body.error.details)).toEqual(['username'])
    expectError(await signUpByGraphQL(username!), 'VALIDATION_FAILED')
    expect(expectError(await rename(username!), 'VALIDATION_FAILED').body.error.details).toHaveProperty('new_username')
  })

  it('of a letter with fifty thousand marks is refused before they are put into their order, at both doors', async () => {
    const username = `a${'\u0301'.repeat(25_000)}${'\u0316'.repeat(25_000)}`
    const start = process.cpuUsage()
    username.normalize()
    const ordering = process.cpuUsage(start).user
    const before = process.cpuUsage()
    expectError(await signUp({ username }), 'VALIDATION_FAILED')
    expectError(await signUpByGraphQL(username), 'VALIDATION_FAILED')
    expectError(await rename(username), 'VALIDATION_FAILED')
    expect(process.cpuUsage(before).user).toBeLessThan(ordering)
  })

  it('has 21 letters, with however many marks each is typed', async () => {
    const username = 'ᾂ'.repeat(21)
    expect(expectOk(await signUp({ username: username.normalize('NFD') })).username).toBe(username)
  })

  it('may not look like an identifier', async () => {
    expectError(await rename(user.publicId), 'VALIDATION_FAILED')
  })

  it.each(['😀'.repeat(21), 'O’Neil-2 (j_r.+)', '山田太郎', 'אבגד', 'नमस्ते'])(
    'such as %s is taken',
    async (username) => {
      expect(expectOk(await signUp({ username })).username).toBe(username)
    },
  )
})

describe('an e-mail address as a username', () => {
  it('is refused when it is that of somebody else, on both doors', async () => {
    for (const username of ['boss@example.org', 'boss＠example.org', 'nobody@there.example']) {
      const { body } = expectError(await signUp({ username }), 'VALIDATION_FAILED')
      expect(body.error.message).toBe('username: A username may not be the e-mail address of somebody else.')
      expectError(await signUpByGraphQL(username), 'VALIDATION_FAILED')
      expectError(await rename(username), 'VALIDATION_FAILED')
    }
  })

  it('is taken when it is one’s own', async () => {
    expect(expectOk(await signUp({ username: 'own@example.org', email: 'OWN@example.org' })).username).toBe(
      'own@example.org',
    )
    expectOk(await signUp({ username: '@ada' }))
  })
})

describe('an e-mail address', () => {
  it('of an international domain is one address in every spelling', async () => {
    const email = 'ada@bücher.example'
    expect(expectOk(await signUp({ username: 'idn', email })).email).toBe('ada@xn--bcher-kva.example')
    for (const same of ['ada@BÜCHER.example', 'ADA@xn--bcher-kva.example', ' ada@bu\u0308cher.example ']) {
      expectError(await signUp({ username: `idn${serial}`, email: same }), 'DUPLICATE_EMAIL')
      expectOk(await app.rest('POST', 'auth/token/login/', { json: { email: same, password: PASSWORD } }))
      expectOk(await user.rest('GET', `assets/?owner=${encodeURIComponent(same)}`))
    }
  })
})
