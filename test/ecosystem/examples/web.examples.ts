/** Operates examples/web in a real browser. Each test continues where the previous one ended. SCREENSHOTS=<folder> stores pictures. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGateway, type Gateway } from '../../../proofs/harness/gateway.ts'
import { createRpc } from '../../../src/chain/rpc.ts'
import { startEmbeddedAnvil } from '../../../src/embedded/embedded-anvil.ts'
import { runAnnal } from '../../support/annal-command.ts'
import { launchChromium } from '../../support/chromium.ts'
import { eventually, until } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { newPicture } from '../../support/pictures.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createTestLog } from '../../support/test-log.ts'

const folder = join(import.meta.dirname, '../../../examples/web')
const person = { username: 'ada', email: 'ada@example.org', password: 'correct horse' }
const PHOTO = join(import.meta.dirname, '../../../bench/demo-photo.jpg')
const LARGE_BYTES = 20_000_000
const SLOW_BYTES_A_SECOND = 100_000
const PAGE_SIZE = 12

const endings: (() => unknown)[] = []
const gatewayEnv: Record<string, string> = {
  ...{ ALLOW_INSECURE_WEBHOOKS: 'true', ANNAL_EMBEDDED_DEPOSITS: 'true', LOG_LEVEL: 'warn' },
}
let gateway: Gateway
let dir: string
/** A large image file. */
let photo: string
let siteUrl: string
let siteEnv: NodeJS.ProcessEnv
let site: ChildProcess
let browser: Browser
let page: Page
/** Webhook calls without a response. */
const calls: ServerResponse[] = []
const complaints: string[] = []
const origins = new Set<string>()

const annal = async (dir: string, ...args: string[]): Promise<Record<string, string>> => {
  const env = { ANNAL_DIR: join(dir, 'annal'), LOG_LEVEL: 'error' }
  const said = await runAnnal(dir, [...args, '--json'], { env, input: `${person.password}\n${person.password}\n` })
  if (said.code !== 0) throw new Error(`annal ${args.join(' ')}: ${said.stderr}`)
  return JSON.parse(said.stdout)
}

const graphql = async (token: string, query: string, variables: object = {}) => {
  const headers = { Authorization: `token ${token}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ query, variables })
  const answer = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body })
  return (await answer.json()) as { data: Record<string, unknown>; errors?: { extensions: { code: string } }[] }
}

const tokenOfPage = async () => (await page.evaluate(() => sessionStorage.getItem('annal.token')))!

const UPDATE = 'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id } } }'
const PUBLISH = 'mutation ($input: CreateNetworkAppInput!) { createNetworkApp(input: $input) { networkApp { id } } }'

/** Serves the built example with Vite. */
async function startSite() {
  const { hostname, port } = new URL(siteUrl)
  const vite = join(folder, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'preview', '--host', hostname, '--port', port, '--strictPort']
  site = spawn(process.execPath, args, { cwd: folder, stdio: 'inherit', env: siteEnv })
  const isUp = () =>
    fetch(siteUrl).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the example is served', isUp, 180_000, 50)
}

async function stopSite() {
  const ended = once(site, 'exit')
  site.kill('SIGTERM')
  await ended
}

/** Starts a gateway that sells an action, and the example. */
async function open() {
  dir = await mkdtemp(join(tmpdir(), 'annal-examples-'))
  endings.push(() => rm(dir, { recursive: true, force: true }))
  photo = join(dir, 'demo-photo.jpg')
  await writeFile(photo, Buffer.concat([await readFile(PHOTO), Buffer.alloc(LARGE_BYTES)]))
  const afterwards = (end: () => Promise<void>) => void endings.push(end)
  gatewayEnv.ANNAL_DIR = join(dir, 'annal')
  gateway = await createGateway({ dir, afterwards }, 'gateway', gatewayEnv)
  gatewayEnv.PUBLIC_URL = gateway.url
  await gateway.start()
  endings.push(() => gateway.stop())
  const admin = await annal(dir, 'admin', 'create', '--username', 'root', '--email', 'root@example.org')
  const { key } = await annal(dir, 'api-key', 'issue', '--name', 'examples/web')
  const receiver = await startReceiver(
    (end) => endings.push(end),
    (response) => void calls.push(response),
  )
  const input = { name: 'Upscale', price: '1.5', webhookUrl: receiver.url }
  expect((await graphql(admin.token!, PUBLISH, { input })).errors).toBeUndefined()
  siteUrl = `http://127.0.0.1:${await findFreePort()}`
  siteEnv = { PATH: process.env.PATH, HOME: process.env.HOME, ANNAL_URL: gateway.url, ANNAL_API_KEY: key! }
  await startSite()
  endings.push(stopSite)
}

beforeAll(async () => {
  await open()
  browser = await launchChromium((work) => endings.push(work))
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })
  await context.addInitScript({ path: join(folder, 'node_modules/axe-core/axe.min.js') })
  page = await context.newPage()
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  await page.goto(siteUrl)
})

