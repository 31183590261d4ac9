/** A moment of an asset's history, as callers name it: a time, or a commit. */
import { validationFailed } from '../errors.ts'
import { fromId } from '../ids.ts'
import { parseMoment } from '../parse-moment.ts'

/** The newest commit up to a time, or that commit. */
export type Moment = { time: Date } | { commit: string }

/** What callers may write. */
export const momentDescription =
  'a time (`2026-11-22T10:00:00Z`, or seconds since 1970, which mean the end of that second) or the identifier of a commit (`commit_01h2x…`)'

/** More than this many seconds are milliseconds. */
const MAX_SECONDS = 100_000_000_000

/** `timestampCreated` is cut to seconds: what was committed within that second counts. */
const endOf = (seconds: number) => seconds * 1_000 + 999

/** A commit is told by its UUID. `name` is that of the argument. Raises VALIDATION_FAILED. */
export function readMoment(text: string, name: string): Moment {
  const commit = fromId(text, 'commit')
  if (commit) return { commit: commit.uuid }
  if (/^\d{1,15}$/.test(text)) {
    const number = Number(text)
    return { time: new Date(number > MAX_SECONDS ? number : endOf(number)) }
  }
  const time = parseMoment(text)
  if (time) return { time }
  throw validationFailed({ [name]: [`Expected ${momentDescription}.`] })
}
