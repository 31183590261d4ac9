import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { fromId } from '../../src/domain/ids.ts'
import { checkInvariants } from '../../src/domain/invariants/check-invariants.ts'
import { type AccountMails, createAccountMails } from '../support/account-mails.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../support/expect-error.ts'
import type { MailedLink } from '../support/read-mails.ts'
import { createStore } from '../support/store.ts'
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
const login = (email: string, password = PASSWORD) =>
  app.rest('POST', 'auth/token/login/', { json: { email, password } })
const resetFor = (email: string) => app.rest('POST', 'auth/users/reset_password/', { json: { email } })

/** An account of its own, whose address is verified. */
async function newVerifiedUser(): Promise<SignedIn> {
  const user = await app.newUser()
  await app.sql('update users set email_verified = true where id = $1::uuid', [user.id])
  return user
}

/** Signs up; returns the new account's identifier. */
async function signUp(email: string, password = PASSWORD): Promise<string> {
  const username = `s${randomUUID().slice(0, 12)}`
  return expectOk(await app.rest('POST', 'auth/users/', { json: { username, email, password } })).id
}

/** The newest link to verify an address by; of an account, where several wait for it. */
async function linkOf(email: string, uid?: string): Promise<MailedLink> {
  const links = await eventually(
    () => mails.linksTo(email, 'email-verification').filter((link) => uid === undefined || link.uid === uid),
    (found) => found.length > 0,
  )
  return links.at(-1)!
}

const me = async (user: SignedIn) => expectOk(await user.rest('GET', 'auth/users/me/'))
const trailOf = async ({ id }: SignedIn) =>
  (
    await app.sql<{ action: string }>('select action from audit_entries where user_id = $1::uuid order by id', [id])
  ).map(({ action }) => action)

