/** The reference page of the REST API in a real browser. */
import { expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { findViolations, listen, look } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const browser = await launchChromium(atEnd)

const isForeign = (url: string) => !url.startsWith(`${app.url}/`) && !/^(data|blob):/.test(url)

it('the API documentation has navigation, loads nothing from other origins, and sends a request', {
  timeout: 120_000,
}, async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
  const heard = listen(page)
  await page.goto(`${app.url}/api/v3/docs`)
  const navigation = page.getByRole('complementary', { name: 'Sidebar for Annal' })
  await navigation.getByText('Assets', { exact: true }).first().waitFor()
  expect(await page.title()).toContain('Annal')
  await look(page, 'api-docs-start', false)
  await navigation.getByRole('button', { name: 'Open Group - Service' }).click()
  await navigation.getByText('Read the version').click()
  const operation = page.getByRole('region', { name: 'Read the version' })
  await operation.getByRole('heading', { name: 'Read the version' }).waitFor()
  await look(page, 'api-docs-operation', false)
  await operation.getByRole('button', { name: 'Test Request' }).click()
  await page.getByRole('button', { name: /^Send/ }).first().click()
  await eventually(() => heard.requests.includes(`${app.url}/version`))
  await look(page, 'api-docs-sent', false)
  expect(heard.requests.filter(isForeign)).toEqual([])
  expect(heard.complaints).toEqual([])
  await page.close()
})

it.each(['light', 'dark'] as const)(
  'the API documentation follows the %s color scheme without axe violations',
  { timeout: 120_000 },
  async (colorScheme) => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 844 } })
    await page.goto(`${app.url}/api/v3/docs`)
    await page.getByRole('heading', { name: 'Annal' }).first().waitFor()
    await look(page, `api-docs-${colorScheme}`, false)
    expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`)
    // Scalar's own colours and code blocks break these two rules.
    const options = {
      rules: { 'color-contrast': { enabled: false }, 'scrollable-region-focusable': { enabled: false } },
    }
    expect(await findViolations(page, options)).toEqual([])
    await page.close()
  },
)
