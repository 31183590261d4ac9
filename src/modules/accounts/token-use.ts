import type { Database } from '../../db/database-types.ts'
import { arrayOf, statement, uuid } from '../../db/sql.ts'

/**
 * Notes that these tokens were used now. Another process that tells the same holds the row: then it is told. Waiting could
 * end in a deadlock.
 */
const recordUse = statement(
  'account_token_use',
  { parameters: { tokens: arrayOf(uuid) } },
  `update access_tokens set last_used_at = now()
   where id in (select id from access_tokens where id = any ($tokens) for no key update skip locked)`,
)

/** Notes which sessions were used; what `createTokenUse` makes. */
export type TokenUse = ReturnType<typeof createTokenUse>

/** When access tokens were last used. Noted in memory and written together: a request must not cost a write. */
export function createTokenUse({ database }: { database: Database }) {
  let used = new Set<string>()

  return {
    /** A request came with this token. */
    note(tokenId: string): void {
      used.add(tokenId)
    },

    /** Writes down what was noted. What could not be written is kept for the next time. */
    async record(): Promise<void> {
      if (used.size === 0) return
      const noted = used
      used = new Set()
      try {
        await database.query(recordUse, { tokens: [...noted] })
      } catch (error) {
        for (const id of noted) used.add(id)
        throw error
      }
    },
  }
}
