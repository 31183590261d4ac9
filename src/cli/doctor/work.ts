/** Checks of the work in the background. */
import { counted } from '../output.ts'
import { type Diagnosis, right, span, toKnow, warning, wrong } from './diagnosis.ts'
import { readWebhooks } from './doctor-statements.ts'
import type { Parts } from './parts.ts'

const OVERDUE_MS = 10 * 60_000
const MOST = 100

/** Jobs that failed for good, or that nobody carries out. */
export async function checkJobs(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const { countDead, countWaiting } = await import('../../jobs/jobs.sql.ts')
  const diagnoses = (await database.query(countDead)).map(({ queue, count, last_error: error }) =>
    wrong(
      `${counted(count, 'job')} of ${queue} failed for good${error ? `: ${error}` : '.'}`,
      '`annal jobs` lists them; mend the reason, then `annal jobs --retry`.',
    ),
  )
  const waiting = await database.query(countWaiting)
  for (const { queue, count, next_attempt_at: due } of waiting) {
    const late = Date.now() - due.getTime()
    if (late < OVERDUE_MS) continue
    const finding = `${counted(count, 'job')} of ${queue} wait${count === 1 ? 's' : ''}, the first for ${span(late)} longer than it should.`
    diagnoses.push(warning(finding, 'Look whether a server runs, and what its log says.'))
  }
  const total = waiting.reduce((sum, { count }) => sum + count, 0)
  return diagnoses.length ? diagnoses : [right(`No job failed for good; ${counted(total, 'waits', 'wait')}.`)]
}

/** Roles that no process has. */
export async function checkRoles(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const { readProcesses, rolesWithout } = await import('../../db/heartbeat.ts')
  const processes = await readProcesses(database)
  if (processes.length === 0) return [toKnow('No process of this installation runs.')]
  const tell = processes.map(({ name, roles, seconds }) => `${name} ${roles.join(',')} for ${span(seconds * 1_000)}`)
  const missing = rolesWithout(processes)
  if (missing.length === 0) return [right(`Each role has a process: ${tell.join('; ')}.`)]
  return missing.map((role) =>
    wrong(
      `No process has the role ${role}. There are: ${tell.join('; ')}.`,
      `Start one with it, \`annal serve --roles ${role}\`, or give it to one that runs (ROLES).`,
    ),
  )
}

/** Items that sweeps cannot deal with. */
export async function checkSweeps(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const { findSetbacks } = await import('../../jobs/recorded-failures.sql.ts')
  const { withPublicItems } = await import('../../jobs/run-batch-job.ts')
  const setbacks = await withPublicItems(database, await database.query(findSetbacks, { limit: MOST }))
  if (setbacks.length === 0) return [right('Sweeps deal with everything.')]
  const [first] = setbacks
  const finding = `Sweeps cannot deal with ${setbacks.length === MOST ? 'at least ' : ''}${counted(setbacks.length, 'item')}, such as ${first!.item} of ${first!.sweep}: ${first!.last_error}`
  return [wrong(finding, '`annal jobs` lists them; docs/operations.md tells what each means.')]
}

/** Whether anybody waits for coins of the treasury. */
export async function checkWithdrawals(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const { countDueWithdrawals } = await import('../../modules/coins/withdrawals.sql.ts')
  const [due] = await database.query(countDueWithdrawals)
  if (!due?.late) return [right('No withdrawal waits for the treasury.')]
  const finding = `${counted(due.count, 'withdrawal waits', 'withdrawals wait')} for ${due.amount} coins, the oldest for ${span(Date.now() - due.oldest!.getTime())}.`
  return [
    wrong(finding, 'Send coins to the treasury, whose address is in the log; or look at the checks of the chain.'),
  ]
}

/** Webhooks that were given up, and receivers that are gone. */
export async function checkWebhooks(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const [found] = await database.query(readWebhooks)
  const { givenUp, overdue, waiting, disabled } = found!
  const diagnoses: Diagnosis[] = []
  if (givenUp > 0) {
    const finding = `${counted(givenUp, 'webhook was', 'webhooks were')} given up in the last 7 days.`
    diagnoses.push(
      warning(finding, '`annal webhooks list --status given-up` shows why; `annal webhooks replay` calls again.'),
    )
  }
  if (disabled > 0) {
    const finding = `${counted(disabled, 'network app has', 'network apps have')} a receiver that said it is gone (410).`
    diagnoses.push(warning(finding, 'Set a new webhook_url for it; nothing is called until then.'))
  }
  if (overdue > 0) {
    const finding = `${counted(overdue, 'webhook')} should have been called more than ${span(OVERDUE_MS)} ago.`
    diagnoses.push(warning(finding, 'Look whether a server runs, and what its log says.'))
  }
  if (diagnoses.length) return diagnoses
  return [
    waiting
      ? toKnow(`${counted(waiting, 'webhook')} failed and wait to be tried again.`)
      : right('No webhook was given up.'),
  ]
}
