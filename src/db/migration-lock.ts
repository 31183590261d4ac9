/**
 * Lock that lets one process at a time migrate. A session lock lives as long as its connection, even while its process is frozen. The server
 * therefore ends silent sessions. Scripts run in the session that holds the lock, so a process that wakes later can change nothing.
 */
import type pg from 'pg'

/** Advisory lock of Prisma's engine. Using the same one excludes `prisma migrate deploy`. */
const LOCK = 72_707_369

/** Timeouts that a role may have for requests. Migrations may take longer. */
const limits = ['statement_timeout', 'lock_timeout', 'transaction_timeout']

/** SQL that waits without a timeout for the migration lock and holds it until the transaction ends. */
export const lockForTransaction = `
  SELECT ${limits.map((name) => `set_config('${name}', '0', true)`)}; SELECT pg_advisory_xact_lock(${LOCK})`

/** Idle time after which the server ends the session, in milliseconds. */
export const SILENCE_MS = 20_000

/** SQLSTATE of a session that the server ended because it was idle. */
const IDLE_SESSION_TIMEOUT = '57P05'

/** The lock that permits schema changes. */
export interface MigrationLock {
  /** Runs a script in one transaction. Throws PostgreSQL's error, or another error if the lock was lost. */
  run(script: string): Promise<pg.QueryResult>
}

/**
 * Waits without a timeout until no other process migrates. A frozen process loses the lock after `silence`
 * milliseconds. Closing the connection releases the lock.
 */
export async function takeMigrationLock(client: pg.Client, silence: number): Promise<MigrationLock> {
  // A running script and a wait for the lock do not count as idle.
  await client.query(`SET idle_session_timeout = ${silence}`)
  for (const name of limits) await client.query(`SET ${name} = 0`)
  await client.query('SELECT pg_advisory_lock($1)', [LOCK])
  let isLost = false
  const look = (error: Error & { code?: string }) => {
    isLost ||= error.code === IDLE_SESSION_TIMEOUT
  }
  client.on('error', look)
  return {
    async run(script) {
      try {
        // The script is one message. The server runs it completely or not at all, even if this process dies.
        return await client.query(script)
      } catch (error) {
        look(error as Error)
        throw isLost ? new Error('Another process took over the migration.', { cause: error }) : error
      }
    },
  }
}
