/** Looks at the status of every commit all the time: what became final too early, and what was taken back. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Rpc } from '../../src/chain/rpc.ts'
import { int, orNull, statement, text, uuid } from '../../src/db/sql.ts'
import type { Parts } from './parts.ts'
import type { ProofContext } from './proof.ts'

interface Seen {
  id: string
  status: string
  block: number | null
}

const findAll = statement(
  'proof_statuses',
  { columns: { id: uuid, status: text, block: orNull(int) } },
  'select commit_id as id, status::text, block_number as block from commit_relays',
)

export interface StatusWatch {
  /** Commits that were final before `confirmations` blocks lay on top of theirs. */
  early: number
  /** Commits that were final and are so no more. */
  withdrawn: number
  /** Commits that were included and are so no more. */
  displaced: number
  /** Looks at one moment: the head after it was read. The control uses it, too. */
  see(rows: readonly Seen[], head: number): void
}

export function createStatusWatch(confirmations: number): StatusWatch {
  const known = new Map<string, string>()
  const watch: StatusWatch = {
    early: 0,
    withdrawn: 0,
    displaced: 0,
    see(rows, head) {
      for (const { id, status, block } of rows) {
        const before = known.get(id)
        if (before === 'FINAL' && status !== 'FINAL') watch.withdrawn += 1
        if (before === 'INCLUDED' && (status === 'PENDING' || status === 'BROADCAST')) watch.displaced += 1
        if (before !== 'FINAL' && status === 'FINAL' && head - block! < confirmations) watch.early += 1
        known.set(id, status)
      }
    },
  }
  return watch
}

/** Until `stop`. */
export function watchStatuses(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  { database }: Parts,
  rpc: Rpc,
  watch: StatusWatch,
): () => Promise<void> {
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const rows = await database.query(findAll)
      const head = await rpc.call<string>('eth_blockNumber').catch(() => undefined)
      // Without a node nothing can be said about depth.
      if (head !== undefined) watch.see(rows, Number(head))
      await delay(100)
    }
  })()
  const stop = async () => {
    isOver = true
    await watching
  }
  afterwards(stop)
  return stop
}
