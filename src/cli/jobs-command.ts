/** `annal jobs`. */
import { type Command, CommanderError } from 'commander'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, red, say, table, WRONG_USAGE } from './output.ts'
import { withDatabase } from './with-installation.ts'

interface JobsFlags {
  /** True: all of them. */
  retry?: true | string
  json?: true
}

/** Of the jobs that were given up, and of the items that sweeps cannot deal with, how many are listed. */
const LISTED = 100

/** Returns the UUID of a job from its public ID or its UUID. Throws CommanderError. */
async function uuidOfJob(given: string): Promise<string> {
  const { fromId, UUID } = await import('../shared/ids.ts')
  const id = given.toLowerCase()
  const uuid = UUID.test(id) ? id : fromId(id, 'job')?.uuid
  if (uuid === undefined) {
    throw new CommanderError(WRONG_USAGE, 'annal.jobs', 'Give the ID of a job as `annal jobs` shows it.')
  }
  return uuid
}

async function readJobs(retry: true | string | undefined) {
  const job = typeof retry === 'string' ? await uuidOfJob(retry) : null
  const { toId } = await import('../shared/ids.ts')
  const { withPublicItems } = await import('../jobs/run-batch-job.ts')
  const { countDead, countWaiting, findDead, retryJobs, subjectOf } = await import('../jobs/jobs.sql.ts')
  const { findSetbacks, retrySetbacks } = await import('../jobs/recorded-failures.sql.ts')
  return withDatabase(async (database) => {
    const [due] = retry ? await database.query(retryJobs, { job }) : []
    const [awake] = retry === true ? await database.query(retrySetbacks) : []
    return {
      retried: (due?.count ?? 0) + (awake?.count ?? 0),
      waiting: await database.query(countWaiting),
      failed: await database.query(countDead),
      deadLetters: (await database.query(findDead, { limit: LISTED })).map(({ id, data, nid, ...letter }) => ({
        id: toId('job', id),
        ...letter,
        subject: subjectOf(data, nid),
      })),
      setbacks: await withPublicItems(database, await database.query(findSetbacks, { limit: LISTED })),
    }
  })
}

type Jobs = Awaited<ReturnType<typeof readJobs>>

function printSetbacks({ setbacks }: Jobs) {
  if (setbacks.length === 0) return say(green('No sweep has an item that it cannot deal with.'))
  const lines = setbacks.map(({ sweep, item, since, attempts, next_attempt_at, last_error }) => [
    ...[sweep, item, since.toISOString(), String(attempts), next_attempt_at.toISOString(), last_error],
  ])
  print(table([['sweep', 'item', 'since', 'attempts', 'next attempt', 'why'], ...lines]))
  say(red(`${lines.length === LISTED ? 'At least ' : ''}${lines.length} could not be dealt with; all others are.`))
}

function printJobs({ waiting, failed, deadLetters }: Jobs) {
  const rows = [
    ...waiting.map((row) => ({ ...row, state: 'waiting' })),
    ...failed.map((row) => ({ ...row, state: 'failed' })),
  ].map(({ queue, state, count, oldest, last_error: error }) => [
    ...[queue, state, String(count), oldest.toISOString(), error ?? '-'],
  ])
  print(table([['queue', 'state', 'jobs', 'oldest', 'last error'], ...rows]))
  if (deadLetters.length === 0) return say(green('No job failed for good.'))
  const lines = deadLetters.map(({ id, queue, failed_at, attempts, can_be_retried, subject }) => [
    ...[id, queue, failed_at.toISOString(), String(attempts), can_be_retried ? 'yes' : 'no', JSON.stringify(subject)],
  ])
  print(table([['job', 'queue', 'given up', 'attempts', 'can be retried', 'subject'], ...lines]))
  const total = failed.reduce((sum, { count }) => sum + count, 0)
  say(red(`${counted(total, 'job')} failed for good.`))
  if (total > lines.length) say(`The newest ${lines.length} are listed.`)
}

/** Adds `annal jobs`. */
export function addJobsCommand(program: Command): void {
  command(
    program,
    'jobs',
    'Shows which background work waits, and what of it fails and why.',
    ['annal jobs', 'annal jobs --retry', 'annal jobs --retry job_01h455vb4pex5vsknk084sn02q'],
    `Of what failed for good, its kind and identifiers are kept, and it can be tried again where they are enough. A notice to an address that its
account has given up also keeps that address, for 30 days.`,
  )
    .option('--retry [job]', 'tries at once what waits for its next attempt, and anew what failed for good; or one job')
    .option('--json', 'prints {"retried", "waiting", "failed", "deadLetters", "setbacks"}')
    .action(async ({ retry, json }: JobsFlags) => {
      const jobs = await readJobs(retry)
      const found = !retry || retry === true || jobs.retried > 0
      if (!found) fail()
      if (json) return printJson(jobs)
      printJobs(jobs)
      printSetbacks(jobs)
      if (!found) say(red('There is no such job that could be tried again.'))
      else if (retry) say(`${counted(jobs.retried, 'is', 'are')} tried again now.`)
    })
}
