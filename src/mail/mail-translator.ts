import { fill } from '../locales/messages.ts'
import type { Language } from '../shared/language.ts'

export interface Translator {
  language: Language
  /** Replaces `{url}` and the given placeholders. Throws RangeError if a value is missing. */
  translate(sentence: string, values?: Record<string, string>): string
}

export const createTranslator = (language: Language, url: string): Translator => ({
  language,
  translate: (sentence, values) => fill(sentence, { url, ...values }),
})

/** Locales by language. British English writes the day first, as is usual outside the United States. */
const locales = { en: 'en-GB', 'zh-TW': 'zh-TW' } satisfies Record<Language, string>

const day = { year: 'numeric', month: 'long', day: 'numeric' } as const
const minute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

export const formatTime = (date: Date, language: Language): string =>
  `${date.toLocaleString(locales[language], { ...day, ...minute, timeZone: 'UTC' })} UTC`

/** Formats a duration in words, such as `30 minutes`. */
export const formatDuration = (count: number, unit: 'minute' | 'hour', language: Language): string =>
  new Intl.NumberFormat(locales[language], { style: 'unit', unit, unitDisplay: 'long' }).format(count)
