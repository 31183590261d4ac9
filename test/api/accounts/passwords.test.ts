import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAccountMails } from '../../support/account-mails.ts'
import { bothApis, graphqlApi, restApi } from '../../support/api.ts'
import { poll } from '../../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import type { MailedLink } from '../../support/read-mails.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { PASSWORD, type TestUser } from '../../support/user.ts'

const mails = await createAccountMails()
const { app } = mails
const admin = await app.admin()

const NEW_PASSWORD = 'staple battery horse'

describe.each(bothApis)('passwords over $name', (api) => {
  const change = (user: SignedIn, currentPassword: string, newPassword = NEW_PASSWORD) =>
    api.changePassword(user, { currentPassword, newPassword })
  const request = (email: string, headers = {}) => api.requestPasswordReset(app, { email }, { headers })
  const confirm = (link: MailedLink, newPassword = NEW_PASSWORD, headers = {}) =>
    api.resetPassword(app, { ...link, newPassword }, { headers })
  const login = (email: string, password: string) => api.signIn(app, { email, password })

  async function linkOf({ email }: TestUser, count = 1): Promise<MailedLink> {
    ;(await request(email)).ok()
    return mails.awaitLink(email, 'password-reset', count)
  }

  describe('requests for a password reset', () => {
    it('a password reset request returns the same response for an unknown address, and sends no mail to it', async () => {
      const user = await app.newUser()
      const stranger = `${randomUUID()}@example.org`
      const [known, unknown] = [await request(user.email), await request(stranger)]
      expect([unknown.status, unknown.text.replace(stranger, user.email)]).toEqual([known.status, known.text])
      if (api.name === 'REST') expect([known.status, known.text]).toEqual([201, '{}'])
      const names = ({ headers }: typeof known) => [...headers.keys()].sort()
      expect(names(unknown)).toEqual(names(known))
      await mails.awaitMails(user.email, 'password-reset')
      await mails.idle()
      expect(mails.server.mails.some(({ to }) => to.includes(stranger))).toBe(false)
    })

    it('allows five password reset requests per hour and address, known or unknown', async () => {
      const user = await app.newUser()
      for (const email of [user.email, `${randomUUID()}@example.org`]) {
        for (let i = 0; i < 5; i++) (await request(email)).ok()
        const { headers } = expectError(await request(email.toUpperCase()), 'THROTTLED')
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_500)
      }
      await mails.awaitMails(user.email, 'password-reset')
    })

    it('two password reset requests with one idempotency key send one mail', async () => {
      const user = await app.newUser()
      const headers = { 'Idempotency-Key': randomUUID() }
      await request(user.email, headers)
      const again = await request(user.email, headers)
      again.ok()
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      await mails.awaitMails(user.email, 'password-reset')
      await mails.idle()
      expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(1)
    })

    it('a password reset request stores neither the token nor the address in clear text, and does not log the token', async () => {
      const user = await app.newUser()
      const { token } = await linkOf(user)
      await mails.idle()
      const [dump] = await app.sql<{ text: string }>(
        `select concat((select json_agg(t) from one_time_tokens t), (select json_agg(j) from jobs.job j),
         (select json_agg(k) from idempotency_keys k), (select json_agg(l) from limits l)) as text`,
      )
      expect(dump!.text).not.toContain(token)
      expect(JSON.stringify(await app.sql('select key from limits'))).not.toContain(user.email)
      expect(JSON.stringify(app.log.lines)).not.toContain(token)
    })
  })

  describe('password resets with a link', () => {
    it('a password reset replaces the password and ends all sessions', async () => {
      const user = await app.newUser()
      const session = (await login(user.email, PASSWORD)).ok().token
      const link = await linkOf(user)
      ;(await confirm(link)).ok()
      expectError(await login(user.email, PASSWORD), 'INCORRECT_LOGIN_CREDENTIALS')
      ;(await login(user.email, NEW_PASSWORD)).ok()
      ;(await confirm(link, 'yet another password')).fails('INVALID_TOKEN')
      for (const token of [user.token, session]) {
        expectError(await app.rest('GET', 'auth/users/me/', { actor: { token } }), 'AUTHENTICATION_FAILED')
      }
    })

    it('a password reset notifies the user, verifies the address and writes an audit entry', async () => {
      const user = await app.newUser()
      await confirm(await linkOf(user))
      await mails.awaitMails(user.email, 'password-changed')
      const rows = await app.sql(
        `select email_verified, (select array_agg(action) from audit_entries where user_id = u.id and action like 'password%') as reported
       from users u where id = $1::uuid`,
        [user.id],
      )
      expect(rows).toEqual([{ email_verified: true, reported: ['password.reset'] }])
    })

    it('a password reset succeeds once when 50 requests with the same link arrive together', async () => {
      const link = await linkOf(await app.newUser())
      const codes = (
        await Promise.all(Array.from({ length: 50 }, (_, i) => confirm(link, `password number ${i}`)))
      ).map(codeOf)
      expect(codes.filter((code) => code === undefined)).toHaveLength(1)
      expect(codes.filter((code) => code === 'INVALID_TOKEN')).toHaveLength(49)
    })

    it('a password reset accepts a retry with the same idempotency key', async () => {
      const link = await linkOf(await app.newUser())
      const headers = { 'Idempotency-Key': randomUUID() }
      ;(await confirm(link, NEW_PASSWORD, headers)).ok()
      ;(await confirm(link, NEW_PASSWORD, headers)).ok()
    })

    it('a password reset accepts only the newest link', async () => {
      const user = await app.newUser()
      const older = await linkOf(user)
      const newer = await linkOf(user, 2)
      expectError(await confirm(older), 'INVALID_TOKEN')
      ;(await confirm(newer)).ok()
    })

    it('a password reset rejects a link after 30 minutes', async () => {
      const user = await app.newUser()
      const link = await linkOf(user)
      const [left] = await app.sql<{ minutes: number }>(
        `select extract(epoch from expires_at - created_at)::int / 60 as minutes from one_time_tokens where user_id = $1::uuid`,
        [user.id],
      )
      expect(left!.minutes).toBe(30)
      await app.sql(`update one_time_tokens set expires_at = now() - interval '1 ms' where user_id = $1::uuid`, [
        user.id,
      ])
      expectError(await confirm(link), 'INVALID_TOKEN')
      ;(await login(user.email, PASSWORD)).ok()
    })

    it.each([
      ['a wrong token', ({ uid }: MailedLink) => ({ uid, token: 'x'.repeat(43) })],
      ['an empty token', ({ uid }: MailedLink) => ({ uid, token: '' })],
      ['a malformed account ID', ({ token }: MailedLink) => ({ uid: 'MQ', token })],
      ['an unknown account ID', ({ token }: MailedLink) => ({ uid: 'user_01h2xcejqtf2nbrexx3vqjhp41', token })],
      ['the ID of another account', ({ token }: MailedLink) => ({ uid: admin.publicId, token })],
    ])('a password reset rejects %s', async (_, broken) => {
      expectError(await confirm(broken(await linkOf(await app.newUser()))), 'INVALID_TOKEN')
    })

    it('a password reset link stays valid if the new password is invalid', async () => {
      const link = await linkOf(await app.newUser())
      for (const wrong of ['seven77', 'x'.repeat(33)]) {
        expect(Object.keys((await confirm(link, wrong)).fails('VALIDATION_FAILED'))).toEqual(['newPassword'])
      }
      ;(await confirm(link)).ok()
    })

    it('a password reset lifts the sign-in block of the account', async () => {
      const user = await app.newUser()
      for (let i = 0; i < 4; i++) expectError(await login(user.email, 'wrong guess'), 'INCORRECT_LOGIN_CREDENTIALS')
      expectError(await login(user.email, PASSWORD), 'THROTTLED')
      await confirm(await linkOf(user))
      ;(await login(user.email, NEW_PASSWORD)).ok()
    })

    it('a password reset ends the session of a concurrent sign-in with the old password', async () => {
      const user = await app.newUser()
      const link = await linkOf(user)
      const logins = Array.from({ length: 4 }, () => login(user.email, PASSWORD))
      const [done, ...answers] = await Promise.all([confirm(link), ...logins])
      done!.ok()
      for (const answer of answers) {
        if (codeOf(answer)) continue
        const actor = { token: answer.ok().token }
        expectError(await app.rest('GET', 'auth/users/me/', { actor }), 'AUTHENTICATION_FAILED')
      }
    })
  })

  describe('mail jobs of password resets', () => {
    const enqueued = (email: string) =>
      app.sql<{ data: never }>(`select data from jobs.job where name = 'account-mail' and data->>'email' = $1`, [email])

    it('the password reset mail is retried while the mail server is unavailable, and is sent once', async () => {
      const user = await app.newUser()
      await mails.idle()
      mails.server.mood = 'refuse'
      ;(await request(user.email)).ok()
      await poll(() => app.sql(`select id::text from jobs.job where name = 'account-mail' and state = 'retry'`)).until(
        (rows) => rows.length === 1,
      )
      mails.server.mood = 'accept'
      await app.sql(`update jobs.job set start_after = now() where name = 'account-mail' and state = 'retry'`)
      const link = await mails.awaitLink(user.email, 'password-reset')
      await mails.idle()
      expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(1)
      ;(await confirm(link)).ok()
    })

    it('deletes a completed password reset mail job, including its address, after a few minutes', async () => {
      const user = await app.newUser()
      await linkOf(user)
      await mails.idle()
      expect(await enqueued(user.email)).toHaveLength(1)
      await app.sql(`update jobs.job set completed_on = now() - interval '61 seconds' where name = 'account-mail'`)
      await app.sql(`update jobs.queue set maintain_on = now() - interval '301 seconds' where name = 'account-mail'`)
      await poll(() => enqueued(user.email)).until((jobs) => jobs.length === 0)
    })

    it('a repeated password reset mail job sends the same link, and nothing after the link is used or replaced', async () => {
      const user = await app.newUser()
      const first = await linkOf(user)
      const [job] = await enqueued(user.email)
      await app.jobs['account-mail'](job!.data)
      expect(await mails.awaitLink(user.email, 'password-reset', 2)).toEqual(first)
      await linkOf(user, 3)
      await app.jobs['account-mail'](job!.data)
      expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(3)
      expectError(await confirm(first), 'INVALID_TOKEN')
      const last = await mails.awaitLink(user.email, 'password-reset', 3)
      await confirm(last)
      for (const { data } of await enqueued(user.email)) await app.jobs['account-mail'](data)
      expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(3)
      expectError(await confirm(last, 'yet another password'), 'INVALID_TOKEN')
    })
  })

  describe('changes of the password', () => {
    it('a change of the password replaces the password and keeps only the current session', async () => {
      const user = await app.newUser()
      const other = (await login(user.email, PASSWORD)).ok().token
      ;(await change(user, PASSWORD)).ok()
      expectError(await login(user.email, PASSWORD), 'INCORRECT_LOGIN_CREDENTIALS')
      ;(await login(user.email, NEW_PASSWORD)).ok()
      expectOk(await user.rest('GET', 'auth/users/me/'))
      expectError(await app.rest('GET', 'auth/users/me/', { actor: { token: other } }), 'AUTHENTICATION_FAILED')
      await mails.awaitMails(user.email, 'password-changed')
    })

    it('a change of the password invalidates a reset link that was sent before', async () => {
      const user = await app.newUser()
      const link = await linkOf(user)
      await change(user, PASSWORD)
      expectError(await confirm(link), 'INVALID_TOKEN')
    })

    it('a change of the password rejects a wrong current password and names the field', async () => {
      const user = await app.newUser()
      const details = (await change(user, 'not the password')).fails('VALIDATION_FAILED')
      expect(details).toEqual({ currentPassword: ['Invalid password.'] })
      ;(await login(user.email, PASSWORD)).ok()
    })

    it('a password change is allowed ten times per hour, because each change sends a mail', async () => {
      const user = await app.newUser()
      ;(await change(user, PASSWORD)).ok()
      await app.sql('update limits set count = 9 where key = $1', [`password-change:${user.id}`])
      ;(await change(user, NEW_PASSWORD, PASSWORD)).ok()
      const { headers } = expectError(await change(user, PASSWORD), 'THROTTLED')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_000)
      await mails.awaitMails(user.email, 'password-changed', 2)
      await mails.idle()
      expect(mails.mailsTo(user.email, 'password-changed')).toHaveLength(2)
    })

    it('a change of the password rejects a short new password, and anonymous callers', async () => {
      const details = (await change(await app.newUser(), PASSWORD, 'short')).fails('VALIDATION_FAILED')
      expect(Object.keys(details)).toEqual(['newPassword'])
      const input = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }
      ;(await api.changePassword(app, input)).fails('NOT_AUTHENTICATED')
    })
  })

  it('checks the current password at most 100 times per hour, not counting wrong passwords', async () => {
    const user = await app.newUser()
    const rename = (currentPassword: string) =>
      api.changeUsername(user, { currentPassword, newUsername: user.username })
    const counted = () => app.sql(`select count from limits where key = $1`, [`own-password:${user.id}`])
    expectError(await rename('wrong guess'), 'VALIDATION_FAILED')
    expect(await counted()).toEqual([])
    ;(await rename(PASSWORD)).ok()
    await app.sql('update limits set count = 99 where key = $1', [`own-password:${user.id}`])
    ;(await rename(PASSWORD)).ok()
    for (const password of ['wrong guess', PASSWORD]) expectError(await rename(password), 'THROTTLED')
    const input = { currentPassword: PASSWORD, newEmail: `${randomUUID()}@example.org` }
    ;(await api.changeEmail(user, input)).fails('THROTTLED')
    // The limit is checked before the password is hashed.
    expect(await counted()).toEqual([{ count: 100 }])
  })
})

it('password resets from one IP address share one limit over both APIs', async () => {
  const limited = (await createAccountMails({ LIMITS: 'reset=12,verification=12' })).app
  const ask = (i: number) =>
    (i % 2 ? graphqlApi : restApi).requestPasswordReset(limited, { email: `many-${i}@example.org` })
  for (let i = 0; i < 12; i++) (await ask(i)).ok()
  for (const i of [12, 13]) (await ask(i)).fails('THROTTLED')
})
