import { describe, expect, it } from 'vitest'
import { languages, pickLanguage } from '../../src/delivery/mail-languages.ts'
import { createMailComposer } from '../../src/delivery/mail-templates.ts'
import type { MailMessage, OrderFacts } from '../../src/domain/ports.ts'

const compose = createMailComposer({ currency: 'NUM', publicUrl: 'https://annal.example' })

const order: OrderFacts = {
  appName: 'Upscale',
  orderId: 'order_01h455vb4pex5vsknk084sn02q',
  price: '5.25',
  at: new Date('2026-11-21T06:05:00Z'),
}
const chargeId = 'transfer_01h455vb4pex5vsknk084sn02q'
const refundId = 'transfer_01h455vb4pex5vsknk084sn02r'
const paid = { points: '3', num: '2.25' }
const messages: MailMessage[] = [
  { template: 'receipt', ...order, paid, chargeId },
  { template: 'sale', ...order, earned: { points: '2.64', num: '1.98' }, platformShare: '0.63' },
  { template: 'order-failed', ...order, paid, contact: 'shop@example.org' },
  { template: 'order-refunded', ...order, returned: paid, chargeId, refundId },
]
const [receipt, sale, failed, refunded] = messages as [MailMessage, MailMessage, MailMessage, MailMessage]

const everyMail = messages.flatMap((message) =>
  ['en-us', 'zh-tw'].map((language) => ({ name: `${message.template} in ${language}`, message, language })),
)

/** Every sentence by its path, and the names it has filled in. */
const placeholders = (words: object, path = ''): [string, string[]][] =>
  Object.entries(words).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[`${path}${key}`, [...value.matchAll(/\{\w+\}/g)].map(String).sort()] as [string, string[]]]
      : placeholders(value, `${path}${key}.`),
  )

describe('the languages', () => {
  it.each(Object.keys(languages))('have the same sentences with the same names to fill in: %s', (language) => {
    expect(placeholders(languages[language as keyof typeof languages])).toEqual(placeholders(languages.en))
  })

  it.each(['zh-tw', 'zh-TW', 'zh_TW', 'ZH-Hant', 'zh-hant', 'zh_Hant_TW'])('know %s as Traditional Chinese', (tag) => {
    expect(pickLanguage(tag)).toBe('zh-tw')
  })

  it.each(['en', 'en-us', 'zh-cn', 'zh', 'de', '', 'constructor', '<script>'])('have English for %j', (tag) => {
    expect(pickLanguage(tag)).toBe('en')
  })
})

describe('every mail', () => {
  it.each(everyMail)('has a subject, a text and an HTML part with all facts: $name', ({ message, language }) => {
    const { subject, text, html } = compose(message, language)
    expect(subject).toContain('Upscale')
    for (const part of [text, html]) {
      expect(part).toContain('5.25 NUM')
      expect(part).toContain(order.orderId)
      expect(part).toContain('06:05 UTC')
      expect(part).toContain('https://annal.example')
      expect(part).not.toMatch(/\{\w+\}|undefined|null|\[object/)
    }
  })

  it.each(everyMail)(
    'says its language, loads nothing, and marks its layout as such: $name',
    ({ message, language }) => {
      const { html, language: used } = compose(message, language)
      expect(html).toMatch(new RegExp(`<html lang="${used}"`))
      expect(html).not.toMatch(/<(img|script|link|iframe)|url\(|@import|\ssrc=/i)
      expect(html.match(/<table/g)!.length - html.match(/role="presentation"/g)!.length).toBe(1)
      expect(html.match(/<th scope="row"/g)!.length).toBe(html.match(/<tr><th/g)!.length)
    },
  )

  it.each(everyMail)('shows what people write as text: $name', ({ message, language }) => {
    const appName = `<img src=x onerror=alert(1)>"'&{contact}{__proto__}$&`
    const { html, text } = compose({ ...message, appName }, language)
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;{contact}{__proto__}$&amp;')
    expect(text).toContain(appName)
  })
})

describe('the words', () => {
  it('of a receipt say how it was paid, and name the charge', () => {
    expect(compose(receipt, 'en').text).toBe(`Thank you for your payment

You paid for Upscale. This is your receipt.

Paid action: Upscale
Price: 5.25 NUM
Paid in points: 3
Paid in NUM: 2.25
Charge: ${chargeId}
Order: ${order.orderId}
Time: 21 November 2026 at 06:05 UTC

-- 
You get this mail because of an order at https://annal.example.`)
    expect(compose(receipt, 'zh-TW').text).toContain('以點數支付: 3\n以 NUM 支付: 2.25\n')
    expect(compose(receipt, 'zh-TW').text).toContain('時間: 2026年11月21日 06:05 UTC')
  })

  it('of a receipt leave out a currency that paid nothing', () => {
    const { text } = compose({ ...receipt, paid: { points: '0', num: '5.25' } } as MailMessage, 'en')
    expect(text).not.toContain('points')
    expect(text).toContain('Paid in NUM: 5.25\n')
  })

  it('of an order that is free say so', () => {
    const free = { price: '0', paid: { points: '0', num: '0' } }
    expect(compose({ ...receipt, ...free } as MailMessage, 'en').text).toContain(
      'You ordered Upscale. It is free of charge.',
    )
  })

  it('of a sale say what was earned after the platform’s share', () => {
    expect(compose(sale, 'en').text).toContain('Platform’s share: 0.63\nEarned in points: 2.64\nEarned in NUM: 1.98\n')
  })

  it('of a failure say that the order stays paid, and whom to write to', () => {
    expect(compose(failed, 'en').text).toContain(
      'stays paid. To have it delivered or settled, write to shop@example.org',
    )
    const { text } = compose({ ...failed, contact: null } as MailMessage, 'en')
    expect(text).toContain('get in touch at https://annal.example')
  })

  it('of a refund say what came back, and name charge and refund', () => {
    expect(compose(refunded, 'en').text).toContain(
      `Returned in points: 3\nReturned in NUM: 2.25\nCharge: ${chargeId}\nRefund: ${refundId}\n`,
    )
  })
})
