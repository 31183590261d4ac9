import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkInvariants } from '../../src/domain/invariants.ts'
import { type AccountMails, createAccountMails, type MailedLink } from '../support/account-mails.ts'
import { codeOf, expectError, expectOk } from '../support/expect-error.ts'
import type { SignedIn, TestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

let mails: AccountMails
let app: TestApp
beforeAll(async () => {
  mails = await createAccountMails({ EMAIL_VERIFICATION: 'required' })
  app = mails.app
})

const newAddress = () => `new-${randomUUID()}@example.org`
const setEmail = (user: SignedIn, email: string, password = PASSWORD) =>
  user.rest('POST', 'auth/users/set_email/', { json: { current_password: password, new_email: email } })
const setUsername = (user: SignedIn, username: string, password = PASSWORD) =>
  user.rest('POST', 'auth/users/set_username/', { json: { current_password: password, new_username: username } })
const activate = (link: MailedLink) => app.rest('POST', 'auth/users/activation/', { json: link })
const resend = (json = {}) => app.rest('POST', 'auth/users/resend_activation/', { json })
const login = (email: string) => app.rest('POST', 'auth/token/login/', { json: { email, password: PASSWORD } })
const me = async (user: SignedIn) => expectOk(await user.rest('GET', 'auth/users/me/'))
const trailOf = async ({ id }: SignedIn) =>
  (
    await app.sql<{ action: string }>('select action from audit_entries where user_id = $1::uuid order by id', [id])
  ).map(({ action }) => action)

describe('changing the address', () => {
  it('has the new one verified and tells the old one, which is free again', async () => {
    const user = await app.newUser()
    const email = newAddress()
    expect((await setEmail(user, email)).status).toBe(204)
    expect(await me(user)).toMatchObject({ email, email_verified: false })
    const [notice] = await mails.awaitMails(user.email, 'email-changed')
    expect(notice!.text).toContain(user.username)
    expect((await activate(await mails.awaitLink(email, 'email-verification'))).status).toBe(204)
    expect(await me(user)).toMatchObject({ email, email_verified: true })
    expect(await trailOf(user)).toEqual(expect.arrayContaining(['email.changed', 'email.verified']))
    expectOk(await login(email))
    const other = await app.newUser()
    expect((await setEmail(other, user.email)).status).toBe(204)
  })

  it('to one that somebody has is refused, whatever its case', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    const { body } = expectError(await setEmail(user, other.email.toUpperCase()), 'DUPLICATE_EMAIL')
    expect(body.error.details).toEqual({ email: [expect.any(String)] })
    expect((await me(user)).email).toBe(user.email)
  })

  it('to the present one changes nothing and tells nobody', async () => {
    const user = await app.newUser()
    expect((await setEmail(user, user.email)).status).toBe(204)
    await mails.idle()
    expect(mails.mailsTo(user.email, 'email-changed')).toEqual([])
    expect(await trailOf(user)).not.toContain('email.changed')
  })

  it('is refused with a wrong password or a bad address, by the field, and to anonymous callers', async () => {
    const user = await app.newUser()
    const wrong = expectError(await setEmail(user, newAddress(), 'not the password'), 'VALIDATION_FAILED')
    expect(wrong.body.error.details).toEqual({ current_password: ['Invalid password.'] })
    const bad = expectError(await setEmail(user, 'no address'), 'VALIDATION_FAILED')
    expect(Object.keys(bad.body.error.details)).toEqual(['new_email'])
    expectError(await app.rest('POST', 'auth/users/set_email/', { json: {} }), 'NOT_AUTHENTICATED')
  })

  it('makes links worthless that the old one got', async () => {
    const user = await app.newUser()
    await resend({ email: user.email })
    const verification = await mails.awaitLink(user.email, 'email-verification')
    await app.rest('POST', 'auth/users/reset_password/', { json: { email: user.email } })
    const reset = await mails.awaitLink(user.email, 'password-reset')
    await setEmail(user, newAddress())
    expectError(await activate(verification), 'INVALID_TOKEN')
    const json = { ...reset, new_password: 'staple battery horse' }
    expectError(await app.rest('POST', 'auth/users/reset_password_confirm/', { json }), 'INVALID_TOKEN')
  })

  it('by two accounts at once to one address succeeds once', async () => {
    const users = await Promise.all([app.newUser(), app.newUser(), app.newUser()])
    const email = newAddress()
    const codes = (await Promise.all(users.map((user) => setEmail(user, email)))).map(
      (one) => codeOf(one) ?? one.status,
    )
    expect(codes.sort()).toEqual([204, 'DUPLICATE_EMAIL', 'DUPLICATE_EMAIL'])
  })
})

