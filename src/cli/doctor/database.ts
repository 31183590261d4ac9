/** Checks of the database. */
import type { ConnectedDatabase } from '../../db/database.ts'
import { FixableError } from '../../shared/operator-errors.ts'
import { bytes, type Diagnosis, right, SkippedError, span, toKnow, warning, wrong } from './diagnosis.ts'
import { readArchiver, readClock, readServer } from './doctor-statements.ts'
import type { Parts } from './parts.ts'

const OLDEST_SERVER = 180_000
/** Of the server's connections, in use. */
const CROWDED = 0.8

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Whether there is a database that sessions can be had of. */
export async function checkDatabase(parts: Parts): Promise<Diagnosis[]> {
  const { database: configured } = await parts.config()
  const fix = configured.url ? 'Set DATABASE_URL and DATABASE_DIRECT_URL right.' : 'Read postgres.log in ANNAL_DIR.'
  try {
    const directUrl = await parts.openDatabaseUrl()
    const url = configured.url ?? directUrl
    const { assertOwnSessions } = await import('../../db/assert-own-sessions.ts')
    await assertOwnSessions(directUrl, url === directUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL')
    return [right(`${configured.url ? 'DATABASE_URL' : 'The embedded PostgreSQL'} answers.`)]
  } catch (error) {
    if (error instanceof SkippedError || error instanceof FixableError) throw error
    return [wrong(`The database cannot be had: ${reasonOf(error)}`, fix)]
  }
}

/** Whether the tables are those of this version. */
export async function checkMigrations(parts: Parts): Promise<Diagnosis[]> {
  const url = await parts.openDatabaseUrl()
  const { assertOwnSessions } = await import('../../db/assert-own-sessions.ts')
  await assertOwnSessions(url).catch(() => {
    throw new SkippedError('The database cannot be had.')
  })
  const { assertMigrated } = await import('../../db/migrations.ts')
  const { assertDatabaseNotLost } = await import('../../keys/lost-database.ts')
  await assertDatabaseNotLost(url, (await parts.config()).dir)
  await assertMigrated(url)
  const { checkTables } = await import('../../db/invariants/check-tables.ts')
  const [first] = (await checkTables((await parts.database()).database)).rows
  if (!first) return [right('The tables are those of this version.')]
  return [
    wrong(
      `The tables are not whole: ${first.subject} ${first.problem}.`,
      '`annal check` names all that is; docs/operations.md tells what to do about T1.',
    ),
  ]
}

/** The server's version, its connections, and whether it keeps what it acknowledged. */
export async function checkDatabaseServer(parts: Parts): Promise<Diagnosis[]> {
  const { database: configured } = await parts.config()
  const { database } = await parts.database()
  const [server] = await database.query(readServer)
  const { number, version, mostConnections, connections, isDurable, mayLoseLast, isCompiling } = server!
  const diagnoses: Diagnosis[] = []
  if (number < OLDEST_SERVER) {
    diagnoses.push(wrong(`PostgreSQL ${version} is too old.`, 'Upgrade it to 18: `pg_upgrade`, or dump and restore.'))
  }
  if (!isDurable) {
    const finding = 'fsync or full_page_writes is off: a crash of the machine loses what was paid for, or all of it.'
    diagnoses.push(wrong(finding, 'Set both to `on` in postgresql.conf, and restart PostgreSQL.'))
  }
  if (mayLoseLast) {
    const finding = 'synchronous_commit is off: a crash loses the last payments that were acknowledged.'
    diagnoses.push(wrong(finding, 'Set it to `on`.'))
  }
  if (configured.pool * 2 > mostConnections) {
    const finding = `Each process takes up to ${configured.pool} connections of ${mostConnections} (max_connections).`
    diagnoses.push(warning(finding, 'Lower DATABASE_POOL, or raise max_connections.'))
  } else if (connections > mostConnections * CROWDED) {
    const finding = `${connections} of ${mostConnections} connections of the server are in use.`
    diagnoses.push(warning(finding, 'Raise max_connections, or lower DATABASE_POOL of each process.'))
  }
  if (isCompiling) {
    const finding =
      'jit is on: statements that are estimated to be expensive are compiled, which takes longer than they do.'
    diagnoses.push(toKnow(finding, 'Set it off for this database: ALTER DATABASE … SET jit = off.'))
  }
  if (diagnoses.length) return diagnoses
  return [
    right(`PostgreSQL ${version}, ${bytes(Number(server!.bytes))}, ${connections} of ${mostConnections} connections.`),
  ]
}

const SKEW_TO_TELL_MS = 1_000
/** From here on links to files and Kubo's garbage collection go wrong. */
const SKEW_OF_HARM_MS = 300_000

async function readSkew(database: ConnectedDatabase): Promise<number> {
  // The first question opens a connection.
  await database.query(readClock)
  const before = Date.now()
  const [clock] = await database.query(readClock)
  return clock!.now.getTime() - (before + Date.now()) / 2
}

/** Whether this machine and the database agree on the time. */
export async function checkClock(parts: Parts): Promise<Diagnosis[]> {
  const skew = await readSkew((await parts.database()).database)
  const size = Math.abs(skew)
  const finding = `The clock here is ${span(skew)} ${skew > 0 ? 'behind' : 'ahead of'} the database's.`
  const fix = 'Keep both synchronised by NTP (chrony, systemd-timesyncd).'
  if (size > SKEW_OF_HARM_MS) return [wrong(finding, fix)]
  if (size > SKEW_TO_TELL_MS) return [warning(finding, fix)]
  return [right(`The clocks here and of the database differ by ${span(skew)}.`)]
}

const OLD_ARCHIVE_MS = 86_400_000

/** When it was last copied, where PostgreSQL knows. */
export async function checkBackups(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const [archiver] = await database.query(readArchiver)
  const { isOn, archivedAt, failedAt, standbys, now } = archiver!
  const fix = 'docs/operations.md tells how to back up, and how to try the backup.'
  if (!isOn) {
    const copies = standbys
      ? ` ${standbys} standby${standbys === 1 ? '' : 's'} follow${standbys === 1 ? 's' : ''} it.`
      : ''
    return [
      toKnow(`When the database was last backed up cannot be known from here: it archives nothing.${copies}`, fix),
    ]
  }
  if (failedAt && (!archivedAt || failedAt > archivedAt)) {
    return [
      wrong(
        `Archiving the write-ahead log fails since ${failedAt.toISOString()}.`,
        "Read PostgreSQL's log, and mend archive_command.",
      ),
    ]
  }
  if (!archivedAt) return [warning('The write-ahead log was never archived.', 'Look at archive_command.')]
  const age = now.getTime() - archivedAt.getTime()
  const finding = `The write-ahead log was last archived ${span(age)} ago.`
  return [age > OLD_ARCHIVE_MS ? warning(finding, 'Set archive_timeout, and look at archive_command.') : right(finding)]
}
