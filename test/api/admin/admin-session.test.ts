/** Access to the pages for administrators, and the lifetime of their sessions. */
import { describe, expect, it } from 'vitest'
import { endAllSessions } from '../../../src/modules/accounts/sessions.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { send } from '../../support/http-client.ts'
import { PASSWORD } from '../../support/user.ts'
import { guarded, openAdminScene } from './admin-scene.ts'

const { app, admin, createBrowser, signIn, sell } = await openAdminScene()

describe('admin sessions', () => {
  it('an admin session starts with the password, in an HttpOnly cookie with SameSite=Strict', async () => {
    const { answer, ask } = await signIn()
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/admin/orders'])
    expect(answer.headers.get('set-cookie')).toMatch(/^annal-admin=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    const page = await ask('/admin')
    expect(page.status).toBe(200)
    expect(page.text).toContain(admin.username)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri/,
    )
    expect(page.text).not.toContain('<script')
  })

  it('the admin sign-in shows other users the same message as for a wrong password', async () => {
    const user = await app.newUser()
    const [wrong, stranger] = [await signIn(admin, 'wrong'), await signIn(user)]
    for (const { answer, ask } of [wrong, stranger]) {
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('Unable to log in with provided credentials.')
      expect((await ask('/admin')).headers.get('location')).toBe('/admin/sign-in?next=%2Fadmin')
    }
  })

  it('the admin sign-in shows the remaining wait after too many wrong passwords in any form', async () => {
    const { submit } = await signIn(await app.admin())
    const guess = () => submit('/admin/new-key', { name: 'Mine', 'current-password': 'a guess' })
    let seen = await guess()
    for (let n = 0; n < 20 && seen.status === 400; n += 1) seen = await guess()
    expect([seen.status, seen.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)])
    expect(seen.text).toContain('<title>Failed')
    expect(seen.text).toMatch(/<p>Too many attempts\. Try again in 1[45] minutes\.<\/p>/)
  })

  it('an admin session gives no access to the API, and access tokens give no access to admin pages', async () => {
    const { cookie, ask } = await signIn()
    expectError(
      await app.rest('GET', 'auth/users/me/', { headers: { Authorization: `token ${cookie().split('=')[1]!}` } }),
      'AUTHENTICATION_FAILED',
    )
    expectError(await app.rest('GET', 'auth/users/me/', { headers: { cookie: cookie() } }), 'NOT_AUTHENTICATED')
    const headers = { Authorization: `token ${admin.token}`, cookie: `annal-admin=${admin.token}` }
    expect((await createBrowser().ask('/admin', undefined, headers)).status).toBe(303)
    expect((await ask('/admin')).status).toBe(200)
  })

  it('an admin session ends when another user signs in with the same browser', async () => {
    const { ask, cookie } = await signIn()
    const other = await app.admin()
    const before = cookie()
    const form = { email: other.email, password: 'wrong', next: '/admin' }
    expect((await ask('/admin/sign-in', form)).status).toBe(400)
    expect((await ask('/admin')).text).toContain(admin.username)
    expect((await ask('/admin/sign-in', { ...form, password: PASSWORD })).status).toBe(303)
    expect((await ask('/admin')).text).toContain(other.username)
    expect((await createBrowser().ask('/admin', undefined, { cookie: before })).status).toBe(303)
  })

  it('an admin session ends with a password change, loss of the role, a lock, a timeout, or sign-out', async () => {
    const other = await app.admin()
    const statusOf = async ({ ask }: Awaited<ReturnType<typeof signIn>>) => (await ask('/admin')).status
    const endings = [
      `update users set password_hash = password_hash || ' ' where id = $1::uuid`,
      `update users set role = 'USER' where id = $1::uuid`,
      'update users set locked_at = now() where id = $1::uuid',
      `update admin_sessions set last_used_at = now() - interval '31 minutes' where user_id = $1::uuid`,
      `update admin_sessions set created_at = now() - interval '8 hours', last_used_at = now() where user_id = $1::uuid`,
    ]
    const { password_hash } = (await app.sql('select password_hash from users where id = $1::uuid', [other.id]))[0]!
    for (const ending of endings) {
      const session = await signIn(other)
      expect(await statusOf(session)).toBe(200)
      await app.sql(ending, [other.id])
      expect(await statusOf(session), ending).toBe(303)
      await app.sql(`update users set password_hash = $2, role = 'ADMIN', locked_at = null where id = $1::uuid`, [
        other.id,
        password_hash,
      ])
    }
    const session = await signIn(other)
    const token = /name="form-token" value="([^"]+)"/.exec((await session.ask('/admin')).text)![1]!
    const old = session.cookie()
    expect((await session.ask('/admin/sign-out', { 'form-token': token })).headers.get('location')).toBe(
      '/admin/sign-in',
    )
    expect((await createBrowser().ask('/admin', undefined, { cookie: old })).status).toBe(303)
    const trail = await app.sql(
      `select action from audit_entries where user_id = $1::uuid and action like 'admin%' order by id desc limit 2`,
      [other.id],
    )
    expect(trail.map(({ action }) => action)).toEqual(['admin-session.ended', 'admin-session.started'])
  })

  it('an admin session ends when its user revokes other sessions, sets a password or ends all sessions', async () => {
    const other = await app.admin()
    const isIn = async ({ ask }: Awaited<ReturnType<typeof signIn>>) => (await ask('/admin')).status === 200
    const [one, two] = [await signIn(other), await signIn(other)]
    expect([await isIn(one), await isIn(two)]).toEqual([true, true])
    await other.rest('POST', 'auth/sessions/revoke-others/')
    expect([await isIn(one), await isIn(two)]).toEqual([false, false])
    expectOk(await other.rest('GET', 'auth/users/me/'))
    const [entry] = await app.sql(
      'select action from audit_entries where user_id = $1::uuid order by id desc limit 1',
      [other.id],
    )
    expect(entry).toEqual({ action: 'session.revoked' })
    const third = await signIn(other)
    const json = { current_password: PASSWORD, new_password: `${PASSWORD} anew` }
    await other.rest('POST', 'auth/users/set_password/', { json })
    expect(await isIn(third)).toBe(false)
    const fourth = await signIn(other, json.new_password)
    expect(await isIn(fourth)).toBe(true)
    await endAllSessions(app.context)
    expect(await isIn(fourth)).toBe(false)
  })

  it('an ended admin session leads to the sign-in page and back to the previous page, but never to another site', async () => {
    const other = await app.admin()
    const session = await signIn(other)
    await app.sql('delete from admin_sessions where user_id = $1::uuid', [other.id])
    const asked = await session.ask('/admin/new-app')
    expect([asked.status, asked.headers.get('location')]).toEqual([303, '/admin/sign-in?next=%2Fadmin%2Fnew-app'])
    expect((await session.ask('/admin/sign-in?next=%2Fadmin%2Fnew-app')).text).toContain('Your session has ended.')
    expect((await createBrowser().ask('/admin/sign-in')).text).not.toContain('has ended')
    const open = await (await signIn()).ask('/admin/sign-in?next=/admin/apps')
    expect(open.headers.get('location')).toBe('/admin/apps')
    const leads = async (next: string) => {
      const fields = { email: admin.email, password: PASSWORD, next }
      return (await createBrowser().ask('/admin/sign-in', fields)).headers.get('location')
    }
    for (const next of [
      '//evil.org',
      '/\\evil.org',
      'https://evil.org/admin',
      'https://evil.org/admin/apps',
      'javascript:alert(1)',
      '/admin/../x',
      '',
    ])
      expect(await leads(next), next).toBe('/admin')
    expect(await leads('/admin?days=7')).toBe('/admin?days=7')
    const long = await createBrowser().ask(`/admin/orders?search=${'%25'.repeat(4_000)}`)
    expect([long.status, long.headers.get('location')]).toEqual([303, '/admin/sign-in'])
    expect(await leads('/admin/orders?status=SUCCESS')).toBe('/admin/orders?status=SUCCESS')
  })

  it('admin pages accept forms from their own origin behind a proxy with another Host header', async () => {
    const urlencoded = { email: admin.email, password: PASSWORD }
    const submit = async (origin: string) => {
      const headers = { Host: '127.0.0.1:4000', Origin: origin }
      return (await send(app.url, { method: 'POST', path: '/admin/sign-in', urlencoded, headers })).status
    }
    for (const own of [app.url, 'http://127.0.0.1:4000']) expect(await submit(own)).toBe(303)
    for (const other of ['http://127.0.0.1:4001', 'https://elsewhere.example', 'null'])
      expect(await submit(other)).toBe(403)
  })

  it('admin pages reject forms that another site sends', async () => {
    const { id } = await sell()
    const { ask } = await signIn()
    const form = { reason: 'x', ...guarded }
    const token = /name="form-token" value="([^"]+)"/.exec((await ask(`/admin/orders/${id}/refund`)).text)![1]!
    const path = `/admin/orders/${id}/refund`
    expect((await ask(path, form)).status).toBe(403)
    const own = { ...form, 'form-token': token }
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await ask(path, own, { 'sec-fetch-site': site })).status).toBe(403)
    expect(
      (await ask(path, { ...own, 'form-token': token.replace(/./, (first) => (first === 'x' ? 'y' : 'x')) })).status,
    ).toBe(403)
    // Another tab has started a new session.
    await ask('/admin/sign-in', { email: admin.email, password: PASSWORD })
    expect((await ask(path, own)).text).toContain('is older than your session')
    const [row] = await app.sql(
      'select count(*)::int as n from refunds r join orders o on o.id = r.order_id join users u on u.id = o.buyer_id',
    )
    expect(row).toEqual({ n: 0 })
  })
})
