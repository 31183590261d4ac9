/** One replica: connections to it, and how far it is known to have come. */
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Log } from '../../domain/ports/log.ts'
import type { ReadPosition } from '../../domain/read-position.ts'
import { watchAnswers } from '../database/answer-watch.ts'
import { createGate, type WatchedGate } from '../gate.ts'
import { identifyServer, LOOK_MS, lookAtReplica } from './replica-statements.ts'

/** Statements are ended by the server after so many milliseconds; the other one is for a server that says nothing any more. */
const STATEMENT_TIMEOUT_MS = 8_000
/** What changes a table holds up its readers here as long as there: they had better wait at one place. */
const LOCK_TIMEOUT_MS = 500
const ANSWER_TIMEOUT_MS = 8_500
const KEEP_ALIVE_MS = 10_000
/** Lists leave a part of the connections to everybody else, and turn to the primary rather than wait for long. */
const LISTS_SHARE = 0.7
const LIST_PATIENCE_MS = 200

/** What is known of a replica that answers. A place that it has reached it never leaves. */
interface Seen extends ReadPosition {
  /** Which server that was. */
  readonly server: string
}

/** How a replica is, for operators. */
export interface ReplicaState {
  /** Host, port and database. */
  name: string
  /** What keeps it from being read; undefined when it can be. */
  trouble: string | undefined
  /** Seconds that it is behind at most; undefined when it does not answer. */
  lag: number | undefined
}

/** A replica, as reads are routed to it. */
export interface Replica {
  readonly name: string
  readonly pool: pg.Pool
  /** What lists wait for before they take a connection. */
  readonly lists: WatchedGate
  /** How far it is known to have come; undefined while it cannot be read. */
  position(): ReadPosition | undefined
  /** What keeps it from being read. */
  trouble(): string | undefined
  /** Carries a read out; raises at once when the replica is lost meanwhile. */
  read<T>(work: () => Promise<T>): Promise<T>
  /** Looks how far it has come. Raises nothing. `system`: the database that it must be a copy of. */
  look(system: string): Promise<void>
  close(): Promise<void>
}

/** What the types leave out. */
const streamOf = (client: pg.PoolClient) => (client as unknown as { connection: { stream: Socket } }).connection.stream

const nameOf = (url: string) => {
  const { hostname, port, pathname, searchParams } = new URL(url)
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`
}

/** Opens connections to a replica when they are needed. Nothing is known of it until it was looked at. */
export function createReplica({ url, size, log }: { url: string; size: number; log: Log }): Replica {
  const name = nameOf(url)
  let seen: Seen | undefined
  let trouble: string | undefined = 'it was not asked yet'
  let watcher: Promise<pg.Client> | undefined
  let isClosed = false
  const underWay = new Set<(reason: Error) => void>()

  const settings = {
    connectionString: url,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: LOOK_MS,
    max: size,
    idleTimeoutMillis: 0,
    application_name: 'annal replica',
    // What is known is known of one server. Behind a name may be another one by now.
    verify: (client, done) => {
      client
        .query<{ server: string }>({ text: identifyServer.text, query_timeout: LOOK_MS } as pg.QueryConfig)
        .then(({ rows }) => done(rows[0]!.server === seen?.server ? undefined : new Error('Another server answers')))
        .catch(done)
    },
  })
  watchAnswers(pool, { patience: ANSWER_TIMEOUT_MS, cut: (client, reason) => streamOf(client).destroy(reason) })
  /** All that are open. */
  const connections = new Set<pg.PoolClient>()
  pool.on('connect', (client) => connections.add(client))
  pool.on('remove', (client) => connections.delete(client))
  pool.on('error', ({ message }) => {
    if (!pool.ending && seen) log.debug({ reason: message, replica: name }, 'Idle replica connection lost')
  })

  function lose(reason: string) {
    if (seen && !isClosed) log.warn({ replica: name, reason }, 'Replica failed; reading from the primary')
    seen = undefined
    trouble = reason
    const error = new Error(`The replica was lost: ${reason}`)
    for (const giveUp of underWay) giveUp(error)
    // They lead to the server of before, and what will be known may be of another one behind the same address.
    for (const client of connections) streamOf(client).destroy()
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      ...settings,
      connectionTimeoutMillis: LOOK_MS,
      query_timeout: LOOK_MS,
      application_name: 'annal replica watch',
    })
    client.on('error', ({ message }) => {
      watcher = undefined
      lose(message)
    })
    await client.connect()
    return client
  }

  async function ask(system: string): Promise<Seen | string> {
    watcher ??= connect()
    const { rows } = await (await watcher).query({ name: lookAtReplica.name, text: lookAtReplica.text })
    const { server, isStandby, place, timeline, ...found } = rows[0] as Record<string, string> & {
      isStandby: boolean
      timeline: number | null
    }
    if (found.system !== system) return 'it is a copy of another database'
    if (!isStandby) return 'it is no replica any more'
    if (place == null || timeline === null) return 'it has replayed nothing yet'
    return { server: server!, place: BigInt(place), timeline }
  }

  async function hangUp() {
    const gone = watcher
    watcher = undefined
    await gone?.then((client) => client.end()).catch(() => undefined)
  }

  return {
    name,
    pool,
    lists: createGate({
      places: Math.max(1, Math.floor(size * LISTS_SHARE)),
      queue: size,
      patience: LIST_PATIENCE_MS,
      what: 'Lists',
    }),
    position: () => seen,
    trouble: () => trouble,
    read: (work) =>
      new Promise((resolve, reject) => {
        underWay.add(reject)
        work()
          .then(resolve, reject)
          .finally(() => underWay.delete(reject))
      }),
    async look(system) {
      try {
        const found = await ask(system)
        if (isClosed) return
        if (typeof found === 'string') return lose(found)
        if (seen && seen.server !== found.server) lose('another server answers')
        if (!seen) log.info({ replica: name }, 'Replica is available for reads')
        seen = found
        trouble = undefined
      } catch (error) {
        lose(error instanceof Error ? error.message : String(error))
        void hangUp()
      }
    },
    async close() {
      isClosed = true
      lose('it is closed')
      await hangUp()
      await pool.end()
    },
  }
}
