/** What others committed to a file on the chain, for readers of the asset. Contract: `Asset.foreignCommits`, `GET /api/v3/assets/{nid}/foreign-commits/`. */
import { validationFailed } from '../errors.ts'
import type { Database } from '../ports/database.ts'
import { readInt } from '../sql.ts'
import type { StatementPage } from '../wallet/statement-service.ts'
import {
  countForeignCommits,
  type ForeignCommit,
  readForeignCommits,
  readForeignCommitsUp,
} from './foreign-commit-statements.ts'

/** Where a commit by somebody else stands on the chain, as a cursor has it. */
export const placeOfForeignCommit = ({ block_number, log_index }: ForeignCommit): string =>
  `${block_number}:${log_index}`

/** What a cursor says; of both, null where there is none. Raises VALIDATION_FAILED. */
function placeFrom(name: 'after' | 'before', cursor: string | undefined) {
  if (cursor === undefined) return { block: null, index: null }
  const [block, index, ...rest] = cursor.split(':').map(readInt)
  if (block === undefined || index === undefined || rest.length > 0)
    throw validationFailed({ [name]: ['Not a cursor of this connection.'] })
  return { block, index }
}

/** Commits by others. Whoever sees an asset may see them: they stand on a public chain. */
export function createForeignCommitService({ database }: { database: Database }) {
  return {
    /** Those to a file, newest first. Raises VALIDATION_FAILED. */
    async list(
      nid: string,
      { limit, offset = 0, after, before, inverted = false }: StatementPage,
    ): Promise<ForeignCommit[]> {
      const [older, newer] = [placeFrom('after', after), placeFrom('before', before)]
      return database.query(inverted ? readForeignCommitsUp : readForeignCommits, {
        ...{ nid, limit, offset, olderBlock: older.block, olderIndex: older.index },
        ...{ newerBlock: newer.block, newerIndex: newer.index },
      })
    },

    /** How many of those are kept, and whether there are more. */
    async count(nid: string): Promise<{ count: number; isCut: boolean }> {
      const [row] = await database.query(countForeignCommits, { nid })
      return { count: row?.count ?? 0, isCut: row?.is_cut ?? false }
    },
  }
}
