/** Mails as programs show them, in a real browser. */
import { expect, it } from 'vitest'
import { createMailComposer } from '../../src/mail/mail-templates.ts'
import type { MailMessage } from '../../src/mail/mail-types.ts'
import { atEnd } from '../support/at-end.ts'
import { findViolations, look } from '../support/browser.ts'
import { launchChromium } from '../support/chromium.ts'
import { accountMessages, order, orderMessages } from '../support/mail-messages.ts'

const compose = createMailComposer({ currency: 'NUM', publicUrl: 'https://assets.annal.example' })
const looks = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 } },
  'phone-dark': { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
} as const

/** A name of the maximum length that cannot be wrapped. */
const LONG_NAME = 'Wiederherstellungsarbeiten'.repeat(4).slice(0, 100)
const mails: MailMessage[] = [
  ...orderMessages.map((message) => ({
    ...message,
    appName: LONG_NAME,
    price: '1234567890123456789.000000000000000001',
  })),
  ...accountMessages.map((message) => ({ ...message, username: LONG_NAME.slice(0, 21) })),
]

const browser = await launchChromium(atEnd)
it.each(Object.keys(looks) as (keyof typeof looks)[])(
  'a mail with the longest names fits the screen and has no axe violations: %s',
  async (name) => {
    const context = await browser.newContext(looks[name])
    const page = await context.newPage()
    const findings: string[] = []
    for (const [number, message] of mails.entries()) {
      await page.setContent(compose(message, number % 2 ? 'en' : 'zh-TW').html)
      await look(page, `mail-${number}-${message.template}-${name}`)
      const width = await page.locator('html').evaluate((html) => html.scrollWidth)
      if (width > looks[name].viewport.width) findings.push(`${message.template}: ${width} pixels`)
      const violations = await findViolations(page, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] })
      findings.push(...violations.map((violation) => `${message.template}: ${violation}`))
    }
    expect(findings).toEqual([])
    await context.close()
  },
)
it('a mail shows a reason with its line breaks and text direction', async () => {
  const context = await browser.newContext({ ...looks.phone, javaScriptEnabled: false })
  const page = await context.newPage()
  const nothing = { points: '0', num: '0' }
  const ids = { chargeId: 'transfer_1', refundId: 'transfer_2' }
  const refund = { template: 'administrator-refund', ...order, ...ids, returned: nothing, isWhole: true } as const
  const cell = page.locator('th:text-is("Reason") + td')
  const show = async (reason: string) => page.setContent(compose({ ...refund, reason }, 'en').html)
  await show('It came too late.')
  const line = (await cell.boundingBox())!.height
  await show('It came too late.\nWe are sorry.\nThe shop')
  await look(page, 'mail-reason')
  expect((await cell.boundingBox())!.height).toBeGreaterThan(2 * line)
  await show('לא עבד!')
  expect(await cell.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
  await context.close()
})
