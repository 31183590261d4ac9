import type { Log } from '../shared/log.ts'

/**
 * Logs rejections that nobody waits for, by which Node would end the process. One is a mistake of ours in one request or job; the others
 * are not ended with it, and nothing is half done: what is written is written in transactions.
 */
export const logUnhandledRejections = (log: Pick<Log, 'error'>) =>
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled promise rejection'))
