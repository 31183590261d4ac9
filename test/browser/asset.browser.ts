/** An asset's page in a real browser, without JavaScript. */
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { desktop, findTooWide, findViolations, listen, look, lookNames, looks } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { newPicture } from '../support/pictures.ts'
import { createTestApp, registerWith, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp({ withChain: true })
let browser: Browser
let path: string
let owner: SignedIn

beforeAll(async () => {
  browser = await launchChromium(atEnd)
  owner = await app.newUser({ num: '100' })
  const fields = { headline: 'Taipei at dusk', caption: 'Seen from the hill.', public_access: 'true' }
  const picture = await newPicture({ format: 'png' })
  const { body } = await registerWith(owner.rest, { asset_file: picture, alt_text: 'Towers in the evening', ...fields })
  path = `/assets/${body.id}`
  const changes = [
    { caption: 'Seen from Elephant Mountain.\n從象山遠眺。', commit_message: 'Say which hill' },
    {
      nit_commit_custom: {
        license: { name: 'CC BY 4.0' },
        usedBy: 'https://example.org/a-very-long-path/that-does-not-end',
      },
    },
    { headline: '台北的黃昏' },
  ]
  const claims = {
    ...{ state: 'INVALID', trustList: 'C2PA_TRUST_LIST: 42 certificates, sha256 0123456789abcdef…', title: null },
    ...{ generator: 'Camera 1.2', signer: 'Ada', issuer: 'Works', signedAt: '2026-11-01T00:00:00+00:00' },
    ...{ actions: ['c2pa.opened', 'c2pa.published'], creators: ['Ada'], digitalSourceType: null },
    ...{ mining: ['cawg.data_mining: notAllowed'], problems: ['assertion.dataHash.mismatch'] },
    ...{ manifestCount: 2, checkedAt: new Date().toISOString() },
  }
  await app.sql('update assets set content_credentials = $2::jsonb where nid = $1', [body.id, JSON.stringify(claims)])
  for (const json of changes) expectOk(await owner.rest('PATCH', `assets/${body.id}/`, { json }))
  await eventually(
    () => owner.rest('GET', `assets/${body.id}/history/`),
    ({ body: { commits } }) =>
      commits.length === 4 && commits.every(({ status }: { status: string }) => status === 'final'),
  )
})

it.each(lookNames)(
  'the asset page fits the screen, loads nothing from other origins, and has no axe violations: %s',
  { timeout: 120_000 },
  async (name) => {
    const context = await browser.newContext(looks[name])
    const page = await context.newPage()
    const { requests, complaints } = listen(page)
    await page.goto(app.url + path)
    await look(page, `asset-${name}`)
    const found = await findViolations(page)
    await page.getByRole('button').click()
    await page.getByRole('status').first().waitFor()
    await look(page, `asset-checked-${name}`)
    expect([...found, ...(await findViolations(page)), ...(await findTooWide(page))]).toEqual([])
    expect(await page.getByRole('img').evaluate((picture) => (picture as HTMLImageElement).naturalWidth)).toBe(800)
    expect(await page.locator('html').getAttribute('lang')).toBe(name === 'phone' ? 'zh-TW' : 'en')
    const foreign = requests.filter((url) => !url.startsWith(`${app.url}/`))
    expect([...foreign, ...complaints, ...(await context.cookies())]).toEqual([])
    await context.close()
  },
)

it('an asset page can be verified without scripts, and printed', { timeout: 60_000 }, async () => {
  const context = await browser.newContext({ ...desktop, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(app.url + path)
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('台北的黃昏')
  await page.getByRole('button', { name: 'Check it now' }).click()
  expect(await page.getByRole('status').textContent()).toMatch(
    /The history is valid|some checks could not be completed/,
  )
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('button').count()).toBe(0)
  const { SCREENSHOTS } = process.env
  if (SCREENSHOTS) await page.pdf({ path: join(SCREENSHOTS, 'asset.pdf') })
  await look(page, 'asset-print')
  await context.close()
})

it('the asset page isolates right-to-left text from the surrounding text', { timeout: 60_000 }, async () => {
  const writer = await app.newUser({ num: '100' })
  const { body: renamed } = await writer.graphql(
    'mutation { updateProfile(input: { displayName: "נועה בן־דוד" }) { user { displayName } } }',
  )
  expect(renamed.errors).toBeUndefined()
  const fields = { headline: 'ירושלים!', public_access: 'true' }
  const { body } = await registerWith(writer.rest, { asset_file: await newPicture(), ...fields })
  expectOk(await writer.rest('PATCH', `assets/${body.id}/`, { json: { headline: 'القدس!' } }))
  const context = await browser.newContext({ ...desktop, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${app.url}/assets/${body.id}`)
  await look(page, 'asset-right-to-left')
  const boxesOf = (selector: string) =>
    page
      .locator(selector)
      .evaluateAll((parts) => parts.map((part) => [...part.getClientRects()].map(({ left }) => left)))
  const [address] = await boxesOf('dd > code')
  expect(address, 'The address is torn apart').toHaveLength(1)
  const [before, after] = await boxesOf('dd:has(del) > :is(del, ins)')
  expect(after![0], 'What was changed reads backwards').toBeGreaterThan(before![0]!)
  await context.close()
})

it('the browser opens a private asset by its link without leaking the link in requests', {
  timeout: 60_000,
}, async () => {
  const { body } = await registerWith(owner.rest, { asset_file: await newPicture(), headline: 'For a friend' })
  const { body: link } = await owner.rest('POST', `assets/${body.id}/links/`, { json: {} })
  const context = await browser.newContext(looks['phone-dark'])
  const page = await context.newPage()
  const reported: string[] = []
  page.on('request', (request) => reported.push(request.headers().referer ?? ''))
  await page.goto(link.url)
  await look(page, 'asset-private')
  expect(await findViolations(page)).toEqual([])
  expect(await page.getByRole('img').evaluate((picture) => (picture as HTMLImageElement).naturalWidth)).toBe(800)
  await page.getByRole('button').click()
  await page.getByRole('status').first().waitFor()
  await page.getByRole('img').click()
  await page.waitForURL(/\/ipfs\//)
  expect(reported.length).toBeGreaterThan(3)
  expect(reported.filter(Boolean)).toEqual([])
  await context.close()
})
