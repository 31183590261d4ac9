/** Passwords are normalized by the PRECIS profile OpaqueString (RFC 8265) wherever they are set or checked. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { annalHere } from '../../support/annal-command.ts'
import { type Api, graphqlApi, type Result, restApi } from '../../support/api.ts'
import { atEnd } from '../../support/at-end.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'
import { createAdminBrowser } from '../admin/admin-scene.ts'
import { createMailedApp } from '../pages/mailbox.ts'

const app = await createMailedApp()
const { passwords } = app.installation
const dir = await mkdtemp(join(tmpdir(), 'annal-password-'))
atEnd(() => rm(dir, { recursive: true }))

const TYPED = 'Ｃafe\u0301\u3000au\u00a0lait'
const NORMALIZED = 'Ｃaf\u00e9 au lait'
const OTHER_WIDTH = 'Caf\u00e9 au lait'

const login = (email: string, password: string) => app.rest('POST', 'auth/token/login/', { json: { email, password } })
const newAddress = () => `${randomUUID()}@example.org`
const nameOf = (email: string) => email.slice(0, 18)
const linkOf = async (user: SignedIn) => {
  const [uid, token] = (await app.newLink(user, 'password-reset')).split('/').slice(-2)
  return { uid: uid!, token: token! }
}

interface Outcome {
  email: string
  problem: string | undefined
}
const outcomeOf = (email: string, result: Result, field: string): Outcome => ({
  email,
  problem: codeOf(result) && result.fails('VALIDATION_FAILED')[field][0],
})

const overApi = (api: Api): Record<string, (password: string) => Promise<Outcome>> => ({
  async [`sign-up over ${api.name}`](password) {
    const email = newAddress()
    return outcomeOf(email, await api.signUp(app, { username: nameOf(email), email, password }), 'password')
  },
  async [`a password change over ${api.name}`](newPassword) {
    const user = await app.newUser()
    const input = { currentPassword: PASSWORD, newPassword }
    return outcomeOf(user.email, await api.changePassword(user, input), 'newPassword')
  },
  async [`a password reset over ${api.name}`](newPassword) {
    const user = await app.newUser()
    return outcomeOf(user.email, await api.resetPassword(app, { ...(await linkOf(user)), newPassword }), 'newPassword')
  },
})

const ways: Record<string, (password: string) => Promise<Outcome>> = {
  ...overApi(restApi),
  ...overApi(graphqlApi),
  async 'a password reset on the HTML page'(password) {
    const user = await app.newUser()
    const urlencoded = { 'new-password': password, 'new-password-again': password }
    const { status, text } = await app.rest('POST', await app.newLink(user, 'password-reset'), { urlencoded })
    const problem = /<p class="wrong"[^>]*>([^<]*)</.exec(text)?.[1]
    expect(status).toBe(problem === undefined ? 200 : 400)
    return { email: user.email, problem }
  },
  async 'annal admin create'(password) {
    const email = newAddress()
    const args = ['admin', 'create', '--username', nameOf(email), '--email', email, '--json']
    const { code, stderr } = await annalHere(app.env, args, { input: `${password}\n` })
    expect(code, stderr).toBe(stderr === '' ? 0 : 2)
    return { email, problem: stderr || undefined }
  },
}

describe.each(Object.entries(ways))('passwords set with %s', (_, set) => {
  it('a new password is normalized to NFC, so that every keyboard can enter it, but keeps its character width', async () => {
    const { email, problem } = await set(TYPED)
    expect(problem).toBeUndefined()
    expectOk(await login(email, NORMALIZED))
    expectOk(await login(email, TYPED))
    expectError(await login(email, OTHER_WIDTH), 'INCORRECT_LOGIN_CREDENTIALS')
  })

  it('a new password must have 8 to 32 characters in its normalized form', async () => {
    expect((await set('e\u0301'.repeat(32))).problem).toBeUndefined()
    expect((await set('e\u0301'.repeat(33))).problem).toMatch(/no more than 32|at most 32/)
    expect((await set('e\u0301'.repeat(7))).problem).toMatch(/at least 8/)
    expect((await set('x'.repeat(1_000))).problem).toMatch(/no more than 32|at most 32/)
    expect((await set('')).problem).toBeDefined()
  })

  it('a new password must not contain control, invisible or unassigned characters', async () => {
    for (const character of ['\u0007', '\u200b', '\u{e000}', '\u0378']) {
      expect((await set(`correct horse${character}`)).problem).toMatch(/invisible characters/)
    }
  })
})

it.each([
  ['a control character', 'correct\thorse'],
  ['a delete character', 'correct horse\u007f'],
  ['a C1 control character', 'correct horse\u0085'],
  ['a soft hyphen', 'correct\u00adhorse'],
  ['a byte order mark', '\ufeffcorrect horse'],
  ['a line separator', 'correct\u2028horse'],
  ['a noncharacter', 'correct horse\uffff'],
  ['a text direction mark', 'correct\u202ehorse'],
  ['a variation selector', 'correct horse \u2764\ufe0f'],
  ['a joiner without neighbouring letters', 'correct\u200dhorse'],
  ['a jamo that does not form a syllable', 'correct horse\u1160'],
])('rejects a password with %s', async (_, password) => {
  expect((await ways['sign-up over REST']!(password)).problem).toMatch(/must not contain/)
})

it.each([
  ['symbols and emoji', '♥ 🦊🔑 ½ ² ™ €'],
  ['decomposed Hangul', '\u1112\u1161\u11ab'.repeat(8)],
  ['Persian with a non-joiner', 'می\u200cخواهم بدانم'],
  ['Malayalam and Devanagari with joiners', 'ക്\u200dഷ പാസ്വേഡ് क्\u200dष'],
  ['Catalan and Japanese with middle dots', 'col·lecció ア・イ'],
  ['spaces', '        '],
])('accepts a password of %s', async (_, password) => {
  const { email, problem } = await ways['sign-up over REST']!(password)
  expect(problem).toBeUndefined()
  expectOk(await login(email, password))
})

const checks: Record<string, (user: SignedIn, password: string) => Promise<boolean>> = {
  'sign-in over REST': async ({ email }, password) => (await login(email, password)).status === 200,
  'sign-in over GraphQL': async ({ email }, password) => {
    const document = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
    return !(await app.graphql(document, { input: { email, password } })).body.errors
  },
  'sign-in on the administration pages': async ({ email }, password) =>
    (await createAdminBrowser(app.url).ask('/admin/sign-in', { email, password, next: '/admin' })).status === 303,
  'a change of the password': async ({ rest }, password) => {
    const json = { current_password: password, new_password: password }
    return (await rest('POST', 'auth/users/set_password/', { json })).status === 204
  },
  'a change of the username': async ({ graphql }, password) => {
    const document = 'mutation ($input: ChangeUsernameInput!) { changeUsername(input: $input) { user { id } } }'
    const input = { currentPassword: password, newUsername: nameOf(randomUUID()) }
    return !(await graphql(document, { input })).body.errors
  },
}

describe.each(Object.entries(checks))('password check of %s', (_, isRight) => {
  const withHash = async (password: string) => {
    const user = await app.admin()
    await app.sql('update users set password_hash = $2 where id = $1::uuid', [user.id, await passwords.hash(password)])
    return user
  }

  it('the password check normalizes the password', async () => {
    const user = await withHash(NORMALIZED)
    expect(await isRight(user, OTHER_WIDTH)).toBe(false)
    expect(await isRight(user, TYPED)).toBe(true)
  })
})

it('a user can sign in with an existing password whose characters are no longer allowed', async () => {
  const password = 'correct\thorse\u200b'
  const { id, email } = await app.newUser()
  await app.sql('update users set password_hash = $2 where id = $1::uuid', [id, await passwords.hash(password)])
  expectOk(await login(email, password))
  expectError(await login(email, 'correct\thorse'), 'INCORRECT_LOGIN_CREDENTIALS')
})

it('a sign-in computes one password hash, also for an unknown address', async () => {
  const { email } = await app.newUser()
  const verify = vi.spyOn(passwords, 'verify')
  const hashesOf = async (address: string, password: string) => {
    verify.mockClear()
    expectError(await login(address, password), 'INCORRECT_LOGIN_CREDENTIALS')
    return verify.mock.calls.length
  }
  for (const address of [email, newAddress()]) {
    expect(await hashesOf(address, 'wrong horse')).toBe(1)
    expect(await hashesOf(address, TYPED)).toBe(1)
  }
  verify.mockRestore()
})

describe('password files', () => {
  const create = async (bytes: Uint8Array) => {
    const email = newAddress()
    const file = join(dir, nameOf(email))
    await writeFile(file, bytes)
    const args = ['admin', 'create', '--username', nameOf(email), '--email', email, '--password-file', file]
    return { email, said: await annalHere(app.env, args) }
  }

  it('a password file may begin with a byte order mark and end with a line break', async () => {
    const { email, said } = await create(Buffer.from(`\ufeff${TYPED}\r\n`))
    expect(said.code).toBe(0)
    expectOk(await login(email, NORMALIZED))
  })

  it('rejects a password file that is not UTF-8', async () => {
    const { said } = await create(Buffer.from('correct horse \xe9', 'latin1'))
    expect(said).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is not UTF-8') })
  })
})
