/** The description of REST in a real browser. SCREENSHOTS=<folder> keeps what was seen. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { launchChromium } from '../support/chromium.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let browser: Browser

beforeAll(async () => {
  browser = await launchChromium(atEnd)
})

/** Everything that the page asks for, and everything that the browser complains about. */
function listen(page: Page) {
  const heard = { requests: [] as string[], complaints: [] as string[] }
  page.on('request', (request) => heard.requests.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && heard.complaints.push(message.text()))
  page.on('pageerror', ({ message }) => heard.complaints.push(message))
  return heard
}

const isForeign = (url: string) => !url.startsWith(`${app.url}/`) && !url.startsWith('data:')

it('shows every chapter from our own files alone, and tries an operation with the token that it was given', {
  timeout: 60_000,
}, async () => {
  const user = await app.newUser()
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
  const heard = listen(page)
  const look = async (name: string) => {
    const { SCREENSHOTS } = process.env
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `api-docs-${name}.png`) })
  }
  await page.goto(`${app.url}/api/v3/docs`)
  await page.getByRole('heading', { name: 'Assets', exact: false }).first().waitFor()
  expect(await page.title()).toBe('Annal: REST')
  await look('start')

  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByLabel('auth-bearer-value').fill(user.token)
  await page
    .locator('.auth-container', { hasText: 'bearer' })
    .getByRole('button', { name: 'Apply credentials' })
    .click()
  await page.getByRole('button', { name: 'Close' }).first().click()

  const operation = page.locator('#operations-Account-getMe')
  await operation.scrollIntoViewIfNeeded()
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = operation.locator('.live-responses-table .response .response-col_description')
  await answer.getByText(user.username).first().waitFor()
  expect(
    await operation.locator('.live-responses-table .response .response-col_status').first().textContent(),
  ).toContain('200')
  await answer.scrollIntoViewIfNeeded()
  await look('tried')

  expect(heard.requests.filter(isForeign)).toEqual([])
  expect(heard.requests.filter((url) => url === `${app.url}/api/v3/auth/users/me`)).toHaveLength(1)
  expect(heard.complaints).toEqual([])
  await page.close()
})

const desktop = { width: 1280, height: 1000 }
const phone = { width: 390, height: 844 }

it.each([
  ['desktop', { colorScheme: 'light', viewport: desktop }],
  ['desktop-dark', { colorScheme: 'dark', viewport: desktop }],
  ['phone', { colorScheme: 'light', viewport: phone }],
  ['phone-dark', { colorScheme: 'dark', viewport: phone }],
] as const)(
  'is as light or dark as the system, fits the screen, and has nothing that axe finds: %s',
  {
    timeout: 120_000,
  },
  async (name, { colorScheme, viewport }) => {
    const page = await browser.newPage({ colorScheme, viewport })
    const lookAt = async (part: string) => {
      const { SCREENSHOTS } = process.env
      if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `api-docs-${part}-${name}.png`) })
    }
    const findings = async () => {
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
      }
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
      )
    }
    await page.goto(`${app.url}/api/v3/docs`)
    const operation = page.locator('#operations-Orders-listRefunds')
    await operation.waitFor()
    await page.evaluate(axe)
    await lookAt('top')
    const found = await findings()
    await operation.scrollIntoViewIfNeeded()
    await operation.locator('.opblock-summary-control').click()
    await operation.getByText('Responses', { exact: true }).waitFor()
    await lookAt('operation')
    expect([...found, ...(await findings())]).toEqual([])
    const tooWide = await page.evaluate(() =>
      [...document.querySelectorAll('#docs *')]
        .filter((element) => element.getBoundingClientRect().right > innerWidth)
        .map(({ outerHTML }) => outerHTML.slice(0, 120)),
    )
    expect(tooWide).toEqual([])
    const colour = await page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor)
    expect(colour).toBe(colorScheme === 'dark' ? 'rgb(28, 32, 34)' : 'rgb(250, 250, 250)')
    // The system may change its mind meanwhile.
    await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' })
    await page
      .locator(colorScheme === 'dark' ? 'html:not(.dark-mode)' : 'html.dark-mode')
      .waitFor({ state: 'attached' })
    await page.close()
  },
)
