/** Checks of what stands by for the database. */
import { readDatabaseUrl, type Server } from '../../platform/database/database-url.ts'
import { describeStanding, readStandings, type Standing } from '../../platform/database/primary-watch.ts'
import { type Diagnosis, right, toKnow, warning, wrong } from './diagnosis.ts'
import { readReplication } from './doctor-statements.ts'
import type { Parts } from './parts.ts'

const HOW = 'docs/scaling.md tells how, under Failover.'

/** Of a server beside the others. */
function judgeServer({ name }: Server, standing: Standing, all: readonly Standing[]): Diagnosis {
  const finding = `${name} ${describeStanding(standing)}`
  if (standing.kind === 'silent')
    return warning(`${finding}.`, 'Bring it back: without it fewer servers can take over.')
  if (standing.kind === 'read-only') return warning(`${finding}.`, 'Take default_transaction_read_only away there.')
  if (standing.kind === 'standby') return right(`${finding}.`)
  const others = all.filter((each) => each.kind === 'primary').filter((each) => each !== standing)
  if (others.length === 0) return right(`${finding}.`)
  if (others.some(({ cluster }) => cluster !== standing.cluster)) {
    return wrong(`${finding}, and another cluster is named beside it.`, 'Name servers of one cluster in DATABASE_URL.')
  }
  if (others.some(({ timeline }) => timeline > standing.timeline)) {
    const fix = `Stop it, and make it a standby of the other one; ${HOW}`
    return wrong(`${finding}, which ended when another server was promoted.`, fix)
  }
  if (others.some(({ timeline }) => timeline === standing.timeline)) {
    return wrong(`${finding}, and so does another one: nothing is written to either.`, `Stop one of them; ${HOW}`)
  }
  return right(`${finding}.`)
}

/** Which server takes writes, and whether what is acknowledged is lost with it. */
export async function checkReplication(parts: Parts): Promise<Diagnosis[]> {
  const { database: configured } = await parts.config()
  const { servers, isSought } = readDatabaseUrl(await parts.openDatabaseUrl())
  const standings = isSought ? await readStandings(servers) : []
  const diagnoses = standings.map((standing, at) => judgeServer(servers[at]!, standing, standings))
  if (isSought && !standings.some(({ kind }) => kind === 'primary')) {
    return [...diagnoses, wrong('No server can be written to.', `Promote a standby; ${HOW}`)]
  }
  const { database } = await parts.database()
  const [replication] = await database.query(readReplication)
  const { synchronousCommit, waitsForStandbys, standbys, synchronous } = replication!
  if (!waitsForStandbys) {
    if (standbys > 0 || isSought) {
      const finding = 'Replication is asynchronous: when the primary fails, what was acknowledged last is lost.'
      return [...diagnoses, warning(finding, `Set synchronous_standby_names; ${HOW}`)]
    }
    const finding = 'No standby follows the database by replication of PostgreSQL.'
    return [
      configured.url
        ? toKnow(finding, `Where the service that runs it does not stand by otherwise: ${HOW}`)
        : right(finding),
    ]
  }
  if (['off', 'local'].includes(synchronousCommit)) {
    const finding = `synchronous_commit is ${synchronousCommit}: what is acknowledged may not have reached a standby.`
    diagnoses.push(warning(finding, 'Set it to `on`.'))
  } else if (synchronous === 0) {
    const finding = 'No synchronous standby is connected: whatever is written waits for one.'
    diagnoses.push(
      wrong(finding, `Bring one back that synchronous_standby_names names, or take the setting away; ${HOW}`),
    )
  } else {
    const finding = `What is acknowledged is on a synchronous standby, too (synchronous_commit is ${synchronousCommit}).`
    diagnoses.push(right(finding))
  }
  return diagnoses
}
