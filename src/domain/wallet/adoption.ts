/** Takes transactions of coins into the books that only the chain knows of, after the database came back from a backup. */
import type { Adoption } from '../ports/coins.ts'
import type { Database } from '../ports/database.ts'
import { storeUnclaimed } from './adoption-statements.ts'
import { columnsOf, storeMove } from './coin-service.ts'
import { storeWithdrawal } from './withdrawal-statements.ts'

/**
 * Takes them in, in this order: of a treasury the nonces must ascend, because withdrawals wait while the chain counts more of them than the
 * books. False, with all before it taken in, when one cannot be, because something changed since they were compared.
 */
export async function adopt({ query }: Pick<Database, 'query'>, adoptions: readonly Adoption[]): Promise<boolean> {
  for (const adoption of adoptions) {
    const stored = await store(query, adoption)
    if (!stored) return false
  }
  return true
}

async function store(query: Database['query'], adoption: Adoption): Promise<boolean> {
  if (adoption.kind === 'GATHERING') return storeMove(query, adoption.move)
  const { move, claim } = adoption
  const columns = columnsOf(move)
  const stored = claim
    ? await query(storeWithdrawal, { ...columns, user: claim.userId, withdrawal: claim.id })
    : await query(storeUnclaimed, { ...columns, user: null })
  return stored.length > 0
}
