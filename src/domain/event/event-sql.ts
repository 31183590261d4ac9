/**
 * The part of a writing statement that tells what it did in somebody's feed. It stands in one statement with the effect,
 * so that a feed never misses one. Positions come from `wallets.event_sequence`: the part that updates the owner's
 * wallet adds to it and returns what it got, and the wallet's row lock keeps a feed in order and without gaps.
 */
import type { EventType } from './event-type.ts'

export interface EventParts {
  /** What this part is called in the statement; it returns `(id, owner_id, sequence)` of what was told. */
  name: string
  /** The part or join that has a row for each event, and none when nothing happened. */
  from: string
  /** SQL expressions: the feed's user, and the event's position in it. */
  owner: string
  sequence: string
  type: EventType
  /** SQL expression: the event's UUID, where another part must know it. */
  id?: string
  /** SQL expressions: UUIDs of what the event is about. */
  order?: string
  commit?: string
  delivery?: string
  transfer?: string
}

export const eventSql = ({ name, from, owner, sequence, type, ...about }: EventParts) => `
  ${name} as (
    insert into events (id, owner_id, sequence, type, order_id, commit_id, delivery_id, transfer_id)
    select ${about.id ?? 'uuidv7()'}, ${owner}, ${sequence}, '${type}', ${about.order ?? 'null'}::uuid,
      ${about.commit ?? 'null'}::uuid, ${about.delivery ?? 'null'}::uuid, ${about.transfer ?? 'null'}::uuid
    from ${from}
    returning id, owner_id, sequence
  )`
