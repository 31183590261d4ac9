/** Commands `jobs` and `relay`. */
import type { Command } from 'commander'
import { fromId, toId, UUID } from '../shared/ids.ts'
import { command } from './command.ts'
import { counted, fail, green, printJson, printTable, red, report, usageError } from './terminal.ts'
import { loadCoins, withDatabase } from './with-infrastructure.ts'

/** Maximum number of listed dead letters and failures. */
const LISTED = 100

/** Returns a job's UUID from its public ID or UUID. Throws a usage error. */
function jobUuid(given: string): string {
  const id = given.toLowerCase()
  const uuid = UUID.test(id) ? id : fromId(id, 'job')?.uuid
  if (uuid === undefined) throw usageError('Expected the ID of a job as `annal jobs` shows it.')
  return uuid
}

async function readJobs(retry: true | string | undefined) {
  const job = typeof retry === 'string' ? jobUuid(retry) : null
  const { countDead, countWaiting, findDead, retryJobs, subjectOf } = await import('../jobs/jobs.sql.ts')
  const { findJobFailures, retryJobFailures, withPublicItems } = await import('../jobs/batch-jobs.ts')
  return withDatabase(async (database) => {
    const [jobs] = retry ? await database.query(retryJobs, { job }) : []
    const [failures] = retry === true ? await database.query(retryJobFailures) : []
    return {
      retried: (jobs?.count ?? 0) + (failures?.count ?? 0),
      waiting: await database.query(countWaiting),
      failed: await database.query(countDead),
      deadLetters: (await database.query(findDead, { limit: LISTED })).map(({ id, data, nid, ...letter }) => ({
        ...{ id: toId('job', id), ...letter, subject: subjectOf(data, nid) },
      })),
      failures: await withPublicItems(database, await database.query(findJobFailures, { limit: LISTED })),
    }
  })
}

type Jobs = Awaited<ReturnType<typeof readJobs>>

function printJobs({ waiting, failed, deadLetters }: Jobs) {
  const queues = [
    ...waiting.map((row) => ({ ...row, state: 'waiting' })),
    ...failed.map((row) => ({ ...row, state: 'failed' })),
  ]
  printTable(queues, 'queue', 'state', 'count', 'oldest', 'last_error')
  if (deadLetters.length === 0) return report(green('No job failed permanently.'))
  printTable(deadLetters, 'id', 'queue', 'failed_at', 'attempts', 'can_be_retried', 'subject')
  const total = failed.reduce((sum, { count }) => sum + count, 0)
  report(red(`${counted(total, 'job')} failed permanently.`))
  if (total > deadLetters.length) report(`The newest ${deadLetters.length} are listed.`)
}

function printFailures({ failures }: Jobs) {
  if (failures.length === 0) return report(green('No item of a batch job fails.'))
  printTable(failures, 'job', 'item', 'since', 'attempts', 'next_attempt_at', 'last_error')
  const count = counted(failures.length, 'item of a batch job fails', 'items of batch jobs fail')
  report(red(`${failures.length === LISTED ? 'At least ' : ''}${count}. All other items are processed.`))
}

async function readRelay(retry: boolean) {
  const { countDueWithdrawals } = await loadCoins()
  const { countByStatus, findWaiting, retryNow } = await import('../chain/relay/relay.sql.ts')
  return withDatabase(async (database) => {
    const [retried] = retry ? await database.query(retryNow) : []
    const counts = await database.query(countByStatus)
    const waiting = await database.query(findWaiting)
    const [withdrawals] = await database.query(countDueWithdrawals)
    return {
      ...{ retried: retried?.count ?? 0, counts, withdrawals },
      waiting: waiting.map((row) => ({ ...row, commit_id: toId('commit', row.commit_id) })),
    }
  })
}

export function addJobsCommands(program: Command): void {
  command(program, 'jobs', {
    description: 'Shows waiting and failed background jobs.',
    examples: ['annal jobs', 'annal jobs --retry', 'annal jobs --retry job_01h455vb4pex5vsknk084sn02q'],
    notes: `Annal keeps the kind and the IDs of a job that failed permanently. The job can be retried if they are enough. For a notice to an e-mail address
that its account no longer uses, Annal also keeps the address for 30 days.`,
    json: '{"retried", "waiting", "failed", "deadLetters", "failures"}',
  })
    .option('--retry [job]', 'retries all waiting and permanently failed jobs now, or one job')
    .action(async ({ retry, json }: { retry?: true | string; json?: true }) => {
      const jobs = await readJobs(retry)
      const isUnknown = typeof retry === 'string' && jobs.retried === 0
      if (isUnknown) fail()
      if (json) return printJson(jobs)
      printJobs(jobs)
      printFailures(jobs)
      if (isUnknown) report(red('There is no such job, or it cannot be retried.'))
      else if (retry) report(`${counted(jobs.retried, 'job is', 'jobs are')} retried now.`)
    })

  command(program, 'relay', {
    description: 'Shows commits on their way to the chain, and why some wait.',
    examples: ['annal relay', 'annal relay --retry'],
    json: '{"retried", "counts", "waiting", "withdrawals"}',
  })
    .option('--retry', 'retries waiting commits now')
    .action(async ({ retry = false, json }: { retry?: boolean; json?: true }) => {
      const { retried, counts, waiting, withdrawals } = await readRelay(retry)
      if (json) return printJson({ retried, counts, waiting, withdrawals })
      printTable(counts, 'status', 'count', 'oldest')
      if (withdrawals && withdrawals.count > 0) {
        const count = counted(withdrawals.count, 'withdrawal waits', 'withdrawals wait')
        report(red(`${count} until the treasury has ${withdrawals.amount} coins.`))
      }
      if (retry) report(`${counted(retried, 'commit is', 'commits are')} retried now.`)
      if (waiting.length === 0) return report(green('No commit waits because it could not be prepared.'))
      printTable(waiting, 'commit_id', 'nid', 'attempts', 'next_attempt_at', 'last_error')
      report(red(`${counted(waiting.length, 'commit waits', 'commits wait')}, and later commits of the same assets.`))
    })
}
