/**
 * How far a replica must have come for a reader: as far as the database was when the reader wrote last, and when something was last taken
 * out of the sight of others. The primary is asked with each request, for all that came together at once.
 */
import { createBatch } from '../../domain/batch.ts'
import type { Reader, ReadPosition } from '../../domain/read-position.ts'
import type { Query } from '../../domain/sql.ts'
import { beginPositions, notePositions, type Positions, readPositions } from './replica-statements.ts'

/** What was read of the primary for one reader. */
export interface Floor {
  /** What must be shown. */
  floor: ReadPosition
  /** Where the primary is. */
  now: ReadPosition
}

const later = (a: bigint, b: bigint) => (a > b ? a : b)

/** Returns what tells floors, and what notes that somebody has written. Both raise what `query` raises. */
export function createReadFloors(query: Query) {
  /** What holds for all: where the primary was, at the latest, when it was first seen with so many withdrawals. */
  let shared = { timeline: 0, withdrawals: '', place: 0n }

  /** Everything that is seen was committed before the primary's place was looked up. */
  function learn({ timeline, withdrawals, place }: Positions) {
    if (shared.timeline === timeline && shared.withdrawals === withdrawals) return
    const known = shared.timeline === timeline ? shared.place : 0n
    shared = { timeline, withdrawals, place: later(known, BigInt(place)) }
  }

  const positionsOf = createBatch(async (asked: (string | undefined)[]) => {
    const users = [...new Set(asked.filter((user) => user !== undefined))]
    const [row] = await query(readPositions, { users })
    learn(row!)
    const { timeline, since } = row!
    const place = BigInt(row!.place)
    if (since === null) await query(beginPositions, {})
    const forAll = since === null ? place : later(shared.place, BigInt(since))
    return asked.map((user): Floor => {
      const own = user === undefined ? undefined : row!.users[user]
      return {
        floor: { timeline, place: own === undefined ? forAll : later(forAll, BigInt(own)) },
        now: { timeline, place },
      }
    })
  })

  const note = createBatch(async (asked: (readonly string[])[]) => {
    const [row] = await query(notePositions, { users: asked.flat() })
    return asked.map((): ReadPosition => ({ timeline: row!.timeline, place: BigInt(row!.place) }))
  })

  return {
    /** What must be shown to a reader, or to nobody in particular. */
    async of(reader?: Pick<Reader, 'user' | 'after'>): Promise<Floor> {
      const { floor, now } = await positionsOf(reader?.user)
      const { after } = reader ?? {}
      if (!after) return { floor, now }
      // Of another timeline it is not known what of it there is in this one: all that is there must be shown.
      const wanted = after.timeline === now.timeline ? after.place : now.place
      return { floor: { ...floor, place: later(floor.place, wanted) }, now }
    },

    /** Notes that these users' writes until now must be shown to them; tells where the primary is. */
    note,
  }
}
