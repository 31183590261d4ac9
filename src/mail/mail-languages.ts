/** What is written in each language its own way. */
import type { Language } from '../shared/language.ts'

/** British English writes the day first, as everybody outside the United States reads it. */
const locales = { en: 'en-GB', 'zh-TW': 'zh-TW' } satisfies Record<Language, string>

const day = { year: 'numeric', month: 'long', day: 'numeric' } as const
const minute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

/** A moment as a person reads it, to the minute, in UTC. */
export const formatTime = (date: Date, language: Language): string =>
  `${date.toLocaleString(locales[language], { ...day, ...minute, timeZone: 'UTC' })} UTC`

/** A duration in words: `30 minutes`, `1 hour`. */
export const formatDuration = (count: number, unit: 'minute' | 'hour', language: Language): string =>
  new Intl.NumberFormat(locales[language], { style: 'unit', unit, unitDisplay: 'long' }).format(count)
