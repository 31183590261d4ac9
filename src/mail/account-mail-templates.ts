import { type Messages, messages } from '../locales/messages.ts'
import type { MailBody } from './mail-layout.ts'
import { formatDuration, formatTime, type Translator } from './mail-translator.ts'
import type { AccountMessage, WithdrawalFacts } from './mail-types.ts'

interface Particulars {
  action?: MailBody['action']
  /** Validity of the link, in words. */
  lasts?: string
  facts?: MailBody['facts']
}

function particularsOf(
  message: AccountMessage,
  words: Messages['accountMails'],
  { language, translate }: Translator,
  currency: string,
): Particulars {
  const link = (template: 'password-reset' | 'email-verification', url: string, duration: string): Particulars => ({
    action: { label: words[template].button, url, address: words.address },
    lasts: translate(words[template].lasts, { duration }),
  })
  const happened = (at: Date): [string, string] => [words.facts.time, formatTime(at, language)]
  const withdrawal = ({ amount, fee, to, withdrawalId, at }: WithdrawalFacts): MailBody['facts'] => [
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

/** Returns the sentence that describes the event. */
const textOf = (message: AccountMessage, words: Messages['accountMails']): string =>
  message.template === 'withdrawal-failed' && message.keepsFee
    ? words['withdrawal-failed'].keepsFee
    : words[message.template].text

export function writeAccountMail(message: AccountMessage, translator: Translator, currency: string): MailBody {
  const words = messages[translator.language].accountMails
  const { subject, heading, notYou } = words[message.template]
  const text = translator.translate(textOf(message, words))
  const { action, lasts, facts = [] } = particularsOf(message, words, translator, currency)
  const closing = [...(lasts ? [lasts] : []), translator.translate(notYou)]
  return {
    subject,
    heading,
    // In a mail with a link, the closing paragraphs follow the link.
    paragraphs: action ? [text] : [text, ...closing],
    ...(action && { action, closing }),
    facts: [[words.facts.username, message.username], ...facts],
    footer: translator.translate(words.footer),
  }
}
