import { match } from '@formatjs/intl-localematcher'

export const languages = ['en', 'zh-TW'] as const
export type Language = (typeof languages)[number]
const NONE = 'und'
const MAX_TAGS = 32

function languageOf(tag: string): Language | undefined {
  try {
    const found = match([tag], languages, NONE)
    return languages.find((language) => language === found)
  } catch {
    // Not a language tag.
    return undefined
  }
}

/** Returns the language of the first supported BCP 47 tag (also with `_`), such as `zh-TW` for `zh-HK`. Default: English. */
export function chooseLanguage(tags: readonly string[]): Language {
  for (const tag of tags.slice(0, MAX_TAGS)) {
    const language = languageOf(tag.trim().replaceAll('_', '-'))
    if (language) return language
  }
  return 'en'
}

export function preferredLanguage(acceptLanguage: string): Language {
  const preferences = acceptLanguage
    .split(',', MAX_TAGS)
    .map((preference) => {
      const [tag = '', ...parameters] = preference.split(';').map((part) => part.trim())
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))
      return { tag, weight: weight ? Number(weight.slice(2)) : 1 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return chooseLanguage(preferences.map(({ tag }) => tag))
}
