import { describe, expect, it } from 'vitest'
import { poll } from '../../support/eventually.ts'
import { expectError } from '../../support/expect-error.ts'
import { type Answer, openRequest } from '../../support/http-client.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'
import { createMailedApp } from './mailbox.ts'

const app = await createMailedApp()
const user = await app.newUser()
const path = await app.newLink(user, 'password-reset')

const password = 'a better one, 更好'
const submit = (to: string, first: string, second = first, headers = {}): Promise<Answer> =>
  app.rest('POST', to, { urlencoded: { 'new-password': first, 'new-password-again': second }, headers })
const signIn = (as: SignedIn, secret: string) =>
  app.rest('POST', 'auth/token/login/', { json: { email: as.email, password: secret } })

const textOf = ({ text }: Answer) =>
  text
    .slice(text.indexOf('<body>'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
const titleOf = ({ text }: Answer) => /<title>(.*)<\/title>/.exec(text)?.[1]

describe('page of a valid password reset link', () => {
  it('the password reset page sends no referrer, forbids caching and framing, and sets no cookie', async () => {
    for (const page of [await app.rest('GET', path), await submit(path, ''), await submit(`${path}x`, password)]) {
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
        ),
      })
      expect(page.headers.get('set-cookie')).toBeNull()
      expect(page.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  it('the password reset page does not repeat the token', async () => {
    const token = path.split('/').at(-1)!
    for (const page of [await app.rest('GET', path), await submit(path, 'short')])
      expect(page.text).not.toContain(token)
  })

  it('a password reset link stays valid when its page is opened, for example by mail scanners', async () => {
    for (const method of ['GET', 'HEAD', 'GET']) expect((await app.rest(method, path)).status).toBe(200)
  })

  it('the password reset page is shown in the language of the browser', async () => {
    const page = await app.rest('GET', path, { headers: { 'Accept-Language': 'fr, zh-Hant-TW;q=0.9, en;q=0.8' } })
    expect(page.text).toContain('<html lang="zh-TW">')
    expect(page.headers.get('content-language')).toBe('zh-TW')
    expect(titleOf(page)).toBe('設定新密碼')
  })
})

describe('errors in the password reset form', () => {
  it.each([
    ['no password', '', '', 'Type a new password.'],
    ['a password that is too short', 'short', 'short', 'The password is too short. Use at least 8 characters.'],
    ['seven emoji', '🔑'.repeat(7), '🔑'.repeat(7), 'Use at least 8 characters.'],
    [
      'a password that is too long',
      'x'.repeat(33),
      'x'.repeat(33),
      'The password is too long. Use at most 32 characters.',
    ],
    ['no repeated password', password, '', 'Type the new password again.'],
    ['two different passwords', password, `${password}!`, 'The two passwords are different. Type both again.'],
    [
      'a password with a null character',
      'null\0null',
      'null\0null',
      'This password cannot be used. Choose another one.',
    ],
  ])(
    'an error in the password reset form is shown at the top with the focus and at its field: %s',
    async (_, first, second, problem) => {
      const page = await submit(path, first, second)
      expect(page.status).toBe(400)
      expect(titleOf(page)).toBe('Error: Choose a new password')
      expect(page.text).toMatch(/<div class="notice" role="alert" tabindex="-1" autofocus>/)
      expect(page.text.split(problem)).toHaveLength(3)
      const [, field] = /id="([\w-]+)-problem"/.exec(page.text)!
      expect(page.text).toMatch(
        new RegExp(`<input [^>]*id="${field}" [^>]*aria-describedby="[^"]*${field}-problem" aria-invalid="true">`),
      )
    },
  )

  it.each([
    ['a form that is too large', { urlencoded: { 'new-password': 'x'.repeat(20_000) } }, 413],
    ['JSON instead of a form', { json: { 'new-password': password, 'new-password-again': password } }, 415],
    ['a form with files', { multipart: { 'new-password': new File(['x'], 'x.txt') } }, 415],
    ['a body that is not UTF-8', { raw: Buffer.from([0xff, 0xfe]) }, 400],
  ])('an error of the password reset form is shown as an HTML page: %s', async (_, body, status) => {
    const page = await app.rest('POST', path, body)
    expect(page.status).toBe(status)
    expect(titleOf(page)).toBe('The form could not be read')
  })

  it('an error in the password reset form changes neither the password nor the link', async () => {
    expect((await app.rest('GET', path)).status).toBe(200)
    expect((await signIn(user, PASSWORD)).status).toBe(200)
  })
})

describe('invalid password reset links', () => {
  const [wrongToken, wrongUser] = ['A'.repeat(43), 'user_01h455vb4pex5vsknk084sn02q']

  it.each([
    ['wrong token', () => `${path.slice(0, path.lastIndexOf('/'))}/${wrongToken}`],
    ['wrong user', () => `/account/password-reset/${wrongUser}/${path.split('/').at(-1)}`],
    ['malformed user ID', () => `/account/password-reset/nobody/${wrongToken}`],
    [
      'HTML in the path',
      () => `/account/password-reset/${encodeURIComponent('"><script>alert(1)</script>')}/%3Cimg%3E`,
    ],
    ['null byte in the path', () => `/account/password-reset/%00/${wrongToken}`],
  ])('an invalid password reset link shows an error page with the next step: %s', async (_, bad) => {
    for (const page of [await app.rest('GET', bad()), await submit(bad(), password), await submit(bad(), 'short')]) {
      expect(page.status, page.text).toBe(410)
      expect(titleOf(page)).toBe('This link is no longer valid')
      expect(textOf(page)).toContain('To get a new link, request a password reset on the sign-in page again')
      expect(page.text).not.toMatch(/<script|<img|<form|nobody/)
    }
  })
})

describe('valid password reset forms', () => {
  it('two matching passwords change the password, end all sessions, notify the user, and invalidate the link', async () => {
    const person = await app.newUser()
    const link = await app.newLink(person, 'password-reset')
    const page = await submit(link, password)
    expect(page.status, page.text).toBe(200)
    expect(titleOf(page)).toBe('Your password was changed')
    expect(textOf(page)).toContain('All devices were signed out. Sign in again with your new password.')
    expectError(await person.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
    expect((await signIn(person, PASSWORD)).status).toBe(400)
    expect((await signIn(person, password)).status).toBe(200)
    await poll(() => app.subjects(person.email)).until((subjects) => subjects.includes('Your password was changed'))
    for (const again of [await app.rest('GET', link), await submit(link, 'yet another one')]) {
      expect(again.status).toBe(410)
      expect(textOf(again)).toContain('If you have just changed your password, sign in with the new password.')
    }
    expect((await signIn(person, password)).status).toBe(200)
  })

  it('a double click changes the password once, and both responses show success', async () => {
    const person = await app.newUser()
    const link = await app.newLink(person, 'password-reset')
    const key = /name="key" value="([\w-]{36})"/.exec((await app.rest('GET', link)).text)![1]!
    const send = (typed: string) =>
      app.rest('POST', link, { urlencoded: { key, 'new-password': typed, 'new-password-again': typed } })
    const pages = [...(await Promise.all([send(password), send(password)])), await send(password)]
    expect(pages.map(titleOf)).toEqual(Array(3).fill('Your password was changed'))
    expect((await send('another password')).status).toBe(410)
    expect((await signIn(person, password)).status).toBe(200)
    const [{ n }] = (await app.sql<{ n: number }>(
      `select count(*)::int as n from audit_entries where user_id = $1::uuid and action = 'password.reset'`,
      [person.id],
    )) as [{ n: number }]
    expect(n).toBe(1)
  })
})

it('an aborted form request changes nothing, and the password reset link stays valid', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '500' }
  const request = openRequest(app.url + path, { headers })
  request.write('new-password=', request.abort)
  await expect(request.answer).rejects.toThrow()
  expect((await app.rest('GET', path)).status).toBe(200)
})

it('the log contains no token and no password of the password reset form', () => {
  const lines = JSON.stringify(app.log.lines)
  expect(lines).not.toContain(path.split('/').at(-1)!)
  expect(lines).not.toContain(password)
})
