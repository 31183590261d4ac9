/**
 * What the deletion of an asset leaves for later: commits that the relay still had to bring to the chain, and what of a history
 * was too long for one statement. Commits are erased in their order; `erased_to` says how far that is.
 */
import { arrayOf, boolean, statement, text, uuid } from '../../db/sql.ts'
import { idPlaceSql, isAwakeSql, sweepPage } from '../../jobs/batch-job.ts'

/** SQL: true for pins of other kinds than trees. Written as a list, so that an index finds them. */
export const isNoTreeSql = (kind: string): string => `${kind} in ('FILE', 'THUMBNAIL', 'C2PA')`

/** Commits of an asset that one statement erases. */
export const COMMITS_AT_ONCE = 500

const isErasedSql = `deleted_at is not null and erased_to < head_sequence`
const byId = idPlaceSql('id')

/** A page of a sweep: deleted assets whose history is not erased to its end. */
export const findUnerased = statement(
  'asset_unerased',
  sweepPage,
  `select id::text as item, ${byId.place} as place from assets
   where ${isErasedSql} and ${byId.isAfter} and ${isAwakeSql('erase-deleted-assets', 'id::text')}
   order by id limit $limit`,
)

/** Erases a part of the history of each. What is not settled on the chain yet, and what comes after it, waits. */
export const eraseHistories = statement(
  'asset_erase_histories',
  { parameters: { assets: arrayOf(uuid) }, columns: { item: text, has_more: boolean } },
  `with locked_assets as materialized (
     select id, erased_to from assets where id = any ($assets) and ${isErasedSql} order by id for no key update skip locked
   ),
   next_commits as materialized (
     select c.id, c.asset_id, c.sequence, c.tree_cid, r.status in ('FINAL', 'FAILED') as settled
     from locked_assets join commits c on c.asset_id = locked_assets.id and c.sequence > locked_assets.erased_to
         and c.sequence <= locked_assets.erased_to + ${COMMITS_AT_ONCE}
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
   -- What was made at the very moment of the deletion, as were these pins.
   deleted_links as (delete from asset_links l using locked_assets where l.asset_id = locked_assets.id),
   deleted_file_pins as (
     delete from pins using reached join assets a on a.id = reached.asset_id and a.head_sequence <= reached.sequence
     where pins.asset_id = a.id and ${isNoTreeSql('pins.kind')}
   )
   update assets a set erased_to = reached.sequence from reached
   where a.id = reached.asset_id and a.erased_to < reached.sequence
   returning a.id::text as item, a.erased_to < a.head_sequence as has_more`,
)
