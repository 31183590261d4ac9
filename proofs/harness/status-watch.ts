/** Polls the status of every commit, to detect premature finality and rollbacks. */
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
  /** Number of commits that were final before they had `confirmations` blocks on top. */
  early: number
  /** Number of commits that were final and no longer are. */
  withdrawn: number
  /** Number of commits that were included and no longer are. */
  displaced: number
  /** Records one poll. The head must be read after the rows. The control uses this method, too. */
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

/** Polls until `stop`. */
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
      // Without a response from the node, the depth is unknown.
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
