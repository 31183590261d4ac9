/**
 * One process at a time changes the tables. A session's lock lives as long as its connection, also while its process is
 * frozen, so the server ends the session when it hears nothing of it; and every script asserts in its own transaction that the
 * lock is still held, so a process that wakes later changes nothing.
 */
import type pg from 'pg'

/** Of our own, around the engine: it gives up its lock between looking and applying. */
const migrationLock = 0x6d696772
/**
 * That of Prisma's engine, which waits for it ten seconds only. Its session holds it to the end of a script that a process sent
 * before it was frozen, and that the server finishes alone.
 */
const engineLock = 72_707_369

/** Milliseconds without a word after which a session is ended. */
export const SILENCE = 20_000

export interface MigrationLock {
  /** SQL that stands before a script, in its transaction: raises when the lock was lost. */
  readonly fence: string
  release(): void
}

/**
 * Waits until nobody else migrates, however long that takes; a frozen process is waited for as long as `silence` says (milliseconds). The
 * lock is the connection's: it ends with it.
 */
export async function takeMigrationLock(client: pg.Client, silence: number): Promise<MigrationLock> {
  await client.query(`SET idle_session_timeout = ${silence}`)
  await client.query('SELECT pg_advisory_lock($1)', [migrationLock])
  await client.query('SELECT pg_advisory_xact_lock($1)', [engineLock])
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const beat = setInterval(() => {
    // A lost lock is found by the next script.
    client.query('SELECT 1').catch(() => undefined)
  }, silence / 4)
  return {
    fence: `
      DO $$ BEGIN
        IF NOT EXISTS (
          SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.classid = 0 AND l.objid = ${migrationLock}
            AND l.granted AND l.pid = ${rows[0]!.pid}
        ) THEN RAISE EXCEPTION 'Another process migrates by now.'; END IF;
      END $$;`,
    release: () => clearInterval(beat),
  }
}
