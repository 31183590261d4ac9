/** The pages for administrators in a real browser, without JavaScript, by keyboard alone. */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { desktop, findViolations, look, phone } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { expectOk } from '../support/expect-error.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { createStore, type TestStore } from '../support/store.ts'
import { createTestApp, type SignedIn, type TestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const looks = { desktop, dark: { ...desktop, colorScheme: 'dark' }, phone } as const
type Look = keyof typeof looks

let app: TestApp
let admin: SignedIn
let store: TestStore
let browser: Browser
let paths: string[]

/** Inserts users and transfers of the past month into the tables. */
async function liveAMonth() {
  await app.sql(
    `do $$ begin set local session_replication_role = replica;
       insert into users (id, username, username_key, email, password_hash, display_name, created_at)
         select uuidv7(at - now()), 'guest' || n, 'guest' || n, 'guest' || n || '@example.org', '', 'Guest', at
         from generate_series(1, 140) n, lateral (select now() - make_interval(hours => (n * n * 7 % 700)) as at) as past;
       insert into wallets (user_id, address) select id, 'guest ' || id from users where username like 'guest%';
       with at as (select n, now() - make_interval(hours => n * 13 % 710) as at from generate_series(1, 90) n),
       made as (insert into transfers (id, reference, created_at) select uuidv7(at - now()), 'made:' || n, at from at returning id)
       insert into entries (transfer_id, position, book, currency, amount)
         select id, line, case line when 1 then 'REVENUE' else 'PROMOTION' end::book, 'NUM', case line when 1 then 1 else -1 end * (0.179 + ascii(right(id::text, 1)) % 5)
         from made, generate_series(1, 2) line; end $$`,
  )
}

/** A name of the maximum length that cannot be wrapped. */
const LONG_NAME = 'Wiederherstellungsarbeiten'.repeat(4).slice(0, 100)

beforeAll(async () => {
  app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' }, withChain: true })
  admin = await app.admin()
  store = await createStore(app, { owner: admin })
  browser = await launchChromium(atEnd)
  const receiver = await startReceiver(atEnd, answerWith(500, {}, 'out of order'))
  const hooked = expectOk(
    await admin.rest('POST', 'store/network-apps/', {
      json: { name: 'Upscale', price_mode: 'fixed', price: '2.5', webhook_url: receiver.url },
    }),
  )
  expectOk(
    await admin.rest('POST', 'store/network-apps/', {
      json: { name: LONG_NAME, price_mode: 'fixed', price: '1234567.000000000000000001' },
    }),
  )
  const buyer = await app.newUser({ username: 'ada', points: '4', num: '40' })
  const orders: string[] = []
  for (const network_app of [store.appId, hooked.id, hooked.id]) {
    const { id } = await store.order(buyer, { network_app })
    expectOk(await store.confirm(buyer, id))
    orders.push(id)
  }
  await buyer.register({ caption: 'Evening' })
  const json = { amount: '2.5', to: `0x${'e3'.repeat(20)}`, current_password: PASSWORD }
  expectOk(await buyer.rest('POST', 'wallet/withdrawals/', { json }))
  await app.sql(`update withdrawals set due_at = now()`)
  await app.sql(
    `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
     values ('deposit:' || $2 || ':-1', 'COIN', 'PENDING', $2, $1::uuid, 1.25, 1, '0x')`,
    [buyer.id, `0x${'ab'.repeat(32)}`],
  )
  const reason = 'The picture came out blurred.'
  expectOk(
    await admin.rest('POST', `store/network-app-orders/${orders[0]}/refunds/`, { json: { amount: '1', reason } }),
  )
  expectOk(await admin.rest('POST', 'store/api-keys/', { json: { name: 'Phone app' } }))
  const present = { userId: buyer.publicId, amount: '3', reason: 'A present' }
  const { grantPoints } = expectOk(
    await admin.graphql('mutation ($input: GrantPointsInput!) { grantPoints(input: $input) { grant { id } } }', {
      input: present,
    }),
  )
  const rows = await app.sql('select id::text from webhook_deliveries')
  await app.jobs['webhook-delivery']({ deliveryId: rows[0]!.id! })
  const { results } = expectOk(await admin.rest('GET', 'store/webhook-deliveries/'))
  paths = [
    ...['/admin', '/admin/orders', `/admin/orders/${orders[0]}`, `/admin/orders/${orders[0]}/refund`],
    ...['/admin/orders?offset=5000', '/admin/orders?buyerId=me', '/admin/orders/none'],
    ...['/admin/apps', `/admin/apps/${hooked.id}`, `/admin/apps/${hooked.id}/edit`, `/admin/apps/${hooked.id}/test`],
    ...['/admin/webhooks', `/admin/webhooks/${results.at(-1).id}`, `/admin/webhooks/${results[0].id}`],
    ...['/admin/coins', '/admin/coins/deposits', '/admin/coins/withdrawals'],
    ...['/admin/keys', '/admin/new-key', '/admin/users', '/admin/users?search=guest1'],
    ...[`/admin/users/${buyer.publicId}`, `/admin/users/${buyer.publicId}/lock`, '/admin/new-grant', '/admin/audit'],
    ...[`/admin/grants/${grantPoints.grant.id}`],
  ]
  await liveAMonth()
})

/** Scripts are enabled for axe only. The pages have none, and their CSP forbids them. */
const open = (look: Look, javaScriptEnabled = false): Promise<BrowserContext> =>
  browser.newContext({ ...looks[look], javaScriptEnabled, bypassCSP: javaScriptEnabled })

async function signIn(page: Page) {
  await page.goto(`${app.url}/admin`)
  await page.getByLabel('E-mail address').fill(admin.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Presses Tab until the element with this label or ID has the focus. */
async function tabTo(page: Page, name: string) {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    const label = (await focused.getAttribute('aria-label')) ?? (await focused.textContent()) ?? ''
    const id = await focused.getAttribute('id')
    if (label.trim() === name || id === name) return
  }
  throw new Error(`${name} cannot be reached by keyboard.`)
}

async function enter(page: Page, field: string, text: string) {
  await tabTo(page, field)
  await page.keyboard.type(text)
}

/** Follows a link or presses a button by keyboard, and waits for the heading of the next page. */
async function follow(page: Page, link: string, name: string, level = 1) {
  await tabTo(page, link)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level, name }).waitFor()
}

