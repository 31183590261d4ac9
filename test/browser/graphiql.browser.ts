/** The playground in a real browser. SCREENSHOTS=<folder> keeps what was seen. */
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from '../support/chromium.ts'
import { createTestApp } from '../support/test-app.ts'
import { visitGraphiQL } from '../tools/graphiql.ts'

const app = await createTestApp()
let browser: Browser

beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser?.close())

it('shows what there is, completes a field, and runs a query with and without a token', {
  timeout: 60_000,
}, async () => {
  const user = await app.newUser()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  const { SCREENSHOTS } = process.env
  const look = async (name: string) =>
    SCREENSHOTS && (await page.screenshot({ path: join(SCREENSHOTS, `graphiql-${name}.png`) }))
  const { docs, proposals, prices, me, complaints } = await visitGraphiQL(page, `${app.url}/graphql`, user.token, look)
  expect(docs.start).toContain('Root Types')
  expect(docs.query).toContain('pricing')
  expect(docs.type).toContain('assetUpdateFee')
  expect(proposals.join()).toContain('pricing')
  expect(prices).toEqual({ data: { pricing: { total: '0.179', currency: 'NUM' } } })
  expect(me).toEqual({ data: { me: { username: user.username } } })
  expect(complaints).toEqual([])
})
