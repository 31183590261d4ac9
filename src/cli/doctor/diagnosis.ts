/** What a check of `annal doctor` finds. */

/** How bad it is: `skipped` because something else that it needs is not there. */
export type State = 'right' | 'to know' | 'warning' | 'wrong' | 'skipped'

/** One line of the doctor's. */
export interface Diagnosis {
  state: State
  /** What was found, as a sentence. */
  finding: string
  /** What to do about it; none where nothing is to be done. */
  fix?: string
}

/** All is as it should be. */
export const right = (finding: string): Diagnosis => ({ state: 'right', finding })
/** Nothing is wrong; an operator may want to know. */
export const toKnow = (finding: string, fix?: string): Diagnosis => withFix({ state: 'to know', finding }, fix)
/** It works, but it should not stay so. */
export const warning = (finding: string, fix: string): Diagnosis => ({ state: 'warning', finding, fix })
/** It does not work, or does harm. */
export const wrong = (finding: string, fix: string): Diagnosis => ({ state: 'wrong', finding, fix })

const withFix = (diagnosis: Diagnosis, fix: string | undefined) =>
  fix === undefined ? diagnosis : { ...diagnosis, fix }

/** Raised by a check that cannot be made because of something that another check tells. */
export class SkippedError extends Error {
  override readonly name = 'SkippedError'
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** An amount of bytes for people: `1.5 GB`. */
export function bytes(amount: number): string {
  const power = amount < 1 ? 0 : Math.min(Math.floor(Math.log10(amount) / 3), UNITS.length - 1)
  const value = amount / 1000 ** power
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${UNITS[power]}`
}

/** A span of time for people: `3 minutes`. */
export function span(milliseconds: number): string {
  const seconds = Math.abs(milliseconds) / 1000
  const of = (amount: number, unit: string) => `${amount.toFixed(0)} ${unit}${Math.round(amount) === 1 ? '' : 's'}`
  if (seconds < 1) return `${Math.abs(milliseconds).toFixed(0)} ms`
  if (seconds < 120) return of(seconds, 'second')
  if (seconds < 7_200) return of(seconds / 60, 'minute')
  return seconds < 172_800 ? of(seconds / 3_600, 'hour') : of(seconds / 86_400, 'day')
}
