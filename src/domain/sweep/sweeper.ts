/** Carries out sweeps so that one item that fails keeps no other from being dealt with. Safe in several processes at once. */
import { eachForItself } from '../each-for-itself.ts'
import { DomainError, isUnavailable } from '../errors.ts'
import type { Database } from '../ports/database.ts'
import type { FeedNotifications } from '../ports/feed.ts'
import type { Log, OnError } from '../ports/log.ts'
import { type Meter, silentMeter } from '../telemetry.ts'
import { withPublicItems } from './public-items.ts'
import { forgetOtherSetbacks, forgetSetbacks, forgetStaleSetbacks, noteSetbacks } from './setback-statements.ts'
import type { ItemRow, RoundName, Sweep, SweepName } from './sweep.ts'

/** Items that a line of the log names. */
const NAMED = 5
/** Items of one round that are noted: where more fail, it is not theirs. */
const NOTED_OF_ROUND = 100
/** Characters of a reason. */
const LONGEST_REASON = 300
const STATEMENT_TIMEOUT = '57014'

interface Failure {
  item: string
  error: unknown
}

interface Pass {
  done: Set<string>
  unfinished: string[]
}

/** Whether trying other items is of no use. A statement that took too long is the fault of what it was about. */
export const isOutage = (error: unknown) => {
  if (!isUnavailable(error)) return false
  return !(error.cause instanceof Error && 'code' in error.cause && error.cause.code === STATEMENT_TIMEOUT)
}

/** What was behind an outage says more than that there was one. */
const reasonOf = ({ error }: Failure) => {
  const root = error instanceof DomainError && error.cause instanceof Error ? error.cause : error
  return (root instanceof Error ? root.message : String(root)).slice(0, LONGEST_REASON)
}

interface Dependencies {
  database: Database
  log: Pick<Log, 'error'>
  /** Of sweeps that write events. */
  notifications?: Pick<FeedNotifications, 'notify'>
  /** Nobody counts what was dealt with when it is missing. */
  meter?: Pick<Meter, 'swept'>
}

/**
 * Carries out sweeps: page by page, halving what fails until the items are found that fail alone, which then rest in the
 * table `setbacks`. It remembers only which items of rounds failed in this process.
 */
export function createSweeper({ database, log, notifications, meter = silentMeter }: Dependencies) {
  /**
   * A transaction that failed lets go of its rows before this raises; after a statement alone they may still be held for a
   * moment, and would be passed over as somebody else's.
   */
  async function carryOut(sweep: Sweep, items: readonly string[], pass: Pass): Promise<void> {
    const { items: done, unfinished = [], owners } = await database.transaction((query) => sweep.carryOut(query, items))
    for (const item of done) pass.done.add(item)
    meter.swept(sweep.name, done.length)
    pass.unfinished.push(...unfinished)
    for (const owner of new Set(owners)) notifications?.notify(owner)
  }

  /** All at once; what fails is halved, until only those are left that fail alone. Raises UNAVAILABLE while the database is away. */
  async function carryOutPage(sweep: Sweep, items: readonly string[], pass: Pass): Promise<Failure[]> {
    try {
      await carryOut(sweep, items, pass)
      return []
    } catch (error) {
      if (isOutage(error)) throw error
      if (items.length === 1) return [{ item: items[0]!, error }]
    }
    const half = Math.ceil(items.length / 2)
    return [
      ...(await carryOutPage(sweep, items.slice(0, half), pass)),
      ...(await carryOutPage(sweep, items.slice(half), pass)),
    ]
  }

  async function deal(sweep: Sweep, items: readonly string[]): Promise<Pass> {
    const pass: Pass = { done: new Set(), unfinished: [] }
    const failures: Failure[] = []
    for (const part of sweep.isOneByOne ? items.map((item) => [item]) : [items])
      failures.push(...(await carryOutPage(sweep, part, pass)))
    await putOff(sweep.name, failures)
    if (pass.done.size > 0) await database.query(forgetSetbacks, { sweep: sweep.name, items: [...pass.done] })
    return pass
  }

  /** Schedules the next attempt of these items, and logs those that failed for the first time. */
  async function putOff(name: SweepName | RoundName, failures: readonly Failure[]): Promise<void> {
    if (failures.length === 0) return
    const noted = await database.query(noteSetbacks, {
      sweep: name,
      items: failures.map(({ item }) => item),
      lastErrors: failures.map(reasonOf),
    })
    const fresh = new Set(noted.filter(({ attempts }) => attempts === 1).map(({ item }) => item))
    const logged = failures.filter(({ item }) => fresh.has(item))
    if (logged.length === 0) return
    const named = logged.slice(0, NAMED).map(({ item }) => ({ sweep: name, item }))
    const items = (await withPublicItems(database, named)).map(({ item }) => item)
    log.error(
      { err: logged[0]!.error, sweep: name, count: logged.length, items },
      'Sweep failed for some items; retrying ("annal jobs" lists them)',
    )
  }

  /**
   * Goes through everything once; returns how many items something was done with. What takes more than one statement is
   * finished when all others had their turn. `cancel` ends it between two pages. Raises UNAVAILABLE while the database is away.
   */
  async function run(sweep: Sweep, cancel?: AbortSignal): Promise<number> {
    let total = 0
    let long: string[] = []
    let after: string | null = null
    for (let pages = 0; pages < (sweep.mostPages ?? Number.POSITIVE_INFINITY); pages += 1) {
      cancel?.throwIfAborted()
      const page: ItemRow[] = await sweep.find(database.query, { after, limit: sweep.page })
      if (page.length === 0) break
      const { done, unfinished } = await deal(
        sweep,
        page.map(({ item }) => item),
      )
      total += done.size
      long.push(...unfinished)
      if (page.length < sweep.page) break
      after = page.at(-1)!.place
    }
    while (long.length > 0) {
      cancel?.throwIfAborted()
      const part = long.splice(0, sweep.page)
      const { unfinished } = await deal(sweep, part)
      long = [...long, ...unfinished]
    }
    return total
  }

  /** Items of rounds that failed in this process. */
  const failing = new Map<RoundName, readonly string[]>()

  return {
    run,

    /**
     * Carries out a round, which tells of what it could not deal with: that is put off like an item of a sweep, and what does not fail
     * any more is forgotten, of one whose files several machines share also what another process had noted. Raises what `work` raises.
     */
    async runRound<T>(name: RoundName, isShared: boolean, work: (onError: OnError) => Promise<T>): Promise<T> {
      const failures = new Map<string, Failure>()
      const onError: OnError = (item, error) => {
        if (failures.size < NOTED_OF_ROUND) failures.set(item, { item, error })
      }
      const noteAll = () => putOff(name, [...failures.values()])
      const result = await work(onError).catch(async (error: unknown) => {
        await noteAll()
        throw error
      })
      await noteAll()
      const items = [...failures.keys()]
      const mended = (failing.get(name) ?? []).filter((item) => !items.includes(item))
      if (isShared) await database.query(forgetOtherSetbacks, { sweep: name, items })
      else if (mended.length > 0) await database.query(forgetSetbacks, { sweep: name, items: mended })
      failing.set(name, items)
      return result
    },

    /** Each for itself: one that cannot even be looked at stops none of the others. Raises what the first of those raised. */
    async runAll(sweeps: readonly Sweep[], cancel?: AbortSignal): Promise<void> {
      await eachForItself(sweeps, (sweep) => run(sweep, cancel), cancel)
    },

    /** Forgets what failed once and is not there any more. */
    async forgetStale(): Promise<void> {
      await database.query(forgetStaleSetbacks)
    },
  }
}
