import { readInt } from '../../db/sql.ts'
import { validationFailed } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'

/** Where somebody stands in a feed: at a sequence, or at an event they know by its UUID. */
export type Position = { sequence: number } | { eventId: string }

/** Reads a cursor, a `Last-Event-ID` or an identifier. Raises VALIDATION_FAILED, naming `field`. */
export function readPosition(field: string, text: string): Position {
  const sequence = readInt(text)
  if (sequence !== undefined) return { sequence }
  const found = fromId(text, 'event')
  if (!found) throw validationFailed({ [field]: ['Expected the identifier of an event, or its sequence.'] })
  return { eventId: found.uuid }
}
