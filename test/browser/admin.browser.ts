/** The pages for administrators in a real browser, without JavaScript, by keyboard alone. SCREENSHOTS=<folder> keeps what was seen. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { launchChromium } from '../support/chromium.ts'
import { expectOk } from '../support/expect-error.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { createStore, type TestStore } from '../support/store.ts'
import { createTestApp, type SignedIn, type TestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const looks = {
  desktop: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true },
} as const
type Look = keyof typeof looks

let app: TestApp
let admin: SignedIn
let store: TestStore
let browser: Browser
/** Where there is something to see. */
let paths: string[]

/** A month in which something happened on each day, through the tables: nobody can wait for it. */
async function liveAMonth(orderIds: string[]) {
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
  expect(orderIds.length).toBeGreaterThan(0)
}

/** As long as names may be, and without a place to break them. */
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
  await liveAMonth(orders)
})

/** Scripts run for axe alone: the pages have none, and their policy lets none in. */
const open = (look: Look, javaScriptEnabled = false): Promise<BrowserContext> =>
  browser.newContext({ ...looks[look], javaScriptEnabled, bypassCSP: javaScriptEnabled })

async function look(page: Page, name: string) {
  const { SCREENSHOTS } = process.env
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}

async function signIn(page: Page) {
  await page.goto(`${app.url}/admin`)
  await page.getByLabel('E-mail address').fill(admin.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Presses Tab until what is wanted has the focus. */
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

const nameOf = (path: string) =>
  path
    .replace(/^\//, '')
    .replace(/(order|app|delivery|user)_\w+/, '$1')
    .replaceAll(/[/?=]/g, '-')

describe('the admin pages', () => {
  it('allow finding, locking and unlocking an account by keyboard', async () => {
    const context = await open('phone')
    const page = await context.newPage()
    await signIn(page)
    const user = await app.newUser()
    await tabTo(page, 'Users')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    await tabTo(page, 'search')
    await page.keyboard.type(user.username)
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
      await tabTo(page, link)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await tabTo(page, 'reason')
      await page.keyboard.type('The telephone was stolen.')
      expect(await page.locator('[name=username]').isVisible()).toBe(false)
      await tabTo(page, 'current-password')
      await page.keyboard.type(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('status').waitFor()
      expect(await page.getByRole('status').textContent()).toContain(done)
      await look(page, `user-${link.toLowerCase()}ed`)
    }
    await context.close()
  })

  it.each(Object.keys(looks) as Look[])('fit the width of the screen: %s', async (name) => {
    const context = await open(name)
    const page = await context.newPage()
    await page.goto(`${app.url}/admin`)
    await look(page, `sign-in-${name}`)
    await signIn(page)
    for (const path of paths) {
      await page.goto(app.url + path)
      await look(page, `${nameOf(path)}-${name}`)
      if (!path.endsWith('/none')) expect(await page.title(), path).not.toMatch(/There is no|did not work/)
      const width = await page.locator('html').evaluate((html) => html.scrollWidth)

      expect(width, path).toBeLessThanOrEqual(page.viewportSize()!.width)
    }
    await context.close()
  })

  it.each(['desktop', 'dark', 'phone'] as Look[])('have no axe violations: %s', async (name) => {
    const context = await open(name, true)
    const page = await context.newPage()
    const findings: string[] = []
    const inspect = async (path: string) => {
      await page.evaluate(axe)
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; nodes: { html: string }[] }[]
      }
      findings.push(...violations.map(({ id, nodes }) => `${path}: ${id}: ${nodes[0]!.html}`))
    }
    await page.goto(`${app.url}/admin`)
    await inspect('/admin/sign-in')
    await signIn(page)
    for (const path of paths) {
      await page.goto(app.url + path)
      await inspect(path)
    }
    expect(findings).toEqual([])
    await context.close()
  })

  it('mark only the current page in forced-colors mode', async () => {
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

  it('allow refunding an order by keyboard, from sign-in to sign-out', async () => {
    const context = await open('desktop')
    const page = await context.newPage()
    await page.goto(`${app.url}/admin`)
    await tabTo(page, 'email')
    await page.keyboard.type(admin.email)
    await tabTo(page, 'password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await tabTo(page, 'Orders')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await tabTo(page, paths[2]!.split('/').at(-1)!)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 2, name: 'Refunds' }).waitFor()
    await tabTo(page, 'Give back')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Give an order back' }).waitFor()
    await tabTo(page, 'amount')
    await page.keyboard.type('9')
    await tabTo(page, 'reason')
    await page.keyboard.type('It came too late.')
    await tabTo(page, 'current-password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await look(page, 'refund-refused')
    expect(await page.title()).toBe('Not done: Give an order back – Annal')
    await tabTo(page, 'amount')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('0.5')
    await tabTo(page, 'current-password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    expect(await page.getByRole('status').textContent()).toContain('The order was refunded.')
    await tabTo(page, 'Sign out')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.goto(`${app.url}/admin/orders`)
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await context.close()
  })
})
