/** Takes everything out of dead letters that could tell of a person, but for what it takes to carry a notice out again. */
import { NIL_UUID } from '../../domain/ids.ts'
import { keysetPages } from '../../domain/keyset-pages.ts'
import { findUnredacted, redactLetters } from './job-statements.ts'

/** Letters of one statement: so few that nobody waits for it, however many there are. */
const PORTION = 500

/** How the queue's tables are asked, and whom trouble is told to. */
export interface RedactionParts {
  ask(text: string, values: readonly unknown[]): Promise<{ rows: { id: string }[] }>
  /** A letter that cannot be redacted. */
  tell(id: string, error: unknown): void
  /** Ends it between two portions. */
  cancel: AbortSignal
}

/** Whether it was the fault of what the statement was about, and not of the database or of the way to it. */
const isOfRows = (error: unknown) =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(?!08|53|57)[\dA-Z]{5}$/.test(error.code)

/** A portion that fails is done letter by letter, so that one keeps no other from its turn. Raises while the database is away. */
export async function redactDeadLetters({ ask, tell, cancel }: RedactionParts): Promise<void> {
  const portions = keysetPages({
    first: NIL_UUID,
    limit: PORTION,
    read: async (after, limit) => (await ask(findUnredacted, [after, limit])).rows,
    keyOf: ({ id }) => id,
  })
  for await (const rows of portions) {
    if (cancel.aborted) return
    const ids = rows.map(({ id }) => id)
    try {
      await ask(redactLetters, [ids])
    } catch (error) {
      if (!isOfRows(error)) throw error
      for (const id of ids) {
        await ask(redactLetters, [[id]]).catch((cause: unknown) => {
          if (!isOfRows(cause)) throw cause
          tell(id, cause)
        })
      }
    }
  }
}
