/** Texts of pages and mails. `{name}` is a placeholder. */
import type { Language } from '../shared/language.ts'
import en from './en.json' with { type: 'json' }
import zhTw from './zh-TW.json' with { type: 'json' }

export type Messages = typeof en

export const messages: Readonly<Record<Language, Messages>> = { en, 'zh-TW': zhTw }

/** Replaces the placeholders of a text. Throws RangeError if a value is missing. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`The placeholder {${name}} has no value.`)
    return String(value)
  })