const nameOf = (path: string) =>
  path
    .replace(/^\//, '')
    .replace(/(order|app|delivery|user)_\w+/, '$1')
    .replaceAll(/[/?=]/g, '-')

describe('admin pages', () => {
  it('the admin pages allow finding, locking and unlocking an account by keyboard', async () => {
    const context = await open('phone')
    const page = await context.newPage()
    await signIn(page)
    const user = await app.newUser()
    await follow(page, 'Users', 'Users')
    await enter(page, 'search', user.username)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: user.username }).waitFor()
    for (const [link, heading, done] of [
      ['Lock', 'Lock the account of', 'The account is locked'],
      ['Unlock', 'Unlock the account of', 'The account is unlocked.'],
    ] as const) {
      if (link === 'Lock') {
        await tabTo(page, user.username)
        await page.keyboard.press('Enter')
      }
      await page.getByRole('link', { name: link, exact: true }).waitFor()
      await follow(page, link, heading)
      await enter(page, 'reason', 'The telephone was stolen.')
      expect(await page.locator('[name=username]').isVisible()).toBe(false)
      await enter(page, 'current-password', PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('status').waitFor()
      expect(await page.getByRole('status').textContent()).toContain(done)
      await look(page, `user-${link.toLowerCase()}ed`)
    }
    await context.close()
  })

  it.each(Object.keys(looks) as Look[])(
    'an admin page fits the width of the screen, and has no axe violations: %s',
    async (name) => {
      const context = await open(name, true)
      const page = await context.newPage()
      const findings: string[] = []
      const inspect = async (path: string) => {
        await look(page, `${nameOf(path)}-${name}`)
        findings.push(...(await findViolations(page)).map((violation) => `${path}: ${violation}`))
        const width = await page.locator('html').evaluate((html) => html.scrollWidth)
        expect(width, path).toBeLessThanOrEqual(page.viewportSize()!.width)
      }
      await page.goto(`${app.url}/admin`)
      await inspect('/admin/sign-in')
      await signIn(page)
      for (const path of paths) {
        await page.goto(app.url + path)
        if (!path.endsWith('/none')) expect(await page.title(), path).not.toMatch(/There is no|did not work/)
        await inspect(path)
      }
      expect(findings).toEqual([])
      await context.close()
    },
  )

  it('the admin pages mark only the current page in forced-colors mode', async () => {
    const context = await browser.newContext({ ...looks.desktop, forcedColors: 'active', javaScriptEnabled: false })
    const page = await context.newPage()
    await signIn(page)
    await look(page, 'forced-colours')
    const lines = await page
      .getByRole('navigation', { name: 'Administration' })
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => getComputedStyle(link).borderBottomColor))
    expect(new Set(lines.slice(1)).size).toBe(1)
    expect(lines.slice(1)).not.toContain(lines[0])
    await context.close()
  })

  it('the admin pages allow refunding an order by keyboard, from sign-in to sign-out', async () => {
    const context = await open('desktop')
    const page = await context.newPage()
    await page.goto(`${app.url}/admin`)
    await enter(page, 'email', admin.email)
    await enter(page, 'password', PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await follow(page, 'Orders', 'Orders')
    await follow(page, paths[2]!.split('/').at(-1)!, 'Refunds', 2)
    await follow(page, 'Refund', 'Refund an order')
    await enter(page, 'amount', '9')
    await enter(page, 'reason', 'It came too late.')
    await enter(page, 'current-password', PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await look(page, 'refund-refused')
    expect(await page.title()).toBe('Failed: Refund an order – Annal')
    await tabTo(page, 'amount')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('0.5')
    await enter(page, 'current-password', PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    expect(await page.getByRole('status').textContent()).toContain('The order was refunded.')
    await follow(page, 'Sign out', 'Sign in')
    await page.goto(`${app.url}/admin/orders`)
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await context.close()
  })
})
