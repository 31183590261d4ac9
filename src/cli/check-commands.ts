/** Commands `check` and `repair`. */
import type { Command } from 'commander'
import type { Database, Finding } from '../db/database-types.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { toId } from '../shared/ids.ts'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, printRows, red, report } from './terminal.ts'
import { loadCoins, withChain, withInfrastructure } from './with-infrastructure.ts'

/** Maximum number of printed rows per violated invariant. */
const SHOWN_ROWS = 20

/** Returns the findings W1 to W4: commits, jobs, batch job items and withdrawals that wait for an operator. */
export async function findWaitingWork({ query }: Pick<Database, 'query'>): Promise<Finding[]> {
  const { findWaiting } = await import('../chain/relay/relay.sql.ts')
  const { findingOf, MOST_ROWS } = await import('../db/database-types.ts')
  const { findDead, subjectOf } = await import('../jobs/jobs.sql.ts')
  const { findJobFailures, withPublicItems } = await import('../jobs/batch-jobs.ts')
  const { countDueWithdrawals, findUnaccepted } = await loadCoins()
  const limit = MOST_ROWS + 1
  const commits = (await query(findWaiting)).map(({ commit_id, last_error, ...row }) => ({
    ...{ subject: toId('commit', commit_id), ...row, problem: last_error },
  }))
  const jobs = (await query(findDead, { limit })).map(({ id, queue, data, nid, failed_at, error }) => ({
    ...{ subject: toId('job', id), queue, about: subjectOf(data, nid), failed_at, problem: error },
  }))
  const failures = await withPublicItems({ query }, await query(findJobFailures, { limit }))
  const items = failures.map(({ job, item, attempts, since, last_error }) => ({
    ...{ subject: item, batchJob: job, attempts, since, problem: last_error },
  }))
  const late = (await query(countDueWithdrawals)).filter((row) => row.count > 0 && row.late)
  const withdrawals = late.map(({ count, amount, oldest }) => ({
    ...{ subject: 'withdrawals', count, amount, oldest },
    problem: 'the treasury lacks coins, or the chain does not answer',
  }))
  const rejected = (await query(findUnaccepted)).map(({ treasury, ...row }) => ({
    ...{ subject: treasury, ...row },
    problem: 'no node accepts the transaction that was signed for this nonce; the log has the reason',
  }))
  return [
    findingOf('W1', 'No commit waits because it could not be prepared for the chain (`annal relay`).', commits),
    findingOf('W2', 'No background job failed permanently (`annal jobs`).', jobs),
    findingOf('W3', 'No item of a batch job fails (`annal jobs`).', items),
    findingOf('W4', 'No withdrawal has been due for more than ten minutes.', [...withdrawals, ...rejected]),
  ]
}

/** Checks the chain. Returns no findings, and does not start the chain, if no commit was ever sent to it. */
async function checkChain(infrastructure: Infrastructure): Promise<Finding[]> {
  const { database, config } = infrastructure
  const { findSetting, keyValueKeys } = await import('../db/key-value-store.ts')
  if ((await database.query(findSetting, { key: keyValueKeys.chain })).length === 0) return []
  const { recordersOf } = await import('../chain/create-chain.ts')
  const { findingOf, MOST_ROWS } = await import('../db/database-types.ts')
  const { checkChain: checkCommits } = await import('../chain/check-chain.ts')
  const { checkCoins, checkDeposits } = await loadCoins()
  return withChain(infrastructure, async ({ registry }) => {
    const parts = { database, registry, recorders: await recordersOf(config, infrastructure), most: MOST_ROWS + 1 }
    const findings = [...(await checkCommits(parts)), await checkDeposits(parts), ...(await checkCoins(parts))]
    return findings.map(({ id, sentence, rows, isNote }) => findingOf(id, sentence, rows, isNote))
  })
}

async function checkAll(infrastructure: Infrastructure): Promise<Finding[]> {
  const { database, config } = infrastructure
  const { checkInvariants, checkTables } = await import('../db/invariants/check-invariants.ts')
  const tables = await checkTables(database)
  // All other checks need complete tables.
  if (tables.rows.length > 0) return [tables]
  const { checkOwners, checkSealed } = await import('../keys/check-keys.ts')
  const { checkFiles } = await import('../modules/assets/pinned-files.ts')
  return [
    ...(await checkInvariants(database, { connections: config.database.pool })),
    tables,
    await checkSealed(infrastructure),
    ...(await checkOwners(infrastructure)),
    await checkFiles(infrastructure),
    ...(await checkChain(infrastructure)),
    ...(await findWaitingWork(database)),
  ]
}

const describeRows = ({ rows, isCut, isNote }: Pick<Finding, 'rows' | 'isCut' | 'isNote'>) =>
  rows.length === 0 ? 'ok' : `${isCut ? 'more than ' : ''}${rows.length} ${isNote ? 'to note' : 'wrong'}`

export function addCheckCommands(program: Command): void {
  command(program, 'check', {
    description:
      'Checks that ledger, histories, keys, files and chain agree, and that no work waits for an operator. Exits with 1 if there is a problem.',
    examples: ['annal check', `annal check --json | jq '.[] | select(.holds | not)'`],
    json: 'every invariant with the first rows that violate it; "isCut": there are more rows, "isNote": not a problem',
  }).action(async ({ json }) => {
    const findings = await withInfrastructure(checkAll)
    const hasProblem = findings.some(({ rows, isNote }) => rows.length > 0 && !isNote)
    if (hasProblem) fail()
    const results = findings.map(({ invariant: { id, sentence }, rows, isCut, isNote = false }) => ({
      ...{ id, sentence, holds: !rows.length, rows, isCut, isNote },
    }))
    if (json) return printJson(results)
    printRows(results.map((result) => [result.id, describeRows(result), result.sentence]))
    for (const { id, rows } of results) {
      for (const row of rows.slice(0, SHOWN_ROWS)) print(`${id}  ${JSON.stringify(row)}`)
      if (rows.length > SHOWN_ROWS) print(`${id}  more rows; --json shows ${rows.length}`)
    }
    if (hasProblem)
      report(red('Problems found. docs/reference/check-findings.md describes each finding and what to do.'))
    else report(green('No problems found.'))
  })

  command(program, 'repair', {
    description: 'Rebuilds missing trees and thumbnails in the file store from the database.',
    examples: ['annal repair'],
    json: '{"trees", "thumbnails", "signed", "missing"}',
  }).action(async ({ json }) => {
    const { repairFiles } = await import('../modules/assets/pinned-files.ts')
    const repaired = await withInfrastructure(repairFiles)
    const { trees, thumbnails, signed, missing } = repaired
    if (missing.length) fail()
    if (json) return printJson(repaired)
    print(`${counted(trees, 'tree')} restored`)
    print(`${counted(thumbnails, 'thumbnail')} queued; a running server makes them`)
    print(`${counted(signed, 'file')} with Content Credentials: signed again on the next request`)
    for (const row of missing) print(JSON.stringify(row))
    if (missing.length)
      report(red(`${counted(missing.length, 'file')} cannot be rebuilt. Restore the blocks, or upload the file again.`))
  })
}
