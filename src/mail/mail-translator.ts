import { fill } from '../locales/messages.ts'
import type { Language } from '../shared/language.ts'

/** Fills message templates in one language. */
export interface Translator {
  language: Language
  /** Replaces `{url}` and the given placeholders. Throws RangeError if a value is missing. */
  translate(sentence: string, values?: Record<string, string>): string
}

/** Creates a translator. `url` is the public URL of the service. */
export const createTranslator = (language: Language, url: string): Translator => ({
  language,
  translate: (sentence, values) => fill(sentence, { url, ...values }),
})
