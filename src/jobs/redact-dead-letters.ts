/** Removes personal data from dead letters. Notices that can still be sent keep their addresses. */

import { keysetPages } from '../shared/async.ts'
import { NIL_UUID } from '../shared/ids.ts'
import { findUnredacted, redactLetters } from './jobs.sql.ts'

/** Dead letters per statement. A small number keeps row locks short. */
const PORTION = 500

/** Access to pg-boss's tables. */
export interface RedactionParts {
  ask(text: string, values: readonly unknown[]): Promise<{ rows: { id: string }[] }>
  /** Called for a dead letter that cannot be redacted. */
  tell(id: string, error: unknown): void
  /** Stops the work between two statements. */
  cancel: AbortSignal
}

/** Returns true if the rows caused the error, not the database or the connection. */
const isOfRows = (error: unknown) =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(?!08|53|57)[\dA-Z]{5}$/.test(error.code)

/** Redacts all dead letters. If a statement fails, redacts its letters one by one. Throws while the database is unavailable. */
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
