import { describe, expect, it } from 'vitest'
import { messages } from '../../../src/locales/messages.ts'
import { createMailComposer } from '../../../src/mail/mail-templates.ts'
import type { AccountMessage, OrderMessage } from '../../../src/mail/mail-types.ts'
import {
  accountMessages,
  asked,
  changed,
  failed,
  link,
  moved,
  order,
  orderMessages,
  refunded,
  reset,
  verification,
  withdrawals,
} from '../../support/mail-messages.ts'

const compose = createMailComposer({ currency: 'NUM', publicUrl: 'https://annal.example' })

const inEveryLanguage = <Message extends { template: string }>(messages: Message[]) =>
  messages.flatMap((message) =>
    ['en-us', 'zh-tw'].map((language) => ({ name: `${message.template} in ${language}`, message, language })),
  )
const orderMails = inEveryLanguage(orderMessages)
const accountMails = inEveryLanguage<AccountMessage>(accountMessages)
const everyMail = [...orderMails, ...accountMails]

const languages = Object.keys(messages) as (keyof typeof messages)[]

const hostile = `<img src=x onerror=alert(1)>"'&{contact}{__proto__}$&`
const harmless = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;{contact}{__proto__}$&amp;'

describe('all mails', () => {
  it.each(everyMail)('a mail has a complete subject, text part and HTML part: $name', ({ message, language }) => {
    const { subject, text, html } = compose(message, language)
    expect(subject).toMatch(/\S/)
    for (const part of [text, html]) {
      expect(part).toContain('https://annal.example')
      expect(part).not.toMatch(/\{\w+\}|undefined|null|\[object/)
    }
  })

  it.each(everyMail)(
    'a mail declares its language, loads no resources, and marks layout tables: $name',
    ({ message, language }) => {
      const { html, language: used } = compose(message, language)
      expect(html).toMatch(new RegExp(`<html lang="${used}"`))
      expect(html).not.toMatch(/<(img|script|link|iframe)|url\(|@import|\ssrc=/i)
      expect(html.match(/<table/g)!.length - html.match(/role="presentation"/g)!.length).toBe(1)
      expect(html.match(/<th scope="row"/g)!.length).toBe(html.match(/<tr><th/g)!.length)
    },
  )
})

describe('order mails', () => {
  it.each(orderMails)('a mail about an order contains all facts: $name', ({ message, language }) => {
    const { subject, text, html, link } = compose(message, language)
    expect(subject).toContain('Upscale')
    for (const part of [text, html]) {
      expect(part).toContain('5.25 NUM')
      expect(part).toContain(order.orderId)
      expect(part).toContain('06:05 UTC')
    }
    expect(link).toBeUndefined()
  })

  it.each(orderMails)('a mail about an order escapes user text: $name', ({ message, language }) => {
    const { html, text } = compose({ ...message, appName: hostile }, language)
    expect(html).not.toContain('<img')
    expect(html).toContain(harmless)
    expect(text).toContain(hostile)
  })
})

describe('account mails', () => {
  it.each(accountMails)(
    'a mail about an account names the account, the reason and the next step: $name',
    ({ message, language }) => {
      const { text, html } = compose(message, language)
      for (const part of [text, html]) {
        expect(part).toContain('zoë')
        expect(part).toMatch(/If you did not|If this is not your account|如果不是您本人|如果這不是您的帳號/)
        expect(part).toMatch(/You receive this mail because|您收到這封信/)
      }
    },
  )

  it.each(accountMails)('a mail about an account escapes user text: $name', ({ message, language }) => {
    const { subject, html, text } = compose({ ...message, username: hostile }, language)
    expect(subject).not.toContain('<img')
    expect(html).not.toContain('<img')
    expect(html).toContain(harmless)
    expect(text).toContain(hostile)
  })

  it.each(inEveryLanguage<AccountMessage>([reset, verification]))(
    'an account mail shows its link on its own line, as a button and in full: $name',
    ({ message, language }) => {
      const composed = compose(message, language)
      expect(composed.link).toBe(link)
      expect(composed.text.split('\n').filter((line) => line === link)).toHaveLength(1)
      expect(composed.html.split(`href="${link}"`)).toHaveLength(3)
      expect(composed.html).toContain(`>${link}</a>`)
    },
  )

  it.each(inEveryLanguage<AccountMessage>([changed, asked, moved, ...withdrawals]))(
    'an account mail without an action contains no link: $name',
    (mail) => {
      const composed = compose(mail.message, mail.language)
      expect(composed.link).toBeUndefined()
      expect(composed.html).not.toContain('href')
    },
  )
})

describe('texts of mails', () => {
  it.each(languages)('a mail about a failed free order mentions no payment: %s', (language) => {
    const nothing = { points: '0', num: '0' }
    const free = { price: '0', paid: nothing, returned: nothing }
    for (const message of [failed, refunded, { ...failed, contact: null }]) {
      const { subject, text } = compose({ ...message, ...free } as OrderMessage, language)
      const said = subject + text.slice(0, text.indexOf(messages[language].orderMails.facts.app))
      expect(said).not.toMatch(/paid|payment|wallet|settle|付款|支付|款項|錢包/)
      expect(said).toContain(language === 'en' ? 'free of charge' : '免費')
    }
  })

  it('a password reset mail contains the link and its validity period', () => {
    const { subject, text } = compose(reset, 'en')
    expect(subject).toBe('Choose a new password')
    expect(text).toBe(`Choose a new password

Someone, probably you, requested a new password for your account at https://annal.example. Open this link to choose a new password.

${link}

The link works once, within 30 minutes. If you request another link, only the newest link works.

If you did not request this, ignore this mail. Your password has not changed.

Account: zoë

-- 
You receive this mail because someone entered this address for an account at https://annal.example.`)
    expect(compose(reset, 'zh-TW').text).toContain('有效時間為 30 分鐘')
    expect(compose({ ...verification, hours: 1 }, 'en').text).toContain('within 1 hour.')
    expect(compose(verification, 'zh-TW').text).toContain('有效時間為 24 小時')
  })

  it.each(languages)('a mail about a withdrawal states units and the time zone: %s', (language) => {
    for (const message of withdrawals) {
      const { text } = compose(message, language)
      expect(text).toContain('2.5 NUM\n')
      expect(text).toContain('0.000000000000021 NUM\n')
      expect(text).toContain('06:05 UTC')
    }
  })
})
