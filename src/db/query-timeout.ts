/**
 * Gives up statements that are not answered. The driver's own limit (`query_timeout`) is a timer for each statement: with it V8 keeps what
 * each was answered until its whole heap is marked, which took a quarter of a read's time. Here one timer looks after a pool.
 */
import type pg from 'pg'
import { removeItem } from '../shared/async.ts'

/**
 * How long the server carries a statement of a request out, waits for a lock, and lets a transaction idle: waiting longer helps nobody,
 * as callers retry after 20 s. The last is for a process that is frozen in the middle of a transaction: it holds its rows locked, and
 * those who wait for them, no longer. Milliseconds, by the names of PostgreSQL's settings.
 */
export const timeLimits = {
  statement_timeout: 8_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 5_000,
} as const

/** Milliseconds between two looks: a statement is given up so much later at most. */
const LOOK_EVERY_MS = 500

/** What the types leave out: what a connection carries out now. */
interface Asked {
  _activeQuery: object | null
}

interface Connection {
  client: pg.PoolClient
  patience: number
  /** What it carried out at the last look, and for how many looks by now. */
  seen: WeakRef<object> | undefined
  looks: number
}

/** How long answers are waited for, and what becomes of a connection that gives none. */
export interface AnswerWatchOptions {
  /** Milliseconds. */
  patience: number
  /** Fails what the connection carries out, and ends it. */
  cut(client: pg.PoolClient, reason: Error): void
}

/** Looks after the connections of a pool. */
export interface AnswerWatch {
  /** Waits so many milliseconds for what this connection carries out, if that is longer, until it is given back. */
  bearWith(client: pg.PoolClient, patience: number): void
}

/**
 * Looks after the connections of a pool, while it has any. Time counts as looks do: a process that stood still reads the answers first
 * that have come meanwhile. What is given up fails with the driver's words for it.
 */
export function watchAnswers(pool: pg.Pool, { patience, cut }: AnswerWatchOptions): AnswerWatch {
  const connections: Connection[] = []
  const of = (client: pg.PoolClient) => connections.find((connection) => connection.client === client)
  let timer: NodeJS.Timeout | undefined

  function lookAt(connection: Connection) {
    const { _activeQuery: asked } = connection.client as unknown as Asked
    if (!asked || connection.seen?.deref() !== asked) {
      connection.seen = asked ? new WeakRef(asked) : undefined
      connection.looks = 0
      return
    }
    connection.looks += 1
    if (connection.looks * LOOK_EVERY_MS < connection.patience) return
    connection.looks = 0
    cut(connection.client, new Error('Query read timeout'))
  }

  pool.on('connect', (client) => {
    connections.push({ client, patience, seen: undefined, looks: 0 })
    timer ??= setInterval(() => connections.slice().forEach(lookAt), LOOK_EVERY_MS).unref()
  })
  pool.on('release', (_error, client) => {
    const connection = of(client)
    if (connection) connection.patience = patience
  })
  pool.on('remove', (client) => {
    const connection = of(client)
    if (connection) removeItem(connections, connection)
    if (connections.length > 0) return
    clearInterval(timer)
    timer = undefined
  })

  return {
    bearWith(client, longer) {
      const connection = of(client)
      if (connection) connection.patience = Math.max(connection.patience, longer)
    },
  }
}
