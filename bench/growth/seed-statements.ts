/**
 * Fills a database with as many commits as wanted, and with everything else in proportion; all invariants hold. Rows are numbered, and what
 * stands in one follows from its number, so that each table is made by itself. One user stands out: a seller's best customer, the whale.
 */

/** How much there is. Users, assets and orders divide what everybody made by whole numbers. */
export interface Size {
  /** All commits, those of the whale's one asset among them. */
  commits: number
  users: number
  assets: number
  orders: number
  /** Commits of one asset, each a transfer of one wallet. */
  whale: number
}

/** Transfers of the wallet that stands out, where there are so many. */
const WHALE = 100_000

/** What belongs to so many commits; they are a multiple of 1,000. */
export function sizeOf(commits: number): Size {
  const whale = Math.min(commits / 10, WHALE)
  const everybody = commits - whale
  return { commits, whale, users: everybody / 100, assets: everybody / 5, orders: everybody / 10 }
}

/** Of the trusted service and of every user's session. */
export const seededKey = 'seeded.seeded-key-of-the-growth-bench'
export const seededToken = (user: number) => `seeded-token-${user}`

const APPS = 100

/** In milliseconds before now. */
const DAYS_90 = 7_776_000_000

/** The functions that make a row's values of its number. All they call is immutable: only then the planner puts their text in their place. */
export const functions = ({ commits, users, assets, whale }: Size, now: number) => [
  `create function seed_ms(n bigint) returns bigint language sql immutable return ${now - DAYS_90} + n * ${DAYS_90} / ${commits}`,
  `create function seed_at(n bigint) returns timestamptz language sql immutable return to_timestamp(seed_ms(n) / 1000.0::float8)`,
  `create function seed_id(kind text, n bigint) returns uuid language sql immutable
     return (lpad(to_hex(seed_ms(n)), 12, '0') || '7' || kind || '8' || lpad(to_hex(abs(n)), 15, '0'))::uuid`,
  `create function seed_hash(what text, n bigint) returns text language sql immutable return repeat(md5(what || n::text), 2)`,
  // The multihash of 32 bytes: its first character stands for the end of the prefix, its last one for a single bit.
  `create function seed_cid(hash text) returns text language sql immutable
     return 'bafkreic' || translate(left(hash, 32), '0189', 'wxyz') || 'aaaaaaaaaaaaaaaaaaa'`,
  `create function seed_address(n bigint) returns text language sql immutable return '0x' || substr(seed_hash('address', n), 1, 40)`,
  // Commits go round the assets, and assets round the users; the last ones are all the whale's.
  `create function seed_asset(n bigint) returns bigint language sql immutable
     return case when n > ${commits - whale} then ${assets + 1} else (n - 1) % ${assets} + 1 end`,
  `create function seed_sequence(n bigint) returns bigint language sql immutable
     return case when n > ${commits - whale} then n - ${commits - whale} else (n - 1) / ${assets} + 1 end`,
  `create function seed_owner(asset bigint) returns bigint language sql immutable return (asset - 1) % ${users} + 1`,
  `create function seed_author(n bigint) returns bigint language sql immutable return case when n > ${commits - whale} then 1 else (n - 1) % ${users} + 1 end`,
  // Before all commits.
  `create function seed_user(n bigint) returns uuid language sql immutable
     return ('0193b0000000' || '7' || '001' || '8' || lpad(to_hex(n), 15, '0'))::uuid`,
]

export const dropFunctions = `drop function seed_user, seed_author, seed_owner, seed_sequence, seed_asset, seed_address, seed_cid, seed_hash, seed_id, seed_at, seed_ms`

/** What the trigger would have noted while entries were written. */
export const noteBalances = `
  insert into statement_balances (wallet_id, transfer_id, num, points)
  select * from (
    select distinct wallet_id, transfer_id, coalesce(sum(amount) filter (where currency = 'NUM') over up, 0), coalesce(sum(amount) filter (where currency = 'POINTS') over up, 0)
    from entries where wallet_id is not null window up as (partition by wallet_id order by transfer_id)
  ) running where is_balance_checkpoint(transfer_id)`

interface Key {
  version: number
  vaultKeyId: string
  wrappedDataKey: string
  sealedPrivateKey: string
}

