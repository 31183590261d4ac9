/** Helpers of tests that open pages in a real browser. `SCREENSHOTS=<folder>` stores pictures of the pages. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const desktop = { viewport: { width: 1280, height: 900 } } as const
export const phone = { viewport: { width: 360, height: 740 }, isMobile: true } as const
/** Devices and color schemes. The phone is set to a Chinese locale. */
export const looks = {
  desktop,
  'desktop-dark': { ...desktop, colorScheme: 'dark' },
  phone: { ...phone, locale: 'zh-HK' },
  'phone-dark': { ...phone, colorScheme: 'dark' },
} as const
export const lookNames = Object.keys(looks) as (keyof typeof looks)[]

export async function look(page: Page, name: string, fullPage = true): Promise<void> {
  const { SCREENSHOTS } = process.env
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage })
}

/** Returns the accessibility violations that axe finds. */
export async function findViolations(page: Page, options: object = {}): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
  }>(`axe.run(${JSON.stringify(options)})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  )
}

/** Returns the elements that extend beyond the right edge of the screen. */
export const findTooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map(({ outerHTML }) => `too wide: ${outerHTML.slice(0, 120)}`),
  )

/** Records the requests of a page, its exceptions and its console errors. */
export function listen(page: Page) {
  const heard = { requests: [] as string[], complaints: [] as string[] }
  page.on('request', (request) => heard.requests.push(request.url()))
  page.on('console', (message) => message.type() === 'error' && heard.complaints.push(message.text()))
  page.on('pageerror', ({ message }) => heard.complaints.push(message))
  return heard
}
