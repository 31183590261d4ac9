/**
 * One process at a time changes the tables. A session's lock lives as long as its connection, also while its process is
 * frozen, so the server ends the session when it hears nothing of it. Scripts run in the session that holds the lock, so a
 * process that wakes later has neither, and changes nothing.
 */
import type pg from 'pg'

/** That of Prisma's engine: `prisma migrate deploy` and we keep out of each other's way. */
const LOCK = 72_707_369

/** What a role may have been given: limits for requests, and a change of the tables takes as long as it takes. */
const limits = ['statement_timeout', 'lock_timeout', 'transaction_timeout']

/** SQL that keeps out who migrates until its transaction ends, and waits for that as long as it takes. */
export const lockForTransaction = `
  SELECT ${limits.map((name) => `set_config('${name}', '0', true)`)}; SELECT pg_advisory_xact_lock(${LOCK})`

/** Milliseconds without a word after which a session is ended. */
export const SILENCE_MS = 20_000

/** PostgreSQL's code for that end. */
const IDLE_SESSION_TIMEOUT = '57P05'

/** The right to change the tables. */
export interface MigrationLock {
  /** Runs a script in one transaction. Raises PostgreSQL's sentence when it fails, and another one when the lock was lost. */
  run(script: string): Promise<pg.QueryResult>
}

/**
 * Waits until nobody else migrates, however long that takes; a frozen process is waited for as long as `silence` says (milliseconds). The
 * lock is the connection's: it ends with it.
 */
export async function takeMigrationLock(client: pg.Client, silence: number): Promise<MigrationLock> {
  // Neither a script that runs nor waiting for the lock is silence.
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
        // One message, which the server carries out to its end or not at all, whatever becomes of this process.
        return await client.query(script)
      } catch (error) {
        look(error as Error)
        throw isLost ? new Error('Another process migrates by now.', { cause: error }) : error
      }
    },
  }
}
