/**
 * The part of a writing statement that appends to people's feeds what it did. It stands in one statement with the effect,
 * so that a feed never misses one. Positions come from `wallets.event_sequence`: the part that updates the owner's
 * wallet adds to it and returns what it got, and the wallet's row lock keeps a feed in order and without gaps.
 */
import type { EventType } from './event-type.ts'

/** Where events come from, and SQL expressions of what they tell. */
export interface EventParts {
  /** The part or join that has a row for each event, and none when nothing happened. */
  from: string
  /** SQL expressions: the feed's user, and the event's position in it. */
  owner: string
  sequence: string
  /** One type, or an SQL expression of it. */
  type: EventType | { sql: string }
  /** SQL expressions: UUIDs of what the event is about. */
  order?: string
  commit?: string
  delivery?: string
  transfer?: string
}

/** `inserted_events (id, owner_id, order_id)` tells what was appended. */
export const eventSql = ({ from, owner, sequence, type, ...about }: EventParts): string => `
  inserted_events as (
    insert into events (owner_id, sequence, type, order_id, commit_id, delivery_id, transfer_id)
    select ${owner}, ${sequence}, ${typeof type === 'string' ? `'${type}'` : type.sql}, ${about.order ?? 'null'}::uuid,
      ${about.commit ?? 'null'}::uuid, ${about.delivery ?? 'null'}::uuid, ${about.transfer ?? 'null'}::uuid
    from ${from}
    returning id, owner_id, order_id
  )`
