/** Checks of the database and its background work. */
import { countByStatus } from '../../chain/relay/relay.sql.ts'
import { checkTables } from '../../db/invariants/check-invariants.ts'
import { assertMigrated } from '../../db/migrations.ts'
import { readProcesses, rolesWithout } from '../../db/processes.ts'
import { assertOwnSessions } from '../../db/session-settings.ts'
import { bigint, boolean, int, orNull, statement, text, timestamp } from '../../db/sql.ts'
import { countWaiting } from '../../jobs/jobs.sql.ts'
import { assertDatabaseNotLost } from '../../keys/vault-identity.ts'
import { FixableError } from '../../shared/operator-errors.ts'
import { findWaitingWork } from '../check-commands.ts'
import { counted } from '../terminal.ts'
import { loadCoins } from '../with-infrastructure.ts'
import {
  type Checks,
  type Diagnosis,
  failure,
  formatBytes,
  formatDuration,
  info,
  messageOf,
  type Parts,
  SkippedError,
  warning,
} from './diagnosis.ts'

const OLDEST_SERVER = 180_000

const readServer = statement(
  'doctor_server',
  {
    columns: {
      /** Version number, such as 180004. */
      number: int,
      ...{ version: text, mostConnections: int, connections: int, bytes: bigint, isCompiling: boolean },
      ...{ isDurable: boolean, synchronousCommit: text, waitsForStandbys: boolean, standbys: int },
      /** Number of synchronous standbys. Null without the required privilege. */
      synchronous: orNull(int),
      ...{ isArchiving: boolean, archivedAt: orNull(timestamp), failedAt: orNull(timestamp), now: timestamp },
    },
  },
  `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
     current_setting('max_connections')::int as "mostConnections",
     (select count(*)::int from pg_stat_activity) as connections,
     pg_database_size(current_database()) as bytes,
     current_setting('jit')::boolean and pg_jit_available() as "isCompiling",
     current_setting('fsync')::boolean and current_setting('full_page_writes')::boolean as "isDurable",
     current_setting('synchronous_commit') as "synchronousCommit",
     current_setting('synchronous_standby_names') <> '' as "waitsForStandbys",
     standbys, synchronous, current_setting('archive_mode') <> 'off' as "isArchiving",
     last_archived_time as "archivedAt", last_failed_time as "failedAt", now() as now
   from pg_stat_archiver, (
     select count(*)::int as standbys,
       case when count(*) = count(sync_state) then (count(*) filter (where sync_state in ('sync', 'quorum')))::int end as synchronous
     from pg_stat_replication
   ) replication`,
)

const findServer = async (parts: Parts) => (await (await parts.database()).query(readServer))[0]!

const readClock = statement('doctor_clock', { columns: { now: timestamp } }, 'select clock_timestamp() as now')
/** Signed links and Kubo's garbage collection fail above the second difference. */
const [SKEW_WARNING_MS, SKEW_FAILURE_MS] = [1_000, 300_000]
const OLD_ARCHIVE_MS = 86_400_000
const OVERDUE_MS = 10 * 60_000
const CHECK_SERVER = 'Check whether a server runs, and read its log.'

/** Reports the findings of `annal check` about work that waits for an operator. */
async function* diagnoseWaitingWork(parts: Parts, id: string, fix: string): AsyncGenerator<Diagnosis> {
  const findings = await findWaitingWork(await parts.database())
  const { rows = [], isCut } = findings.find(({ invariant }) => invariant.id === id) ?? {}
  if (rows.length === 0) return
  const { subject, problem } = rows[0] as { subject: string; problem: string }
  const count = `${isCut ? 'More than ' : ''}${counted(rows.length, 'item waits', 'items wait')}`
  yield failure(`${count}, such as ${subject}: ${problem}`, fix)
}

const LONG_WAIT_MS = 15 * 60_000

/** Counts webhook deliveries with problems. `overdue`: due for more than ten minutes. */
const readWebhooks = statement(
  'doctor_webhooks',
  { columns: { givenUp: int, overdue: int, waiting: int, disabled: int } },
  `select
     (select count(*)::int from webhook_deliveries
      where status = 'GIVEN_UP' and order_id is not null and settled_at > now() - interval '7 days') as "givenUp",
     (select count(*)::int from webhook_deliveries
      where status = 'PENDING' and next_attempt_at < now() - interval '10 minutes') as overdue,
     (select count(*)::int from webhook_deliveries where status = 'PENDING' and attempt_count > 0) as waiting,
     (select count(*)::int from network_apps
      where webhook_disabled_at is not null and deactivated_at is null) as disabled`,
)

