/** Deletion of assets. `assets.erased_through`: sequence of the last erased commit of a deleted asset. */
import type { Use } from '../../context.ts'
import { arrayOf, statement, text, uuid } from '../../db/sql.ts'
import { findItemsSql, pageShape } from '../../jobs/batch-jobs.ts'
import { notFound } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams, onceSql, onceTypes } from '../../shared/idempotency.ts'
import { canonicalNid } from '../../shared/ids.ts'
import { assertMayOnAsset } from '../../shared/policy.ts'
import { eraseMetadataSql } from './metadata.ts'
import { findAssetToUpdate } from './update-asset.ts'

/** The condition lists the kinds, because only a list of kinds can use the index. */
const isNoTreeSql = (kind: string): string => `${kind} in ('FILE', 'THUMBNAIL', 'C2PA')`

/** Maximum number of commits that one statement erases per asset. */
const COMMITS_AT_ONCE = 500
/** The pins of these commits and of the files. */
const PINS_AT_ONCE = COMMITS_AT_ONCE + 10

/**
 * Returns the CTEs that delete the assets that match a condition. Commits that are not final on the chain keep their
 * trees, because the relay needs them. A batch job erases these trees and the rest of long histories later.
 */
export const emptyAssetsSql = (condition: string) => `
   deleted_assets as (
     update assets set deleted_at = now(), updated_at = now(), ${eraseMetadataSql}, file_name = '', thumbnail_cid = null,
       c2pa_cid = null, c2pa_version = null, content_credentials = null
     where ${condition} and deleted_at is null returning id, nid, owner_id
   ),
   erased_commits as (
     update commits c set tree = '', message = '', changes = '{}' from deleted_assets, commit_relays r
     where c.asset_id = deleted_assets.id and c.sequence <= ${COMMITS_AT_ONCE}
       and r.commit_id = c.id and r.status = 'FINAL'
   ),
   deleted_pins as (
     delete from pins using deleted_assets, lateral (
       select cid from pins where asset_id = deleted_assets.id and ${isNoTreeSql('kind')}
       union all (select cid from pins where asset_id = deleted_assets.id and kind = 'TREE' limit ${PINS_AT_ONCE})
     ) as pinned where pins.asset_id = deleted_assets.id and pins.cid = pinned.cid
   ),
   deleted_links as (delete from asset_links l using deleted_assets where l.asset_id = deleted_assets.id)`

export const deleteAssetStatement = statement(
  'asset_delete',
  { parameters: { asset: uuid, ...onceTypes }, columns: { nid: text } },
  `with ${emptyAssetsSql('id = $asset')},
   updated_owner as (
     update users set asset_count = asset_count - 1 from deleted_assets where users.id = deleted_assets.owner_id
   ),
   ${onceSql('deleted_assets.nid', 'deleted_assets')}
   select nid from deleted_assets`,
)

/** Deletes an asset, except for its commits on the chain. Throws NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED. */
export async function deleteAsset(context: IdempotentContext & Use<'notifications'>, { id }: { id: string }) {
  const { actor, database, notifications } = context
  const nid = canonicalNid(id) ?? id
  return once(context, 'deleteAsset', { nid }, async () => {
    const asset = await findAssetToUpdate(context, nid)
    assertMayOnAsset(actor, 'asset:delete', asset)
    const [deleted] = await database.query(deleteAssetStatement, { asset: asset.id, ...onceParams(context) })
    if (!deleted) throw notFound('Asset')
    notifications.notify(asset.ownerId)
    return deleted.nid
  })
}

const isErasedSql = `deleted_at is not null and erased_through < head_sequence`

export const findUnerased = statement(
  'asset_unerased',
  pageShape,
  findItemsSql('erase-deleted-assets', 'id::text', 'assets', isErasedSql, 'id'),
)

/** Erases part of the history of each asset, up to the first commit that is not final on the chain. */
export const eraseHistories = statement(
  'asset_erase_histories',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `with locked_assets as materialized (
     select id, erased_through from assets where id = any ($items) and ${isErasedSql} order by id for no key update skip locked
   ),
   next_commits as materialized (
     select c.id, c.asset_id, c.sequence, c.tree_cid, r.status in ('FINAL', 'FAILED') as settled
     from locked_assets join commits c on c.asset_id = locked_assets.id and c.sequence > locked_assets.erased_through
         and c.sequence <= locked_assets.erased_through + ${COMMITS_AT_ONCE}
       left join commit_relays r on r.commit_id = c.id
   ),
   reached as materialized (
     select asset_id, coalesce(min(sequence) filter (where settled is not true) - 1, max(sequence)) as sequence
     from next_commits group by asset_id
   ),
   settled_commits as materialized (
     select next_commits.* from next_commits join reached using (asset_id)
     where next_commits.sequence <= reached.sequence
   ),
   erased_commits as (
     update commits c set tree = '', message = '', changes = '{}' from settled_commits
     where c.id = settled_commits.id and c.tree <> ''
   ),
   deleted_tree_pins as (
     delete from pins using settled_commits
     where pins.asset_id = settled_commits.asset_id and pins.cid = settled_commits.tree_cid
   ),
   -- Also deletes links and pins that were inserted while the asset was being deleted.
   deleted_links as (delete from asset_links l using locked_assets where l.asset_id = locked_assets.id),
   deleted_file_pins as (
     delete from pins using reached join assets a on a.id = reached.asset_id and a.head_sequence <= reached.sequence
     where pins.asset_id = a.id and ${isNoTreeSql('pins.kind')}
   )
   update assets a set erased_through = reached.sequence from reached
   where a.id = reached.asset_id and a.erased_through < reached.sequence
   returning a.id::text as item`,
)
