/**
 * Which reads go to a replica, and to which (decision 44). A request reads from one server: from a replica that shows all that its caller
 * must see, until something is not found there or goes wrong; then from the primary, to its end.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReplicaReads } from '../../domain/ports/database.ts'
import type { Log } from '../../domain/ports/log.ts'
import { formatPosition, type Reader } from '../../domain/read-position.ts'
import type { Query } from '../../domain/sql.ts'
import { createReadFloors } from './read-floors.ts'
import { createReplica, type Replica, type ReplicaState } from './replica.ts'
import { noteTimeline } from './replica-statements.ts'

/** Milliseconds between two looks at replicas; while somebody waits for one to catch up, and until one that was lost is asked again. */
const LOOK_EVERY_MS = 250
const LOOK_SOON_MS = 15
/** Until a replica that follows shows what the primary had written. */
const CHECK_PAUSE_MS = 500
const MS = 1_000

/** Where a read of a request that may come from a replica was read, and why. */
export type ReadOutcome =
  /** From a replica. */
  | 'replica'
  /** From the primary: this, or what the request read before, must be as it is now. */
  | 'exact'
  /** No replica answers, or all are too far behind. */
  | 'away'
  /** No replica shows yet what the caller must see. */
  | 'behind'
  /** The replica did not have it. */
  | 'absent'
  /** The replica raised something, or was lost meanwhile. */
  | 'failed'
  /** An earlier read of the request came from the primary. */
  | 'settled'

/** What routes reads. */
export interface Replicas extends ReplicaReads {
  /** What a replica answers; undefined when the primary is to be asked. `hasFound`: whether an answer says that there is something. Raises nothing. */
  ask<T>(at: (replica: Replica) => Promise<T>, hasFound: (answer: T) => boolean): Promise<T | undefined>
  /** Has the request that is under way read from the primary, from now on: what it asks for must be as it is now. */
  keepToPrimary(): void
  /** All of them. */
  readonly all: readonly Replica[]
  /** How each is, as it was last seen. */
  states(): readonly ReplicaState[]
  /** The same, as it is now. */
  check(): Promise<readonly ReplicaState[]>
  /** How often reads came from where. */
  readonly outcomes: ReadonlyMap<ReadOutcome, number>
  close(): Promise<void>
}

/** What is read by one request. */
interface Request {
  readonly reader: Reader
  /** Where it reads: undefined before its first read, then a replica, or the primary and why. */
  at: Promise<Replica | ReadOutcome> | undefined
}

const run = <T>(work: () => Promise<T>) => work()

/** Where there are no replicas: everything is the primary's. */
export const noReplicas: Replicas = {
  lagging: (_reader, work) => run(work),
  upToDate: run,
  noteWrites: async () => undefined,
  ask: async () => undefined,
  keepToPrimary: () => undefined,
  all: [],
  states: () => [],
  check: async () => [],
  outcomes: new Map(),
  close: async () => undefined,
}

/** What replicas are made from. */
export interface ReplicasOptions {
  urls: readonly string[]
  /** Connections to each. */
  size: number
  /** Seconds that a replica may be behind to be read from. */
  maxLag: number
  /** Asks the primary. */
  query: Query
  log: Log
}

const timeOf = () => performance.now()

/** A number from 0 to below 1 for a text. */
function shareOf(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) % 65_536
  return sum / 65_536
}

