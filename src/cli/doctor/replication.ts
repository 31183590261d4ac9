/** Checks that acknowledged writes survive the loss of the primary database server. */
import { type Diagnosis, right, toKnow, warning, wrong } from './diagnosis.ts'
import { readReplication } from './doctor-statements.ts'
import type { Parts } from './parts.ts'

const SEE = 'See Failover in docs/scaling.md.'

export async function checkReplication(parts: Parts): Promise<Diagnosis[]> {
  const { database: configured } = await parts.config()
  const { database } = await parts.database()
  const [replication] = await database.query(readReplication)
  const { synchronousCommit, waitsForStandbys, standbys, synchronous } = replication!
  if (!waitsForStandbys) {
    if (standbys > 0) {
      const finding = 'Replication is asynchronous: a failover loses the writes that were acknowledged last.'
      return [warning(finding, `Set synchronous_standby_names. ${SEE}`)]
    }
    const finding = 'The database has no standby server.'
    return [configured.url ? toKnow(finding, `Ignore this if a managed service replicates it. ${SEE}`) : right(finding)]
  }
  if (['off', 'local'].includes(synchronousCommit)) {
    const finding = `synchronous_commit is ${synchronousCommit}: a failover may lose acknowledged writes.`
    return [warning(finding, 'Set it to `on`.')]
  }
  if (synchronous === 0) {
    const finding = 'No synchronous standby is connected: every write waits for one.'
    return [wrong(finding, `Start a standby that synchronous_standby_names names, or remove the setting. ${SEE}`)]
  }
  return [right(`Acknowledged writes are on a synchronous standby (synchronous_commit is ${synchronousCommit}).`)]
}
