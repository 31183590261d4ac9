/** The pages in a real browser, without JavaScript. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AccountMails, createAccountMails } from '../support/account-mails.ts'
import { atEnd } from '../support/at-end.ts'
import { desktop, look, phone } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import type { SignedIn } from '../support/test-app.ts'

const NEW_PASSWORD = 'a better one, 更好'
const looks = { phone, dark: { ...desktop, colorScheme: 'dark' }, 'zh-tw': { ...phone, locale: 'zh-TW' } } as const

let mails: AccountMails
let browser: Browser

beforeAll(async () => {
  mails = await createAccountMails()
  browser = await launchChromium(atEnd)
})

const open = (look: keyof typeof looks = 'phone'): Promise<BrowserContext> =>
  browser.newContext({ ...looks[look], javaScriptEnabled: false })

async function newLink(user: SignedIn): Promise<string> {
  await mails.app.rest('POST', 'auth/users/reset_password/', { json: { email: user.email } })
  const { uid, token } = await mails.awaitLink(user.email, 'password-reset')
  return `${mails.app.url}/account/password-reset/${uid}/${token}`
}

const submit = async (page: Page, first: string, second: string) => {
  await page.getByLabel('New password', { exact: true }).fill(first)
  await page.getByLabel('Repeat the new password').fill(second)
  await page.getByRole('button').click()
}

describe('password reset page', () => {
  it('the password reset page works by its labels on a phone, shows errors, and changes the password once', async () => {
    const user = await mails.app.newUser()
    const link = await newLink(user)
    const context = await open()
    const page = await context.newPage()
    await page.goto(link)
    await look(page, 'reset')
    await submit(page, NEW_PASSWORD, 'something else')
    expect(await page.getByRole('alert').textContent()).toContain('The two passwords are different')
    await look(page, 'reset-different')
    await submit(page, NEW_PASSWORD, NEW_PASSWORD)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your password was changed')
    await look(page, 'reset-done')
    expect((await user.rest('GET', 'auth/users/me/')).status).toBe(401)
    const json = { email: user.email, password: NEW_PASSWORD }
    expect((await mails.app.rest('POST', 'auth/token/login/', { json })).status).toBe(200)
    await page.goto(link)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This link is no longer valid')
    await look(page, 'reset-dead')
    expect(await context.cookies()).toEqual([])
    await context.close()
  })

  it.each(['phone', 'dark', 'zh-tw'] as const)('the page fits the screen and is readable: %s', async (name) => {
    const context = await open(name)
    const page = await context.newPage()
    await page.goto(await newLink(await mails.app.newUser()))
    await look(page, `reset-${name}`)
    const box = (await page.locator('main').boundingBox())!
    expect(box.x).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width).toBeLessThanOrEqual(page.viewportSize()!.width)
    expect(await page.locator('html').getAttribute('lang')).toBe(name === 'zh-tw' ? 'zh-TW' : 'en')
    await context.close()
  })
})
