/**
 * SQL: `commit_id` and `status` of all commits that are under way to the chain. In three parts, each with an index that holds nothing
 * else: how many are settled makes no difference.
 */
export const openRelaysSql = `
  select commit_id, status from commit_relays where status = 'PENDING' and lane is null and tree_signature is null
  union all
  select commit_id, status from commit_relays where status = 'PENDING' and lane is null and tree_signature is not null
  union all
  select commit_id, status from commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null`
