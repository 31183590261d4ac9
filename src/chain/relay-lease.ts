/**
 * The right to sign for a relay account. It is a session lock on a database connection of its own, and everything that
 * takes a nonce is written over that very connection: when the lock is lost, so is the way to store a transaction.
 */
import pg from 'pg'
import type { Log, Statement } from '../domain/ports.ts'

export interface Lease {
  /** Whether we hold the lane now, after trying to take it. Raises when the database is down. */
  acquire(lane: string): Promise<boolean>
  isHeld(lane: string): boolean
  /** One transaction on the connection that holds the locks. Raises when the connection is gone. */
  transaction<T>(work: (query: LeaseQuery) => Promise<T>): Promise<T>
  /** Gives every lane up. */
  close(): Promise<void>
}

export type LeaseQuery = <Row>(statement: Statement<Row>, values?: readonly unknown[]) => Promise<Row[]>

/** Milliseconds. */
const connectTimeout = 5_000
const statementTimeout = 8_000
const answerTimeout = 10_000

/** `databaseUrl` must lead to a server's own session, not through a pooler that shares sessions between statements. */
export function createLease({ databaseUrl, log }: { databaseUrl: string; log: Log }): Lease {
  const held = new Set<string>()
  let client: pg.Client | undefined

  const drop = (lost: pg.Client, error?: Error) => {
    if (client !== lost) return
    client = undefined
    if (held.size > 0) log.warn({ err: error }, 'The connection that holds the relay lanes was lost; taking them again')
    held.clear()
    lost.end().catch(() => {})
  }

  const connect = async () => {
    const created = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'annal relay',
      connectionTimeoutMillis: connectTimeout,
      query_timeout: answerTimeout,
      statement_timeout: statementTimeout,
      keepAlive: true,
    })
    created.on('error', (error) => drop(created, error))
    created.on('end', () => drop(created))
    await created.connect()
    client = created
    return created
  }

  /** After any error the state of the session is unknown: it is given up, and with it the locks. */
  const guarded = async <T>(work: (on: pg.Client) => Promise<T>): Promise<T> => {
    const on = client ?? (await connect())
    try {
      return await work(on)
    } catch (error) {
      drop(on, error instanceof Error ? error : undefined)
      throw error
    }
  }

  return {
    isHeld: (lane) => held.has(lane),
    async acquire(lane) {
      if (held.has(lane)) return true
      return guarded(async (on) => {
        const sql = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked'
        const { rows } = await on.query<{ locked: boolean }>(sql, [`annal:relay:${lane}`])
        if (rows[0]?.locked && client === on) held.add(lane)
        return held.has(lane)
      })
    },
    async transaction(work) {
      if (!client) throw new Error('The connection that holds the relay lanes is gone.')
      return guarded(async (on) => {
        await on.query('begin')
        const result = await work(
          async ({ name, text }, values = []) => (await on.query({ name, text, values: [...values] })).rows,
        )
        await on.query('commit')
        return result
      })
    },
    async close() {
      held.clear()
      const open = client
      client = undefined
      await open?.end().catch(() => {})
    },
  }
}
