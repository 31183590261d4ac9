import type { Event } from '../../db/prisma/client.ts'
import {
  arrayOf,
  boolean,
  int,
  orNull,
  type RowOf,
  type SqlType,
  statement,
  text,
  timestamp,
  uuid,
} from '../../db/sql.ts'

export const eventTypes = [
  'commit.accepted',
  'commit.failed',
  'commit.final',
  'delivery.delivered',
  'delivery.given-up',
  'deposit.credited',
  'deposit.frozen',
  'deposit.released',
  'order.cancelled',
  'order.created',
  'order.expired',
  'order.failed',
  'order.paid',
  'order.refunded',
  'order.succeeded',
  'points.granted',
  'withdrawal.cancelled',
  'withdrawal.confirmed',
  'withdrawal.failed',
  'withdrawal.requested',
  'webhook.test',
] as const

export type EventType = (typeof eventTypes)[number]

/** SQL source of new events, and SQL expressions of their columns. */
export interface EventParts {
  /** CTE or join with one row per event. */
  from: string
  /** Owner and position of the event in the owner's feed. */
  owner: string
  sequence: string
  type: EventType | { sql: string }
  order?: string
  commit?: string
  delivery?: string
  transfer?: string
}

/**
 * CTE `inserted_events (id, owner_id, order_id)`, which appends events to feeds. An event's position is the incremented
 * `wallets.event_sequence`. The row lock of the wallet keeps the feed in order and without gaps.
 */
export const eventSql = ({ from, owner, sequence, type, ...about }: EventParts): string => `
  inserted_events as (
    insert into events (owner_id, sequence, type, order_id, commit_id, delivery_id, transfer_id)
    select ${owner}, ${sequence}, ${typeof type === 'string' ? `'${type}'` : type.sql}, ${about.order ?? 'null'}::uuid,
      ${about.commit ?? 'null'}::uuid, ${about.delivery ?? 'null'}::uuid, ${about.transfer ?? 'null'}::uuid
    from ${from}
    returning id, owner_id, order_id
  )`

const isValidSession = (id: string) => `exists (
       select from access_tokens t join users u on u.id = t.user_id
       where t.id = ${id} and u.locked_at is null and (t.expires_at is null or t.expires_at > now()))`
const isValidApiKey = (id: string) => `exists (select from api_keys k where k.id = ${id} and k.revoked_at is null)`

/** Reads the last sequence of feeds, and whether the credentials of followers are valid. `position`: index from 1. */
export const openFeeds = statement(
  'event_open_feeds',
  {
    parameters: { feeds: arrayOf(uuid), sessions: arrayOf(orNull(uuid)), apiKeys: arrayOf(orNull(uuid)) },
    columns: { position: int, sequence: int, isAllowed: boolean },
  },
  `select follower.position::int, w.event_sequence as sequence,
     (session_id is null or ${isValidSession('session_id')}) and (key_id is null or ${isValidApiKey('key_id')}) as "isAllowed"
   from unnest($feeds, $sessions, $apiKeys) with ordinality as follower (owner_id, session_id, key_id, position)
     join wallets w on w.user_id = follower.owner_id`,
)

/** Maximum number of events that one query reads from a feed. */
export const FEED_PAGE = 200

const eventColumns = {
  ...{ id: uuid, ownerId: uuid, sequence: int, type: text, orderId: orNull(uuid), commitId: orNull(uuid) },
  ...{ deliveryId: orNull(uuid), transferId: orNull(uuid), createdAt: timestamp },
} satisfies Record<keyof Event, SqlType<unknown>>
const feedColumns = {
  ...eventColumns,
  ...{ assetId: orNull(uuid), assetOwnerId: orNull(uuid), publicAccess: orNull(boolean), assetIsDeleted: boolean },
}

export type FeedRow = RowOf<typeof feedColumns>

/** Reads the events of several feeds after a position each, oldest first. `feeds` and `positions` have equal length. */
export const readFeeds = statement(
  'event_feeds',
  { parameters: { feeds: arrayOf(uuid), positions: arrayOf(int) }, columns: feedColumns },
  `select e.id, e.owner_id as "ownerId", e.sequence, e.type, e.order_id as "orderId", e.commit_id as "commitId",
     e.delivery_id as "deliveryId", e.transfer_id as "transferId", e.created_at as "createdAt", a.id as "assetId",
     a.owner_id as "assetOwnerId", a.public_access as "publicAccess", a.deleted_at is not null as "assetIsDeleted"
   from unnest($feeds, $positions) as feed (owner_id, after)
     cross join lateral (
       select * from events where owner_id = feed.owner_id and sequence > feed.after order by sequence limit ${FEED_PAGE}
     ) e
     left join commits c on c.id = e.commit_id left join assets a on a.id = c.asset_id
   order by e.owner_id, e.sequence`,
)

/** Returns the IDs that belong to no valid session and no valid API key. */
export const findInvalidCredentials = statement(
  'event_invalid_credentials',
  { parameters: { ids: arrayOf(uuid) }, columns: { id: uuid } },
  `select id from unnest($ids) as credential (id)
   where not ${isValidSession('credential.id')} and not ${isValidApiKey('credential.id')}`,
)

export const findAssetFacts = statement(
  'event_asset_facts',
  { parameters: { assets: arrayOf(uuid) }, columns: { id: uuid, ownerId: uuid, publicAccess: boolean } },
  `select id, owner_id as "ownerId", public_access as "publicAccess" from assets
   where id = any ($assets) and deleted_at is null`,
)
