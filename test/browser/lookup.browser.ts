/** The lookup page in a real browser. It hashes a file and sends only the hash. */
import { createHash } from 'node:crypto'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { desktop, findTooWide, findViolations, listen, look, lookNames, looks } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { createTestApp, registerWith } from '../support/test-app.ts'

const MEGABYTE = 1_000_000
const LARGE_MEGABYTES = 250
/** Maximum heap of the scripts while they read a much larger file. */
const MAX_HEAP_BYTES = 60 * MEGABYTE

const app = await createTestApp({ withChain: true })
const folder = await mkdtemp(join(tmpdir(), 'annal-lookup-'))
const known = join(folder, 'photo.png')
const other = join(folder, 'other.bin')
const large = join(folder, 'film.mp4')
let browser: Browser
let nid: string
let largeHash: string

beforeAll(async () => {
  browser = await launchChromium(atEnd)
  const owner = await app.newUser({ num: '100' })
  const photo = new File(['a photograph'], 'photo.png', { type: 'image/png' })
  const { body } = await registerWith(owner.rest, {
    ...{ asset_file: photo, headline: 'Taipei at dusk', public_access: 'true' },
  })
  nid = body.id
  await writeFile(known, 'a photograph')
  await writeFile(other, 'of nobody')
  const hash = createHash('sha256')
  const handle = await open(large, 'w')
  for (let n = 0; n < LARGE_MEGABYTES; n += 1) {
    const piece = Buffer.alloc(MEGABYTE, n)
    hash.update(piece)
    await handle.write(piece)
  }
  await handle.close()
  largeHash = hash.digest('hex')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Waits until the page about this file is complete. */
const arrive = (page: Page, file: string) =>
  page.waitForFunction((sent) => document.readyState === 'complete' && location.search === sent, `?file=${file}`)

const findings = async (page: Page) => [...(await findTooWide(page)), ...(await findViolations(page))]

it.each(lookNames)(
  'the lookup page fits the screen, has no axe violations, and loads nothing else: %s',
  { timeout: 120_000 },
  async (name) => {
    const context = await browser.newContext(looks[name])
    const page = await context.newPage()
    const { requests, complaints } = listen(page)
    await page.goto(`${app.url}/lookup`)
    const found = await findings(page)
    await look(page, `lookup-${name}`)
    const photo = createHash('sha256').update('a photograph').digest('hex')
    await page.locator('input[type=file]').setInputFiles(known)
    await arrive(page, photo)
    found.push(...(await findings(page)))
    await look(page, `lookup-found-${name}`)
    expect(await page.locator('.registrations a').getAttribute('href')).toBe(`/assets/${nid}`)
    await page.locator('input[type=file]').setInputFiles(other)
    const hash = createHash('sha256').update('of nobody').digest('hex')
    await arrive(page, hash)
    found.push(...(await findings(page)))
    await look(page, `lookup-unknown-${name}`)
    expect(found).toEqual([])
    expect(await page.locator('html').getAttribute('lang')).toBe(name === 'phone' ? 'zh-TW' : 'en')
    const ours = requests.map((url) => url.replace(app.url, '')).filter((path) => path !== '/favicon.ico')
    expect(ours).toEqual(['/lookup', `/lookup?file=${photo}`, `/lookup?file=${hash}`])
    expect([...complaints, ...(await context.cookies())]).toEqual([])
    await context.close()
  },
)

it('the lookup page reads a large file in chunks with progress, and restarts for another file', {
  timeout: 120_000,
}, async () => {
  const context = await browser.newContext(desktop)
  const page = await context.newPage()
  await page.goto(`${app.url}/lookup`)
  await page.evaluate(() => {
    const [status, choice] = [document.getElementById('status')!, document.getElementById('upload')!]
    const seen = { reported: [] as string[], peak: 0 }
    new MutationObserver(() => {
      seen.reported.push(status.textContent)
      const { memory } = performance as unknown as { memory: { usedJSHeapSize: number } }
      seen.peak = Math.max(seen.peak, memory.usedJSHeapSize)
      sessionStorage.setItem('seen', JSON.stringify(seen))
      // Chooses a file again in the middle of the first reading.
      const isBegun = seen.reported.filter((text) => text.endsWith(' 0 %')).length === 1
      if (isBegun && / [1-9]0 %/.test(status.textContent)) choice.dispatchEvent(new Event('change'))
    }).observe(status, { childList: true })
  })
  await page.locator('input[type=file]').setInputFiles(large)
  await arrive(page, largeHash)
  const seen = JSON.parse((await page.evaluate(() => sessionStorage.getItem('seen')))!)
  expect(seen.reported.filter((text: string) => text === 'Reading the file: 0 %')).toHaveLength(2)
  expect(seen.reported).toContain('Reading the file: 50 %')
  expect(seen.peak).toBeLessThan(MAX_HEAP_BYTES)
  expect(await page.getByRole('status').first().textContent()).toContain('This proves nothing.')
  await context.close()
})

it('the lookup page accepts the same file again after the back button', { timeout: 60_000 }, async () => {
  const context = await browser.newContext(desktop)
  const page = await context.newPage()
  const photo = createHash('sha256').update('a photograph').digest('hex')
  await page.goto(`${app.url}/lookup`)
  await page.locator('input[type=file]').setInputFiles(known)
  await arrive(page, photo)
  await page.goBack()
  expect(await page.getByRole('status').textContent()).toBe('')
  await page.locator('input[type=file]').setInputFiles(known)
  await arrive(page, photo)
  await context.close()
})

it('the lookup page works without scripts for a given hash', { timeout: 60_000 }, async () => {
  const context = await browser.newContext({ ...desktop, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${app.url}/lookup`)
  expect(await page.locator('input[type=file]').isVisible()).toBe(false)
  await page.getByLabel('SHA-256 or CID').fill(nid)
  await page.getByRole('button', { name: 'Look it up' }).click()
  expect(await page.getByRole('status').textContent()).toContain('This file is registered')
  await page.getByRole('link', { name: 'Its history' }).click()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Taipei at dusk')
  await context.close()
})
