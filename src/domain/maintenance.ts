/** What must be tidied now and then. Safe to run in several processes at once. */
import type { Uploads } from './asset/uploads.ts'
import type { Idempotency } from './idempotency.ts'
import type { Limits } from './limits.ts'
import { type ContentStore, type Database, statement } from './ports.ts'

const forgetTokens = statement<never>('token_sweep', 'delete from access_tokens where expires_at < now()')

/** What a deletion could not erase yet, because the relay still had to bring it to the chain. */
const eraseSettled = statement<never>(
  'deleted_erase',
  `with gone as (select id from assets where deleted_at is not null),
   erased as (
     update commits c set tree = '', message = '', changes = '{}' from gone, commit_relays r
     where c.asset_id = gone.id and c.tree <> '' and r.commit_id = c.id and r.status in ('FINAL', 'FAILED')
   )
   delete from pins using gone where pins.asset_id = gone.id`,
)
const nextPins = statement<{ cid: string }>(
  'pins_after',
  'select distinct cid from pins where cid > $1 order by cid limit 1000',
)

/** Seconds that a block may lie unpinned: longer than any upload takes from its first block to its pin. */
const GRACE = 3_600

export function createMaintenance({
  database,
  contentStore,
  idempotency,
  limits,
  uploads,
  documents,
}: {
  database: Database
  contentStore: ContentStore
  idempotency: Idempotency
  limits: Limits
  uploads: Pick<Uploads, 'sweep'>
  /** Nids that are kept though no asset pins them. */
  documents: string[]
}) {
  async function* pinned() {
    yield* documents
    for (let last = ''; ; ) {
      const page = await database.query(nextPins, [last])
      for (const { cid } of page) yield cid
      const end = page.at(-1)
      if (!end) return
      last = end.cid
    }
  }

  return {
    /** Forgets idempotency keys of last week, ended sessions, windows of limits, the rest of deleted assets, and uploads that were broken off. */
    async sweep(): Promise<void> {
      await idempotency.sweep()
      await database.query(forgetTokens)
      await database.query(eraseSettled)
      await limits.sweep()
      await uploads.sweep()
    },
    /** Removes blocks that nothing pins; returns how many. `cancel` ends it early: it raises then. */
    collectGarbage: (cancel?: AbortSignal) => contentStore.collectGarbage(pinned(), GRACE, cancel),
  }
}

export type Maintenance = ReturnType<typeof createMaintenance>
