/** Mailed links of locked accounts: none is sent, none is accepted, and callers cannot detect the lock. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAccountMails } from '../../support/account-mails.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { lockMeanwhile } from '../../support/held-rows.ts'
import type { MailedLink } from '../../support/read-mails.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const NEWER = 'staple battery horse'

const mails = await createAccountMails({ EMAIL_VERIFICATION: 'on' })
const { app } = mails
const admin = await app.admin()

const newAddress = () => `new-${randomUUID()}@example.org`
const login = (email: string, password = PASSWORD) =>
  app.rest('POST', 'auth/token/login/', { json: { email, password } })
const change = async (user: SignedIn, how: 'lock' | 'unlock') =>
  expectOk(await admin.rest('POST', `store/users/${user.publicId}/${how}/`, { json: { reason: 'A thief' } }))
const setEmail = (user: SignedIn, email: string) =>
  user.rest('POST', 'auth/users/set_email/', { json: { current_password: PASSWORD, new_email: email } })

const links = {
  PASSWORD_RESET: {
    template: 'password-reset',
    ask: (email: string) => app.rest('POST', 'auth/users/reset_password/', { json: { email } }),
    spend: (link: MailedLink) =>
      app.rest('POST', 'auth/users/reset_password_confirm/', { json: { ...link, new_password: NEWER } }),
  },
  EMAIL_VERIFICATION: {
    template: 'email-verification',
    ask: (email: string) => app.rest('POST', 'auth/users/resend_activation/', { json: { email } }),
    spend: (link: MailedLink) => app.rest('POST', 'auth/users/activation/', { json: link }),
  },
}

it('the tests of locked accounts cover every kind of mailed link', async () => {
  const purposes = await app.sql<{ purpose: string }>('select unnest(enum_range(null::token_purpose))::text as purpose')
  expect(purposes.map(({ purpose }) => purpose)).toEqual(Object.keys(links))
})

describe.each(Object.entries(links))('mailed links of locked accounts: %s', (_, { template, ask, spend }) => {
  const stateOf = ({ id }: SignedIn) =>
    app.sql('select email, pending_email, email_verified, password_hash from users where id = $1::uuid', [id])
  const pageOf = async ({ uid, token }: MailedLink) =>
    (await app.rest('GET', `/account/${template}/${uid}/${token}`)).text.includes('<form')

  it('a request for a mailed link sends no mail to a locked account, and returns the same response as for unknown addresses', async () => {
    const user = await app.newUser()
    await change(user, 'lock')
    const [locked, unknown] = [await ask(user.email), await ask(newAddress())]
    expect([locked.status, locked.text]).toEqual([unknown.status, unknown.text])
    await mails.idle()
    expect(mails.mailsTo(user.email, template)).toEqual([])
    await change(user, 'unlock')
    expect((await ask(user.email)).status).toBe(locked.status)
    expect((await spend(await mails.awaitLink(user.email, template))).status).toBe(204)
  })

  it('a mailed link is invalid during an account lock and after the account is unlocked', async () => {
    const user = await app.newUser()
    await ask(user.email)
    const link = await mails.awaitLink(user.email, template)
    expect(await pageOf(link)).toBe(true)
    const before = await stateOf(user)
    await change(user, 'lock')
    expectError(await spend(link), 'INVALID_TOKEN')
    // Simulates a link that was created while the account was being locked.
    await app.sql('update one_time_tokens set used_at = null where user_id = $1::uuid', [user.id])
    expect(await pageOf(link)).toBe(false)
    expectError(await spend(link), 'INVALID_TOKEN')
    await change(user, 'unlock')
    expect(await pageOf(link)).toBe(false)
    expectError(await spend(link), 'INVALID_TOKEN')
    expect(await stateOf(user)).toEqual(before)
    await ask(user.email)
    expect((await spend(await mails.awaitLink(user.email, template, 2))).status).toBe(204)
    expect(await stateOf(user)).not.toEqual(before)
  })

  it('a mailed link has no effect if the account is locked while the link is being used', async () => {
    const user = await app.newUser()
    await ask(user.email)
    const link = await mails.awaitLink(user.email, template)
    const before = await stateOf(user)
    expectError(await lockMeanwhile(app, user, () => spend(link)), 'INVALID_TOKEN')
    expect(await stateOf(user)).toEqual(before)
  })
})

describe('changes of the e-mail address by a thief', () => {
  it('an account lock cancels a pending address change, and the owner can sign in after the unlock', async () => {
    const user = await app.newUser()
    await app.sql('update users set email_verified = true where id = $1::uuid', [user.id])
    const thief = newAddress()
    expect((await setEmail(user, thief)).status).toBe(204)
    const link = await mails.awaitLink(thief, 'email-verification')
    await change(user, 'lock')
    await links.EMAIL_VERIFICATION.ask(thief)
    await links.PASSWORD_RESET.ask(thief)
    await mails.idle()
    expect(mails.mailsTo(thief, 'email-verification')).toHaveLength(1)
    expect(mails.mailsTo(thief, 'password-reset')).toEqual([])
    await change(user, 'unlock')
    expectError(await links.EMAIL_VERIFICATION.spend(link), 'INVALID_TOKEN')
    await links.EMAIL_VERIFICATION.ask(thief)
    await mails.idle()
    expect(mails.mailsTo(thief, 'email-verification')).toHaveLength(1)
    const token = expectOk(await login(user.email)).auth_token
    const me = expectOk(await app.rest('GET', 'auth/users/me/', { actor: { token } }))
    expect(me).toMatchObject({ email: user.email, pending_email: null })
  })

  it('a change of the e-mail address is rejected if the account is locked during the request', async () => {
    const user = await app.newUser()
    expectError(await lockMeanwhile(app, user, () => setEmail(user, newAddress())), 'VALIDATION_FAILED')
    const [row] = await app.sql('select pending_email from users where id = $1::uuid', [user.id])
    expect(row).toEqual({ pending_email: null })
  })
})

it('locked accounts do not block the link of another account with the same unverified address', async () => {
  const email = newAddress()
  const signUp = async () => {
    const json = { username: `s${randomUUID().slice(0, 12)}`, email, password: PASSWORD }
    return expectOk(await app.rest('POST', 'auth/users/', { json })).id as string
  }
  const owner = await signUp()
  for (let n = 0; n < 3; n += 1) await change({ publicId: await signUp() } as SignedIn, 'lock')
  await mails.idle()
  const before = mails.mailsTo(email, 'email-verification').length
  await links.EMAIL_VERIFICATION.ask(email)
  const again = await mails.awaitMails(email, 'email-verification', before + 1)
  await mails.idle()
  expect(again.slice(before).map(({ text }) => text.includes(owner))).toEqual([true])
})
