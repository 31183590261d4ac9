import { remembered, rememberSql } from '../idempotency.ts'
import { boolean, int, type RowOf, statement, text, timestamp, uuid } from '../sql.ts'

const columns = {
  ...{ id: uuid, ownerId: uuid, publicAccess: boolean },
  ...{ generation: int, isOpen: boolean, now: timestamp },
}
/** What a link is made from. */
export type LinkFacts = RowOf<typeof columns>

/** What a link to an asset is made from, and what time it is. `isOpen`: whether its owner's account is not locked. */
export const findLinkFacts = statement(
  'asset_link_facts',
  {
    parameters: { nid: text },
    columns,
  },
  `select a.id, a.owner_id as "ownerId", a.public_access as "publicAccess", a.link_generation as generation,
     u.locked_at is null as "isOpen", clock_timestamp()::timestamptz(3) as now
   from assets a join users u on u.id = a.owner_id where a.nid = $nid and a.deleted_at is null`,
)

/** Ends all links to an asset that were made until now. */
export const revokeLinks = statement(
  'asset_link_revoke',
  { parameters: { asset: uuid, ...remembered }, columns: { nid: text } },
  `with updated_asset as (
     update assets set link_generation = link_generation + 1 where id = $asset and deleted_at is null returning nid
   ),
   ${rememberSql('nid', 'updated_asset')}
   select nid from updated_asset`,
)