describe('changing the username', () => {
  it('is seen at once, and the old one is free again', async () => {
    const user = await app.newUser()
    const username = `n${randomUUID().slice(0, 12)}`
    expect((await setUsername(user, username)).status).toBe(204)
    expect((await me(user)).username).toBe(username)
    expect(await trailOf(user)).toContain('username.changed')
    expect((await setUsername(await app.newUser(), user.username)).status).toBe(204)
  })

  it('to one that somebody has is refused; a change of its case is not', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    expectError(await setUsername(user, other.username.toUpperCase()), 'DUPLICATE_USERNAME')
    expect((await setUsername(user, user.username.toUpperCase())).status).toBe(204)
  })

  it('is refused with a wrong password or a bad name, by the field', async () => {
    const user = await app.newUser()
    const wrong = expectError(await setUsername(user, 'fine', 'not the password'), 'VALIDATION_FAILED')
    expect(wrong.body.error.details).toEqual({ current_password: ['Invalid password.'] })
    const bad = expectError(await setUsername(user, 'x'.repeat(22)), 'VALIDATION_FAILED')
    expect(Object.keys(bad.body.error.details)).toEqual(['new_username'])
  })
})

describe('verifying the address', () => {
  async function signUp() {
    const username = `s${randomUUID().slice(0, 12)}`
    const email = `${username}@example.org`
    expect((await app.rest('POST', 'auth/users/', { json: { username, email, password: PASSWORD } })).status).toBe(201)
    return email
  }

  it('is asked for at sign-up, and nobody signs in before it where it is required', async () => {
    const email = await signUp()
    const link = await mails.awaitLink(email, 'email-verification')
    expectError(await login(email), 'EMAIL_NOT_VERIFIED')
    expect((await activate(link)).status).toBe(204)
    expectOk(await login(email))
  })

  it('is not told of to somebody who has not the password', async () => {
    const json = { email: await signUp(), password: 'not the password' }
    expectError(await app.rest('POST', 'auth/token/login/', { json }), 'INCORRECT_LOGIN_CREDENTIALS')
  })

  it('works once, with the newest link alone, within 24 hours', async () => {
    const email = await signUp()
    const older = await mails.awaitLink(email, 'email-verification')
    expect((await resend({ email })).status).toBe(204)
    const newer = await mails.awaitLink(email, 'email-verification', 2)
    expectError(await activate(older), 'INVALID_TOKEN')
    const [left] = await app.sql<{ hours: number }>(
      `select extract(epoch from t.expires_at - t.created_at)::int / 3600 as hours
       from one_time_tokens t join users u on u.id = t.user_id where u.email = $1`,
      [email],
    )
    expect(left!.hours).toBe(24)
    expect((await activate(newer)).status).toBe(204)
    expectError(await activate(newer), 'INVALID_TOKEN')
    await resend({ email })
    await mails.idle()
    expect(mails.mailsTo(email, 'email-verification')).toHaveLength(2)
  })

  it('is refused with a link that has expired, that is for another purpose, or that is none', async () => {
    const user = await app.newUser()
    await user.rest('POST', 'auth/users/resend_activation/', { json: {} })
    const link = await mails.awaitLink(user.email, 'email-verification')
    const json = { ...link, new_password: 'staple battery horse' }
    expectError(await app.rest('POST', 'auth/users/reset_password_confirm/', { json }), 'INVALID_TOKEN')
    expectError(await activate({ ...link, token: 'x'.repeat(43) }), 'INVALID_TOKEN')
    expectError(await activate({ uid: '', token: '' }), 'INVALID_TOKEN')
    await app.sql('update one_time_tokens set expires_at = now() where user_id = $1::uuid', [user.id])
    expectError(await activate(link), 'INVALID_TOKEN')
    expect((await me(user)).email_verified).toBe(false)
  })

  it('can be asked for by anybody, known or not with the same answer, and without an address by who is signed in', async () => {
    const user = await app.newUser()
    const [known, unknown] = [await resend({ email: user.email }), await resend({ email: newAddress() })]
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    expectError(await resend(), 'NOT_AUTHENTICATED')
    expectError(await resend({ email: 'no address' }), 'VALIDATION_FAILED')
  })

  it('more than five times an hour for one address is refused', async () => {
    const email = newAddress()
    for (let i = 0; i < 5; i++) expect((await resend({ email })).status).toBe(204)
    expectError(await resend({ email: email.toUpperCase() }), 'THROTTLED')
  })
})

it('after all of it the invariants hold', async () => {
  const broken = (await checkInvariants(app.installation.database)).filter(({ rows }) => rows.length)
  expect(broken).toEqual([])
})