afterAll(async () => {
  for (const end of endings.reverse()) await end()
})

const looks = [
  { name: 'light', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'phone', width: 375, height: 740, colorScheme: 'light' },
  { name: 'phone-dark', width: 375, height: 740, colorScheme: 'dark' },
] as const

/** Returns the accessibility problems that axe finds. */
async function findings(): Promise<string[]> {
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

/** Checks accessibility and horizontal overflow in all color schemes and sizes. */
async function look(screen: string) {
  const { SCREENSHOTS } = process.env
  for (const { name, width, height, colorScheme } of looks) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme })
    expect(await findings(), `${screen}, ${name}`).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `${screen}, ${name}`).toBe(width)
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${screen}-${name}.png`), fullPage: true })
  }
  await page.setViewportSize(looks[0])
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Moves the focus to an element with the Tab key. */
async function tabTo(name: string) {
  for (let steps = 0; steps < 40; steps += 1) {
    await page.keyboard.press('Tab')
    const named = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null
      const label =
        element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.labels?.[0] : null
      return (label ?? element)?.textContent.trim() ?? ''
    })
    if (named === name) return
  }
  throw new Error(`The Tab key does not reach "${name}".`)
}

const awaitPrice = () => page.locator('.price[aria-busy=false]').waitFor()
const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const alert = () => page.getByRole('alert').filter({ hasText: /./ }).textContent()
const newestCommit = () => page.locator('.history > li').first()
const awaitFinal = () => newestCommit().getByText('Final on the chain').waitFor()
const spendable = () => page.locator('.who .money').textContent()

it('the example app explains a rejected sign-in', async () => {
  await heading('Sign in')
  await page.getByLabel('E-mail address').fill(person.email)
  await page.getByLabel('Password').fill('a wrong one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  expect(await alert()).toBe('The e-mail address or the password is wrong.')
  await look('sign-in')
})

it('the accessibility check detects an inaccessible screen', async () => {
  await page.evaluate(() => document.querySelector('main')!.append(document.createElement('img')))
  expect(await findings()).toEqual(['image-alt: <img>'])
  await page.reload()
})

it('a user of the example app can sign up by keyboard', async () => {
  await tabTo('Sign up')
  await page.keyboard.press('Enter')
  await heading('Sign up')
  for (const [label, text] of Object.entries({ Username: 'ada', 'E-mail address': person.email })) {
    await tabTo(label)
    await page.keyboard.type(text)
  }
  await look('sign-up')
  await tabTo('Password')
  await page.keyboard.type(person.password)
  await page.keyboard.press('Enter')
  await heading('Your assets')
  expect(await spendable()).toBe('12\u00a0NUM')
  await look('no-assets')
})

it('the example app uploads a file with progress, and shows its commit becoming final', async () => {
  await page.getByRole('link', { name: 'Register a file' }).click()
  await heading('Register a file')
  await page.getByLabel('File').setInputFiles(photo)
  await page.getByLabel('Title').fill('Evening at sea')
  await page.getByLabel('Description').fill('The last light, from the pier.')
  await page.getByLabel('Alternative text').fill('The sun goes down over a quiet sea.')
  await awaitPrice()
  await look('register')

  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: SLOW_BYTES_A_SECOND }
  await network.send('Network.emulateNetworkConditions', slow)
  await page.getByRole('button', { name: 'Register' }).click()
  const progress = page.getByRole('progressbar', { name: 'Upload' })
  const seen = await eventually(
    () => progress.getAttribute('value'),
    (value) => Number(value) > 0,
  )
  expect(Number(seen)).toBeLessThan(1)
  await look('upload')
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect(await alert()).toBe('You stopped the upload.')
  await awaitPrice()
  await page.getByRole('button', { name: 'Register' }).click()
  await progress.waitFor()
  await network.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })
  await network.detach()

  await heading('Evening at sea')
  await awaitFinal()
  expect(await page.locator('.history > li').count()).toBe(1)
  expect(await spendable()).toBe('11.821\u00a0NUM')
})

it('the example app shows the existing asset of an already registered file', async () => {
  const nid = page.url().split('/').at(-1)!
  await page.getByRole('link', { name: 'Assets' }).click()
  await page.getByRole('link', { name: 'Register a file' }).click()
  await page.getByLabel('File').setInputFiles(photo)
  await awaitPrice()
  await page.getByRole('button', { name: 'Register' }).click()
  expect(await alert()).toContain('This file is registered already.')
  await page.getByRole('link', { name: 'Look at it' }).click()
  await heading('Evening at sea')
  expect(page.url()).toContain(nid)
})

it('the example app shows the price of a change, and charges once despite a lost response', async () => {
  await page.getByLabel('Title').focus()
  await page.keyboard.press('End')
  await page.keyboard.type(', 1912')
  await tabTo('What did you change, and why?')
  await page.keyboard.type('The year')
  await awaitPrice()
  expect(await page.locator('.price strong').textContent()).toBe('0.179\u00a0NUM')
  await look('edit')

  let lost = 0
  const loseFirst = async (route: Route) => {
    if (lost > 0 || !route.request().postData()?.includes('mutation UpdateAsset')) return route.fallback()
    lost += 1
    await route.fetch()
    await route.abort('connectionreset')
  }
  await page.route('**/graphql', loseFirst)
  await page.getByRole('button', { name: 'Save' }).dblclick()
  await heading('Evening at sea, 1912')
  await page.unroute('**/graphql', loseFirst)
  expect(lost).toBe(1)
  await newestCommit().getByText('The year').waitFor()
  await awaitFinal()
  expect(await page.locator('.history > li').count()).toBe(2)
  expect(await eventually(spendable, (text) => text !== '11.821\u00a0NUM')).toBe('11.642\u00a0NUM')
  await look('asset')
})

it("the example app shows both versions after a concurrent change, and keeps the user's input", async () => {
  await page.getByLabel('Title').fill('Night at sea')
  await awaitPrice()
  const input = { id: page.url().split('/').at(-1), headline: 'Morning at sea' }
  expect((await graphql(await tokenOfPage(), UPDATE, { input })).errors).toBeUndefined()
  const notice = page.getByRole('alert').filter({ hasText: 'Somebody else changed this asset' })
  await notice.waitFor()
  expect(await notice.locator('td').allTextContents()).toEqual(['Morning at sea', 'Night at sea'])
  await look('conflict')
  await page.getByRole('button', { name: 'Keep my changes' }).click()
  await awaitPrice()
  await page.getByRole('button', { name: 'Save' }).click()
  await heading('Night at sea')
  await awaitFinal()
  expect(await page.locator('.history > li').count()).toBe(4)
})

it('the example app shows missed events after a reconnect', async () => {
  await stopSite()
  const input = { id: page.url().split('/').at(-1), caption: 'Written meanwhile.' }
  expect((await graphql(await tokenOfPage(), UPDATE, { input })).errors).toBeUndefined()
  await startSite()
  await newestCommit().getByText('Description: Written meanwhile.').waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('Written meanwhile.')
  await awaitFinal()
})

it('the example app keeps form input while the asset cannot be reloaded', async () => {
  const away = { data: { asset: null }, errors: [{ message: 'Away.', extensions: { code: 'UNAVAILABLE' } }] }
  const answerAway = (route: Route) =>
    route.request().postData()?.includes('query Asset(') ? route.fulfill({ json: away }) : route.fallback()
  await page.getByLabel('Title').fill('Dawn at sea')
  await page.route('**/graphql', answerAway)
  const input = { id: page.url().split('/').at(-1), caption: 'Written while nobody could read.' }
  expect((await graphql(await tokenOfPage(), UPDATE, { input })).errors).toBeUndefined()
  expect(await alert()).toContain('A part of the service is down.')
  expect(await page.getByLabel('Title').inputValue()).toBe('Dawn at sea')
  await look('away')
  await page.unroute('**/graphql', answerAway)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Somebody else changed this asset').waitFor()
  await page.getByRole('button', { name: 'Drop my changes' }).click()
  expect(await page.getByLabel('Description').inputValue()).toBe('Written while nobody could read.')
  await awaitFinal()
})

it('the example app orders and pays an action, and shows its result live', async () => {
  await page.getByRole('button', { name: 'Order Upscale' }).click()
  await heading('Upscale')
  expect(await page.getByRole('timer').textContent()).toMatch(/^1[45]:\d\d left to pay$/)
  expect(await page.locator('.price strong').textContent()).toBe('1.5\u00a0NUM')
  await look('order')
  await tabTo('Pay')
  await page.keyboard.press('Enter')
  await page.getByText('Paid, being carried out').waitFor()
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
  await look('order-paid')
  const call = await until('the seller is called', () => calls.shift())
  call.writeHead(204).end()
  await page.getByText('Done').waitFor()
  await look('order-done')
})

it('the example app cancels an order', async () => {
  await page.goBack()
  await page.getByRole('button', { name: 'Order Upscale' }).click()
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await page.getByText('Cancelled; nothing was charged').waitFor()
  await page.getByRole('link', { name: 'Orders' }).click()
  await heading('Your orders')
  await page.locator('.rows .status').nth(1).waitFor()
  expect(await page.locator('.rows .status').allTextContents()).toEqual(['Cancelled; nothing was charged', 'Done'])
  await look('orders')
})

it('the example app lists each charge once in the wallet', async () => {
  await page.getByRole('link', { name: 'Wallet' }).click()
  await heading('Your wallet')
  await page.getByRole('row').nth(8).waitFor()
  const rows = await page.locator('tbody tr').allTextContents()
  expect(rows.map((row) => /An order|An asset’s commit|Points to start with/.exec(row)?.[0])).toEqual([
    'An order',
    ...Array.from({ length: 6 }, () => 'An asset’s commit'),
    'Points to start with',
  ])
  await look('wallet')
})

/** Sends coins on the gateway's chain from a funded account. */
async function sendCoins(to: string, coins: bigint) {
  const chain = await startEmbeddedAnvil({ dir: join(dir, 'annal'), log: createTestLog(), confirmations: 2 })
  try {
    const { call } = createRpc({ url: chain.rpcUrl })
    const from = `0x${'5e'.repeat(20)}`
    await call('anvil_setBalance', from, '0x56bc75e2d63100000')
    await call('anvil_impersonateAccount', from)
    await call('eth_sendTransaction', { from, to, value: `0x${(coins * 10n ** 18n).toString(16)}`, gas: '0x5208' })
  } finally {
    await chain.stop()
  }
}

it('the example app shows and credits coins sent to the wallet address', async () => {
  const deposits = page.getByRole('region', { name: 'Deposit' })
  await deposits.getByText('Send from an ordinary account').waitFor()
  const address = (await deposits.locator('.identifier').first().textContent())!
  expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  const before = await spendable()
  await sendCoins(address, 5n)
  await deposits.getByText('In your wallet').waitFor()
  await eventually(spendable, (text) => text !== before)
  await page.getByRole('row').filter({ hasText: 'Deposit over the chain' }).waitFor()
  await look('deposit')
})

it('the example app previews a withdrawal, asks for the password, and cancels the withdrawal', async () => {
  const before = await spendable()
  const form = page.getByRole('form', { name: 'Withdrawal' })
  const see = () => form.getByRole('button', { name: 'See what it takes' }).click()
  await form.getByLabel('Amount that arrives').fill('500')
  await form.getByLabel('Address').fill('0x1234')
  await see()
  await form.locator('.wrong').first().waitFor()
  expect(await form.getByLabel('Address').getAttribute('aria-invalid')).toBe('true')
  await form.getByLabel('Address').fill(`0x${'ab'.repeat(20)}`)
  await see()
  await form.getByText('points cannot be withdrawn.').waitFor()
  await look('withdrawal-short')
  await form.getByLabel('Amount that arrives').fill('2')
  await see()
  await form.getByLabel('Your password').fill('a wrong one')
  await look('withdrawal')
  await form.getByRole('button', { name: 'Withdraw' }).click()
  await eventually(
    () => form.getByLabel('Your password').getAttribute('aria-invalid'),
    (value) => value === 'true',
  )
  expect(await spendable()).toBe(before)
  await form.getByLabel('Your password').fill(person.password)
  await page.keyboard.press('Enter')
  const list = page.getByRole('list', { name: 'Withdrawals' })
  await list.getByText('Waiting; it can be cancelled').waitFor()
  expect(await form.getByLabel('Amount that arrives').inputValue()).toBe('')
  await eventually(spendable, (text) => text !== before)
  await look('withdrawal-waiting')
  await list.getByRole('button', { name: 'Cancel the withdrawal' }).click()
  await list.getByText('Cancelled; amount and fee are back in your wallet').waitFor()
  await eventually(spendable, (text) => text === before)
  await page.getByRole('row').filter({ hasText: 'Withdrawal, given back' }).waitFor()
  await look('withdrawal-cancelled')
})

it('the example app completes a withdrawal and shows its transaction', async () => {
  await page.goto('about:blank')
  await gateway.stop()
  gatewayEnv.WITHDRAWAL_HOLD_SECONDS = '0'
  await gateway.start()
  await page.goto(`${siteUrl}/wallet`)
  const form = page.getByRole('form', { name: 'Withdrawal' })
  await form.getByLabel('Amount that arrives').fill('1.5')
  await form.getByLabel('Address').fill(`0x${'ab'.repeat(20)}`)
  await page.keyboard.press('Enter')
  await form.getByLabel('Your password').fill(person.password)
  await page.keyboard.press('Enter')
  const sent = page.getByRole('list', { name: 'Withdrawals' }).getByRole('listitem').first()
  await sent.getByText('Arrived').waitFor()
  expect(await sent.textContent()).toMatch(/^1\.5\u00a0NUM and .*by 0x[0-9a-f]{64}/)
  expect(await sent.getByRole('button').count()).toBe(0)
  await look('withdrawal-sent')
})

it('the example app pages through assets, and the back button works', async () => {
  const token = await tokenOfPage()
  for (let n = 0; n < PAGE_SIZE; n += 1) {
    const body = new FormData()
    body.set('asset_file', await newPicture())
    body.set('headline', `Sketch ${n + 1}`)
    const headers = { Authorization: `token ${token}` }
    expect((await fetch(`${gateway.url}/api/v3/assets/`, { method: 'POST', headers, body })).status).toBe(201)
  }
  await page.getByRole('link', { name: 'Assets' }).click()
  await page.getByText('Sketch 12').waitFor()
  await until('thumbnails are shown', () =>
    page.evaluate(() => [...document.images].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)),
  )
  await look('assets')
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByText('Night at sea').waitFor()
  expect(await page.locator('.cards li').count()).toBe(1)
  await page.getByRole('link', { name: 'Newer' }).click()
  await page.getByText('Sketch 1', { exact: true }).waitFor()
  expect(await page.locator('.cards li').count()).toBe(PAGE_SIZE)
  await page.goBack()
  await page.getByText('Night at sea').waitFor()
})

it('the example app reports missing pages', async () => {
  await page.goto(`${siteUrl}/assets/bafkreiaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`)
  expect(await alert()).toBe('There is nothing here, or nothing that you may see.')
  await look('missing')
})

it('the example app ends the session at sign-out', async () => {
  const token = await tokenOfPage()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await heading('Sign in')
  expect(await tokenOfPage()).toBeNull()
  expect((await graphql(token, '{ me { id } }')).errors?.[0]?.extensions.code).toBe('AUTHENTICATION_FAILED')
})

it('the example app returns to the sign-in page if the session was ended elsewhere', async () => {
  await page.getByLabel('E-mail address').fill(person.email)
  await page.getByLabel('Password').fill(person.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Assets' }).waitFor()
  await graphql(await tokenOfPage(), 'mutation { signOut }')
  await page.getByRole('link', { name: 'Wallet' }).click()
  await heading('Sign in')
})

it('the example app loads nothing from other origins, and logs no browser errors', () => {
  expect([...origins].filter((origin) => origin !== 'null').sort()).toEqual([gateway.url, siteUrl].sort())
  // The tests disconnect deliberately.
  expect(complaints.filter((text) => !/net::ERR_/.test(text))).toEqual([])
})