/** What fills each table, by what it fills. */
export function fills({ commits, users, assets, orders, whale }: Size, key: Key): Record<string, string> {
  const each = (count: number) => `generate_series(1::bigint, ${count}) as n`
  const seller = users + 1
  const regular = commits - whale
  const commitsOfEach = regular / users
  const ordersOfEach = orders / users
  const fee = `0.179::numeric`
  // A user's feed: what became of the commits, then of the orders.
  const eventsOfEach = 2 * commitsOfEach + ordersOfEach
  /** A tenth of all, of whom each had one order refunded in part, and coins gathered. The whale is none of them. */
  const tenth = users / 10
  const eachTenth = `generate_series(2::bigint, ${tenth}) as n`
  const refunds = tenth - 1
  const withdrawals = users / 5
  const hex = (bytes: string) => `'\\x${bytes}'::bytea`
  return {
    users: `insert into users (id, username, username_key, email, password_hash, display_name, role, email_verified, pending_email, asset_count, created_at)
      select seed_user(n), 'seeded-' || n, 'seeded-' || n, 'seeded-' || n || '@example.org', '!', 'Seeded ' || n,
        case when n = ${seller} then 'ADMIN' else 'USER' end::role, true, case when n % 10 = 0 then 'new-' || n || '@example.org' end,
        case n when 1 then ${assets / users + 1} when ${seller} then 0 else ${assets / users} end, now() - interval '100 days'
      from ${each(seller)}`,
    wallets: `insert into wallets (user_id, address, num, points, event_sequence)
      select seed_user(n), seed_address(n), case when n = ${seller} then 0.88 * ${orders} - 0.088 * ${refunds} when n between 2 and ${tenth} then 50.1 else 50 end, case n when ${seller} then 0 else 12 end,
        case when n = 1 then ${eventsOfEach + 2 * whale} when n = ${seller} then ${orders + refunds} when n <= ${tenth} then ${eventsOfEach + 1} else ${eventsOfEach} end
      from ${each(seller)}`,
    user_keys: `insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
      select seed_user(n), ${key.version}, '${key.vaultKeyId}', ${hex(key.wrappedDataKey)}, ${hex(key.sealedPrivateKey)} from ${each(seller)}`,
    access_tokens: `insert into access_tokens (id, user_id, hash, name) select seed_id('00a', n), seed_user(n), sha256(('seeded-token-' || n)::bytea), 'Seeded' from ${each(seller)}`,
    api_keys: `insert into api_keys (name, prefix, hash) values ('growth', 'seeded', sha256('${seededKey}'::bytea))`,
    one_time_tokens: `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
      select seed_user(n), 'PASSWORD_RESET', seed_id('017', n), sha256(('reset-' || n)::bytea), 'seeded-' || n || '@example.org', seed_at(n) from ${each(Math.floor(users / 3))}`,
    pictures: `insert into pictures (id, user_id, kind, picture, thumbnail) select seed_id('018', n), seed_user(n), 'PROFILE', ${hex('00')}, ${hex('00')} from ${each(users / 5)}`,
    audit_entries: `insert into audit_entries (id, user_id, action, address, created_at)
      select seed_id('00b', n), seed_user((n - 1) % ${users} + 1), 'session.started', '192.0.2.1', seed_at(n) from ${each(3 * users)}`,
    network_apps: `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret)
      select seed_id('00c', n), seed_user(${seller}), 'Seeded app ' || n, 1, case when n % 2 = 0 then 'https://example.org/' || n end,
        case when n % 2 = 0 then ${hex('00')} end
      from ${each(APPS)}`,
    assets: `insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, caption, headline, tag, public_access,
        thumbnail_requested, head_sequence, head_commit_id, uploaded_at, updated_at)
      select seed_id('002', first.n), seed_cid(hash), owner, owner, 'photo-' || a || '.jpg', 'image/jpeg', 1000000 + a, hash,
        'Version ' || last_sequence || ' of ' || a, 'Photo ' || a, '', a % 2 = 0, true, last_sequence, seed_id('003', last.n), seed_at(first.n), seed_at(last.n)
      from generate_series(1::bigint, ${assets + 1}) as a,
        lateral (select case when a > ${assets} then seed_user(1) else seed_user(seed_owner(a)) end as owner, seed_hash('file', a) as hash,
          case when a > ${assets} then ${whale} else ${regular / assets} end as last_sequence) of_asset,
        lateral (select case when a > ${assets} then ${regular + 1} else a end as n) first,
        lateral (select case when a > ${assets} then ${commits} else a + ${regular - assets} end as n) last`,
    asset_blocks: `insert into asset_blocks (cid, asset_id) select seed_cid(seed_hash('file', a)), seed_id('002', case when a > ${assets} then ${regular + 1} else a end)
      from generate_series(1::bigint, ${assets + 1}) as a`,
    asset_links: `insert into asset_links (id, asset_id, label, created_at, expires_at) select seed_id('00d', n), seed_id('002', n), 'link', seed_at(n), now() + interval '30 days' from ${each(assets / 10)}`,
    commits: `insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256, created_at)
      select seed_id('003', n), seed_id('002', case when a > ${assets} then ${regular + 1} else a end), s, seed_user(seed_author(n)), 'Change ' || s,
        case when s = 1 then jsonb_build_object('caption', array['', caption], 'headline', array['', 'Photo ' || a], 'public_access', array[false, a % 2 = 0])
          else jsonb_build_object('caption', array['Version ' || s - 1 || ' of ' || a, caption]) end,
        '{"assetCid":"' || seed_cid(hash) || '","assetSha256":"' || hash || '","encodingFormat":"image/jpeg","assetTimestampCreated":1760000000,"abstract":"' || caption
          || '","headline":"Photo ' || a || '"}',
        seed_cid(tree), tree, seed_at(n)
      from ${each(commits)}, lateral (select seed_asset(n) as a, seed_sequence(n) as s) of_commit,
        lateral (select 'Version ' || s || ' of ' || a as caption, seed_hash('file', a) as hash, seed_hash('tree', n) as tree) said`,
    commit_relays: `insert into commit_relays (commit_id, status, tree_signature, lane, nonce, position, transaction_hash, block_number, block_hash, gas_used, fee_paid, updated_at, next_attempt_at)
      select seed_id('003', n), 'FINAL', '0x' || seed_hash('signature', n) || '00', '0x00000000000000000000000000000000000000aa', (n - 1) / 10, (n - 1) % 10,
        '0x' || seed_hash('transaction', (n - 1) / 10), (n - 1) / 100, '0x' || seed_hash('block', (n - 1) / 100), 40000, 40000000000000, seed_at(n), seed_at(n)
      from ${each(commits)}`,
    chain_transactions: `insert into chain_transactions (hash, commit_id, raw, max_fee_per_gas, max_priority_fee_per_gas, created_at)
      select '0x' || seed_hash('transaction', n), seed_id('003', n * 10 + 1), sha256(n::text::bytea), 2000000000, 1000000000, seed_at(n * 10)
      from generate_series(0::bigint, ${commits / 10 - 1}) as n`,
    chain_transaction_members: `insert into chain_transaction_members (commit_id, hash, position)
      select seed_id('003', n), '0x' || seed_hash('transaction', (n - 1) / 10), (n - 1) % 10 from ${each(commits)} where (n - 1) % 10 > 0`,
    pins: `insert into pins (cid, asset_id, kind)
      select seed_cid(seed_hash('tree', n)), seed_id('002', case when a > ${assets} then ${regular + 1} else a end), 'TREE'::pin_kind from ${each(commits)}, lateral (select seed_asset(n) as a) of_commit
      union all
      select seed_cid(seed_hash('file', a)), seed_id('002', case when a > ${assets} then ${regular + 1} else a end), 'FILE' from generate_series(1::bigint, ${assets + 1}) as a`,
    transfers: `insert into transfers (id, reference, created_at, reason)
      select seed_id('004', -n), 'sign-up:' || seed_user(n), seed_at(-n), null from ${each(users)}
      union all select seed_id('005', -n), 'deposit:0x' || seed_hash('deposit', n) || ':-1', seed_at(-n), null from ${each(users)}
      union all select seed_id('006', -n), 'grant:' || seed_id('006', -n), seed_at(-n), 'Welcome' from ${each(users)}
      union all select seed_id('009', -n), 'withdrawal:' || seed_id('019', -n), seed_at(-n), null from ${each(withdrawals)}
      union all select seed_id('01a', -n), 'withdrawal-refund:' || seed_id('019', -n), seed_at(-n), null from ${each(withdrawals)}
      union all select seed_id('01b', -n), 'coins-signed:' || seed_id('01d', -n), seed_at(-n), null from ${eachTenth}
      union all select seed_id('01c', -n), 'coins-settled:' || seed_id('01d', -n) || ':1', seed_at(-n), null from ${eachTenth}
      union all select seed_id('01e', n), 'order-refund:' || seed_id('010', n) || ':' || seed_id('01f', n), seed_at(n), null from ${eachTenth}
      union all select seed_id('004', n), 'commit:' || seed_id('003', n), seed_at(n), null from ${each(commits)}
      union all select seed_id('005', n), 'order:' || seed_id('010', n), seed_at(n), null from ${each(orders)}`,
    entries: `insert into entries (transfer_id, position, wallet_id, book, currency, amount)
      select transfer_id, position, wallet_id, book, currency, amount from ${each(users)}, lateral (values
          (seed_id('004', -n), 1, seed_user(n), null::book, 'POINTS'::currency, 2 + ${fee} * (${commitsOfEach} + case n when 1 then ${whale} else 0 end)),
          (seed_id('004', -n), 2, null, 'PROMOTION', 'POINTS', -2 - ${fee} * (${commitsOfEach} + case n when 1 then ${whale} else 0 end)),
          (seed_id('005', -n), 1, seed_user(n), null, 'NUM', 50 + ${ordersOfEach}),
          (seed_id('005', -n), 2, null, 'DEPOSITS', 'NUM', -50 - ${ordersOfEach}),
          (seed_id('006', -n), 1, seed_user(n), null, 'POINTS', 10),
          (seed_id('006', -n), 2, null, 'PROMOTION', 'POINTS', -10)
        ) line (transfer_id, position, wallet_id, book, currency, amount)
      union all
      select transfer_id, position, wallet_id, book, 'NUM', amount from ${each(withdrawals)}, lateral (values
          (seed_id('009', -n), 1, seed_user(n), null::book, -1.1), (seed_id('009', -n), 2, null, 'WITHDRAWALS', 1.1),
          (seed_id('01a', -n), 1, seed_user(n), null, 1.1), (seed_id('01a', -n), 2, null, 'WITHDRAWALS', -1.1)
        ) line (transfer_id, position, wallet_id, book, amount)
      union all
      select transfer_id, position, wallet_id, book, 'NUM', amount from ${eachTenth}, lateral (values
          (seed_id('01b', -n), 1, null::uuid, 'IN_TRANSIT'::book, -10), (seed_id('01b', -n), 2, null, 'DEPOSITS', 10),
          (seed_id('01c', -n), 1, null, 'IN_TRANSIT', 10), (seed_id('01c', -n), 2, null, 'TREASURY', -9.9), (seed_id('01c', -n), 3, null, 'GAS', -0.1),
          (seed_id('01e', n), 1, seed_user(n), null, 0.1), (seed_id('01e', n), 2, seed_user(${seller}), null, -0.088), (seed_id('01e', n), 3, null, 'REVENUE', -0.012)
        ) line (transfer_id, position, wallet_id, book, amount)
      union all
      select seed_id('004', n), position, wallet_id, book, 'POINTS', amount from ${each(commits)}, lateral (values
          (1, seed_user(seed_author(n)), null::book, -${fee}), (3, null, 'REVENUE', 0.1), (5, null, 'GAS', 0.079)
        ) line (position, wallet_id, book, amount)
      union all
      select seed_id('005', n), position, wallet_id, book, 'NUM', amount from ${each(orders)}, lateral (values
          (2, seed_user((n - 1) % ${users} + 1), null::book, -1), (4, seed_user(${seller}), null, 0.88), (6, null, 'REVENUE', 0.12)
        ) line (position, wallet_id, book, amount)`,
    coin_transfers: `insert into coin_transfers (id, kind, sender, nonce, recipient, wallet_id, amount, status, transaction_hash, block_number, block_hash, arrived, fee, settlements)
      select seed_id('01d', -n), 'SWEEP', seed_address(n), 0, seed_address(0), seed_user(n), 10, 'FINAL', '0x' || seed_hash('move', n), 0, '0x' || seed_hash('block', 0), 9.9, 0.1, 1 from ${eachTenth}`,
    coin_transactions: `insert into coin_transactions (hash, coin_transfer_id, raw, gas_price, value)
      select '0x' || seed_hash('move', n), seed_id('01d', -n), ${hex('00')}, 1000000000, 9.9 from ${eachTenth}`,
    withdrawals: `insert into withdrawals (id, wallet_id, recipient, amount, fee, gas_limit, status, created_at, due_at, settled_at)
      select seed_id('019', -n), seed_user(n), seed_address(-n), 1, 0.1, 21000, 'CANCELLED', seed_at(-n), seed_at(-n), seed_at(-n) from ${each(withdrawals)}`,
    deposits: `insert into deposits (id, reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash, swept_by, created_at, credited_at)
      select seed_id('011', -n), 'deposit:0x' || seed_hash('deposit', n) || ':-1', 'COIN', 'CREDITED', '0x' || seed_hash('deposit', n), seed_user(n), 50 + ${ordersOfEach}, 0,
        '0x' || seed_hash('block', 0), case when n between 2 and ${tenth} then seed_id('01d', -n) end, seed_at(-n), seed_at(-n)
      from ${each(users)}`,
    orders: `insert into orders (id, buyer_id, network_app_id, network_app_name, status, price, quoted_points, quoted_num, num_paid, num_refunded, transfer_id, created_at, expires_at, paid_at, settled_at)
      select seed_id('010', n), seed_user((n - 1) % ${users} + 1), seed_id('00c', (n - 1) % ${APPS} + 1), 'Seeded app ' || (n - 1) % ${APPS} + 1, 'SUCCESS', 1, 0, 1, 1,
        case when n between 2 and ${tenth} then 0.1 else 0 end, seed_id('005', n),
        seed_at(n), seed_at(n) + interval '15 minutes', seed_at(n) + interval '1 second', seed_at(n) + interval '2 seconds'
      from ${each(orders)}`,
    refunds: `insert into refunds (id, order_id, transfer_id, points, num, points_before, num_before, reason, refunded_by, created_at)
      select seed_id('01f', n), seed_id('010', n), seed_id('01e', n), 0, 0.1, 0, 0, 'Late', seed_user(${seller}), seed_at(n) from ${eachTenth}`,
    events: `insert into events (id, owner_id, sequence, type, order_id, commit_id, transfer_id, created_at)
      select seed_id(case kind when 1 then '012' else '013' end, n), seed_user(seed_author(n)),
        case when n > ${regular} then ${eventsOfEach} + 2 * (n - ${regular} - 1) else 2 * ((n - 1) / ${users}) end + kind,
        case kind when 1 then 'commit.accepted' else 'commit.final' end, null::uuid, seed_id('003', n), null::uuid, seed_at(n)
      from ${each(commits)}, generate_series(1, 2) as kind
      union all
      select seed_id('014', n), seed_user((n - 1) % ${users} + 1), ${2 * commitsOfEach} + (n - 1) / ${users} + 1, 'order.paid', seed_id('010', n), null, seed_id('005', n), seed_at(n) from ${each(orders)}
      union all
      select seed_id('015', n), seed_user(${seller}), n, 'order.paid', seed_id('010', n), null, seed_id('005', n), seed_at(n) from ${each(orders)}
      union all
      select seed_id('020', n), seed_user(n), ${eventsOfEach + 1}, 'order.refunded', seed_id('010', n), null, seed_id('01e', n), seed_at(n) from ${eachTenth}
      union all
      select seed_id('021', n), seed_user(${seller}), ${orders - 1} + n, 'order.refunded', seed_id('010', n), null, seed_id('01e', n), seed_at(n) from ${eachTenth}`,
    webhook_deliveries: `insert into webhook_deliveries (id, event_id, network_app_id, order_id, status, attempt_count, next_attempt_at, created_at, settled_at)
      select seed_id('016', n), seed_id('015', n), seed_id('00c', (n - 1) % ${APPS} + 1), seed_id('010', n), 'DELIVERED', 1, null, seed_at(n), seed_at(n)
      from ${each(orders)} where n % 2 = 0`,
    webhook_attempts: `insert into webhook_attempts (delivery_id, number, started_at, duration, status_code, response)
      select seed_id('016', n), 1, seed_at(n), 12, 200, 'ok' from ${each(orders)} where n % 2 = 0`,
    idempotency_keys: `insert into idempotency_keys (scope, payload_hash, result, created_at)
      select decode(seed_hash('scope', n) || seed_hash('scope', n), 'hex'), sha256(n::text::bytea), seed_cid(seed_hash('file', seed_asset(n))), seed_at(n)
      from generate_series(${regular - regular / 10 + 1}::bigint, ${regular}) as n`,
  }
}
