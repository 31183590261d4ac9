/** The playground in a real browser. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { asSystem } from '../../src/context.ts'
import { createAdministrator } from '../../src/modules/accounts/sign-up.ts'
import { atEnd } from '../support/at-end.ts'
import { listen, look } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { expectOk } from '../support/expect-error.ts'
import { runTabs, visitGraphiQL } from '../support/graphiql.ts'
import { send } from '../support/http-client.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const browser = await launchChromium(atEnd)

const looker = (page: Page) => (name: string) => look(page, `graphiql-${name}`, false)

it('the GraphQL playground shows the schema, completes a field, and runs a query with and without a token', {
  timeout: 60_000,
}, async () => {
  const user = await app.newUser()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  const { docs, proposals, prices, me, complaints } = await visitGraphiQL(
    page,
    `${app.url}/graphql`,
    user.token,
    looker(page),
  )
  expect(docs.start).toContain('Root Types')
  expect(docs.query).toContain('pricing')
  expect(docs.type).toContain('assetUpdateFee')
  expect(proposals.join()).toContain('pricing')
  expect(prices).toEqual({ data: { pricing: { total: '0.179', currency: 'NUM' } } })
  expect(me).toEqual({ data: { me: { username: user.username } } })
  expect(complaints).toEqual([])
})

it('the GraphQL playground shows the response on a phone', { timeout: 60_000 }, async () => {
  const viewport = { width: 375, height: 740 }
  const page = await browser.newPage({ viewport, isMobile: true, hasTouch: true })
  await page.goto(`${app.url}/graphql`)
  await page.locator('.graphiql-execute-button').tap()
  const answer = page.locator('.graphiql-response')
  await answer.getByText('"signUp"').waitFor()
  await looker(page)('phone')
  for (const part of [answer, page.locator('.graphiql-query-editor'), page.locator('.graphiql-sidebar')]) {
    const { x, y, width, height } = (await part.boundingBox())!
    expect(width).toBeGreaterThan(viewport.width * 0.9)
    expect(x + width).toBeLessThanOrEqual(viewport.width)
    expect(y + height).toBeLessThanOrEqual(viewport.height)
  }
})

it('the GraphQL playground works without browser storage', { timeout: 60_000 }, async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
  const { complaints } = listen(page)
  await page.addInitScript(() => {
    const get = () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    }
    for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, name, { configurable: true, get })
  })
  await page.goto(`${app.url}/graphql`)
  await page.locator('.graphiql-execute-button').click()
  await page.locator('.graphiql-response').getByText('"signUp"').waitFor()
  await looker(page)('kept-nothing')
  expect(complaints).toEqual([])
})

it('the GraphQL playground opens with example tabs that work from left to right', { timeout: 120_000 }, async () => {
  await createAdministrator(asSystem(app.context), {
    ...{ username: 'root', email: 'root@example.org', password: 'correct horse battery' },
  })
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
  const { complaints } = listen(page)
  const file = { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from('Evening at sea') }
  const tabs = await runTabs(page, `${app.url}/graphql`, file, looker(page))
  for (const { name, answer } of tabs) expect(answer.errors, `${name}: ${JSON.stringify(answer)}`).toBeUndefined()
  const [, signIn, register, , history, , , key, , confirm] = tabs
  const { token } = signIn!.answer.data.signIn
  expect(JSON.parse(register!.headers)).toEqual({ Authorization: `token ${token}` })
  expect(JSON.parse(register!.variables).file).toBe('file:photo.png')
  expect(history!.answer.data.asset.commits.nodes).toHaveLength(2)
  expect(JSON.parse(confirm!.headers)['x-api-key']).toBe(key!.answer.data.issueApiKey.key)
  expect(confirm!.answer.data.confirmOrder.order.status).toBe('SUCCESS')
  const nid = register!.answer.data.registerAsset.asset.id
  const asset = expectOk(await send(`${app.url}/api/v3/assets/${nid}/`, { token }))
  expect(asset).toMatchObject({ asset_file_name: 'photo.png', headline: 'Sunset' })
  expect(new URL(page.url()).search).toBe('')
  expect(complaints).toEqual([])
})
