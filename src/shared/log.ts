/** What is told to operators. */

/** Told of one item among many that could not be dealt with, and why; the others are. */
export type OnError = (item: string, error: unknown) => void

/** A log of JSON lines: facts, and a sentence for people. Secrets never go into either. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}
