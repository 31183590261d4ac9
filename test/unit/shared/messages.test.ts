import { describe, expect, it } from 'vitest'
import { fill, messages } from '../../../src/locales/messages.ts'
import { chooseLanguage } from '../../../src/shared/language.ts'

const placeholders = (texts: object, path = ''): [string, string[]][] =>
  Object.entries(texts).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[`${path}${key}`, [...value.matchAll(/\{\w+\}/g)].map(String).sort()] as [string, string[]]]
      : placeholders(value, `${path}${key}.`),
  )

describe('messages', () => {
  it('messages have the same keys and placeholders in both languages', () => {
    expect(placeholders(messages['zh-TW'])).toEqual(placeholders(messages.en))
  })

  it.each(['zh-tw', 'zh-hant'])('uses messages in Traditional Chinese for %s', (tag) => {
    expect(messages[chooseLanguage([tag])]).toBe(messages['zh-TW'])
  })

  it('inserts values into a message without interpreting the values, and rejects a missing value', () => {
    expect(fill('{name}: {count}', { name: '{count} $&', count: 2 })).toBe('{count} $&: 2')
    expect(() => fill('{name}', {})).toThrow(RangeError)
  })
})
