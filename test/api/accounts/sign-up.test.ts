import { describe, expect, it } from 'vitest'
import { bothApis, type Input, restApi } from '../../support/api.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const user = await app.newUser()
let serial = 0

const newEmail = () => `n${++serial}@example.org`
const countUsers = () => app.sql('select count(*) from users')

describe.each(bothApis)('sign-up over $name', (api) => {
  const signUp = (fields: Input) => api.signUp(app, { email: newEmail(), password: PASSWORD, ...fields })
  const rename = (newUsername: string) => api.changeUsername(user, { newUsername, currentPassword: PASSWORD })
  const signIn = (email: string, password = PASSWORD) => api.signIn(app, { email, password })

  it('sign-up creates a wallet with 12 points and an encrypted key, and records the source of the points', async () => {
    const email = newEmail()
    const username = `ada${serial}`
    const { id } = (await signUp({ username, email, referralCode: 'friend', language: 'de' })).ok()
    expect(id).toMatch(/^user_[0-9a-z]{26}$/)
    const [row] = await app.sql<{ id: string }>(
      `select u.id, length(k.sealed_private_key) as sealed, referral_code, language,
         (select array_agg(t.reference) from entries e join transfers t on t.id = e.transfer_id where e.wallet_id = u.id) as references
       from users u join user_keys k on k.user_id = u.id where username = $1`,
      [username],
    )
    expect(row).toEqual({
      ...{ id: expect.any(String), sealed: expect.any(Number), references: [`sign-up:${row!.id}`] },
      ...{ referral_code: 'friend', language: 'de' },
    })
    const { token } = (await signIn(email)).ok()
    const me = (await app.graphql('{ me { id wallet { num points } } }', {}, { actor: { token } })).body.data.me
    expect(me).toEqual({ id, wallet: { num: '0', points: '12' } })
  })

  it.each<[Input, string]>([
    [{ email: 'no address' }, 'email'],
    [{ password: 'seven77' }, 'password'],
    [{ password: 'x'.repeat(33) }, 'password'],
  ])('sign-up rejects %j with an error for its field, and creates no account', async (wrong, field) => {
    const before = await countUsers()
    const details = (await signUp({ username: 'fine', ...wrong })).fails('VALIDATION_FAILED')
    expect(details).toEqual({ [field]: [expect.any(String)] })
    expect(await countUsers()).toEqual(before)
  })

  it('sign-up reports all invalid fields together', async () => {
    const details = (await signUp({ username: '', email: 'x', password: 'y' })).fails('VALIDATION_FAILED')
    expect(Object.keys(details).sort()).toEqual(['email', 'password', 'username'])
  })

  it('sign-up measures length limits in characters, not bytes', async () => {
    const [email, password] = [newEmail(), '🔑'.repeat(32)]
    const username = `${api.name === 'REST' ? '日' : '月'}`.repeat(21)
    ;(await signUp({ username, email, password })).ok()
    ;(await signIn(email, password)).ok()
    ;(await signUp({ username: `ö${serial}`, password: 'größe 8!' })).ok()
  })

  it('sign-up rejects an e-mail address that is taken, in upper or lower case', async () => {
    const result = await signUp({ username: `other${serial}`, email: (await app.newUser()).email.toUpperCase() })
    expect(result.fails('DUPLICATE_EMAIL')).toEqual({ email: [expect.any(String)] })
  })

  it('sign-up creates one account when 20 requests for one username arrive together', async () => {
    const username = `crowd${serial}`
    const results = await Promise.all(Array.from({ length: 20 }, () => signUp({ username })))
    const rejected = results.filter(({ body }) => body.errors ?? body.error)
    expect(rejected).toHaveLength(19)
    for (const result of rejected)
      expect(result.fails('DUPLICATE_USERNAME')).toEqual({ username: [expect.any(String)] })
    expect(await app.sql('select 1 from users where username = $1', [username])).toHaveLength(1)
  })

  it.each([
    ['a different case', 'Zoë Müller', 'ZOË MÜLLER'],
    ['a different Unicode composition', 'Am\u00e9lie', 'Ame\u0301lie'],
    ['a different character width', 'fullwidth', 'ｆｕｌｌｗｉｄｔｈ'],
    ['a ligature', 'ﬁnn', 'finn'],
    ['a sharp s', 'Strauß', 'STRAUSS'],
    ['half-width kana', 'カタカナ', 'ｶﾀｶﾅ'],
  ])('treats a username in %s as the same username', async (_, name, twin) => {
    if ((await app.sql('select 1 from users where username = $1', [name])).length === 0) {
      await app.newUser({ username: name })
    }
    ;(await signUp({ username: twin })).fails('DUPLICATE_USERNAME')
    ;(await rename(twin)).fails('DUPLICATE_USERNAME')
  })

  it.each([
    ['no characters', ''],
    ['spaces', '   '],
    ['a zero-width space', 'ad\u200ba'],
    ['a joiner', 'ad\u200da'],
    ['a soft hyphen', 'a\u00adda'],
    ['a variation selector', 'ada\ufe0f'],
    ['a Hangul filler', '\u3164'],
    ['an empty Braille cell', 'a\u2800b'],
    ['a direction override', 'ada\u202egnp'],
    ['a control character', 'a\u0007b'],
    ['a line break', 'a\nb'],
    ['a no-break space', 'a\u00a0b'],
    ['two spaces', 'a  b'],
    ['a private-use character', 'a\ue000'],
    ['a noncharacter', 'a\uffff'],
    ['a replacement character', 'a\ufffd'],
    ['a combining mark without a letter', '\u0301ada'],
    ['both text directions', 'ada\u05d0\u05d1'],
    ['22 characters', 'x'.repeat(22)],
    ['22 characters after normalization', `${'x'.repeat(19)}\ufb03`],
    ['an unpaired surrogate', 'a\ud800'],
    ['an identifier’s format', user.publicId],
    ['the e-mail address of another user', 'boss＠example.org'],
  ])('sign-up and username changes reject a username of %s', async (_, username) => {
    expect(Object.keys((await signUp({ username })).fails('VALIDATION_FAILED'))).toEqual(['username'])
    ;(await rename(username)).fails('VALIDATION_FAILED')
  })

  it('sign-up rejects a username with 50,000 combining marks without normalizing it', async () => {
    const username = `a${'\u0301'.repeat(25_000)}${'\u0316'.repeat(25_000)}`
    const start = process.cpuUsage()
    username.normalize()
    const normalizing = process.cpuUsage(start).user
    const before = process.cpuUsage()
    ;(await signUp({ username })).fails('VALIDATION_FAILED')
    ;(await rename(username)).fails('VALIDATION_FAILED')
    expect(process.cpuUsage(before).user).toBeLessThan(normalizing)
  })
})

