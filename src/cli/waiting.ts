/** What waits for an operator, told like what contradicts an invariant: for `annal check`. */
import { findWaiting } from '../chain/relay/commit-signer.sql.ts'
import type { Database } from '../db/database-types.ts'
import { type Finding, findingOf, MOST_ROWS } from '../db/invariants/finding.ts'
import { findDead, subjectOf } from '../jobs/jobs.sql.ts'
import { findSetbacks } from '../jobs/recorded-failures.sql.ts'
import { withPublicItems } from '../jobs/run-batch-job.ts'
import { countDueWithdrawals, findUntaken } from '../modules/coins/withdrawals.sql.ts'
import { toId } from '../shared/ids.ts'

/** The findings W1 (commits), W2 (jobs), W3 (items of sweeps) and W4 (withdrawals); at most `MOST_ROWS` rows are shown of each. */
export async function findWaitingWork({ query }: Pick<Database, 'query'>): Promise<Finding[]> {
  const commits = (await query(findWaiting)).map(({ commit_id, nid, attempts, next_attempt_at, last_error }) => ({
    subject: toId('commit', commit_id),
    ...{ nid, attempts, next_attempt_at, problem: last_error },
  }))
  const jobs = (await query(findDead, { limit: MOST_ROWS + 1 })).map(({ id, queue, data, nid, failed_at, error }) => ({
    ...{ subject: toId('job', id), queue, about: subjectOf(data, nid), failed_at, problem: error },
  }))
  const items = (await withPublicItems({ query }, await query(findSetbacks, { limit: MOST_ROWS + 1 }))).map(
    ({ sweep, item, attempts, since, last_error }) => ({
      ...{ subject: item, sweep, attempts, since, problem: last_error },
    }),
  )
  const due = (await query(countDueWithdrawals)).filter(({ count, late }) => count > 0 && late)
  const withdrawals = due.map(({ count, amount, oldest }) => ({
    ...{
      subject: 'withdrawals',
      count,
      amount,
      oldest,
      problem: 'the treasury is short of coins, or the chain is away',
    },
  }))
  const untaken = (await query(findUntaken)).map(({ treasury, ...row }) => ({
    subject: treasury,
    ...row,
    problem: 'no node takes what is signed for at this nonce, for a reason that the log tells',
  }))
  return [
    findingOf('W1', 'No commit waits because it could not be made ready for the chain (`annal relay`).', commits),
    findingOf('W2', 'No background job failed for good (`annal jobs`).', jobs),
    findingOf('W3', 'No sweep has an item that it cannot deal with (`annal jobs`).', items),
    findingOf('W4', 'No withdrawal that is due, or signed for, waits for ten minutes.', [...withdrawals, ...untaken]),
  ]
}
