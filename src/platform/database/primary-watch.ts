/**
 * Which of several servers takes writes. While anybody is connected, each server is asked every second on a connection of its own,
 * so that one which hangs keeps nobody from seeing another one being promoted. A promotion begins a new timeline: what takes writes on
 * an earlier one is a primary that was cut off, and is left alone however well it answers.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Server } from './database-url.ts'

/** What a server says of itself. */
export type Standing =
  /** It takes writes. `cluster`: the identity that a primary and its standbys share. */
  | { kind: 'primary'; cluster: string; timeline: number }
  | { kind: 'standby' }
  /** Its own settings have it take no writes. */
  | { kind: 'read-only' }
  | { kind: 'silent'; reason: string }

/** A connection, as far as the watch knows it. */
export interface Held {
  readonly server: Server | undefined
  /** Cuts it, and with it what it carries out. */
  cut(reason: Error): void
}

/** Follows which server takes writes, for as long as somebody is connected. */
export interface PrimaryWatch {
  /** The server that takes writes. Raises an Error of class 08 that tells of each server why not, after `patience` milliseconds at most. */
  find(patience: number): Promise<Server>
  /** From the moment it is wanted until `leave`. It is cut when its server takes writes no more, or another one does. */
  enter(held: Held): void
  leave(held: Held): void
}

/** Milliseconds. */
const LOOK_EVERY_MS = 1_000
const LOOK_TIMEOUT_MS = 2_000
const KEEP_ALIVE_MS = 10_000

/** What the file of a server's current write-ahead log is called begins with its timeline, in hexadecimal digits. */
const look = `
  select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only')::boolean as "isReadOnly",
    (select system_identifier::text from pg_control_system()) as cluster,
    case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`

interface Look {
  isStandby: boolean
  isReadOnly: boolean
  cluster: string
  timeline: string | null
}

const toStanding = ({ isStandby, isReadOnly, cluster, timeline }: Look): Standing => {
  if (isStandby || timeline === null) return { kind: 'standby' }
  if (isReadOnly) return { kind: 'read-only' }
  return { kind: 'primary', cluster, timeline: Number.parseInt(timeline, 16) }
}

async function open({ url }: Server): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: LOOK_TIMEOUT_MS,
    query_timeout: LOOK_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'annal watch',
  })
  // What is lost is found by the next look.
  client.on('error', () => {})
  // It asks for others' sake: it keeps no process from ending.
  ;(client as unknown as { unref(): void }).unref()
  await client.connect()
  return client
}

const askOn = async (client: pg.Client) => toStanding((await client.query<Look>(look)).rows[0]!)

const toSilence = (error: unknown): Standing => ({
  kind: 'silent',
  reason: error instanceof Error ? error.message || error.name : String(error),
})

const close = (client: pg.Client | undefined) => void client?.end().catch(() => {})

/** What each server says of itself right now, in their order. Raises nothing. */
export function readStandings(servers: readonly Server[]): Promise<Standing[]> {
  return Promise.all(
    servers.map(async (server) => {
      let client: pg.Client | undefined
      try {
        client = await open(server)
        return await askOn(client)
      } catch (error) {
        return toSilence(error)
      } finally {
        close(client)
      }
    }),
  )
}

/** A server's standing as words: `is a standby`. */
export function describeStanding(standing: Standing | undefined): string {
  if (standing === undefined) return 'has not answered yet'
  if (standing.kind === 'silent') return `does not answer (${standing.reason})`
  if (standing.kind === 'primary') return `takes writes on timeline ${standing.timeline}`
  return standing.kind === 'standby' ? 'is a standby' : 'is read-only by its settings'
}

/** SQLSTATE of a connection that could not be had, by which it is told from a mistake. */
const CANNOT_CONNECT = '08001'

interface Watched {
  server: Server
  standing: Standing | undefined
  isAsked: boolean
}

/** Follows the servers of one URL. Asks nobody until somebody enters. */
export function createPrimaryWatch(servers: readonly Server[]): PrimaryWatch {
  const watched: Watched[] = servers.map((server) => ({ server, standing: undefined, isAsked: false }))
  const held = new Set<Held>()
  const waiting = new Set<() => void>()
  let primary: Watched | undefined
  /** What was seen once holds for as long as the process lives. */
  let cluster: string | undefined
  let timeline = 0

  /** Those that take writes, and are neither of another cluster nor of the past. */
  function findFitting(): Watched[] {
    const writable = watched.flatMap((each) => (each.standing?.kind === 'primary' ? [{ each, ...each.standing }] : []))
    const own = writable.filter((of) => of.cluster === (cluster ?? writable[0]!.cluster))
    // Timelines of several clusters have nothing to do with each other.
    if (cluster === undefined && own.length < writable.length) return []
    timeline = Math.max(timeline, ...own.map((of) => of.timeline))
    return own.filter((of) => of.timeline === timeline).map(({ each }) => each)
  }

  const isHeardOf = () => watched.every(({ standing }) => standing !== undefined)

  /** Nobody is chosen by half of what there is to hear, and among equals only who was chosen before. */
  function settle() {
    if (!primary && !isHeardOf()) return
    const fitting = findFitting()
    if (primary?.standing?.kind === 'standby' || primary?.standing?.kind === 'read-only') primary = undefined
    if (!primary || !fitting.includes(primary)) primary = fitting.length === 1 ? fitting[0] : primary
    if (primary?.standing?.kind === 'primary') ({ cluster } = primary.standing)
    for (const each of [...held]) {
      const { server } = each
      const isThere = server === undefined || server === primary?.server
      const refuses = ({ server: of, standing }: Watched) => of === server && standing?.kind !== 'silent'
      if (isThere || (!primary && !watched.some(refuses))) continue
      each.cut(new Error(`Connection terminated: ${server.name} is not the server that takes writes.`))
    }
    for (const wake of [...waiting]) wake()
  }

  async function watch(each: Watched) {
    let client: pg.Client | undefined
    each.isAsked = true
    while (held.size > 0) {
      try {
        client ??= await open(each.server)
        each.standing = await askOn(client)
      } catch (error) {
        close(client)
        client = undefined
        each.standing = toSilence(error)
      }
      settle()
      await delay(LOOK_EVERY_MS, undefined, { ref: false })
    }
    close(client)
    each.isAsked = false
    // What was heard is old when somebody enters again.
    each.standing = undefined
    primary = undefined
  }

  const refusal = () => {
    const told = watched.map(({ server, standing }) => `${server.name} ${describeStanding(standing)}`)
    const writable = watched.filter(({ standing }) => standing?.kind === 'primary')
    const what =
      writable.length > 1
        ? 'Several servers of DATABASE_URL take writes, and nothing tells which one is right'
        : 'No server of DATABASE_URL can be written to'
    const error = new Error(`${what}: ${told.join('; ')}.`)
    return Object.assign(error, { code: CANNOT_CONNECT })
  }

  return {
    find(patience) {
      return new Promise((resolve, reject) => {
        const answer = (isLate: boolean) => {
          if (!primary && !isLate && !isHeardOf()) return
          clearTimeout(timer)
          waiting.delete(wake)
          if (primary) resolve(primary.server)
          else reject(refusal())
        }
        const wake = () => answer(false)
        const timer = setTimeout(answer, patience, true)
        waiting.add(wake)
        answer(false)
      })
    },
    enter(each) {
      held.add(each)
      for (const server of watched) if (!server.isAsked) void watch(server)
    },
    leave(each) {
      held.delete(each)
    },
  }
}