describe('usernames', () => {
  const { signUp } = restApi
  const accepted = async (username: string, email = newEmail()) =>
    (await signUp(app, { username, email, password: PASSWORD })).ok().username

  it('stores a username trimmed and in Unicode composed form', async () => {
    await accepted('  Ｚo\u0308e 日本 ')
    const row = 'select username, display_name, username_key from users where username = $1'
    expect(await app.sql(row, ['Ｚöe 日本'])).toEqual([
      { username: 'Ｚöe 日本', display_name: 'Ｚöe 日本', username_key: 'zöe 日本' },
    ])
  })

  it('a username may have 21 letters, regardless of their combining marks', async () => {
    const username = 'ᾂ'.repeat(21)
    expect(await accepted(username.normalize('NFD'))).toBe(username)
  })

  it.each(['😀'.repeat(21), 'O’Neil-2 (j_r.+)', '山田太郎', 'אבגד', 'नमस्ते', '@ada'])(
    'accepts the username %s',
    async (username) => {
      expect(await accepted(username)).toBe(username)
    },
  )

  it('a username may be the e-mail address of the same account', async () => {
    expect(await accepted('own@example.org', 'OWN@example.org')).toBe('own@example.org')
  })
})

it('sign-up treats all spellings of an international e-mail domain as one address', async () => {
  const json = { username: 'idn', email: 'ada@bücher.example', password: PASSWORD }
  expect((await app.rest('POST', 'auth/users/', { json })).body.email).toBe('ada@xn--bcher-kva.example')
  for (const email of ['ada@BÜCHER.example', 'ADA@xn--bcher-kva.example', ' ada@bu\u0308cher.example ']) {
    ;(await restApi.signUp(app, { username: `idn${serial}`, email, password: PASSWORD })).fails('DUPLICATE_EMAIL')
    ;(await restApi.signIn(app, { email, password: PASSWORD })).ok()
    expect((await user.rest('GET', `assets/?owner=${encodeURIComponent(email)}`)).status).toBe(200)
  }
})

it('GraphQL shows no private fields of a new account, because sign-up does not sign in', async () => {
  const document =
    'mutation ($input: SignUpInput!) { signUp(input: $input) { email user { username email wallet { points } } } }'
  const input = { username: 'grace', email: 'grace@example.org', password: PASSWORD }
  expect((await app.graphql(document, { input })).body.data.signUp).toEqual({
    email: input.email,
    user: { username: 'grace', email: null, wallet: null },
  })
})
