/** Hourly maintenance: retention, remains of deleted assets, and garbage collection. Several processes may run it. */
import type { Database } from '../db/database-types.ts'
import { boolean, int, statement, text } from '../db/sql.ts'
import type { ContentStore } from '../files/file-types.ts'
import { eraseHistories, findUnerased } from '../modules/assets/delete-asset.ts'
import { updateBlockIndex } from '../modules/assets/file-blocks.ts'
import type { Uploads } from '../modules/assets/uploads.ts'
import { forEachSettled, keysetPages } from '../shared/async.ts'
import type { ConcurrencyCounter } from '../shared/concurrency-counter.ts'
import type { RateLimiter } from '../shared/limiters.ts'
import type { Log } from '../shared/log.ts'
import type { Meter } from '../telemetry/telemetry-types.ts'
import { createBatchJobRunner, deleteStaleJobFailures, simpleBatchJob } from './batch-jobs.ts'
import { createRetentionJobs, type RetentionDays, readOverdue } from './retention.ts'

const PINS_AT_ONCE = 1_000

const nextPins = statement(
  'pins_after',
  { parameters: { after: text, limit: int }, columns: { cid: text } },
  'select distinct cid from pins where cid > $after order by cid limit $limit',
)
const isPinned = statement(
  'pins_has',
  { parameters: { cid: text }, columns: { found: boolean } },
  'select exists (select from pins where cid = $cid) as found',
)

const eraseDeletedAssets = simpleBatchJob('erase-deleted-assets', findUnerased, eraseHistories, {}, 50)

interface Dependencies {
  database: Database
  contentStore: ContentStore
  rateLimiter: Pick<RateLimiter, 'deleteExpired'>
  counter: Pick<ConcurrencyCounter, 'renew' | 'deleteExpired'>
  uploads: Pick<Uploads, 'deleteAbandoned'>
  /** CIDs of blocks that are kept although no asset pins them. */
  documents: string[]
  /** Minimum age of an unpinned block before it is deleted, in seconds. */
  graceSeconds: number
  retention: RetentionDays
  meter: Pick<Meter, 'count'>
  log: Pick<Log, 'error'>
}

export function createMaintenance(deps: Dependencies) {
  const { database, contentStore, documents, retention, meter } = deps
  const runner = createBatchJobRunner(deps)
  const batchJobs = [...createRetentionJobs(retention), eraseDeletedAssets]
  // A counter must exist with value 0 so that Prometheus sees its first increase.
  for (const { name } of batchJobs) meter.count('annal_batch_items_total', { batch_job: name }, 0)

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

  const deleteAbandonedUploads = () => runner.runFileScan('delete-uploads', deps.uploads.deleteAbandoned)

  return {
    /** Returns the CIDs that the file store must keep, without duplicates and in no order. Throws UNAVAILABLE. */
    pinned,

    deleteAbandonedUploads,

    renewCounters: deps.counter.renew,

    /** Returns the age of the oldest overdue row by retention rule, in seconds. Throws UNAVAILABLE. */
    overdue: () =>
      database.query(readOverdue, { eventDays: retention.eventDays, idempotencyKeyDays: retention.idempotencyKeyDays }),

    /** Deletes expired rows and interrupted uploads, erases deleted assets, and lists the blocks of files. */
    async run(cancel?: AbortSignal): Promise<void> {
      const steps = [
        () => runner.runAll(batchJobs, cancel),
        () => database.query(deleteStaleJobFailures),
        deps.rateLimiter.deleteExpired,
        deps.counter.deleteExpired,
        deleteAbandonedUploads,
        () => runner.runFileScan('index-blocks', (onError) => updateBlockIndex(deps, onError, cancel)),
      ]
      await forEachSettled(steps, (step) => step(), cancel)
    },

    /** Deletes unpinned blocks and returns their number. Throws when `cancel` aborts, and UNAVAILABLE. */
    collectGarbage: (cancel?: AbortSignal): Promise<number> =>
      runner.runFileScan('collect-garbage', (onError) =>
        contentStore.collectGarbage(pinned(), deps.graceSeconds, {
          cancel,
          onError,
          isPinned: async (cid) =>
            documents.includes(cid) || (await database.query(isPinned, { cid }))[0]?.found === true,
        }),
      ),
  }
}

export type Maintenance = ReturnType<typeof createMaintenance>
