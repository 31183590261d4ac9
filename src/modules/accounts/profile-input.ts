import { z } from 'zod'
import { displayName, trimmedText } from '../../shared/input.ts'

/** What a person may change of their own record; what is left out stays. */
export const profileInput = z.strictObject({
  displayName: displayName(100).optional(),
  description: trimmedText(1000).optional(),
  language: trimmedText(16).optional(),
  defaultTag: trimmedText(100).optional(),
  allowC2paDownload: z.boolean({ error: 'Must be a valid boolean.' }).optional(),
})

/** A change of one's record as a caller gives it. */
export type ProfileInput = z.input<typeof profileInput>