export const databaseChecks = {
  async *database(parts) {
    const { database: configured } = await parts.config()
    try {
      const directUrl = await parts.openDatabaseUrl()
      const isPooled = configured.url !== undefined && configured.url !== directUrl
      await assertOwnSessions(directUrl, isPooled ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL')
    } catch (error) {
      if (error instanceof SkippedError || error instanceof FixableError) throw error
      const fix = configured.url ? 'Correct DATABASE_URL and DATABASE_DIRECT_URL.' : 'Read postgres.log in ANNAL_DIR.'
      yield failure(`The database is not available: ${messageOf(error)}`, fix)
    }
    return `${configured.url ? 'DATABASE_URL' : 'The embedded PostgreSQL'} answers.`
  },

  async *migrations(parts) {
    const url = await parts.openDatabaseUrl()
    await assertOwnSessions(url).catch(() => {
      throw new SkippedError('The database is not available.')
    })
    await assertDatabaseNotLost(url, (await parts.config()).dir)
    await assertMigrated(url)
    const [first] = (await checkTables(await parts.database())).rows
    const fix = '`annal check` lists all problems. docs/reference/check-findings.md describes what to do (T1).'
    return first
      ? failure(`The tables are damaged: ${first.subject} ${first.problem}.`, fix)
      : 'The database is up to date.'
  },

  async *'database-server'(parts) {
    const { pool } = (await parts.config()).database
    const server = await findServer(parts)
    const { number, version, mostConnections, connections, isDurable, synchronousCommit, isCompiling, bytes } = server
    if (number < OLDEST_SERVER)
      yield failure(`PostgreSQL ${version} is too old.`, 'Upgrade to 18 with `pg_upgrade` or a dump.')
    const unsynced = 'fsync or full_page_writes is off: a crash can lose all data.'
    if (!isDurable) yield failure(unsynced, 'Set both to `on`, and restart PostgreSQL.')
    if (synchronousCommit === 'off')
      yield failure('synchronous_commit is off: a crash loses acknowledged payments.', 'Set it to `on`.')
    const used = `${connections} of ${mostConnections} connections`
    if (pool * 2 > mostConnections) {
      const finding = `Each process uses up to ${pool} of ${mostConnections} connections (max_connections).`
      yield warning(finding, 'Lower DATABASE_POOL, or raise max_connections.')
    } else if (connections > mostConnections * 0.8)
      yield warning(`${used} are in use.`, 'Raise max_connections, or lower DATABASE_POOL of each process.')
    if (isCompiling)
      yield info('jit is on: compiling a statement can take longer than running it.', 'ALTER DATABASE … SET jit = off.')
    return `PostgreSQL ${version}, ${formatBytes(Number(bytes))}, ${used}.`
  },

  /** Checks that acknowledged writes survive the loss of the primary server. */
  async *replication(parts) {
    const { synchronousCommit, waitsForStandbys, standbys, synchronous } = await findServer(parts)
    const see = 'See docs/how-to/fail-over-postgresql.md.'
    if (!waitsForStandbys && standbys === 0)
      return info('The database has no standby server.', `Ignore this if a managed service replicates it. ${see}`)
    const asynchronous = 'Replication is asynchronous: a failover loses the latest acknowledged writes.'
    if (!waitsForStandbys) return warning(asynchronous, `Set synchronous_standby_names. ${see}`)
    const finding = `synchronous_commit is ${synchronousCommit}: a failover may lose acknowledged writes.`
    if (['off', 'local'].includes(synchronousCommit)) return warning(finding, 'Set it to `on`.')
    if (synchronous === 0)
      yield failure('No synchronous standby is connected: every write waits for one.', `Start one. ${see}`)
    return `Acknowledged writes are on a synchronous standby (synchronous_commit is ${synchronousCommit}).`
  },

  async *clock(parts) {
    const { query } = await parts.database()
    // The first query opens a connection, which would distort the measurement.
    await query(readClock)
    const before = Date.now()
    const [clock] = await query(readClock)
    const skew = clock!.now.getTime() - (before + Date.now()) / 2
    const finding = `The clock of this machine is ${formatDuration(skew)} ${skew > 0 ? 'behind' : 'ahead of'} that of the database.`
    const fix = 'Synchronize both clocks with NTP (chrony, systemd-timesyncd).'
    if (Math.abs(skew) > SKEW_WARNING_MS) yield (Math.abs(skew) > SKEW_FAILURE_MS ? failure : warning)(finding, fix)
    return `The clocks of this machine and the database differ by ${formatDuration(skew)}.`
  },

  /** Checks the archiving of the write-ahead log (WAL). */
  async *backups(parts) {
    const { isArchiving, archivedAt, failedAt, standbys, now } = await findServer(parts)
    if (!isArchiving) {
      const copies = standbys ? ` It has ${counted(standbys, 'standby', 'standbys')}.` : ''
      const finding = `The database archives no write-ahead log, so the time of the last backup is unknown.${copies}`
      return info(finding, 'docs/how-to/back-up-and-restore.md describes how to back up and restore.')
    }
    const age = now.getTime() - (archivedAt?.getTime() ?? 0)
    const last = archivedAt ? `${formatDuration(age)} ago` : 'never'
    const finding = `Last archiving of the write-ahead log: ${last}.`
    if (failedAt && (!archivedAt || failedAt > archivedAt))
      yield failure(`Archiving has failed since ${failedAt.toISOString()}. ${finding}`, 'Fix archive_command.')
    else if (age > OLD_ARCHIVE_MS) yield warning(finding, 'Set archive_timeout, and check archive_command.')
    return finding
  },

  async *relay(parts) {
    const fix = 'List them with `annal relay`, fix the reason, then run `annal relay --retry`.'
    yield* diagnoseWaitingWork(parts, 'W1', fix)
    const counts = await (await parts.database()).query(countByStatus)
    for (const { status, count, oldest } of counts) {
      const age = Date.now() - oldest.getTime()
      if (status === 'FAILED') yield info(`${count} commits could not reach the chain and were refunded.`)
      else if (age > LONG_WAIT_MS) {
        const finding = `${count} commits are ${status}, the oldest for ${formatDuration(age)}.`
        yield warning(finding, 'See the checks of the chain, and search the log of the server for `Relay failed`.')
      }
    }
    const open = counts.filter(({ status }) => status !== 'FAILED').reduce((sum, { count }) => sum + count, 0)
    return `${open} commits are on their way to the chain. None is stuck.`
  },

  async *roles(parts) {
    const processes = await readProcesses(await parts.database())
    if (processes.length === 0) return info('No process of this installation runs.')
    const describe = ({ name, roles, seconds }: (typeof processes)[number]) =>
      `${name} ${roles.join(',')} for ${formatDuration(seconds * 1_000)}`
    const list = processes.map(describe).join('; ')
    for (const role of rolesWithout(processes)) {
      const fix = `Start one with \`annal serve --roles ${role}\`, or add the role to a running one (ROLES).`
      yield failure(`No process has the role ${role}. Processes: ${list}.`, fix)
    }
    return `Each role has a process: ${list}.`
  },

  async *jobs(parts) {
    const fix = 'List them with `annal jobs`, fix the reason, then run `annal jobs --retry`.'
    yield* diagnoseWaitingWork(parts, 'W2', fix)
    const waiting = await (await parts.database()).query(countWaiting)
    for (const { queue, count, next_attempt_at: due } of waiting) {
      const late = Date.now() - due.getTime()
      const finding = `${counted(count, 'job')} of ${queue}: the first is ${formatDuration(late)} overdue.`
      if (late >= OVERDUE_MS) yield warning(finding, CHECK_SERVER)
    }
    const total = waiting.reduce((sum, { count }) => sum + count, 0)
    return `No job failed permanently. ${counted(total, 'job waits', 'jobs wait')}.`
  },

  async *'batch-jobs'(parts) {
    const fix = 'List them with `annal jobs`. docs/how-to/handle-failed-jobs.md describes what to do.'
    yield* diagnoseWaitingWork(parts, 'W3', fix)
    return 'No item of a batch job fails.'
  },

  async *withdrawals(parts) {
    const { countDueWithdrawals } = await loadCoins()
    const [due] = await (await parts.database()).query(countDueWithdrawals)
    if (due?.late) {
      const age = formatDuration(Date.now() - due.oldest!.getTime())
      const finding = `${counted(due.count, 'withdrawal waits', 'withdrawals wait')} for ${due.amount} coins, the oldest for ${age}.`
      yield failure(finding, 'Send coins to the treasury, whose address is in the log, or see the checks of the chain.')
    }
    return 'No withdrawal waits for the treasury.'
  },

  async *webhooks(parts) {
    const [webhooks] = await (await parts.database()).query(readWebhooks)
    const { givenUp, overdue, waiting, disabled } = webhooks!
    const deliveries = (count: number) => counted(count, 'webhook delivery', 'webhook deliveries')
    const list = 'See `annal webhooks list --status given-up`, and run `annal webhooks replay`.'
    if (givenUp > 0) yield warning(`${deliveries(givenUp)} failed permanently in the last 7 days.`, list)
    const finding = `Disabled webhooks of network apps, because their receivers responded with 410 Gone: ${disabled}.`
    if (disabled > 0) yield warning(finding, 'Set a new webhook_url to enable one.')
    if (overdue > 0) yield warning(`${deliveries(overdue)} more than 10 minutes overdue.`, CHECK_SERVER)
    if (waiting > 0) yield info(`${deliveries(waiting)} failed and will be retried.`)
    return 'No webhook delivery failed permanently.'
  },
} satisfies Checks
