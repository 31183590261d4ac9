import { describe, expect, it } from 'vitest'
import { createMailComposer } from '../../../src/mail/mail-templates.ts'
import { chooseLanguage, preferredLanguage } from '../../../src/shared/language.ts'

const compose = createMailComposer({ currency: 'NUM', publicUrl: 'https://annal.example' })
const mailIn = (tag: string) =>
  compose({ template: 'password-changed', username: 'ada', at: new Date(0) }, tag).language

const chinese = `zh-TW zh-tw zh_TW zh-Hant ZH-HANT zh_Hant_TW zh-Hant-HK zh-Hant-MO zh-HK zh-hk zh_HK zh-MO zh-Hant-CN yue-HK`
const english = `en en-us en-GB en_AU zh zh-CN zh-Hans zh-SG zh-Hans-HK fr de ja ko x 1 constructor __proto__ <script> zh- - *`

describe('languages', () => {
  it.each([
    ...chinese.split(' ').map((tag) => [tag, 'zh-TW'] as const),
    ...english.split(' ').map((tag) => [tag, 'en'] as const),
    ['', 'en'] as const,
    ['a'.repeat(10_000), 'en'] as const,
  ])('mails and pages use the same language for the language tag %j', (tag, language) => {
    expect(chooseLanguage([tag])).toBe(language)
    expect(mailIn(tag)).toBe(language)
    expect(preferredLanguage(tag)).toBe(language)
  })

  it.each([
    ['fr, zh-HK;q=0.9, en;q=0.8', 'zh-TW'],
    ['zh-CN, zh;q=0.9, en;q=0.8', 'en'],
    ['en;q=0.1, zh-MO;q=0.2', 'zh-TW'],
    ['zh-HK;q=0, en', 'en'],
  ] as const)('chooses the most preferred supported language: %s', (header, language) => {
    expect(preferredLanguage(header)).toBe(language)
  })
})
