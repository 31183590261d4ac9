import type { Event } from '../../platform/prisma/client.ts'
import { statement } from '../ports.ts'

/**
 * Where a feed stands, and whether the session and the API key that somebody follows it with do: $1 feeds, $2 sessions,
 * $3 API keys, each null where there is none. With the place among those that were asked for, from 1.
 */
export const findStanding = statement<{ position: number; sequence: number; stands: boolean }>(
  'event_standing',
  `select asked.position::int, w.event_sequence as sequence,
     (asked.session_id is null or exists (
       select from access_tokens t where t.id = asked.session_id and (t.expires_at is null or t.expires_at > now())))
     and (asked.key_id is null or exists (
       select from api_keys k where k.id = asked.key_id and k.revoked_at is null)) as stands
   from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as asked (owner_id, session_id, key_id, position)
     join wallets w on w.user_id = asked.owner_id`,
)

/** Events of one feed that are read at once. */
export const FEED_PAGE = 200

/** An event, and the asset that its commit is of, as that stands now. */
export interface FedRow extends Event {
  assetId: string | null
  assetOwnerId: string | null
  publicAccess: boolean | null
  assetIsDeleted: boolean
}

/** What feeds tell after a position, oldest first: $1 feeds, $2 positions. */
export const readFeeds = statement<FedRow>(
  'event_feeds',
  `select e.id, e.owner_id as "ownerId", e.sequence, e.type, e.order_id as "orderId", e.commit_id as "commitId",
     e.delivery_id as "deliveryId", e.transfer_id as "transferId", e.created_at as "createdAt", a.id as "assetId",
     a.owner_id as "assetOwnerId", a.public_access as "publicAccess", a.deleted_at is not null as "assetIsDeleted"
   from unnest($1::uuid[], $2::int[]) as asked (owner_id, after)
     cross join lateral (
       select * from events where owner_id = asked.owner_id and sequence > asked.after order by sequence limit ${FEED_PAGE}
     ) e
     left join commits c on c.id = e.commit_id left join assets a on a.id = c.asset_id
   order by e.owner_id, e.sequence`,
)

/** Those of the access tokens and API keys $1 that are good no more. */
export const findEnded = statement<{ id: string }>(
  'event_ended',
  `select id from unnest($1::uuid[]) as asked (id)
   where not exists (
       select from access_tokens t where t.id = asked.id and (t.expires_at is null or t.expires_at > now()))
     and not exists (select from api_keys k where k.id = asked.id and k.revoked_at is null)`,
)

/** Who may see the assets $1 now; of deleted ones nothing is told. */
export const findAssetFacts = statement<{ id: string; ownerId: string; publicAccess: boolean }>(
  'event_asset_facts',
  `select id, owner_id as "ownerId", public_access as "publicAccess" from assets
   where id = any ($1::uuid[]) and deleted_at is null`,
)
