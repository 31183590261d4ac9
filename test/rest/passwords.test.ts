import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkInvariants } from '../../src/domain/invariants/check-invariants.ts'
import { type AccountMails, createAccountMails } from '../support/account-mails.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../support/expect-error.ts'
import type { MailedLink } from '../support/read-mails.ts'
import type { TestApp } from '../support/test-app.ts'
import { PASSWORD, type TestUser } from '../support/user.ts'

let mails: AccountMails
let app: TestApp
beforeAll(async () => {
  mails = await createAccountMails()
  app = mails.app
})

const NEW_PASSWORD = 'staple battery horse'

const request = (email: string, headers = {}) =>
  app.rest('POST', 'auth/users/reset_password/', { json: { email }, headers })
const confirm = (link: MailedLink, password = NEW_PASSWORD, headers = {}) =>
  app.rest('POST', 'auth/users/reset_password_confirm/', { json: { ...link, new_password: password }, headers })
const login = (email: string, password: string) => app.rest('POST', 'auth/token/login/', { json: { email, password } })

/** Asks for a reset, and reads the mail. */
async function linkOf({ email }: TestUser, count = 1): Promise<MailedLink> {
  expect((await request(email)).status).toBe(201)
  return mails.awaitLink(email, 'password-reset', count)
}

