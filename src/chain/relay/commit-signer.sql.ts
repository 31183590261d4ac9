import {
  arrayOf,
  boolean,
  bytes,
  float,
  int,
  orNull,
  type RowOf,
  smallint,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { openRelaysSql } from '../../modules/commits/commits.sql.ts'

/** Status of a commit's transaction. */
export const commitStatus = textOf<'PENDING' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'>('commit_status')

/**
 * SQL that joins the predecessor of commit `c` of asset `a`: the asset's previous commit. For a registration it is the last commit of the
 * most recently deleted asset with the same file. Commits must reach the chain in this order, so that readers can separate the assets.
 */
export const predecessorSql = `
  left join lateral (
    select p.id from commits p where p.asset_id = c.asset_id and p.sequence = c.sequence - 1
    union all (
      select e.head_commit_id from assets e
      where c.sequence = 1 and e.nid = a.nid and e.id <> a.id and e.deleted_at < coalesce(a.deleted_at, 'infinity')
      order by e.deleted_at desc limit 1
    )
  ) before on true
  left join commit_relays pr on pr.commit_id = before.id`

const unpreparedColumns = {
  commit_id: uuid,
  deleted: boolean,
  author_id: uuid,
  tree: text,
  tree_cid: text,
  tree_sha256: text,
  attempts: int,
  trace: orNull(text),
  key_version: orNull(smallint),
  vault_key_id: orNull(text),
  wrapped_data_key: orNull(bytes),
  sealed_private_key: orNull(bytes),
}

/** A commit to prepare, with its author's encrypted key. The key columns are null if the key does not exist. */
export type UnpreparedRow = RowOf<typeof unpreparedColumns>

/** Returns commits that are due for preparation and whose predecessors are prepared. */
export const findUnprepared = statement(
  'relay_unprepared',
  { parameters: { limit: int }, columns: unpreparedColumns },
  `select c.id as commit_id, a.deleted_at is not null as deleted, c.author_id, c.tree, c.tree_cid, c.tree_sha256, r.attempts, r.trace,
     k.version as key_version, k.vault_key_id, k.wrapped_data_key, k.sealed_private_key
   from commit_relays r
     join commits c on c.id = r.commit_id
     join assets a on a.id = c.asset_id
     left join user_keys k on k.user_id = c.author_id
     ${predecessorSql}
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and r.next_attempt_at <= now()
     and (pr.commit_id is null or pr.status <> 'PENDING' or pr.lane is not null or pr.tree_signature is not null)
   order by r.next_attempt_at, r.commit_id
   limit $limit`,
)

/** Returns a row if the user still has a key. */
export const hasKey = statement(
  'relay_has_key',
  { parameters: { user: uuid }, columns: { user_id: uuid } },
  'select user_id from user_keys where user_id = $user',
)

/** SQL that pins the trees of the commits in the CTE `from`, so the content store keeps them. */
export const pinTreesSql = (from: string) => `
   insert into pins (cid, asset_id, kind)
   select c.tree_cid, c.asset_id, 'TREE'
   from ${from} join commits c on c.id = ${from}.commit_id join assets a on a.id = c.asset_id
   where a.deleted_at is null
   on conflict do nothing`

/** Stores the signatures of prepared commits and pins their trees. */
export const storePrepared = statement(
  'relay_store_prepared',
  { parameters: { commits: arrayOf(uuid), signatures: arrayOf(text) } },
  `with prepared_relays as (
     update commit_relays r set tree_signature = item.signature, last_error = null, updated_at = now()
     from unnest($commits, $signatures) as item (commit_id, signature)
     where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning r.commit_id
   )
   ${pinTreesSql('prepared_relays')}`,
)

/** Schedules a retry with exponential backoff, between `firstPause` and `longestPause` seconds. The asset's later commits wait too. */
export const postpone = statement(
  'relay_postpone',
  { parameters: { commit: uuid, lastError: text, firstPause: float, longestPause: float } },
  `with postponed_relay as (
     update commit_relays r set attempts = r.attempts + 1, last_error = $lastError, updated_at = now(),
       next_attempt_at = now() + least($firstPause * 2 ^ least(r.attempts, 30), $longestPause) * interval '1 second'
     where r.commit_id = $commit and r.status = 'PENDING' and r.lane is null and r.tree_signature is null
     returning r.commit_id, r.next_attempt_at
   )
   update commit_relays l set next_attempt_at = postponed_relay.next_attempt_at
   from postponed_relay join commits c on c.id = postponed_relay.commit_id
     join commits later on later.asset_id = c.asset_id and later.sequence > c.sequence
   where l.commit_id = later.id and l.status = 'PENDING' and l.lane is null and l.tree_signature is null`,
)

/** Lists commits that could not be prepared, for `annal relay`. Those with most attempts come first. */
export const findWaiting = statement(
  'relay_waiting',
  { columns: { commit_id: uuid, nid: text, attempts: int, next_attempt_at: timestamp, last_error: text } },
  `select r.commit_id, a.nid, r.attempts, r.next_attempt_at, r.last_error
   from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and r.last_error is not null
   order by r.attempts desc, r.commit_id
   limit 200`,
)

/** Counts pending and failed commits by status, with the oldest of each, for `annal relay`. */
export const countByStatus = statement(
  'relay_count',
  { columns: { status: commitStatus, count: int, oldest: timestamp } },
  `select r.status, count(*)::int as count, min(c.created_at) as oldest
   from (${openRelaysSql} union all select commit_id, status from commit_relays where status = 'FAILED') r
     join commits c on c.id = r.commit_id group by r.status order by r.status`,
)

/** Makes all waiting commits due now. Returns their number. */
export const retryNow = statement(
  'relay_retry',
  { columns: { count: int } },
  `with updated_relays as (
     update commit_relays set next_attempt_at = date_trunc('milliseconds', now())
     where status = 'PENDING' and lane is null and tree_signature is null and next_attempt_at > now() returning 1
   ) select count(*)::int as count from updated_relays`,
)
