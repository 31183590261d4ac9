import { RefusedRecipientError } from './errors.ts'
import type { Log } from './ports/log.ts'

/** For a mail that may be lost: what it tells stands elsewhere, or is asked for again. One line of the log says that it was. */
export const dropIfRefused = (log: Pick<Log, 'warn'>, mail: string) => (error: unknown) => {
  if (!(error instanceof RefusedRecipientError)) throw error
  log.warn({ mail, status: error.status }, 'The mail server refuses a recipient for good; the mail is dropped')
}
