/** The documentation site, built by `npm run docs` and opened in a real browser. */
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { desktop, findViolations, listen, look, lookNames, looks } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'

const ROOT = join(import.meta.dirname, '../..')
const BUILD_TIMEOUT = 300_000

const app = await createTestApp()
const browser = await launchChromium(atEnd)
const docs = `${app.url}/docs/`

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers, redirect: 'manual' })
const linksOfHomePage = async () => (await (await get(app.url)).text()).includes('href="/docs/"')

/** Rules that the default theme of VitePress breaks: in its sidebar, and in its search button. */
const themeViolations = {
  rules: { 'nested-interactive': { enabled: false }, 'label-content-name-mismatch': { enabled: false } },
}

/** Search text of a reader, page that must be the first result, and a text of this page. */
const questions = [
  ['confirmation window', 'how-to/change-the-confirmation-window', 'orderWindowSeconds'],
  ['how do I change the confirmation window', 'how-to/change-the-confirmation-window', 'orderWindowSeconds'],
  ['verify a webhook', 'how-to/verify-a-webhook', 'webhook.verify(rawBody, headers)'],
  ['what happens when the chain is down', 'how-to/recover-from-a-chain-outage', 'nothing is lost'],
  ['rotate the database password', 'how-to/rotate-the-database-password', 'ALTER ROLE annal NOLOGIN'],
  ['page through assets', 'how-to/page-through-a-list', 'assets(first: 100, after: $after)'],
  ['what are points and NUM', 'explanation/money', 'Points are spent before NUM.'],
  ['use my own PostgreSQL', 'how-to/use-your-own-postgresql', 'DATABASE_URL='],
  ['put it behind nginx', 'how-to/run-behind-nginx', 'TRUSTED_PROXIES='],
  ['upgrade', 'how-to/upgrade', 'annal migrate status'],
  ['make an administrator', 'how-to/make-an-administrator', 'annal admin create'],
  ['get a typed client', 'how-to/get-a-typed-client', 'graphql-codegen'],
  ['delete a user', 'how-to/delete-a-user', 'annal users delete'],
] as const

beforeAll(() => rm(join(ROOT, 'dist-docs'), { recursive: true, force: true }))

it('shows a hint instead of the documentation until the documentation is built', async () => {
  for (const path of ['', 'how-to/upgrade']) {
    const answer = await get(docs + path, { Accept: 'text/html' })
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('Run “npm run docs”')
  }
  expect(await linksOfHomePage()).toBe(false)
})

describe('the built site', () => {
  beforeAll(
    () =>
      promisify(execFile)('npm', ['run', 'docs'], {
        cwd: ROOT,
        env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
      }),
    BUILD_TIMEOUT,
  )

  it('the home page links to the documentation, which has a content security policy', async () => {
    expect(await linksOfHomePage()).toBe(true)
    const start = await get(`${app.url}/docs`)
    expect([start.status, start.headers.get('location')]).toEqual([308, '/docs/'])
    const page = await get(`${docs}how-to/upgrade`)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toMatch(
      /script-src 'self'( 'sha256-[\w+/=]+')+; style-src 'self'/,
    )
    const [, script] = /src="\/docs\/(assets\/app\.[\w-]+\.js)"/.exec(await page.text())!
    expect((await get(docs + script)).headers.get('cache-control')).toContain('immutable')
    const etag = page.headers.get('etag')!
    expect((await get(`${docs}how-to/upgrade`, { 'If-None-Match': etag })).status).toBe(304)
  })

  it('the documentation contains linked files as text, and no other files of the installation', async () => {
    const file = await get(`${docs}files/deploy/nginx/annal.conf`)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    for (const path of ['..%2fpackage.json', '%2e%2e/package.json', 'assets', '%00', 'nothing']) {
      expect((await get(docs + path)).status, path).toBe(404)
    }
  })

  it.each(lookNames)(
    'fits the screen, has no axe violations, and loads nothing else: %s',
    { timeout: 120_000 },
    async (name) => {
      const page = await browser.newPage(looks[name])
      const { requests, complaints } = listen(page)
      const found: string[] = []
      for (const path of ['', 'how-to/run-behind-nginx', 'explanation/architecture', 'reference/errors']) {
        await page.goto(docs + path, { waitUntil: 'networkidle' })
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(
          looks[name].viewport.width,
        )
        found.push(...(await findViolations(page, themeViolations)))
        await look(page, `docs-${path.replace('/', '-') || 'start'}-${name}`, false)
      }
      await search(page, 'verify a webhook')
      await look(page, `docs-search-${name}`, false)
      expect(found).toEqual([])
      expect(requests.filter((url) => !url.startsWith(docs) && !url.startsWith('data:'))).toEqual([])
      expect(complaints).toEqual([])
      await page.close()
    },
  )

  it('the documentation switches its color scheme without violating its content security policy', {
    timeout: 60_000,
  }, async () => {
    const page = await browser.newPage(desktop)
    const { complaints } = listen(page)
    await page.goto(docs, { waitUntil: 'networkidle' })
    await page.getByRole('switch').first().click()
    expect(await page.locator('html').getAttribute('class')).toContain('dark')
    expect(complaints).toEqual([])
    await page.close()
  })

  it('the search of the documentation answers twelve questions with its first result', {
    timeout: 240_000,
  }, async () => {
    const answers: string[] = []
    const complaints: string[] = []
    for (const [question, , part] of questions) {
      // A new context, because the search box remembers the last text.
      const page = await browser.newPage(desktop)
      const heard = listen(page)
      await page.goto(docs)
      const first = await search(page, question)
      const link = await first.getAttribute('href')
      await first.click()
      await page.waitForURL((url) => url.pathname !== '/docs/')
      const answer = page.locator('main').getByText(part).first()
      const isAnswered = await eventually(() => answer.isVisible()).catch(() => false)
      answers.push(`${question}: ${link?.split('#')[0]} ${isAnswered}`)
      complaints.push(...heard.complaints)
      await page.close()
    }
    expect(answers).toEqual(questions.map(([question, path]) => `${question}: /docs/${path} true`))
    expect(complaints).toEqual([])
  })
})

async function search(page: Page, text: string) {
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.locator('#localsearch-input').fill(text)
  const first = page.locator('#localsearch-list a').first()
  await first.waitFor()
  return first
}
