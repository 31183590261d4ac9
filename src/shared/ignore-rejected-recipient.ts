import { RefusedRecipientError } from './errors.ts'
import type { Log } from './log.ts'

/** Handles the rejection of a recipient by dropping the mail, for mails that may be lost. `about` describes the mail in the log. */
export const dropIfRefused = (log: Pick<Log, 'warn'>, about: object) => (error: unknown) => {
  if (!(error instanceof RefusedRecipientError)) throw error
  log.warn({ ...about, status: error.status }, 'Mail dropped: the mail server rejected its recipient')
}
