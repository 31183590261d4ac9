/** The languages that people are written to in, on pages and in mails, and which of them somebody gets. */
import { match } from '@formatjs/intl-localematcher'

/** The languages that pages and mails are written in. */
export const languages = ['en', 'zh-TW'] as const

/** One of them. */
export type Language = (typeof languages)[number]

const NONE = 'und'
/** Wishes that are looked at. */
const MOST = 32

function languageOf(tag: string): Language | undefined {
  try {
    const found = match([tag], languages, NONE)
    return languages.find((language) => language === found)
  } catch {
    // It is no tag of a language.
    return undefined
  }
}

/** The first of these tags (BCP 47, also with `_`) that is written, as `zh-HK` is in Traditional Chinese; else English. */
export function chooseLanguage(tags: readonly string[]): Language {
  for (const tag of tags.slice(0, MOST)) {
    const language = languageOf(tag.trim().replaceAll('_', '-'))
    if (language) return language
  }
  return 'en'
}

/** Returns the supported language that a browser prefers, from its header Accept-Language. English if it prefers none. */
export function preferredLanguage(acceptLanguage: string): Language {
  const wishes = acceptLanguage
    .split(',', 32)
    .map((wish) => {
      const [tag = '', ...parameters] = wish.split(';').map((part) => part.trim())
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))
      return { tag, weight: weight ? Number(weight.slice(2)) : 1 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return chooseLanguage(wishes.map(({ tag }) => tag))
}
