import { fill } from '../locales/messages.ts'
import type { Language } from '../shared/language.ts'

/** A language, and how its sentences are filled in. */
export interface Translator {
  language: Language
  /** Fills in `{url}`, which every sentence may use, and the values given. Raises RangeError when one is missing. */
  translate(sentence: string, values?: Record<string, string>): string
}

/** Fills sentences in, in one language; `url` stands for the service in all of them. */
export const createTranslator = (language: Language, url: string): Translator => ({
  language,
  translate: (sentence, values) => fill(sentence, { url, ...values }),
})
