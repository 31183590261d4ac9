/** Composes mails as text and HTML in the language of the recipient, or in English. */
import { fill, type Messages, messages } from '../locales/messages.ts'
import { chooseLanguage, type Language } from '../shared/language.ts'
import { type MailBody, renderHtml, renderText } from './mail-layout.ts'
import type { AccountMessage, ComposeMail, MailMessage, OrderMessage, WithdrawalFacts } from './mail-types.ts'

interface Translator {
  language: Language
  /** Name of the currency unit. */
  currency: string
  /** Replaces `{url}`, `{currency}` and the given placeholders. Throws RangeError if a value is missing. */
  translate(sentence: string, values?: Record<string, string>): string
}

type Fact = [name: string, value: string]

/** Locales by language. British English writes the day first, as is usual outside the United States. */
const locales = { en: 'en-GB', 'zh-TW': 'zh-TW' } satisfies Record<Language, string>

const formatTime = (date: Date, language: Language): string => {
  const day = { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' } as const
  return `${date.toLocaleString(locales[language], { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })} UTC`
}

/** Formats a duration in words, such as `30 minutes`. */
const formatDuration = (count: number, unit: 'minute' | 'hour', language: Language): string =>
  new Intl.NumberFormat(locales[language], { style: 'unit', unit, unitDisplay: 'long' }).format(count)

/** Parts in which account mails differ. `validity`: how long the link is valid, in words. */
type AccountParts = { action?: MailBody['action']; validity?: string; facts?: Fact[] }

function partsOf(message: AccountMessage, { language, currency, translate }: Translator): AccountParts {
  const words = messages[language].accountMails
  const link = (template: 'password-reset' | 'email-verification', url: string, duration: string): AccountParts => ({
    action: { label: words[template].button, url, address: words.address },
    validity: translate(words[template].validity, { duration }),
  })
  const happened = (at: Date): Fact => [words.facts.time, formatTime(at, language)]
  const withdrawal = ({ amount, fee, to, withdrawalId, at }: WithdrawalFacts): Fact[] => [
    [words.facts.amount, `${amount} ${currency}`],
    [words.facts.fee, `${fee} ${currency}`],
    [words.facts.to, to],
    [words.facts.withdrawal, withdrawalId],
    happened(at),
  ]
  switch (message.template) {
    case 'password-reset':
      return link(message.template, message.link, formatDuration(message.minutes, 'minute', language))
    case 'email-verification':
      return link(message.template, message.link, formatDuration(message.hours, 'hour', language))
    case 'password-changed':
      return { facts: [happened(message.at)] }
    case 'withdrawal-requested':
      return { facts: [...withdrawal(message), [words.facts.dueAt, formatTime(message.dueAt, language)]] }
    case 'withdrawal-confirmed':
    case 'withdrawal-failed':
    case 'withdrawal-cancelled':
      return { facts: withdrawal(message) }
    case 'email-change-requested':
    case 'email-changed':
      return { facts: [[words.facts.newEmail, message.newEmail], happened(message.at)] }
  }
}

function writeAccountMail(message: AccountMessage, translator: Translator): MailBody {
  const words = messages[translator.language].accountMails
  const { subject, heading, notYou, text } = words[message.template]
  const keepsFee = message.template === 'withdrawal-failed' && message.keepsFee
  const paragraph = translator.translate(keepsFee ? words['withdrawal-failed'].keepsFee : text)
  const { action, validity, facts = [] } = partsOf(message, translator)
  const closing = [...(validity ? [validity] : []), translator.translate(notYou)]
  return {
    ...{ subject, heading },
    // In a mail with a link, the closing paragraphs follow the link.
    paragraphs: action ? [paragraph] : [paragraph, ...closing],
    ...(action && { action, closing }),
    facts: [[words.facts.username, message.username], ...facts],
    footer: translator.translate(words.footer),
  }
}

const isNothing = (amount: string) => amount === '0'

const nonZero = (...facts: Fact[]) => facts.filter(([, amount]) => !isNothing(amount))

type OrderTemplate = OrderMessage['template']
/** The parts in which order mails differ. `writeOrderMail` adds the common parts. */
type WriteOrderParts<T extends OrderTemplate> = (
  message: Extract<OrderMessage, { template: T }>,
  words: Messages['orderMails'],
  translate: Translator['translate'],
) => Pick<MailBody, 'subject' | 'heading' | 'paragraphs' | 'facts'>

const orderTemplates: { [T in OrderTemplate]: WriteOrderParts<T> } = {
  receipt: ({ price, paid, chargeId }, { receipt, facts }, translate) => ({
    subject: translate(receipt.subject),
    heading: receipt.heading,
    paragraphs: [translate(isNothing(price) ? receipt.free : receipt.text)],
    facts: [
      ...nonZero([facts.paidPoints, paid.points], [translate(facts.paidNum), paid.num]),
      [facts.charge, chargeId],
    ],
  }),

  sale: ({ price, earned, platformShare }, { sale, facts }, translate) => ({
    subject: translate(sale.subject),
    heading: sale.heading,
    paragraphs: [translate(isNothing(price) ? sale.free : sale.text)],
    facts: [
      ...(isNothing(platformShare)
        ? []
        : [[facts.platformShare, translate('{amount} {currency}', { amount: platformShare })] satisfies Fact]),
      ...nonZero([facts.earnedPoints, earned.points], [translate(facts.earnedNum), earned.num]),
    ],
  }),

  'order-failed': ({ price, paid, contact }, { 'order-failed': words, facts }, translate) => {
    const { text, next, nextWithoutContact } = isNothing(price) ? words.free : words
    return {
      subject: translate(words.subject),
      heading: words.heading,
      paragraphs: [translate(text), contact ? translate(next, { contact }) : translate(nextWithoutContact)],
      facts: nonZero([facts.paidPoints, paid.points], [translate(facts.paidNum), paid.num]),
    }
  },

  'automatic-refund': ({ price, returned, chargeId, refundId }, { 'automatic-refund': words, facts }, translate) => {
    const { subject, heading, text } = isNothing(price) ? words.free : words
    return {
      subject: translate(subject),
      heading,
      paragraphs: [translate(text)],
      facts: [
        ...nonZero([facts.returnedPoints, returned.points], [translate(facts.returnedNum), returned.num]),
        [facts.charge, chargeId],
        [facts.refund, refundId],
      ],
    }
  },

  'administrator-refund': (
    { returned, isWhole, reason, chargeId, refundId },
    { 'administrator-refund': words, facts },
    translate,
  ) => ({
    subject: translate(words.subject),
    heading: words.heading,
    paragraphs: [translate(isWhole ? words.whole : words.part)],
    facts: [
      // The reason is erased when the buyer's account is deleted.
      ...(reason ? [[facts.reason, reason] satisfies Fact] : []),
      ...nonZero([facts.returnedPoints, returned.points], [translate(facts.returnedNum), returned.num]),
      [facts.charge, chargeId],
      [facts.refund, refundId],
    ],
  }),
}

function writeOrderMail(message: OrderMessage, translator: Translator): MailBody {
  const { language, currency } = translator
  const words = messages[language].orderMails
  const translate: Translator['translate'] = (sentence, values) =>
    translator.translate(sentence, { app: message.appName, ...values })
  // Indexing by a union loses the relation between a template and its message type.
  const write = orderTemplates[message.template] as WriteOrderParts<OrderTemplate>
  const { facts, ...rest } = write(message, words, translate)
  return {
    ...rest,
    facts: [
      [words.facts.app, message.appName],
      [words.facts.price, `${message.price} ${currency}`],
      ...facts,
      [words.facts.order, message.orderId],
      [words.facts.time, formatTime(message.at, language)],
    ],
    footer: translate(words.footer),
  }
}

export const createMailComposer =
  ({ currency, publicUrl: url }: { currency: string; publicUrl: string }): ComposeMail =>
  (message: MailMessage, wanted) => {
    const language = chooseLanguage([wanted])
    const translate: Translator['translate'] = (text, values) => fill(text, { url, currency, ...values })
    const translator = { language, currency, translate }
    const body = 'username' in message ? writeAccountMail(message, translator) : writeOrderMail(message, translator)
    return {
      ...{ language, subject: body.subject, text: renderText(body), html: renderHtml(body, language) },
      ...(body.action && { link: body.action.url }),
    }
  }
