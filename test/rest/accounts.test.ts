import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()

const signUp = (fields: object) => app.rest('POST', 'auth/users/', { json: { password: PASSWORD, ...fields } })

describe('signing up', () => {
  it('opens a wallet with 12 points and a key pair, and books where the points came from', async () => {
    const { body } = await signUp({
      username: 'ada',
      email: 'ada@example.org',
      referral_code: 'friend',
      language: 'de',
    })
    const [row] = await app.sql<{ id: string; sealed: number; references: string[] }>(
      `select u.id, length(k.sealed_private_key) as sealed,
         (select array_agg(t.reference) from entries e join transfers t on t.id = e.transfer_id where e.wallet_id = u.id) as references
       from users u join user_keys k on k.user_id = u.id where username = 'ada'`,
    )
    expect(row).toEqual({ id: expect.any(String), sealed: expect.any(Number), references: [`sign-up:${row!.id}`] })
    expect(body.id).toMatch(/^user_[0-9a-z]{26}$/)
    const login = expectOk(
      await app.rest('POST', 'auth/token/login/', { json: { email: 'ada@example.org', password: PASSWORD } }),
    )
    expect(expectOk(await app.rest('GET', 'auth/users/me/', { actor: { token: login.auth_token } }))).toMatchObject({
      points: '12.000',
      referral_code: 'friend',
      language: 'de',
    })
  })

  it.each([
    [{ username: 'x'.repeat(22) }, 'username'],
    [{ username: '' }, 'username'],
    [{ username: '   ' }, 'username'],
    [{ username: undefined }, 'username'],
    [{ username: 'a\u200bb' }, 'username'],
    [{ email: 'no address' }, 'email'],
    [{ email: undefined }, 'email'],
    [{ password: 'seven77' }, 'password'],
    [{ password: 'x'.repeat(33) }, 'password'],
    [{ password: undefined }, 'password'],
  ])('with %j is refused by the field, and no account is made', async (wrong, field) => {
    const before = await app.sql('select count(*) from users')
    const { body } = expectError(
      await signUp({ username: 'fine', email: 'fine@example.org', ...wrong }),
      'VALIDATION_FAILED',
    )
    expect(Object.keys(body.error.details)).toEqual([field])
    expect(body.error.details[field]).toEqual(expect.arrayContaining([expect.any(String)]))
    expect(await app.sql('select count(*) from users')).toEqual(before)
  })

  it('counts characters, not bytes: 21 letters of any script, a password of 8 or 32', async () => {
    const long = { username: '日'.repeat(21), email: 'long@example.org', password: '🔑'.repeat(32) }
    expect((await signUp(long)).status).toBe(201)
    expectOk(await app.rest('POST', 'auth/token/login/', { json: { email: long.email, password: long.password } }))
    expect((await signUp({ username: '🙂'.repeat(21), email: 'smile@example.org', password: 'größe 8!' })).status).toBe(
      201,
    )
  })

  it('tells every wrong field at once', async () => {
    const { body } = expectError(await signUp({ username: '', email: 'x', password: 'y' }), 'VALIDATION_FAILED')
    expect(Object.keys(body.error.details).sort()).toEqual(['email', 'password', 'username'])
  })

  it('under a name or an address that is taken is refused, whatever its case', async () => {
    await app.newUser({ username: 'taken' })
    const sameName = expectError(await signUp({ username: 'TAKEN', email: 'other@example.org' }), 'DUPLICATE_USERNAME')
    expect(sameName.body.error.details).toEqual({ username: [expect.any(String)] })
    const sameEmail = expectError(await signUp({ username: 'other', email: 'Taken@Example.org' }), 'DUPLICATE_EMAIL')
    expect(sameEmail.body.error.details).toEqual({ email: [expect.any(String)] })
  })

  it('twenty times at once under one name makes one account', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => signUp({ username: 'crowd', email: `crowd${i}@example.org` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) expectError(answer, 'DUPLICATE_USERNAME')
    expect(await app.sql(`select 1 from users where username = 'crowd'`)).toHaveLength(1)
  })
})

