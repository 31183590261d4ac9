import { z } from 'zod'
import { shownName, text } from '../input.ts'

/** What a person may change of their own record; what is left out stays. */
export const profileInput = z.strictObject({
  displayName: shownName(100).optional(),
  description: text(1000).optional(),
  language: text(16).optional(),
  defaultTag: text(100).optional(),
  allowC2paDownload: z.boolean({ error: 'Must be a valid boolean.' }).optional(),
})

/** A change of one's record as a caller gives it. */
export type ProfileInput = z.input<typeof profileInput>
