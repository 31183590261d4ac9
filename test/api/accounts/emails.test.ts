import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromId } from '../../../src/shared/ids.ts'
import { createAccountMails } from '../../support/account-mails.ts'
import { bothApis, callerWith } from '../../support/api.ts'
import { poll } from '../../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import type { MailedLink } from '../../support/read-mails.ts'
import { createStore } from '../../support/store.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const mails = await createAccountMails({ EMAIL_VERIFICATION: 'required' })
const { app } = mails

const newAddress = () => `new-${randomUUID()}@example.org`
async function newVerifiedUser(): Promise<SignedIn> {
  const user = await app.newUser()
  await app.sql('update users set email_verified = true where id = $1::uuid', [user.id])
  return user
}

async function linkOf(email: string, uid?: string): Promise<MailedLink> {
  const links = await poll(() =>
    mails.linksTo(email, 'email-verification').filter((link) => uid === undefined || link.uid === uid),
  ).until((found) => found.length > 0)
  return links.at(-1)!
}

const me = async (user: SignedIn) => expectOk(await user.rest('GET', 'auth/users/me/'))
const trailOf = async ({ id }: SignedIn) =>
  (
    await app.sql<{ action: string }>('select action from audit_entries where user_id = $1::uuid order by id', [id])
  ).map(({ action }) => action)

