import { type Messages, messages } from '../locales/messages.ts'
import type { MailBody } from './mail-layout.ts'
import { formatTime, type Translator } from './mail-translator.ts'
import type { OrderMessage } from './mail-types.ts'

type Template = OrderMessage['template']
type Message<T extends Template> = Extract<OrderMessage, { template: T }>
type Fact = [name: string, value: string]

/** The parts in which order mails differ. `writeOrderMail` adds the common parts. */
interface Particulars {
  subject: string
  heading: string
  paragraphs: string[]
  facts: Fact[]
}

const isNothing = (amount: string) => amount === '0'

const nonZero = (...facts: Fact[]) => facts.filter(([, amount]) => !isNothing(amount))

/** Returns an amount in currency units, regardless of the currency of payment. */
const inUnits = (amount: string, translate: Translator['translate']) => translate('{amount} {currency}', { amount })

type Write<T extends Template> = (
  message: Message<T>,
  words: Messages['orderMails'],
  translate: Translator['translate'],
) => Particulars

const templates: { [T in Template]: Write<T> } = {
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
      ...(isNothing(platformShare) ? [] : [[facts.platformShare, inUnits(platformShare, translate)] satisfies Fact]),
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

/** Composes a mail about an order. `currency` is the name of the currency unit. */
export function writeOrderMail(message: OrderMessage, translator: Translator, currency: string): MailBody {
  const words = messages[translator.language].orderMails
  const translate: Translator['translate'] = (sentence, values) =>
    translator.translate(sentence, { app: message.appName, currency, ...values })
  // Indexing by a union loses the relation between a template and its message type.
  const write = templates[message.template] as Write<Template>
  const { facts, ...rest } = write(message, words, translate)
  return {
    ...rest,
    facts: [
      [words.facts.app, message.appName],
      [words.facts.price, `${message.price} ${currency}`],
      ...facts,
      [words.facts.order, message.orderId],
      [words.facts.time, formatTime(message.at, translator.language)],
    ],
    footer: translate(words.footer),
  }
}
