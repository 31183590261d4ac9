/** A client that follows an event feed, reconnects after errors, and continues after the last received event. */
import { setTimeout as delay } from 'node:timers/promises'
import { type EventReader, readEvents } from '../../test/support/event-stream.ts'
import { until } from '../../test/support/eventually.ts'
import { ask } from './client.ts'

/** Pause before a reconnect, in milliseconds. It is similar to that of `EventSource`. */
const RECONNECT_MS = 200

/** Result of opening a stream once. Times are values of `performance.now()`. */
export interface Opening {
  sentAt: number
  endedAt: number
  /** HTTP status. 0 if there was no response. */
  status: number
}

export interface FeedFollower {
  /** Sequences of the received events, in order of arrival. */
  readonly sequences: number[]
  /** Number of reconnects. */
  readonly resumes: number
  /**
   * Waits until all current events of the feed have arrived. Returns a message for each event that is missing, duplicate or out of order.
   */
  finish(): Promise<string[]>
  close(): Promise<void>
}

interface Page {
  results: { id: string; sequence: number }[]
}

const feedPage = (base: string, token: string, query: string) =>
  ask<Page>(base, { method: 'GET', path: `/api/v3/events/?${query}`, token }, 200)

/** Reads all pages of a feed, and returns its newest sequence. */
async function newestOf(base: string, token: string, after: number): Promise<number> {
  for (let last = after; ; ) {
    const { results } = await feedPage(base, token, `limit=100&after=${last}`)
    if (results.length === 0) return last
    last = results.at(-1)!.sequence
  }
}

/** Follows the feed of an account that already has events. `opened` is called for each opened stream. */
export async function followFeed(
  base: string,
  token: string,
  opened: (opening: Opening) => void = () => {},
): Promise<FeedFollower> {
  const { results } = await feedPage(base, token, 'limit=1')
  const first = results[0]!
  const sequences: number[] = []
  let lastId = first.id
  let resumes = 0
  let isOver = false
  let reader: EventReader | undefined

  const take = () => {
    if (!reader) return
    for (const { id, data } of reader.events.splice(0)) {
      sequences.push((data as { sequence: number }).sequence)
      lastId = id
    }
  }
  const openStream = async () => {
    const sentAt = performance.now()
    const tell = (status: number) => opened({ sentAt, endedAt: performance.now(), status })
    try {
      reader = await readEvents(`${base}/api/v3/events/stream`, { token, headers: { 'Last-Event-ID': lastId } })
      tell(reader.status)
    } catch {
      tell(0)
    }
  }
  const following = (async () => {
    while (!isOver) {
      await openStream()
      // Broken streams are part of the test.
      await reader?.ended.catch(() => undefined)
      take()
      reader = undefined
      if (isOver) return
      resumes += 1
      await delay(RECONNECT_MS)
    }
  })()

  return {
    sequences,
    get resumes() {
      return resumes
    },
    async finish() {
      const newest = await newestOf(base, token, first.sequence)
      const isHere = () => {
        take()
        return (sequences.at(-1) ?? first.sequence) >= newest
      }
      await until(`event ${newest} of a feed comes`, isHere, 30_000, 50).catch(() => undefined)
      const expected = Array.from({ length: newest - first.sequence }, (_, index) => first.sequence + 1 + index)
      const seen = sequences.filter((sequence) => sequence <= newest)
      if (seen.join() === expected.join()) return []
      const known = new Set(seen)
      const missing = expected.filter((sequence) => !known.has(sequence))
      return [
        `A feed of ${expected.length} events came as ${seen.length}: ${missing.length} missing, ${seen.length - known.size} double.`,
      ]
    },
    async close() {
      isOver = true
      reader?.close()
      await following
    },
  }
}
