/** Checks of the database and its background work. */
import type { ConnectedDatabase } from '../../db/database.ts'
import { FixableError } from '../../shared/operator-errors.ts'
import { counted } from '../terminal.ts'
import { loadCoins } from '../with-infrastructure.ts'
import {
  type Diagnosis,
  failure,
  formatBytes,
  formatDuration,
  info,
  messageOf,
  ok,
  type Parts,
  SkippedError,
  warning,
} from './diagnosis.ts'
import { readArchiver, readClock, readReplication, readServer, readWebhooks } from './doctor.sql.ts'

export async function checkDatabase(parts: Parts): Promise<Diagnosis[]> {
  const { database: configured } = await parts.config()
  try {
    const directUrl = await parts.openDatabaseUrl()
    const { assertOwnSessions } = await import('../../db/session-settings.ts')
    const isPooled = configured.url !== undefined && configured.url !== directUrl
    await assertOwnSessions(directUrl, isPooled ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL')
    return [ok(`${configured.url ? 'DATABASE_URL' : 'The embedded PostgreSQL'} answers.`)]
  } catch (error) {
    if (error instanceof SkippedError || error instanceof FixableError) throw error
    const fix = configured.url ? 'Correct DATABASE_URL and DATABASE_DIRECT_URL.' : 'Read postgres.log in ANNAL_DIR.'
    return [failure(`The database is not available: ${messageOf(error)}`, fix)]
  }
}

/** Checks that the tables match this version. */
export async function checkMigrations(parts: Parts): Promise<Diagnosis[]> {
  const url = await parts.openDatabaseUrl()
  const { assertOwnSessions } = await import('../../db/session-settings.ts')
  await assertOwnSessions(url).catch(() => {
    throw new SkippedError('The database is not available.')
  })
  const { assertMigrated } = await import('../../db/migrations.ts')
  const { assertDatabaseNotLost } = await import('../../keys/lost-database.ts')
  await assertDatabaseNotLost(url, (await parts.config()).dir)
  await assertMigrated(url)
  const { checkTables } = await import('../../db/invariants/check-invariants.ts')
  const [first] = (await checkTables(await parts.database())).rows
  if (!first) return [ok('The database is up to date.')]
  const fix = '`annal check` lists all problems. docs/reference/check-findings.md describes what to do (T1).'
  return [failure(`The tables are damaged: ${first.subject} ${first.problem}.`, fix)]
}

const OLDEST_SERVER = 180_000
/** Share of used connections from which the check warns. */
const CROWDED = 0.8

/** Checks version, durability and connections of the database server. */
export async function checkDatabaseServer(parts: Parts): Promise<Diagnosis[]> {
  const { pool } = (await parts.config()).database
  const [server] = await (await parts.database()).query(readServer)
  const { number, version, mostConnections, connections, isDurable, mayLoseLast, isCompiling, bytes } = server!
  const diagnoses: Diagnosis[] = []
  if (number < OLDEST_SERVER)
    diagnoses.push(failure(`PostgreSQL ${version} is too old.`, 'Upgrade to 18 with `pg_upgrade` or a dump.'))
  if (!isDurable) {
    const finding = 'fsync or full_page_writes is off: a crash of the machine can lose or damage all data.'
    diagnoses.push(failure(finding, 'Set both to `on` in postgresql.conf, and restart PostgreSQL.'))
  }
  if (mayLoseLast) {
    const finding = 'synchronous_commit is off: a crash loses the latest acknowledged payments.'
    diagnoses.push(failure(finding, 'Set it to `on`.'))
  }
  if (pool * 2 > mostConnections) {
    const finding = `Each process uses up to ${pool} of ${mostConnections} connections (max_connections).`
    diagnoses.push(warning(finding, 'Lower DATABASE_POOL, or raise max_connections.'))
  } else if (connections > mostConnections * CROWDED) {
    const finding = `${connections} of ${mostConnections} connections of the server are in use.`
    diagnoses.push(warning(finding, 'Raise max_connections, or lower DATABASE_POOL of each process.'))
  }
  if (isCompiling) {
    const finding = 'jit is on: the compilation of a statement can take longer than its execution.'
    diagnoses.push(info(finding, 'Turn it off for this database: ALTER DATABASE … SET jit = off.'))
  }
  if (diagnoses.length) return diagnoses
  const size = formatBytes(Number(bytes))
  return [ok(`PostgreSQL ${version}, ${size}, ${connections} of ${mostConnections} connections.`)]
}

/** Checks that acknowledged writes survive the loss of the primary server. */
export async function checkReplication(parts: Parts): Promise<Diagnosis[]> {
  const { database: configured } = await parts.config()
  const [replication] = await (await parts.database()).query(readReplication)
  const { synchronousCommit, waitsForStandbys, standbys, synchronous } = replication!
  const see = 'See docs/how-to/fail-over-postgresql.md.'
  if (!waitsForStandbys && standbys > 0) {
    const finding = 'Replication is asynchronous: a failover loses the latest acknowledged writes.'
    return [warning(finding, `Set synchronous_standby_names. ${see}`)]
  }
  if (!waitsForStandbys) {
    const finding = 'The database has no standby server.'
    return [configured.url ? info(finding, `Ignore this if a managed service replicates it. ${see}`) : ok(finding)]
  }
  if (['off', 'local'].includes(synchronousCommit)) {
    const finding = `synchronous_commit is ${synchronousCommit}: a failover may lose acknowledged writes.`
    return [warning(finding, 'Set it to `on`.')]
  }
  if (synchronous === 0) {
    const finding = 'No synchronous standby is connected: every write waits for one.'
    return [failure(finding, `Start a standby that synchronous_standby_names names, or remove the setting. ${see}`)]
  }
  return [ok(`Acknowledged writes are on a synchronous standby (synchronous_commit is ${synchronousCommit}).`)]
}

const SKEW_WARNING_MS = 1_000
/** Clock difference above which the check fails. Signed links and Kubo's garbage collection fail then. */
const SKEW_FAILURE_MS = 300_000

async function measureSkew({ query }: ConnectedDatabase): Promise<number> {
  // The first query opens a connection, which would distort the measurement.
  await query(readClock)
  const before = Date.now()
  const [clock] = await query(readClock)
  return clock!.now.getTime() - (before + Date.now()) / 2
}

export async function checkClock(parts: Parts): Promise<Diagnosis[]> {
  const skew = await measureSkew(await parts.database())
  const finding = `The clock of this machine is ${formatDuration(skew)} ${skew > 0 ? 'behind' : 'ahead of'} that of the database.`
  const fix = 'Synchronize both clocks with NTP (chrony, systemd-timesyncd).'
  if (Math.abs(skew) > SKEW_FAILURE_MS) return [failure(finding, fix)]
  if (Math.abs(skew) > SKEW_WARNING_MS) return [warning(finding, fix)]
  return [ok(`The clocks of this machine and the database differ by ${formatDuration(skew)}.`)]
}

const OLD_ARCHIVE_MS = 86_400_000

export async function checkBackups(parts: Parts): Promise<Diagnosis[]> {
  const [archiver] = await (await parts.database()).query(readArchiver)
  const { isOn, archivedAt, failedAt, standbys, now } = archiver!
  if (!isOn) {
    const copies = standbys ? ` It has ${counted(standbys, 'standby', 'standbys')}.` : ''
    const finding = `The database archives no write-ahead log, so the time of the last backup is unknown.${copies}`
    return [info(finding, 'docs/how-to/back-up-and-restore.md describes how to back up and restore.')]
  }
  if (failedAt && (!archivedAt || failedAt > archivedAt)) {
    const finding = `Archiving the write-ahead log has failed since ${failedAt.toISOString()}.`
    return [failure(finding, 'Read the log of PostgreSQL, and fix archive_command.')]
  }
  if (!archivedAt) return [warning('The write-ahead log was never archived.', 'Check archive_command.')]
  const age = now.getTime() - archivedAt.getTime()
  const finding = `The write-ahead log was last archived ${formatDuration(age)} ago.`
  return [age > OLD_ARCHIVE_MS ? warning(finding, 'Set archive_timeout, and check archive_command.') : ok(finding)]
}

/** Checks that each role has a live process. */
export async function checkRoles(parts: Parts): Promise<Diagnosis[]> {
  const { readProcesses, rolesWithout } = await import('../../db/heartbeat.ts')
  const processes = await readProcesses(await parts.database())
  if (processes.length === 0) return [info('No process of this installation runs.')]
  const list = processes
    .map(({ name, roles, seconds }) => `${name} ${roles.join(',')} for ${formatDuration(seconds * 1_000)}`)
    .join('; ')
  const missing = rolesWithout(processes)
  if (missing.length === 0) return [ok(`Each role has a process: ${list}.`)]
  return missing.map((role) =>
    failure(
      `No process has the role ${role}. Processes: ${list}.`,
      `Start one with \`annal serve --roles ${role}\`, or add the role to a running one (ROLES).`,
    ),
  )
}

const OVERDUE_MS = 10 * 60_000
const CHECK_SERVER = 'Check whether a server runs, and read its log.'

export async function checkJobs(parts: Parts): Promise<Diagnosis[]> {
  const database = await parts.database()
  const { countDead, countWaiting } = await import('../../jobs/jobs.sql.ts')
  const failed = (await database.query(countDead)).map(({ queue, count, last_error: error }) =>
    failure(
      `${counted(count, 'job')} of ${queue} failed permanently${error ? `: ${error}` : '.'}`,
      'List them with `annal jobs`, fix the reason, then run `annal jobs --retry`.',
    ),
  )
  const waiting = await database.query(countWaiting)
  const overdue = waiting.flatMap(({ queue, count, next_attempt_at: due }) => {
    const late = Date.now() - due.getTime()
    if (late < OVERDUE_MS) return []
    const finding = `${counted(count, 'job')} of ${queue} ${count === 1 ? 'waits' : 'wait'}, the first is ${formatDuration(late)} overdue.`
    return [warning(finding, CHECK_SERVER)]
  })
  const total = waiting.reduce((sum, { count }) => sum + count, 0)
  const diagnoses = [...failed, ...overdue]
  return diagnoses.length ? diagnoses : [ok(`No job failed permanently. ${counted(total, 'job waits', 'jobs wait')}.`)]
}

const LISTED = 100

/** Checks for failing items of batch jobs. */
export async function checkBatchJobs(parts: Parts): Promise<Diagnosis[]> {
  const database = await parts.database()
  const { findJobFailures } = await import('../../jobs/batch-jobs.ts')
  const { withPublicItems } = await import('../../jobs/batch-jobs.ts')
  const failures = await withPublicItems(database, await database.query(findJobFailures, { limit: LISTED }))
  const [first] = failures
  if (!first) return [ok('No item of a batch job fails.')]
  const count = counted(failures.length, 'item of a batch job fails', 'items of batch jobs fail')
  const finding = `${failures.length === LISTED ? 'At least ' : ''}${count}, such as ${first.item} of ${first.job}: ${first.last_error}`
  return [failure(finding, 'List them with `annal jobs`. docs/how-to/handle-failed-jobs.md describes what to do.')]
}

/** Checks for withdrawals that wait for coins in the treasury. */
export async function checkWithdrawals(parts: Parts): Promise<Diagnosis[]> {
  const { countDueWithdrawals } = await loadCoins()
  const [due] = await (await parts.database()).query(countDueWithdrawals)
  if (!due?.late) return [ok('No withdrawal waits for the treasury.')]
  const age = formatDuration(Date.now() - due.oldest!.getTime())
  const finding = `${counted(due.count, 'withdrawal waits', 'withdrawals wait')} for ${due.amount} coins, the oldest for ${age}.`
  return [
    failure(finding, 'Send coins to the address of the treasury, which is in the log, or see the checks of the chain.'),
  ]
}

export async function checkWebhooks(parts: Parts): Promise<Diagnosis[]> {
  const [webhooks] = await (await parts.database()).query(readWebhooks)
  const { givenUp, overdue, waiting, disabled } = webhooks!
  const diagnoses: Diagnosis[] = []
  if (givenUp > 0) {
    const finding = `${counted(givenUp, 'webhook delivery', 'webhook deliveries')} failed permanently in the last 7 days.`
    const fix =
      'List them with `annal webhooks list --status given-up`, and send them again with `annal webhooks replay`.'
    diagnoses.push(warning(finding, fix))
  }
  if (disabled > 0) {
    const finding = `The webhook of ${counted(disabled, 'network app')} is disabled: its receiver responded with 410 Gone.`
    diagnoses.push(warning(finding, 'Set a new webhook_url to enable it.'))
  }
  if (overdue > 0) {
    const finding = `${counted(overdue, 'webhook delivery is', 'webhook deliveries are')} more than ${formatDuration(OVERDUE_MS)} overdue.`
    diagnoses.push(warning(finding, CHECK_SERVER))
  }
  if (diagnoses.length) return diagnoses
  if (waiting)
    return [info(`${counted(waiting, 'webhook delivery', 'webhook deliveries')} failed and will be retried.`)]
  return [ok('No webhook delivery failed permanently.')]
}