describe.each(bothApis)('e-mail addresses and usernames over $name', (api) => {
  const setEmail = (user: SignedIn, newEmail: string, currentPassword = PASSWORD) =>
    api.changeEmail(user, { newEmail, currentPassword })
  const setUsername = (user: SignedIn, newUsername: string, currentPassword = PASSWORD) =>
    api.changeUsername(user, { newUsername, currentPassword })
  const activate = (link: MailedLink) => api.verifyEmail(app, { ...link })
  const resend = (input = {}) => api.requestEmailVerification(app, input)
  const login = (email: string, password = PASSWORD) => api.signIn(app, { email, password })
  const resetFor = (email: string) => api.requestPasswordReset(app, { email })
  const reset = (link: MailedLink, newPassword: string) => api.resetPassword(app, { ...link, newPassword })
  const trySignUp = (email: string, password = PASSWORD) =>
    api.signUp(app, { username: `s${randomUUID().slice(0, 12)}`, email, password })
  const signUp = async (email: string, password?: string): Promise<string> => (await trySignUp(email, password)).ok().id

  describe('changes of the e-mail address', () => {
    it('a new address takes effect when it is verified, and the old address gets two notifications', async () => {
      const user = await newVerifiedUser()
      const email = newAddress()
      ;(await setEmail(user, email)).ok()
      expect(await me(user)).toMatchObject({ email: user.email, email_verified: true, pending_email: email })
      const [asked] = await mails.awaitMails(user.email, 'email-change-requested')
      expect(asked!.text).toContain(email)
      expectError(await login(email), 'INCORRECT_LOGIN_CREDENTIALS')
      ;(await activate(await mails.awaitLink(email, 'email-verification'))).ok()
      expect(await me(user)).toMatchObject({ email, email_verified: true, pending_email: null })
      const [notice] = await mails.awaitMails(user.email, 'email-changed')
      expect(notice!.text).toContain(user.username)
      expect(await trailOf(user)).toEqual(
        expect.arrayContaining(['email.change-requested', 'email.changed', 'email.verified']),
      )
      ;(await login(email)).ok()
      expectError(await login(user.email), 'INCORRECT_LOGIN_CREDENTIALS')
      const other = await newVerifiedUser()
      ;(await setEmail(other, user.email)).ok()
      ;(await activate(await mails.awaitLink(user.email, 'email-verification'))).ok()
    })

    it("a change to another person's e-mail address gives no access to their data and does not block their sign-up", async () => {
      const [thief, admin] = [await newVerifiedUser(), await app.admin()]
      const { id } = await thief.register({ public_access: 'true' })
      const victim = newAddress()
      ;(await setEmail(thief, victim)).ok()
      await mails.awaitLink(victim, 'email-verification')
      const listed = async (owner: string) =>
        expectOk(await app.rest('GET', `assets/?owner=${encodeURIComponent(owner)}`)).results.map(
          (one: { id: string }) => one.id,
        )
      expect(await listed(victim)).toEqual([])
      expect(await listed(thief.email)).toEqual([id])
      const grant = { user_id: victim, amount: '5', reason: 'A gift' }
      expectError(await admin.rest('POST', 'store/point-grants/', { json: grant }), 'NOT_FOUND')
      await resetFor(victim)
      await mails.idle()
      expect(mails.mailsTo(victim, 'password-reset')).toEqual([])
      const link = await linkOf(victim, await signUp(victim))
      ;(await activate(link)).ok()
      ;(await login(victim)).ok()
      expect(await listed(victim)).toEqual([])
      const [theirs] = await app.sql<{ id: string }>('select id from users where pending_email = $1', [victim])
      expect(theirs!.id).toBe(thief.id)
      expectError(await setEmail(thief, victim), 'DUPLICATE_EMAIL')
    })

    it('an address change is cancelled by setting the current address, a password change or a password reset', async () => {
      const user = await newVerifiedUser()
      const newer = 'staple battery horse'
      const endings = [
        () => setEmail(user, user.email),
        () => api.changePassword(user, { currentPassword: PASSWORD, newPassword: newer }),
        async () => {
          await resetFor(user.email)
          return reset(await mails.awaitLink(user.email, 'password-reset'), newer)
        },
      ]
      for (const [index, end] of endings.entries()) {
        const email = newAddress()
        ;(await setEmail(user, email, index === 2 ? newer : PASSWORD)).ok()
        const link = await mails.awaitLink(email, 'email-verification')
        ;(await end()).ok()
        expectError(await activate(link), 'INVALID_TOKEN')
        expect(await app.sql('select email, pending_email from users where id = $1::uuid', [user.id])).toEqual([
          { email: user.email, pending_email: null },
        ])
      }
    })

    it('a change of the e-mail address rejects a taken address in upper or lower case', async () => {
      const [user, other] = [await app.newUser(), await app.newUser()]
      const details = (await setEmail(user, other.email.toUpperCase())).fails('DUPLICATE_EMAIL')
      expect(details).toEqual({ email: [expect.any(String)] })
      expect((await me(user)).email).toBe(user.email)
    })

    it('a change of the e-mail address rejects a wrong password, a malformed address and anonymous callers', async () => {
      const user = await app.newUser()
      const details = (await setEmail(user, newAddress(), 'not the password')).fails('VALIDATION_FAILED')
      expect(details).toEqual({ currentPassword: ['Invalid password.'] })
      expect(Object.keys((await setEmail(user, 'no address')).fails('VALIDATION_FAILED'))).toEqual(['newEmail'])
      const input = { currentPassword: PASSWORD, newEmail: newAddress() }
      ;(await api.changeEmail(app, input)).fails('NOT_AUTHENTICATED')
    })

    it('a change of the e-mail address invalidates links that were sent to the old address', async () => {
      const user = await app.newUser()
      await resend({ email: user.email })
      const verification = await mails.awaitLink(user.email, 'email-verification')
      await resetFor(user.email)
      const resetLink = await mails.awaitLink(user.email, 'password-reset')
      const email = newAddress()
      await setEmail(user, email)
      expectError(await activate(verification), 'INVALID_TOKEN')
      await activate(await mails.awaitLink(email, 'email-verification'))
      ;(await reset(resetLink, 'staple battery horse')).fails('INVALID_TOKEN')
    })

    it('an e-mail address that several accounts claim belongs to the first account that verifies the address', async () => {
      const users = await Promise.all([newVerifiedUser(), newVerifiedUser(), newVerifiedUser()])
      const email = newAddress()
      for (const user of users) (await setEmail(user, email)).ok()
      const links = users.map(({ publicId }) => linkOf(email, publicId))
      const codes = (await Promise.all((await Promise.all(links)).map(activate))).map((one) => codeOf(one) ?? 'ok')
      expect(codes.sort()).toEqual(['DUPLICATE_EMAIL', 'DUPLICATE_EMAIL', 'ok'])
      expect(await app.sql('select id from users where email = $1 and email_verified', [email])).toHaveLength(1)
    })
  })

  describe('changes of the username', () => {
    it('a change of the username takes effect immediately and frees the old name', async () => {
      const user = await app.newUser()
      const username = `n${randomUUID().slice(0, 12)}`
      ;(await setUsername(user, username)).ok()
      expect((await me(user)).username).toBe(username)
      expect(await trailOf(user)).toContain('username.changed')
      ;(await setUsername(await app.newUser(), user.username)).ok()
    })

    it('a change of the username rejects a taken name, and accepts a change of case', async () => {
      const [user, other] = [await app.newUser(), await app.newUser()]
      expectError(await setUsername(user, other.username.toUpperCase()), 'DUPLICATE_USERNAME')
      ;(await setUsername(user, user.username.toUpperCase())).ok()
    })

    it('a change of the username rejects a wrong password and an invalid name, and names the field', async () => {
      const user = await app.newUser()
      const details = (await setUsername(user, 'fine', 'not the password')).fails('VALIDATION_FAILED')
      expect(details).toEqual({ currentPassword: ['Invalid password.'] })
      expect(Object.keys((await setUsername(user, 'x'.repeat(22))).fails('VALIDATION_FAILED'))).toEqual(['newUsername'])
    })
  })

  describe('unverified addresses', () => {
    it('an unverified e-mail address receives only mails with verification links', async () => {
      const [store, buyer] = [await createStore(app), await app.newUser()]
      const order = await store.order(buyer)
      expectOk(await store.confirm(buyer, order.id))
      const receipt = { template: 'receipt', orderId: fromId(order.id)!.uuid } as const
      const mailsOf = ({ email }: SignedIn) => mails.server.mails.filter(({ to }) => to.includes(email)).length
      await app.jobs.mail(receipt)
      expect(mailsOf(buyer)).toBe(0)
      await app.sql('update users set email_verified = true where id = $1::uuid', [buyer.id])
      await app.jobs.mail(receipt)
      expect(mailsOf(buyer)).toBe(1)
    })

    it('an unverified e-mail address belongs to the first account that verifies it', async () => {
      const email = newAddress()
      const squatter = await signUp(email, 'squatters password')
      const inOtherCase = email.replace('new', 'New')
      const owner = await signUp(inOtherCase)
      const [first, second] = [await linkOf(email, squatter), await linkOf(inOtherCase, owner)]
      ;(await activate(second)).ok()
      ;(await login(email)).ok()
      expectError(await login(email, 'squatters password'), 'INCORRECT_LOGIN_CREDENTIALS')
      expectError(await activate(first), 'DUPLICATE_EMAIL')
      const page = await app.rest('POST', `/account/email-verification/${first.uid}/${first.token}`, { urlencoded: {} })
      expect([page.status, page.text.includes('This address belongs to another account')]).toEqual([409, true])
      ;(await trySignUp(email)).fails('DUPLICATE_EMAIL')
    })

    it('an unverified e-mail address belongs to the person who resets the password with a mailed link', async () => {
      const email = newAddress()
      const link = await linkOf(email, await signUp(email, 'squatters password'))
      await resetFor(email)
      ;(await reset(await mails.awaitLink(email, 'password-reset'), PASSWORD)).ok()
      ;(await login(email)).ok()
      expectError(await activate(link), 'INVALID_TOKEN')
    })

    it('an unverified e-mail address receives a new link for each account that claims the address', async () => {
      const email = newAddress()
      const accounts = [await signUp(email), await signUp(email)]
      await mails.awaitMails(email, 'email-verification', 2)
      ;(await resend({ email })).ok()
      const again = (await mails.awaitMails(email, 'email-verification', 4)).slice(2).map(({ text }) => text)
      for (const uid of accounts) expect(again.filter((text) => text.includes(uid))).toHaveLength(1)
    })
  })

  describe('mailboxes', () => {
    const claim = (count: number) =>
      app.sql(
        `update limits set count = $1::int where key like 'sign-up-mailbox:%' or key like 'email-change-mailbox:%'`,
        [count],
      )

    it('a mailbox accepts ten sign-ups and ten address changes per hour in total, including plus addresses', async () => {
      const [name, host] = newAddress().split('@')
      const tagged = (n: number) => `${name}+${n}@${host}`
      const [one, other] = [await newVerifiedUser(), await newVerifiedUser()]
      ;(await setEmail(one, tagged(1))).ok()
      await claim(10)
      expectError(await setEmail(other, tagged(2).toUpperCase()), 'THROTTLED')
      // A user can sign up even if other accounts claim the same address.
      await signUp(tagged(2))
      await claim(10)
      ;(await trySignUp(tagged(3))).fails('THROTTLED')
      await mails.idle()
      expect(mails.server.mails.filter(({ to }) => to.join().toLowerCase().startsWith(`${name}+`))).toHaveLength(2)
    })

    it('ignores dots in the local part only for Gmail addresses', async () => {
      const counted = async () => (await app.sql(`select from limits where key like 'sign-up-mailbox:%'`)).length
      const name = `g${randomUUID().slice(0, 7)}`
      const dotted = [...name].join('.')
      const before = await counted()
      for (const address of [`${name}@gmail.com`, `${dotted}@googlemail.com`, `${name.toUpperCase()}+x@gmail.com`])
        await signUp(address)
      expect(await counted()).toBe(before + 1)
      for (const address of [`${name}@example.org`, `${dotted}@example.org`]) await signUp(address)
      expect(await counted()).toBe(before + 3)
    })

    it('a mailbox still receives links while other people request links for unknown plus addresses', async () => {
      const user = await newVerifiedUser()
      const tagged = user.email.replace('@', '+x@')
      for (let n = 0; n < 5; n += 1) for (const ask of [resetFor(tagged), resend({ email: tagged })]) await ask
      expectError(await resetFor(tagged), 'THROTTLED')
      ;(await resetFor(user.email)).ok()
      await mails.awaitLink(user.email, 'password-reset')
      ;(await resend({ email: user.email })).ok()
    })

    it('a user can set an address again after other people exhausted its mail limit', async () => {
      const [user, stranger] = [await newVerifiedUser(), await newVerifiedUser()]
      const elsewhere = user.email.replace('@', '+x@')
      ;(await setEmail(stranger, elsewhere)).ok()
      ;(await setEmail(user, newAddress())).ok()
      await claim(10)
      expectError(await setEmail(stranger, elsewhere), 'THROTTLED')
      ;(await setEmail(user, user.email)).ok()
      expect((await me(user)).pending_email).toBeNull()
    })
  })

  describe('verification of an e-mail address', () => {
    it('EMAIL_VERIFICATION=required requires a verified e-mail address before the first sign-in', async () => {
      const email = newAddress()
      await signUp(email)
      const link = await mails.awaitLink(email, 'email-verification')
      expectError(await login(email), 'EMAIL_NOT_VERIFIED')
      ;(await activate(link)).ok()
      ;(await login(email)).ok()
    })

    it('email verification ignores the access token of an ended session', async () => {
      const stale = callerWith(app, 'a'.repeat(40))
      const email = newAddress()
      await signUp(email)
      await mails.awaitLink(email, 'email-verification')
      ;(await api.requestEmailVerification(stale, { email })).ok()
      const link = await mails.awaitLink(email, 'email-verification', 2)
      ;(await api.verifyEmail(stale, { ...link, token: 'x' })).fails('INVALID_TOKEN')
      ;(await api.requestEmailVerification(stale)).fails('NOT_AUTHENTICATED')
      ;(await api.verifyEmail(stale, { ...link })).ok()
      ;(await login(email)).ok()
    })

    it('sign-in with a wrong password does not mention that the e-mail address is unverified', async () => {
      const email = newAddress()
      await signUp(email)
      ;(await login(email, 'not the password')).fails('INCORRECT_LOGIN_CREDENTIALS')
    })

    it('email verification accepts the newest link once within 24 hours', async () => {
      const email = newAddress()
      await signUp(email)
      const older = await mails.awaitLink(email, 'email-verification')
      ;(await resend({ email })).ok()
      const newer = await mails.awaitLink(email, 'email-verification', 2)
      expectError(await activate(older), 'INVALID_TOKEN')
      const [left] = await app.sql<{ hours: number }>(
        `select extract(epoch from t.expires_at - t.created_at)::int / 3600 as hours
       from one_time_tokens t join users u on u.id = t.user_id where u.email = $1`,
        [email],
      )
      expect(left!.hours).toBe(24)
      ;(await activate(newer)).ok()
      expectError(await activate(newer), 'INVALID_TOKEN')
      await resend({ email })
      await mails.idle()
      expect(mails.mailsTo(email, 'email-verification')).toHaveLength(2)
    })

    it('email verification rejects an expired, foreign or malformed link', async () => {
      const user = await app.newUser()
      ;(await api.requestEmailVerification(user)).ok()
      const link = await mails.awaitLink(user.email, 'email-verification')
      ;(await reset(link, 'staple battery horse')).fails('INVALID_TOKEN')
      expectError(await activate({ ...link, token: 'x'.repeat(43) }), 'INVALID_TOKEN')
      expectError(await activate({ uid: '', token: '' }), 'INVALID_TOKEN')
      await app.sql(`update one_time_tokens set expires_at = now() - interval '1 ms' where user_id = $1::uuid`, [
        user.id,
      ])
      expectError(await activate(link), 'INVALID_TOKEN')
      expect((await me(user)).email_verified).toBe(false)
    })

    it('a verification request returns the same response for known and unknown addresses', async () => {
      const user = await app.newUser()
      const stranger = newAddress()
      const [known, unknown] = [await resend({ email: user.email }), await resend({ email: stranger })]
      expect([unknown.status, unknown.text.replace(stranger, user.email)]).toEqual([known.status, known.text])
      expectError(await resend(), 'NOT_AUTHENTICATED')
      expectError(await resend({ email: 'no address' }), 'VALIDATION_FAILED')
    })

    it('a verification mail can be requested five times per hour and address', async () => {
      const email = newAddress()
      for (let i = 0; i < 5; i++) (await resend({ email })).ok()
      expectError(await resend({ email: email.toUpperCase() }), 'THROTTLED')
    })
  })
})