describe('signing in', () => {
  it.each([
    ['a wrong password', { password: 'wrong horse battery' }],
    ['an unknown address', { email: 'stranger@example.org' }],
  ])('with %s is refused in the same words', async (_, wrong) => {
    const user = await app.newUser()
    const json = { email: user.email, password: PASSWORD, ...wrong }
    const { status, body } = expectError(
      await app.rest('POST', 'auth/token/login/', { json }),
      'INCORRECT_LOGIN_CREDENTIALS',
    )
    expect({ status, body }).toEqual({
      status: 400,
      body: {
        error: { type: 'incorrect_login_credentials', message: 'Unable to log in with provided credentials.' },
        status_code: 400,
        detail: 'Unable to log in with provided credentials.',
      },
    })
  })

  it('takes the address in any case, and gives each session its own token', async () => {
    const user = await app.newUser()
    const login = async (email: string) =>
      expectOk(await app.rest('POST', 'auth/token/login/', { json: { email, password: PASSWORD } })).auth_token
    const tokens = [await login(user.email), await login(` ${user.email.toUpperCase()} `)]
    expect(new Set(tokens).size).toBe(2)
    expect((await app.rest('POST', 'auth/token/logout/', { actor: { token: tokens[0] } })).status).toBe(204)
    expectError(await app.rest('GET', 'auth/users/me/', { actor: { token: tokens[0] } }), 'AUTHENTICATION_FAILED')
    expectOk(await app.rest('GET', 'auth/users/me/', { actor: { token: tokens[1] } }))
  })
})

describe('the record of the caller', () => {
  it('has exactly the fields of the contract, with both balances filled in both places', async () => {
    const user = await app.newUser({ num: '5' })
    await user.register()
    const { results, ...record } = expectOk(await user.rest('GET', 'auth/users/me/?show_num_balance=true'))
    expect(results).toEqual([record])
    expect(record).toEqual({
      id: user.publicId,
      username: user.username,
      email: user.email,
      address: user.address,
      language: 'en-us',
      email_verified: false,
      pending_email: null,
      phone_verified: false,
      asset_count: 1,
      referral_code: '',
      default_tag: '',
      allow_c2pa_download: true,
      profile: {
        display_name: user.username,
        description: '',
        phone_number: '',
        profile_picture: null,
        profile_picture_thumbnail: null,
        profile_background: null,
        profile_background_thumbnail: null,
      },
      user_wallet: {
        asset_wallet: user.address,
        asset_wallet_num: '5.0',
        integrity_wallet: user.address,
        integrity_wallet_num: null,
        points: '11.821',
        num_wallet_name: '',
        billed_num: '0',
      },
      asset_wallet_num: '5.0',
      points: '11.821',
    })
    expect(record.address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  })

  it('is signed up for and in with a device, as the phone app describes it', async () => {
    const device = { fcm_token: 'token', platform: 'ios', device_identifier: 'id' }
    const json = { username: 'phone', email: 'phone@example.org', password: 'correct horse battery', device }
    expect((await app.rest('POST', '/auth/users/', { json })).status).toBe(201)
    expectOk(await app.rest('POST', '/auth/token/login/', { json }))
  })

  it('stands alone in the list of users', async () => {
    const [user] = await Promise.all([app.newUser(), app.newUser()])
    const { results: _, ...me } = expectOk(await user.rest('GET', 'auth/users/me/'))
    expect(expectOk(await user.rest('GET', 'auth/users/'))).toEqual({
      count: 1,
      next: null,
      previous: null,
      results: [me],
    })
    expectError(await app.rest('GET', 'auth/users/'), 'NOT_AUTHENTICATED')
  })

  it('is the last of the list of users: whoever asks on until a page is empty comes to an end', async () => {
    const user = await app.newUser()
    expect(expectOk(await user.rest('GET', 'auth/users/?limit=1&offset=1'))).toEqual({
      count: 1,
      next: null,
      previous: `${app.url}/api/v3/auth/users/?limit=1`,
      results: [],
    })
  })
})
