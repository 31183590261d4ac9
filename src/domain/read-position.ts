/**
 * How far the database has come: a place in its write-ahead log. What somebody wrote is shown by a replica that has come as far as the
 * database had when their write was done (decision 44).
 */
import type { Actor } from './actor.ts'

/** A place in the log of one timeline; a new one begins when a replica takes the primary's place. */
export interface ReadPosition {
  readonly timeline: number
  /** Bytes from the beginning of the log. */
  readonly place: bigint
}

/** Who reads. */
export interface Reader {
  /** Whom replicas are chosen by: somebody who asks again gets the same one. */
  readonly key: string
  /** The user whose own writes must be shown. */
  readonly user: string | undefined
  /** What must be shown besides. */
  readonly after: ReadPosition | undefined
}

/** How a position is written. */
export const POSITION_FORM = /^(\d{1,9})-([0-9A-F]{1,16})$/

/** A position as callers get it and send it back. */
export const formatPosition = ({ timeline, place }: ReadPosition): string =>
  `${timeline}-${place.toString(16).toUpperCase()}`

/** A position that a caller sent back; undefined when it is none. */
export function parsePosition(text: string): ReadPosition | undefined {
  const [, timeline, place] = POSITION_FORM.exec(text) ?? []
  return place === undefined ? undefined : { timeline: Number(timeline), place: BigInt(`0x${place}`) }
}

/** As whom an actor reads. */
export function readerOf(actor: Actor, after: ReadPosition | undefined): Reader {
  if (actor.kind === 'user') return { key: actor.id, user: actor.id, after }
  return { key: actor.kind === 'anonymous' ? actor.address : '', user: undefined, after }
}
