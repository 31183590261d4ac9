import { statement } from '../domain/ports.ts'

/**
 * The commit before commit `c` of asset `a`: its asset's, or, of a registration, the last one of the same file's life
 * before: the one that ended last, before its own life did. What comes first reaches the chain first, so that readers tell
 * the lives apart.
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

export interface UnpreparedRow {
  commit_id: string
  deleted: boolean
  author_id: string
  tree: string
  tree_cid: string
  tree_sha256: string
  attempts: number
  key_version: number | null
  vault_key_id: string | null
  wrapped_data_key: Buffer | null
  sealed_private_key: Buffer | null
}

/** Commits that are due to be made ready, whose predecessors are ready: $1 how many at most. */
export const findUnprepared = statement<UnpreparedRow>(
  'relay_unprepared',
  `select c.id as commit_id, a.deleted_at is not null as deleted, c.author_id, c.tree, c.tree_cid, c.tree_sha256, r.attempts,
     k.version as key_version, k.vault_key_id, k.wrapped_data_key, k.sealed_private_key
   from commit_relays r
     join commits c on c.id = r.commit_id
     join assets a on a.id = c.asset_id
     left join user_keys k on k.user_id = c.author_id
     ${predecessorSql}
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and r.next_attempt_at <= now()
     and (pr.commit_id is null or pr.status <> 'PENDING' or pr.lane is not null or pr.tree_signature is not null)
   order by r.next_attempt_at, r.commit_id
   limit $1`,
)

/** $1 user. */
export const hasKey = statement<{ user_id: string }>(
  'relay_has_key',
  'select user_id from user_keys where user_id = $1::uuid',
)

/** Has the content store keep the trees of the commits that the part `from` holds. */
export const pinTreesSql = (from: string) => `
   insert into pins (cid, asset_id, kind)
   select c.tree_cid, c.asset_id, 'TREE'
   from ${from} join commits c on c.id = ${from}.commit_id join assets a on a.id = c.asset_id
   where a.deleted_at is null
   on conflict do nothing`

/** Signatures and pins of commits that are ready: $1 commits, $2 signatures. */
export const storePrepared = statement(
  'relay_store_prepared',
  `with signed as (
     update commit_relays r set tree_signature = item.signature, trouble = null, updated_at = now()
     from unnest($1::uuid[], $2::text[]) as item (commit_id, signature)
     where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning r.commit_id
   )
   ${pinTreesSql('signed')}`,
)

/**
 * $1 commit, $2 why, $3 and $4 seconds of the first and the longest pause; in between it doubles. The asset's later commits
 * wait with it.
 */
export const postpone = statement<never>(
  'relay_postpone',
  `with failed as (
     update commit_relays r set attempts = r.attempts + 1, trouble = $2, updated_at = now(),
       next_attempt_at = now() + least($3::float8 * 2 ^ least(r.attempts, 30), $4::float8) * interval '1 second'
     where r.commit_id = $1::uuid and r.status = 'PENDING' and r.lane is null and r.tree_signature is null
     returning r.commit_id, r.next_attempt_at
   )
   update commit_relays l set next_attempt_at = failed.next_attempt_at
   from failed join commits c on c.id = failed.commit_id
     join commits later on later.asset_id = c.asset_id and later.sequence > c.sequence
   where l.commit_id = later.id and l.status = 'PENDING' and l.lane is null and l.tree_signature is null`,
)

export interface WaitingRow {
  commit_id: string
  nid: string
  attempts: number
  next_attempt_at: Date
  trouble: string
}

/** For the operator: what could not be made ready, longest tried first. */
export const findWaiting = statement<WaitingRow>(
  'relay_waiting',
  `select r.commit_id, a.nid, r.attempts, r.next_attempt_at, r.trouble
   from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and r.trouble is not null
   order by r.attempts desc, r.commit_id
   limit 200`,
)

export const countByStatus = statement<{ status: string; count: number; oldest: Date }>(
  'relay_count',
  `select r.status::text, count(*)::int as count, min(c.created_at) as oldest
   from commit_relays r join commits c on c.id = r.commit_id
   where r.status in ('PENDING', 'BROADCAST', 'INCLUDED', 'FAILED') group by r.status order by r.status`,
)

/** Everything that waits is due now; returns how many. */
export const retryNow = statement<{ count: number }>(
  'relay_retry',
  `with due as (
     update commit_relays set next_attempt_at = date_trunc('milliseconds', now())
     where status = 'PENDING' and lane is null and tree_signature is null and next_attempt_at > now() returning 1
   ) select count(*)::int as count from due`,
)
