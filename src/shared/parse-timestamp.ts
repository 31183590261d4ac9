import { z } from 'zod'

const moment = z.iso.datetime({ offset: true })

/** A moment as ISO 8601 has it, with its offset from UTC: `2026-11-21T09:30:00Z`. Undefined for anything else, 30 February included. */
export function parseMoment(text: string): Date | undefined {
  const { success, data } = moment.safeParse(text)
  return success ? new Date(data) : undefined
}
