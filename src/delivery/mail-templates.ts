/** Every mail the service sends: which facts it shows, and in which words. */
import type { ComposeMail, MailMessage } from '../domain/ports.ts'
import { fill, type Language, languages, pickLanguage, type Words } from './mail-languages.ts'
import { type MailBody, renderHtml, renderText } from './mail-layout.ts'

type Template = MailMessage['template']
type Message<T extends Template> = Extract<MailMessage, { template: T }>

/** What differs from mail to mail; what is the same in all of them is added in one place. */
interface Particulars {
  subject: string
  heading: string
  paragraphs: string[]
  facts: Fact[]
}
type Fact = [name: string, value: string]

/** The words of one language, and how a sentence is filled in. */
interface Voice {
  words: Words
  /** Fills in the names every sentence may use, and those given. */
  say(sentence: string, values?: Record<string, string>): string
}

const isNothing = (amount: string) => amount === '0'

/** The amounts that are something. */
const given = (...facts: Fact[]) => facts.filter(([, amount]) => !isNothing(amount))

const templates: { [T in Template]: (message: Message<T>, voice: Voice) => Particulars } = {
  receipt: ({ price, paid, chargeId }, { words: { receipt, facts }, say }) => ({
    subject: say(receipt.subject),
    heading: receipt.heading,
    paragraphs: [say(isNothing(price) ? receipt.free : receipt.text)],
    facts: [...given([facts.paidPoints, paid.points], [say(facts.paidNum), paid.num]), [facts.charge, chargeId]],
  }),

  sale: ({ price, earned, platformShare }, { words: { sale, facts }, say }) => ({
    subject: say(sale.subject),
    heading: sale.heading,
    paragraphs: [say(isNothing(price) ? sale.free : sale.text)],
    facts: given(
      [facts.platformShare, platformShare],
      [facts.earnedPoints, earned.points],
      [say(facts.earnedNum), earned.num],
    ),
  }),

  'order-failed': ({ paid, contact }, { words: { 'order-failed': words, facts }, say }) => ({
    subject: say(words.subject),
    heading: words.heading,
    paragraphs: [say(words.text), contact ? say(words.next, { contact }) : say(words.nextWithoutContact)],
    facts: given([facts.paidPoints, paid.points], [say(facts.paidNum), paid.num]),
  }),

  'order-refunded': ({ returned, chargeId, refundId }, { words: { 'order-refunded': words, facts }, say }) => ({
    subject: say(words.subject),
    heading: words.heading,
    paragraphs: [say(words.text)],
    facts: [
      ...given([facts.returnedPoints, returned.points], [say(facts.returnedNum), returned.num]),
      [facts.charge, chargeId],
      [facts.refund, refundId],
    ],
  }),
}

/** British English writes the day first, as everybody outside the United States reads it. */
const locales = { en: 'en-GB', 'zh-tw': 'zh-TW' } satisfies Record<Language, string>

const day = { year: 'numeric', month: 'long', day: 'numeric' } as const
const minute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const formatTime = (date: Date, language: Language) =>
  `${date.toLocaleString(locales[language], { ...day, ...minute, timeZone: 'UTC' })} UTC`

export interface MailComposerOptions {
  /** Name of the currency unit. */
  currency: string
  /** Where people find the service, without a trailing slash. */
  publicUrl: string
}

export const createMailComposer =
  ({ currency, publicUrl }: MailComposerOptions): ComposeMail =>
  (message, wanted) => {
    const language = pickLanguage(wanted)
    const words = languages[language]
    const always = { app: message.appName, currency, url: publicUrl }
    const voice: Voice = { words, say: (sentence, values) => fill(sentence, { ...always, ...values }) }
    // The table above gives each template its own message; an index by a union forgets that.
    const write = templates[message.template] as (message: MailMessage, voice: Voice) => Particulars
    const { facts: particulars, ...rest } = write(message, voice)
    const body: MailBody = {
      ...rest,
      facts: [
        [words.facts.app, message.appName],
        [words.facts.price, `${message.price} ${currency}`],
        ...particulars,
        [words.facts.order, message.orderId],
        [words.facts.time, formatTime(message.at, language)],
      ],
      footer: voice.say(words.footer),
    }
    return { language, subject: body.subject, text: renderText(body), html: renderHtml(body, language) }
  }