describe('asking for a password reset', () => {
  it('mails a link that names the account', async () => {
    const user = await app.newUser()
    const link = await linkOf(user)
    expect(link.uid).toBe(user.publicId)
    const [mail] = mails.mailsTo(user.email, 'password-reset')
    expect(mail!.text).toContain(`${app.url}/account/password-reset/${link.uid}/${link.token}`)
  })

  it('finds the account whatever the case of its address, and writes to the address it has', async () => {
    const user = await app.newUser()
    expect((await request(user.email.toUpperCase())).status).toBe(201)
    await mails.awaitMails(user.email, 'password-reset')
  })

  it('answers the same for an address that nobody has, which gets no mail', async () => {
    const user = await app.newUser()
    const stranger = `${randomUUID()}@example.org`
    const [known, unknown] = [await request(user.email), await request(stranger)]
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    expect([known.status, known.text]).toEqual([201, '{}'])
    const names = ({ headers }: typeof known) => [...headers.keys()].sort()
    expect(names(unknown)).toEqual(names(known))
    await mails.awaitMails(user.email, 'password-reset')
    await mails.idle()
    expect(mails.server.mails.some(({ to }) => to.includes(stranger))).toBe(false)
  })

  it('refuses what is no address', async () => {
    const { body } = expectError(await request('no address'), 'VALIDATION_FAILED')
    expect(body.error.details).toEqual({ email: [expect.any(String)] })
    expectError(await app.rest('POST', 'auth/users/reset_password/'), 'VALIDATION_FAILED')
  })

  it('more than five times an hour for one address is refused, known or not', async () => {
    const user = await app.newUser()
    for (const email of [user.email, `${randomUUID()}@example.org`]) {
      for (let i = 0; i < 5; i++) expect((await request(email)).status).toBe(201)
      const { headers } = expectError(await request(email.toUpperCase()), 'THROTTLED')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_500)
    }
    await mails.awaitMails(user.email, 'password-reset')
  })

  it('twice with one idempotency key sends one mail', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    await request(user.email, headers)
    const again = await request(user.email, headers)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    await mails.awaitMails(user.email, 'password-reset')
    await mails.idle()
    expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(1)
  })

  it('leaves neither the secret nor the address where it need not be', async () => {
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

describe('setting a new password by the link', () => {
  it('lets the new password in, and neither the old one nor any session', async () => {
    const user = await app.newUser()
    const session = expectOk(await login(user.email, PASSWORD)).auth_token
    expect((await confirm(await linkOf(user))).status).toBe(204)
    expectError(await login(user.email, PASSWORD), 'INCORRECT_LOGIN_CREDENTIALS')
    expectOk(await login(user.email, NEW_PASSWORD))
    for (const token of [user.token, session]) {
      expectError(await app.rest('GET', 'auth/users/me/', { actor: { token } }), 'AUTHENTICATION_FAILED')
    }
  })

  it('tells the person, verifies the address and stands in the audit trail', async () => {
    const user = await app.newUser()
    await confirm(await linkOf(user))
    await mails.awaitMails(user.email, 'password-changed')
    const rows = await app.sql(
      `select email_verified, (select array_agg(action) from audit_entries where user_id = u.id and action like 'password%') as told
       from users u where id = $1::uuid`,
      [user.id],
    )
    expect(rows).toEqual([{ email_verified: true, told: ['password.reset'] }])
  })

  it('fifty times at once succeeds once', async () => {
    const link = await linkOf(await app.newUser())
    const codes = (await Promise.all(Array.from({ length: 50 }, (_, i) => confirm(link, `password number ${i}`)))).map(
      (answer) => codeOf(answer) ?? answer.status,
    )
    expect(codes.filter((code) => code === 204)).toHaveLength(1)
    expect(codes.filter((code) => code === 'INVALID_TOKEN')).toHaveLength(49)
  })

  it('twice is refused', async () => {
    const user = await app.newUser()
    const link = await linkOf(user)
    await confirm(link)
    expectError(await confirm(link, 'yet another password'), 'INVALID_TOKEN')
    expectOk(await login(user.email, NEW_PASSWORD))
  })

  it('sent again with its idempotency key succeeds again', async () => {
    const link = await linkOf(await app.newUser())
    const headers = { 'Idempotency-Key': randomUUID() }
    expect((await confirm(link, NEW_PASSWORD, headers)).status).toBe(204)
    expect((await confirm(link, NEW_PASSWORD, headers)).status).toBe(204)
  })

  it('works with the newest link alone', async () => {
    const user = await app.newUser()
    const older = await linkOf(user)
    const newer = await linkOf(user, 2)
    expectError(await confirm(older), 'INVALID_TOKEN')
    expect((await confirm(newer)).status).toBe(204)
  })

  it('is refused once 30 minutes are over', async () => {
    const user = await app.newUser()
    const link = await linkOf(user)
    const [left] = await app.sql<{ minutes: number }>(
      `select extract(epoch from expires_at - created_at)::int / 60 as minutes from one_time_tokens where user_id = $1::uuid`,
      [user.id],
    )
    expect(left!.minutes).toBe(30)
    await app.sql(`update one_time_tokens set expires_at = now() - interval '1 ms' where user_id = $1::uuid`, [user.id])
    expectError(await confirm(link), 'INVALID_TOKEN')
    expectOk(await login(user.email, PASSWORD))
  })

  it.each([
    ['a secret that is another one', ({ uid }: MailedLink) => ({ uid, token: 'x'.repeat(43) })],
    ['no secret', ({ uid }: MailedLink) => ({ uid, token: '' })],
    ['an identifier that is none', ({ token }: MailedLink) => ({ uid: 'MQ', token })],
    ['an identifier of nobody', ({ token }: MailedLink) => ({ uid: 'user_01h2xcejqtf2nbrexx3vqjhp41', token })],
  ])('is refused with %s', async (_, broken) => {
    expectError(await confirm(broken(await linkOf(await app.newUser()))), 'INVALID_TOKEN')
  })

  it('is refused with another account’s identifier', async () => {
    const { token } = await linkOf(await app.newUser())
    const { publicId: uid } = await app.newUser()
    expectError(await confirm({ uid, token }), 'INVALID_TOKEN')
  })

  it('keeps a link good when the new password is not', async () => {
    const link = await linkOf(await app.newUser())
    for (const wrong of ['seven77', 'x'.repeat(33)]) {
      const { body } = expectError(await confirm(link, wrong), 'VALIDATION_FAILED')
      expect(Object.keys(body.error.details)).toEqual(['new_password'])
    }
    expect((await confirm(link)).status).toBe(204)
  })

  it('opens an account again that guesses had closed', async () => {
    const user = await app.newUser()
    for (let i = 0; i < 4; i++) expectError(await login(user.email, 'wrong guess'), 'INCORRECT_LOGIN_CREDENTIALS')
    expectError(await login(user.email, PASSWORD), 'THROTTLED')
    await confirm(await linkOf(user))
    expectOk(await login(user.email, NEW_PASSWORD))
  })

  it('leaves no session of a sign-in that came at the same time with the old password', async () => {
    const user = await app.newUser()
    const link = await linkOf(user)
    const logins = Array.from({ length: 4 }, () => login(user.email, PASSWORD))
    const [done, ...answers] = await Promise.all([confirm(link), ...logins])
    expect(done!.status).toBe(204)
    for (const { body } of answers.filter(({ status }) => status === 200)) {
      const actor = { token: body.auth_token }
      expectError(await app.rest('GET', 'auth/users/me/', { actor }), 'AUTHENTICATION_FAILED')
    }
  })
})

describe('a mail job', () => {
  const enqueued = (email: string) =>
    app.sql<{ data: never }>(`select data from jobs.job where name = 'account-mail' and data->>'email' = $1`, [email])

  it('waits for a mail server that is away, which nobody who asks notices, and arrives once', async () => {
    const user = await app.newUser()
    await mails.idle()
    mails.server.mood = 'refuse'
    expect((await request(user.email)).status).toBe(201)
    await eventually(
      () => app.sql(`select id::text from jobs.job where name = 'account-mail' and state = 'retry'`),
      (rows) => rows.length === 1,
    )
    mails.server.mood = 'accept'
    await app.sql(`update jobs.job set start_after = now() where name = 'account-mail' and state = 'retry'`)
    const link = await mails.awaitLink(user.email, 'password-reset')
    await mails.idle()
    expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(1)
    expect((await confirm(link)).status).toBe(204)
  })

  it('that is done is forgotten, address and all, within minutes', async () => {
    const user = await app.newUser()
    await linkOf(user)
    await mails.idle()
    expect(await enqueued(user.email)).toHaveLength(1)
    await app.sql(`update jobs.job set completed_on = now() - interval '61 seconds' where name = 'account-mail'`)
    await app.sql(`update jobs.queue set maintain_on = now() - interval '301 seconds' where name = 'account-mail'`)
    await eventually(
      () => enqueued(user.email),
      (jobs) => jobs.length === 0,
    )
  })

  it('carried out again mails the same link; after its use, or when a newer one stands, nothing', async () => {
    const user = await app.newUser()
    const first = await linkOf(user)
    const [job] = await enqueued(user.email)
    await app.jobs.accountMail(job!.data)
    expect(await mails.awaitLink(user.email, 'password-reset', 2)).toEqual(first)
    await linkOf(user, 3)
    await app.jobs.accountMail(job!.data)
    expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(3)
    expectError(await confirm(first), 'INVALID_TOKEN')
    const last = await mails.awaitLink(user.email, 'password-reset', 3)
    await confirm(last)
    for (const { data } of await enqueued(user.email)) await app.jobs.accountMail(data)
    expect(mails.mailsTo(user.email, 'password-reset')).toHaveLength(3)
    expectError(await confirm(last, 'yet another password'), 'INVALID_TOKEN')
  })
})

describe('changing the password', () => {
  const change = (user: TestUser, current: string, password = NEW_PASSWORD) =>
    app.rest('POST', 'auth/users/set_password/', {
      actor: user,
      json: { current_password: current, new_password: password },
    })

  it('lets the new one in alone, and keeps the session it came by alone', async () => {
    const user = await app.newUser()
    const other = expectOk(await login(user.email, PASSWORD)).auth_token
    expect((await change(user, PASSWORD)).status).toBe(204)
    expectError(await login(user.email, PASSWORD), 'INCORRECT_LOGIN_CREDENTIALS')
    expectOk(await login(user.email, NEW_PASSWORD))
    expectOk(await user.rest('GET', 'auth/users/me/'))
    expectError(await app.rest('GET', 'auth/users/me/', { actor: { token: other } }), 'AUTHENTICATION_FAILED')
    await mails.awaitMails(user.email, 'password-changed')
  })

  it('makes a link that was mailed before worthless', async () => {
    const user = await app.newUser()
    const link = await linkOf(user)
    await change(user, PASSWORD)
    expectError(await confirm(link), 'INVALID_TOKEN')
  })

  it('is refused with a wrong present one, by the field', async () => {
    const user = await app.newUser()
    const { body } = expectError(await change(user, 'not the password'), 'VALIDATION_FAILED')
    expect(body.error.details).toEqual({ current_password: ['Invalid password.'] })
    expectOk(await login(user.email, PASSWORD))
  })

  it('counts guesses with those of signing in', async () => {
    const user = await app.newUser()
    for (let i = 0; i < 3; i++) expectError(await change(user, 'wrong guess'), 'VALIDATION_FAILED')
    expectError(await login(user.email, 'wrong guess'), 'INCORRECT_LOGIN_CREDENTIALS')
    expectError(await login(user.email, PASSWORD), 'THROTTLED')
    expectError(await change(user, 'wrong guess'), 'VALIDATION_FAILED')
    expectError(await change(user, PASSWORD), 'THROTTLED')
  })

  it('more than ten times an hour is refused: each has a mail sent to an address that may be anybody’s', async () => {
    const user = await app.newUser()
    expect((await change(user, PASSWORD)).status).toBe(204)
    await app.sql('update limits set count = 9 where key = $1', [`password-change:${user.id}`])
    expect((await change(user, NEW_PASSWORD, PASSWORD)).status).toBe(204)
    const { headers } = expectError(await change(user, PASSWORD), 'THROTTLED')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_000)
    await mails.awaitMails(user.email, 'password-changed', 2)
    await mails.idle()
    expect(mails.mailsTo(user.email, 'password-changed')).toHaveLength(2)
  })

  it('is refused when the new one is too short, and to anonymous callers', async () => {
    const user = await app.newUser()
    const { body } = expectError(await change(user, PASSWORD, 'short'), 'VALIDATION_FAILED')
    expect(Object.keys(body.error.details)).toEqual(['new_password'])
    expectError(await app.rest('POST', 'auth/users/set_password/', { json: {} }), 'NOT_AUTHENTICATED')
  })
})

it('the present password is compared a hundred times an hour, wherever it is asked for, and wrong ones use up none', async () => {
  const user = await app.newUser()
  const rename = (password: string) =>
    user.rest('POST', 'auth/users/set_username/', { json: { current_password: password, new_username: user.username } })
  const counted = () => app.sql(`select count from limits where key = $1`, [`own-password:${user.id}`])
  expectError(await rename('wrong guess'), 'VALIDATION_FAILED')
  expect(await counted()).toEqual([])
  expect((await rename(PASSWORD)).status).toBe(204)
  await app.sql('update limits set count = 99 where key = $1', [`own-password:${user.id}`])
  expect((await rename(PASSWORD)).status).toBe(204)
  for (const password of ['wrong guess', PASSWORD]) expectError(await rename(password), 'THROTTLED')
  const json = { current_password: PASSWORD, new_email: `${randomUUID()}@example.org` }
  expectError(await user.rest('POST', 'auth/users/set_email/', { json }), 'THROTTLED')
  // Refused before anything is hashed or counted.
  expect(await counted()).toEqual([{ count: 100 }])
})

it('after all of it the invariants hold', async () => {
  const broken = (await checkInvariants(app.installation.database)).filter(({ rows }) => rows.length)
  expect(broken).toEqual([])
})
