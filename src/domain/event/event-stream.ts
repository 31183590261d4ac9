/**
 * Feeds as they grow, whichever process they grow in. A notice only rings a bell; what happened is always read from the
 * table, by position, so that nothing is lost with a notice, told twice, or told out of order.
 */
import type { Event } from '../../platform/prisma/client.ts'
import { createBatch } from '../batch.ts'
import { DomainError } from '../errors.ts'
import type { Database, FeedNotices } from '../ports.ts'
import { findPositions } from './event-statements.ts'

/** Milliseconds between two looks whether the reader may still read. */
const CHECK_EVERY = 10_000
const PAGE = 200

export interface Following {
  ownerId: string
  /** Sequence of the last event that the reader has. */
  after: number
  /** Whether the reader may still read. */
  mayRead(): Promise<boolean>
}

/** Wakes its one waiter; a ring before the wait counts. */
function createBell() {
  let rung = false
  let wake = () => {}
  const bell = {
    closed: false,
    ring() {
      rung = true
      wake()
    },
    close() {
      bell.closed = true
      bell.ring()
    },
    async wait() {
      if (!rung) await new Promise<void>((resolve) => (wake = resolve))
      rung = false
    },
  }
  return bell
}

type Bell = ReturnType<typeof createBell>

const whenAway =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof DomainError && error.code === 'UNAVAILABLE') return value
    throw error
  }

export function createEventStreams({ database, notices }: { database: Database; notices: FeedNotices }) {
  const bells = new Set<Bell>()
  let stopped = false

  /** However many read at once, they ask together; a feed without news costs no more than that. */
  const newest = createBatch(async (ownerIds: string[]) => {
    const found = new Map(
      (await database.query(findPositions, [ownerIds])).map(({ position, sequence }) => [position, sequence]),
    )
    return ownerIds.map((_, index) => found.get(index + 1) ?? 0)
  })

  async function readAfter(ownerId: string, sequence: number): Promise<Event[]> {
    if ((await newest(ownerId)) <= sequence) return []
    const where = { ownerId, sequence: { gt: sequence } }
    return database.read.event.findMany({ where, orderBy: { sequence: 'asc' }, take: PAGE })
  }

  async function* read({ ownerId, after, mayRead }: Following, bell: Bell): AsyncGenerator<Event> {
    if (bell.closed || stopped) return
    bells.add(bell)
    const unwatch = notices.watch(ownerId, bell.ring)
    let sequence = after
    let checkedAt = performance.now()
    try {
      while (!bell.closed && !stopped) {
        if (performance.now() - checkedAt > CHECK_EVERY) {
          if (!(await mayRead().catch(whenAway(true)))) return
          checkedAt = performance.now()
        }
        // While the database is away the reader waits; the next bell tries again.
        const events = await readAfter(ownerId, sequence).catch(whenAway<Event[]>([]))
        for (const event of events) {
          if (bell.closed) return
          yield event
          sequence = event.sequence
        }
        if (events.length === 0) await bell.wait()
      }
    } finally {
      unwatch()
      bells.delete(bell)
    }
  }

  return {
    /** The newest sequence of a feed; 0 when it is empty. */
    newest,

    /**
     * What `each` makes of the events after a position, as they happen. Ends when the reader leaves, may no longer read,
     * or the process drains: at once, also while it waits.
     */
    follow<T>(
      following: Following,
      each: (events: AsyncIterable<Event>) => AsyncGenerator<T>,
    ): AsyncIterableIterator<T> {
      const bell = createBell()
      const made = each(read(following, bell))
      return {
        next: () => made.next(),
        return(value) {
          bell.close()
          return made.return(value)
        },
        [Symbol.asyncIterator]() {
          return this
        },
      }
    },

    /** Ends everything that is followed, and what is begun from now on. */
    stop() {
      stopped = true
      for (const bell of bells) bell.close()
    },
  }
}
