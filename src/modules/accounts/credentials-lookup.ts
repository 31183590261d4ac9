import type { Database } from '../../db/database-types.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { findCredentials } from './accounts.sql.ts'
import type { Guess } from './password-check.ts'

/** Finds the credentials of whom an address leads to, for sign-ins that came together at once; undefined when it leads to nobody. */
export const createCredentialsLookup = (database: Pick<Database, 'query'>) =>
  createBatchLoader(async (emails: string[]) => {
    const rows = await database.query(findCredentials, { emails })
    const found = new Map(rows.map((row) => [row.position, row]))
    return emails.map((_, index) => found.get(index + 1))
  })

/** Whose password a guess by an address is of. */
export const guessedAt = (found: { id: string; password_hash: string } | undefined, email: string): Guess['account'] =>
  found ? { user: found.id, passwordHash: found.password_hash } : { email }
