/** Looks at what must never go wrong: each invariant is a query that returns no rows. */

import { accountInvariants } from '../../modules/accounts/account-invariants.ts'
import { historyInvariants } from '../../modules/commits/commits.sql.ts'
import { orderInvariants } from '../../modules/store/order-invariants.ts'
import { bookInvariants } from '../../modules/wallet/ledger-invariants.ts'
import { publicReference } from '../../modules/wallet/statement.ts'
import type { Database } from '../database-types.ts'
import { statement, text } from '../sql.ts'
import { type Finding, MOST_ROWS } from './finding.ts'
import type { Invariant } from './invariant.ts'

/** All of them. Each query sees one moment of the database, so it may run beside a busy service. */
export const invariants: Invariant[] = [
  ...bookInvariants,
  ...orderInvariants,
  ...historyInvariants,
  ...accountInvariants,
]

/** Milliseconds. A request has a few seconds; this takes as long as the books are large. */
const PATIENCE_MS = 3_600_000
/** For the statements of this transaction: as long as the books are large. */
const patiently = statement(
  'invariant_timeout',
  { columns: { timeout: text } },
  `select set_config('statement_timeout', '${PATIENCE_MS}', true) as timeout`,
)

const looks = invariants.map((invariant) => ({
  invariant,
  firstRows: statement(
    `invariant_${invariant.id}`,
    { columns: invariant.columns ?? { subject: text, problem: text }, patience: PATIENCE_MS },
    `select * from (${invariant.query}) as wrong limit ${MOST_ROWS + 1}`,
  ),
}))

const withPublicIds = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? publicReference(value) : value]),
  )

/** Connections that are used for it, where the pool has them: PostgreSQL answers each with one processor. */
const AT_ONCE = 2

/**
 * Holds the database to every invariant, two at a time where its pool has as many `connections`, else one after the other. Locks nothing.
 * Raises what the first that could not be asked raised.
 */
export async function checkInvariants(database: Database, { connections = 1 } = {}): Promise<Finding[]> {
  const findings: Finding[] = []
  const turns = looks.entries()
  const takeTurns = async () => {
    for (const [turn, { invariant, firstRows }] of turns) {
      const rows = await database.transaction(async (query) => {
        await query(patiently)
        return query(firstRows)
      })
      findings[turn] = { invariant, rows: rows.slice(0, MOST_ROWS).map(withPublicIds), isCut: rows.length > MOST_ROWS }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, connections) }, takeTurns))
  return findings
}