/** Opens replicas; they are looked at from the first read on that could be theirs. */
export function createReplicas({ urls, size, maxLag, query, log }: ReplicasOptions): Replicas {
  const all = urls.map((url) => createReplica({ url, size, log }))
  const floors = createReadFloors(query)
  const requests = new AsyncLocalStorage<Request | undefined>()
  const outcomes = new Map<ReadOutcome, number>()
  const count = (outcome: ReadOutcome) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  /** Where the primary was when, oldest first. */
  const passed: { at: number; place: bigint }[] = []
  let primary = { timeline: 0, system: '' }
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isClosed = false

  /** Seconds that a replica is behind at most; undefined when nothing is known of it. */
  function lagOf(replica: Replica): number | undefined {
    const place = replica.position()?.place
    if (place === undefined) return undefined
    const next = passed.findIndex((moment) => moment.place > place)
    if (next < 0) return 0
    // How long before the first moment that is known, nobody knows.
    return next === 0 ? Number.POSITIVE_INFINITY : (timeOf() - passed[next]!.at) / MS
  }

  async function lookAtPrimary() {
    const { now } = await floors.of()
    if (now.timeline !== primary.timeline) {
      const [row] = await query(noteTimeline, { timeline: now.timeline })
      primary = { timeline: now.timeline, system: row!.system }
      passed.length = 0
    }
    passed.push({ at: timeOf(), place: now.place })
    // One moment is kept from before the longest lag: who is not past it is too far behind.
    while (passed.length > 1 && timeOf() - passed[1]!.at > maxLag * MS) passed.shift()
  }

  async function look() {
    await lookAtPrimary().catch((error: unknown) =>
      log.debug({ err: error }, 'Failed to read the WAL position of the primary'),
    )
    if (primary.system) await Promise.all(all.map((replica) => replica.look(primary.system)))
  }

  function lookWithin(milliseconds: number) {
    if (isClosed || looking) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      looking = look().finally(() => {
        looking = undefined
        lookWithin(LOOK_EVERY_MS)
      })
    }, milliseconds)
    timer.unref()
  }
  const start = () => {
    if (!timer) lookWithin(0)
  }

  function stateOf(replica: Replica): ReplicaState {
    const lag = lagOf(replica)
    const isOnTimeline = replica.position()?.timeline === primary.timeline
    const trouble = () => {
      if (lag === undefined) return replica.trouble()
      if (!isOnTimeline) return 'it follows another timeline than the primary'
      return lag > maxLag ? `it is more than ${maxLag} seconds behind` : undefined
    }
    return { name: replica.name, trouble: trouble(), lag }
  }

  async function choose(reader: Reader): Promise<Replica | ReadOutcome> {
    start()
    const near = all.filter((replica) => (lagOf(replica) ?? Number.POSITIVE_INFINITY) <= maxLag)
    if (near.length === 0) return 'away'
    const { floor } = await floors.of(reader)
    const shows = ({ position }: Replica) => {
      const here = position()
      return here?.timeline === floor.timeline && here.place >= floor.place
    }
    const fit = near.filter(shows)
    if (fit.length > 0) return fit[Math.floor(shareOf(reader.key) * fit.length)]!
    lookWithin(LOOK_SOON_MS)
    return 'behind'
  }

  return {
    all,
    outcomes,
    lagging: (reader, work) => requests.run({ reader, at: undefined }, work),
    upToDate: (work) => requests.run(undefined, work),

    async noteWrites(users) {
      try {
        return formatPosition(await floors.note(users))
      } catch (error) {
        // What was written stands, and the answer must go out.
        log.warn(
          { err: error },
          'Failed to record the WAL position of a write; replicas may return older data to its user',
        )
        return undefined
      }
    },

    keepToPrimary() {
      const request = requests.getStore()
      if (request) request.at = Promise.resolve('exact')
    },

    async ask(at, hasFound) {
      const request = requests.getStore()
      if (!request) return undefined
      const settle = (outcome: ReadOutcome) => {
        count(outcome)
        request.at = Promise.resolve(outcome === 'exact' ? 'exact' : 'settled')
        return undefined
      }
      request.at ??= choose(request.reader).catch(() => 'away' as const)
      const place = await request.at
      if (typeof place === 'string') return settle(place)
      try {
        const answer = await place.read(() => at(place))
        if (!hasFound(answer)) return settle('absent')
        count('replica')
        return answer
      } catch (error) {
        log.debug({ err: error, replica: place.name }, 'Replica read failed; reading from the primary')
        lookWithin(LOOK_SOON_MS)
        return settle('failed')
      }
    },

    states() {
      start()
      return all.map(stateOf)
    },

    async check() {
      // Where the primary is now a replica is a moment later.
      await look()
      await delay(CHECK_PAUSE_MS)
      await look()
      return all.map(stateOf)
    },

    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
      await Promise.all(all.map((replica) => replica.close()))
    },
  }
}