describe('changing the address', () => {
  it('takes effect when the new one is verified, and tells the old one before and after, which is free again', async () => {
    const user = await newVerifiedUser()
    const email = newAddress()
    expect((await setEmail(user, email)).status).toBe(204)
    expect(await me(user)).toMatchObject({ email: user.email, email_verified: true, pending_email: email })
    const [asked] = await mails.awaitMails(user.email, 'email-change-requested')
    expect(asked!.text).toContain(email)
    expectError(await login(email), 'INCORRECT_LOGIN_CREDENTIALS')
    expect((await activate(await mails.awaitLink(email, 'email-verification'))).status).toBe(204)
    expect(await me(user)).toMatchObject({ email, email_verified: true, pending_email: null })
    const [notice] = await mails.awaitMails(user.email, 'email-changed')
    expect(notice!.text).toContain(user.username)
    expect(await trailOf(user)).toEqual(
      expect.arrayContaining(['email.change-requested', 'email.changed', 'email.verified']),
    )
    expectOk(await login(email))
    expectError(await login(user.email), 'INCORRECT_LOGIN_CREDENTIALS')
    const other = await newVerifiedUser()
    expect((await setEmail(other, user.email)).status).toBe(204)
    expect((await activate(await mails.awaitLink(user.email, 'email-verification'))).status).toBe(204)
  })

  it('to somebody else’s gives nothing of theirs, and does not keep them out', async () => {
    const [thief, admin] = [await newVerifiedUser(), await app.admin()]
    const { id } = await thief.register({ public_access: 'true' })
    const victim = newAddress()
    expect((await setEmail(thief, victim)).status).toBe(204)
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
    expect((await activate(link)).status).toBe(204)
    expectOk(await login(victim))
    expect(await listed(victim)).toEqual([])
    const [theirs] = await app.sql<{ id: string }>('select id from users where pending_email = $1', [victim])
    expect(theirs!.id).toBe(thief.id)
    expectError(await setEmail(thief, victim), 'DUPLICATE_EMAIL')
  })

  it('is taken back by giving the present one again, and by another password', async () => {
    const user = await newVerifiedUser()
    const newer = 'staple battery horse'
    const endings = [
      () => setEmail(user, user.email),
      () =>
        user.rest('POST', 'auth/users/set_password/', { json: { current_password: PASSWORD, new_password: newer } }),
      async () => {
        await resetFor(user.email)
        const json = { ...(await mails.awaitLink(user.email, 'password-reset')), new_password: newer }
        return app.rest('POST', 'auth/users/reset_password_confirm/', { json })
      },
    ]
    for (const [index, end] of endings.entries()) {
      const email = newAddress()
      expect((await setEmail(user, email, index === 2 ? newer : PASSWORD)).status).toBe(204)
      const link = await mails.awaitLink(email, 'email-verification')
      expect((await end()).status).toBe(204)
      expectError(await activate(link), 'INVALID_TOKEN')
      expect(await app.sql('select email, pending_email from users where id = $1::uuid', [user.id])).toEqual([
        { email: user.email, pending_email: null },
      ])
    }
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
    await resetFor(user.email)
    const reset = await mails.awaitLink(user.email, 'password-reset')
    const email = newAddress()
    await setEmail(user, email)
    expectError(await activate(verification), 'INVALID_TOKEN')
    await activate(await mails.awaitLink(email, 'email-verification'))
    const json = { ...reset, new_password: 'staple battery horse' }
    expectError(await app.rest('POST', 'auth/users/reset_password_confirm/', { json }), 'INVALID_TOKEN')
  })

  it('by several accounts to one address succeeds once: for who verifies it first', async () => {
    const users = await Promise.all([newVerifiedUser(), newVerifiedUser(), newVerifiedUser()])
    const email = newAddress()
    for (const user of users) expect((await setEmail(user, email)).status).toBe(204)
    const links = users.map(({ publicId }) => linkOf(email, publicId))
    const codes = (await Promise.all((await Promise.all(links)).map(activate))).map((one) => codeOf(one) ?? one.status)
    expect(codes.sort()).toEqual([204, 'DUPLICATE_EMAIL', 'DUPLICATE_EMAIL'])
    const holders = await app.sql('select id from users where email = $1 and email_verified', [email])
    expect(holders).toHaveLength(1)
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

describe('an address that somebody gave who never verified it', () => {
  it('gets no mail but links', async () => {
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

  it('is still its owner’s: they sign up, and the first who verifies it has it', async () => {
    const email = newAddress()
    const squatter = await signUp(email, 'squatters password')
    const inOtherCase = email.replace('new', 'New')
    const owner = await signUp(inOtherCase)
    const [first, second] = [await linkOf(email, squatter), await linkOf(inOtherCase, owner)]
    expect((await activate(second)).status).toBe(204)
    expectOk(await login(email))
    expectError(await login(email, 'squatters password'), 'INCORRECT_LOGIN_CREDENTIALS')
    expectError(await activate(first), 'DUPLICATE_EMAIL')
    const page = await app.rest('POST', `/account/email-verification/${first.uid}/${first.token}`, { urlencoded: {} })
    expect([page.status, page.text.includes('This address belongs to another account')]).toEqual([409, true])
    const json = { username: `t${randomUUID().slice(0, 12)}`, email, password: PASSWORD }
    expectError(await app.rest('POST', 'auth/users/', { json }), 'DUPLICATE_EMAIL')
  })

  it('is its owner’s also by a reset of the password, which is theirs then', async () => {
    const email = newAddress()
    const squatter = await signUp(email, 'squatters password')
    const link = await linkOf(email, squatter)
    await resetFor(email)
    const json = { ...(await mails.awaitLink(email, 'password-reset')), new_password: PASSWORD }
    expect((await app.rest('POST', 'auth/users/reset_password_confirm/', { json })).status).toBe(204)
    expectOk(await login(email))
    expectError(await activate(link), 'INVALID_TOKEN')
  })

  it('gets a new link for each account that waits for it', async () => {
    const email = newAddress()
    const accounts = [await signUp(email), await signUp(email)]
    await mails.awaitMails(email, 'email-verification', 2)
    expect((await resend({ email })).status).toBe(204)
    const again = (await mails.awaitMails(email, 'email-verification', 4)).slice(2).map(({ text }) => text)
    for (const uid of accounts) expect(again.filter((text) => text.includes(uid))).toHaveLength(1)
  })

  it('gets a link for whoever is signed in and waits for it, however many claim it later', async () => {
    const [email, user] = [newAddress(), await newVerifiedUser()]
    expect((await setEmail(user, email)).status).toBe(204)
    for (let n = 0; n < 3; n += 1) await signUp(email)
    await mails.awaitMails(email, 'email-verification', 4)
    expect((await user.rest('POST', 'auth/users/resend_activation/')).status).toBe(204)
    await mails.awaitMails(email, 'email-verification', 7)
    const own = mails.linksTo(email, 'email-verification').filter(({ uid }) => uid === user.publicId)
    expect(own).toHaveLength(2)
    expect((await activate(own[1]!)).status).toBe(204)
  })

  it('can be given at sign-up ten times an hour', async () => {
    const email = newAddress()
    for (let n = 0; n < 10; n += 1) await signUp(email)
    const json = { username: `t${randomUUID().slice(0, 12)}`, email, password: PASSWORD }
    expectError(await app.rest('POST', 'auth/users/', { json }), 'THROTTLED')
  })
})

describe('a mailbox', () => {
  /** As if so many had named each mailbox that is counted. */
  const claim = (count: number) =>
    app.sql(
      `update limits set count = $1::int where key like 'sign-up-address:%' or key like 'email-change-address:%'`,
      [count],
    )

  it('is named by ten sign-ups an hour and by ten changes, whatever the tag, of all accounts together', async () => {
    const [name, host] = newAddress().split('@')
    const tagged = (n: number) => `${name}+${n}@${host}`
    const [one, other] = [await newVerifiedUser(), await newVerifiedUser()]
    const json = { username: `t${randomUUID().slice(0, 12)}`, email: tagged(3), password: PASSWORD }
    expect((await setEmail(one, tagged(1))).status).toBe(204)
    await claim(10)
    expectError(await setEmail(other, tagged(2).toUpperCase()), 'THROTTLED')
    // Whoever is named by others' changes signs up all the same.
    await signUp(tagged(2))
    await claim(10)
    expectError(await app.rest('POST', 'auth/users/', { json }), 'THROTTLED')
    await mails.idle()
    expect(mails.server.mails.filter(({ to }) => to.join().toLowerCase().startsWith(`${name}+`))).toHaveLength(2)
  })

  it('of Gmail is one however its dots are set, and others are as many as they are written', async () => {
    const counted = async () => (await app.sql(`select from limits where key like 'sign-up-address:%'`)).length
    const name = `g${randomUUID().slice(0, 7)}`
    const dotted = [...name].join('.')
    const before = await counted()
    for (const address of [`${name}@gmail.com`, `${dotted}@googlemail.com`, `${name.toUpperCase()}+x@gmail.com`])
      await signUp(address)
    expect(await counted()).toBe(before + 1)
    for (const address of [`${name}@example.org`, `${dotted}@example.org`]) await signUp(address)
    expect(await counted()).toBe(before + 3)
  })

  it('gets its links also while strangers ask for addresses of it that nobody has', async () => {
    const user = await newVerifiedUser()
    const tagged = user.email.replace('@', '+x@')
    for (let n = 0; n < 5; n += 1) for (const ask of [resetFor(tagged), resend({ email: tagged })]) await ask
    expectError(await resetFor(tagged), 'THROTTLED')
    expect((await resetFor(user.email)).status).toBe(201)
    await mails.awaitLink(user.email, 'password-reset')
    expect((await resend({ email: user.email })).status).toBe(204)
  })

  it('that strangers keep naming is still given again by its owner, who takes back what a thief began', async () => {
    const [user, stranger] = [await newVerifiedUser(), await newVerifiedUser()]
    const elsewhere = user.email.replace('@', '+x@')
    expect((await setEmail(stranger, elsewhere)).status).toBe(204)
    expect((await setEmail(user, newAddress())).status).toBe(204)
    await claim(10)
    expectError(await setEmail(stranger, elsewhere), 'THROTTLED')
    expect((await setEmail(user, user.email)).status).toBe(204)
    expect((await me(user)).pending_email).toBeNull()
  })
})

describe('verifying the address', () => {
  it('is asked for at sign-up, and nobody signs in before it where it is required', async () => {
    const email = newAddress()
    await signUp(email)
    const link = await mails.awaitLink(email, 'email-verification')
    expectError(await login(email), 'EMAIL_NOT_VERIFIED')
    expect((await activate(link)).status).toBe(204)
    expectOk(await login(email))
  })

  it('is asked for and done with the token of a session that has ended, too, which clients go on to send', async () => {
    const actor = { token: 'a'.repeat(40) }
    const email = newAddress()
    await signUp(email)
    await mails.awaitLink(email, 'email-verification')
    const asked = await app.rest('POST', 'auth/users/resend_activation/', { actor, json: { email } })
    expect(asked.status).toBe(204)
    const link = await mails.awaitLink(email, 'email-verification', 2)
    const invalid = { actor, json: { ...link, token: 'x' } }
    expectError(await app.rest('POST', 'auth/users/activation/', invalid), 'INVALID_TOKEN')
    expectError(await app.rest('POST', 'auth/users/resend_activation/', { actor }), 'NOT_AUTHENTICATED')
    const mutate = (field: string, type: string, input: object) =>
      app.graphql(`mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`, { input }, { actor })
    expectOk(await mutate('requestEmailVerification', 'RequestEmailVerificationInput', { email }))
    const newest = await mails.awaitLink(email, 'email-verification', 3)
    expectOk(await mutate('verifyEmail', 'VerifyEmailInput', newest))
    expectOk(await login(email))
  })

  it('is not told of to somebody who has not the password', async () => {
    const email = newAddress()
    await signUp(email)
    const json = { email, password: 'not the password' }
    expectError(await app.rest('POST', 'auth/token/login/', { json }), 'INCORRECT_LOGIN_CREDENTIALS')
  })

  it('works once, with the newest link alone, within 24 hours', async () => {
    const email = newAddress()
    await signUp(email)
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
    await app.sql(`update one_time_tokens set expires_at = now() - interval '1 ms' where user_id = $1::uuid`, [user.id])
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
