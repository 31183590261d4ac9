/** The seed's inserts. Every array is a column of the rows to make. */

/** $1 ids, $2 usernames, $3 emails, $4 addresses, $5 num, $6 points, $7 vault key, $8 data keys, $9 private keys, $10 token hashes, $11 version of the keys. */
export const insertUsers = `
  with item as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::numeric[], $8::bytea[], $9::bytea[], $10::bytea[])
      as t (id, username, email, address, num, points, data_key, private_key, token_hash)
  ),
  created as (
    insert into users (id, username, username_key, email, password_hash, display_name)
    select id, username, username_key(username), email, '!', username from item
  ),
  opened as (
    insert into wallets (user_id, address, num, points) select id, address, num, points from item
  ),
  sealed as (
    insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
    select id, $11, $7, data_key, private_key from item
  )
  insert into access_tokens (user_id, hash) select id, token_hash from item`

/** $1 ids, $2 nids, $3 owners, $4 file names, $5 MIME types, $6 sizes, $7 sha256, $8 captions, $9 headlines, $10 custom, $11 head sequences, $12 head commits, $13 uploaded, $14 updated. */
export const insertAssets = `
  insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, caption, headline, custom,
    head_sequence, head_commit_id, uploaded_at, updated_at, thumbnail_requested)
  select id, nid, owner, owner, file_name, mime_type, size, sha256, caption, headline, custom::jsonb, head, head_commit, uploaded, updated, true
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::int[], $12::uuid[], $13::timestamptz[], $14::timestamptz[])
    as t (id, nid, owner, file_name, mime_type, size, sha256, caption, headline, custom, head, head_commit, uploaded, updated)`

/** $1 ids, $2 assets, $3 sequences, $4 authors, $5 messages, $6 changes, $7 trees, $8 tree CIDs, $9 tree sha256, $10 times. */
export const insertCommits = `
  insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256, created_at)
  select id, asset, sequence, author, message, changes::jsonb, tree, tree_cid, tree_sha256, created
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[])
    as t (id, asset, sequence, author, message, changes, tree, tree_cid, tree_sha256, created)`

export const settleCommits = `
  insert into commit_relays (commit_id, status, updated_at) select id, 'FINAL', created_at from commits order by id`

/**
 * What a wallet began with: its balance and, in points, all that its commits took since. So every balance is the sum of
 * its entries. $1 fee, $2 gas.
 */
export const openWallets = `
  with opening as materialized (
    select uuidv7(interval '-90 days') as transfer_id, w.user_id, w.num,
      w.points + coalesce(made.commits, 0) * ($1::numeric + $2::numeric) as points
    from wallets w left join (select author_id, count(*) as commits from commits group by author_id) made
      on made.author_id = w.user_id
  ),
  moved as (
    insert into transfers (id, reference, created_at)
    select transfer_id, 'opening:' || user_id, now() - interval '90 days' from opening
  )
  insert into entries (transfer_id, position, wallet_id, book, currency, amount)
  select transfer_id, position, wallet_id, book, currency, amount
  from opening, lateral (values
    (1, user_id, null::book, 'POINTS'::currency, points),
    (2, null, 'PROMOTION', 'POINTS', -points),
    (3, user_id, null, 'NUM', num),
    (4, null, 'DEPOSITS', 'NUM', -num)
  ) as line (position, wallet_id, book, currency, amount)
  where amount <> 0`

/** The charge of every commit, as an update of points books it. $1 fee, $2 gas. */
export const chargeCommits = `
  with charge as materialized (
    select uuidv7(created_at - now()) as transfer_id, id as commit_id, author_id, created_at from commits order by id
  ),
  moved as (
    insert into transfers (id, reference, created_at) select transfer_id, 'commit:' || commit_id, created_at from charge
  )
  insert into entries (transfer_id, position, wallet_id, book, currency, amount)
  select transfer_id, position, wallet_id, book, 'POINTS', amount
  from charge, lateral (values
    (1, author_id, null::book, -($1::numeric + $2::numeric)),
    (3, null, 'REVENUE', $1::numeric),
    (5, null, 'GAS', $2::numeric)
  ) as line (position, wallet_id, book, amount)`

/** What `me` shows of the assets that were seeded. */
export const countAssets = `
  update users set asset_count = counted.n
  from (select owner_id, count(*) as n from assets group by owner_id) counted where counted.owner_id = users.id`
