/** What must be tidied now and then. Safe to run in several processes at once. */

import type { BlockService } from './asset/block-service.ts'
import { eraseHistories, findUnerased } from './asset/erasure-statements.ts'
import type { Uploads } from './asset/uploads.ts'
import type { ConcurrencyCounter } from './concurrency-counter.ts'
import { eachForItself } from './each-for-itself.ts'
import { keysetPages } from './keyset-pages.ts'
import { isPinned, nextPins } from './maintenance-statements.ts'
import type { Database } from './ports/database.ts'
import type { ContentStore } from './ports/files.ts'
import type { Log } from './ports/log.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { createRetentionSweeps, type RetentionDays, readOverdue } from './retention/retention.ts'
import type { Sweep } from './sweep/sweep.ts'
import { createSweeper } from './sweep/sweeper.ts'
import type { Meter } from './telemetry.ts'

/** Deleted assets of a page: each may have a long history. */
const ASSETS_AT_ONCE = 50
const PINS_AT_ONCE = 1_000

/** What is tidied every hour. Nobody waits for it, and what it leaves is found the next time. */
export function createMaintenance({
  database,
  contentStore,
  rateLimiter,
  counter,
  uploads,
  blocks,
  documents,
  graceSeconds,
  retention,
  meter,
  log,
}: {
  database: Database
  contentStore: ContentStore
  rateLimiter: Pick<RateLimiter, 'sweep'>
  counter: Pick<ConcurrencyCounter, 'renew' | 'sweep'>
  uploads: Pick<Uploads, 'sweep'>
  blocks: Pick<BlockService, 'tidy'>
  /** Nids that are kept though no asset pins them. */
  documents: string[]
  /** Seconds that a block may lie unpinned. */
  graceSeconds: number
  retention: RetentionDays
  meter: Pick<Meter, 'swept'>
  log: Pick<Log, 'error'>
}) {
  const sweeper = createSweeper({ database, log, meter })
  const histories: Sweep = {
    name: 'erase-deleted-assets',
    find: (query, part) => query(findUnerased, part),
    page: ASSETS_AT_ONCE,
    async carryOut(query, assets) {
      const rows = await query(eraseHistories, { assets })
      const itemsOf = (some: typeof rows) => some.map(({ item }) => item)
      return { items: itemsOf(rows), unfinished: itemsOf(rows.filter(({ has_more }) => has_more)) }
    },
  }
  const sweeps = [...createRetentionSweeps(retention), histories]
  // What has not happened yet is 0, not missing.
  for (const { name } of sweeps) meter.swept(name, 0)

  async function* pinned() {
    yield* documents
    const pages = keysetPages({
      first: '',
      limit: PINS_AT_ONCE,
      read: (after, limit) => database.query(nextPins, { after, limit }),
      keyOf: ({ cid }) => cid,
    })
    for await (const page of pages) for (const { cid } of page) yield cid
  }

  /** Removes uploads that were broken off. */
  const sweepUploads = () => sweeper.runRound('empty-uploads', false, uploads.sweep)

  const listBlocks = (cancel?: AbortSignal) =>
    sweeper.runRound('list-blocks', true, (onError) => blocks.tidy(onError, cancel))

  return {
    /** The CIDs of all that the file store must keep, each once, in no order. Raises UNAVAILABLE. */
    pinned,

    sweepUploads,

    /** Renews what this process holds of limits that all processes share. Throws UNAVAILABLE. */
    renewCounters: counter.renew,

    /** For how many seconds the oldest row is due to be forgotten, by sweep. Raises UNAVAILABLE. */
    overdue: () =>
      database.query(readOverdue, { eventDays: retention.eventDays, idempotencyKeyDays: retention.idempotencyKeyDays }),

    /** Forgets what is old enough, windows of limits, the rest of deleted assets, and uploads that were broken off; notes which blocks files have. */
    async sweep(cancel?: AbortSignal): Promise<void> {
      const steps = [
        () => sweeper.runAll(sweeps, cancel),
        sweeper.forgetStale,
        rateLimiter.sweep,
        counter.sweep,
        sweepUploads,
        () => listBlocks(cancel),
      ]
      await eachForItself(steps, (step) => step(), cancel)
    },

    /**
     * Removes blocks that nothing pins; returns how many. What cannot be read or removed is put off. `cancel` ends it early: it raises
     * then. Raises UNAVAILABLE while the file store is away.
     */
    collectGarbage: (cancel?: AbortSignal): Promise<number> =>
      sweeper.runRound('collect-garbage', true, (onError) =>
        contentStore.collectGarbage(pinned(), graceSeconds, {
          cancel,
          onError,
          isPinned: async (cid) =>
            documents.includes(cid) || (await database.query(isPinned, { cid }))[0]?.found === true,
        }),
      ),
  }
}

/** Tidies up; what `createMaintenance` makes. */
export type Maintenance = ReturnType<typeof createMaintenance>
