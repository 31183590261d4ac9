/** The reference page of the REST API in a real browser. SCREENSHOTS=<folder> keeps pictures of it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { launchChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let browser: Browser

beforeAll(async () => {
  browser = await launchChromium(atEnd)
})

/** Records the requests of the page and the errors in its console. */
function listen(page: Page) {
  const heard = { requests: [] as string[], complaints: [] as string[] }
  page.on('request', (request) => heard.requests.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && heard.complaints.push(message.text()))
  page.on('pageerror', ({ message }) => heard.complaints.push(message))
  return heard
}

const isForeign = (url: string) => !url.startsWith(`${app.url}/`) && !/^(data|blob):/.test(url)

async function look(page: Page, name: string) {
  const { SCREENSHOTS } = process.env
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `api-docs-${name}.png`) })
}

it('has navigation, loads nothing from other origins, and sends a request', {
  timeout: 120_000,
}, async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
  const heard = listen(page)
  await page.goto(`${app.url}/api/v3/docs`)
  const navigation = page.getByRole('complementary', { name: 'Sidebar for Annal' })
  await navigation.getByText('Assets', { exact: true }).first().waitFor()
  expect(await page.title()).toContain('Annal')
  await look(page, 'start')
  await navigation.getByRole('button', { name: 'Open Group - Service' }).click()
  await navigation.getByText('Read the version').click()
  const operation = page.getByRole('region', { name: 'Read the version' })
  await operation.getByRole('heading', { name: 'Read the version' }).waitFor()
  await look(page, 'operation')
  await operation.getByRole('button', { name: 'Test Request' }).click()
  await page.getByRole('button', { name: /^Send/ }).first().click()
  await eventually(() => heard.requests.includes(`${app.url}/version`))
  await look(page, 'sent')
  expect(heard.requests.filter(isForeign)).toEqual([])
  expect(heard.complaints).toEqual([])
  await page.close()
})

it.each(['light', 'dark'] as const)(
  'follows the %s color scheme without axe errors',
  {
    timeout: 120_000,
  },
  async (colorScheme) => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 844 } })
    await page.goto(`${app.url}/api/v3/docs`)
    await page.getByRole('heading', { name: 'Annal' }).first().waitFor()
    await look(page, colorScheme)
    expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`)
    await page.evaluate(axe)
    // Scalar's own colours and code blocks break these two rules.
    const options = {
      rules: { 'color-contrast': { enabled: false }, 'scrollable-region-focusable': { enabled: false } },
    }
    const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
      violations: { id: string; nodes: { html: string }[] }[]
    }
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`)).toEqual([])
    await page.close()
  },
)
