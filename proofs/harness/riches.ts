/**
 * An account with large amounts of all data, and a public asset with a long history. The rows are inserted directly, without ledger
 * entries.
 */
import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'
import { bytes, statement, text, uuid } from '../../src/db/sql.ts'
import { type MetadataField, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'
import { actionArgsContext } from '../../src/modules/store/orders.ts'
import { toId } from '../../src/shared/ids.ts'
import type { Parts } from './parts.ts'
import { openSafe } from './sales.ts'

export interface Riches {
  /** Nid of the public asset with a long history. */
  longHistory: string
  sha256: string
  /** REST ID of an order with many refunds. */
  order: string
}

/** Row counts of data that has a limit, or that only administrators create. */
export const FEW = { links: 200, networkApps: 1_000, apiKeys: 1_000 }

/** Number of newest rows with texts of maximum size. Histories also have such texts in their oldest rows. */
const LARGE = 1_000
const LARGE_COMMITS = 200
const ORDERS_WITH_ARGUMENTS = 200

const nid = (of: string) => `'bafkrei' || left(translate(md5(${of}) || md5('more' || ${of}), '0189', 'ghij'), 52)`
const sha256 = (of: string) => `encode(sha256((${of})::bytea), 'hex')`

/** Returns SQL of a JSON text with this number of bytes. Escaping doubles its size in a response. */
const jsonText = (bytes: number) => `to_json(repeat('"', ${bytes / 2 - 1}))::text`
const custom = `jsonb_build_object('a', repeat('x', 10230))`
/** Returns SQL of the largest value of a metadata field. */
const most = ({ kind, size }: MetadataField) => (kind === 'json' ? jsonText(size) : `repeat(chr(1), ${size})`)
const none = ({ kind }: MetadataField) => (kind === 'json' ? 'null' : `''`)
/** Returns true for text fields, except the tag, which is used to find assets. */
const isText = ({ kind, column }: MetadataField) => kind !== 'flag' && column !== 'tag'
const changing = Object.values<MetadataField>(metadataFields).filter(isText)
const kept = [...changing, ...Object.values<MetadataField>(registrationFields).filter(isText)]
const columns = kept.map(({ column }) => column).join(', ')
const values = kept.map((field) => `case when large then ${most(field)} else ${none(field)} end`).join(', ')
const changes = `jsonb_build_object('nit_commit_custom', jsonb_build_array(${custom}, ${custom}),
  ${changing.map((field) => `'${field.column}', jsonb_build_array(${most(field)}, ${most(field)})`).join(', ')})`

/** SQL statements that insert the rows. `$1` is the owner, and `$2` the number of rows. */
const pieces: Record<string, string> = {
  assets: `with made as materialized (select uuidv7() as id, uuidv7() as commit_id, i, i > $2::int - ${LARGE} as large from generate_series(1, $2::int) i),
    asset as (insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, tag, public_access, head_commit_id, ${columns}, custom, thumbnail_requested)
      select id, ${nid('i::text')}, $1::uuid, $1::uuid, 'photo.png', 'image/png', 1, ${sha256('i::text')}, case when i % 2 = 0 then 'even' else '' end, true, commit_id,
        ${values}, case when large then ${custom} else '{}' end, true from made),
    kept as (insert into commits (id, asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
      select commit_id, id, 1, $1::uuid, case when large then ${changes} else '{}' end, '{}', ${nid("'tree' || i")}, ${sha256("'tree' || i")} from made)
    insert into commit_relays (commit_id, status) select commit_id, 'FINAL' from made`,
  // Uses the first asset, because the newest ones have the longest texts.
  history: `with made as materialized (select uuidv7() as id, i, i <= ${LARGE_COMMITS} or i > $2::int - ${LARGE_COMMITS} as large from generate_series(2, $2::int) i),
    asset as (update assets set head_sequence = $2::int where owner_id = $1::uuid and nid = ${nid("'1'")} returning id),
    kept as (insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
      select made.id, asset.id, i, $1::uuid, 'Changed', case when large then ${changes} else '{"caption": ["a", "b"]}' end, '{}', ${nid("'later' || i")}, ${sha256("'later' || i")} from made, asset)
    insert into commit_relays (commit_id, status) select id, 'FINAL' from made`,
  transfers: `with made as materialized (select uuidv7() as id from generate_series(1, $2::int)),
    moved as (insert into transfers (id, reference) select id, 'grant:' || id from made),
    paid as (update wallets set points = points + $2::int where user_id = $1::uuid)
    insert into entries (transfer_id, position, wallet_id, book, currency, amount)
    select id, line.* from made, lateral (values (1, $1::uuid, null::book, 'POINTS'::currency, 1), (2, null, 'PROMOTION', 'POINTS', -1)) line`,
  orders: `with app as (insert into network_apps (id, owner_id, name, price) values (uuidv7(), $1::uuid, 'upscale', 1) returning id)
    insert into orders (buyer_id, network_app_id, network_app_name, status, price, quoted_points, quoted_num, expires_at, settled_at)
    select $1::uuid, app.id, 'upscale', 'EXPIRED', 1, 1, 0, now(), now() from app, generate_series(1, $2::int)`,
  events: `with told as (update wallets set event_sequence = $2::int where user_id = $1::uuid)
    insert into events (owner_id, sequence, type) select $1::uuid, i, 'order.expired' from generate_series(1, $2::int) i`,
  audit: `insert into audit_entries (id, user_id, action, address) select uuidv7(), $1::uuid, 'session.started', '127.0.0.1' from generate_series(1, $2::int)`,
  deposits: `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash, credited_at)
    select 'deposit:0x' || ${sha256("'deposit' || i")} || ':0', 'TOKEN', 'CREDITED', '0x' || ${sha256("'deposit' || i")}, $1::uuid, 1, 1, '0x' || ${sha256("'block'")}, now()
    from generate_series(1, $2::int) i`,
  withdrawals: `insert into withdrawals (wallet_id, recipient, amount, fee, gas_limit, status, due_at, settled_at)
    select $1::uuid, '0x' || repeat('f', 40), 1, 0.1, 21000, 'CANCELLED', now(), now() from generate_series(1, $2::int)`,
  // All refunds belong to one order, and each refunds a part of its price.
  refunds: `with refunded as (select id from orders where buyer_id = $1::uuid order by id limit 1),
    made as materialized (select uuidv7() as id, refunded.id as order_id, i from refunded, generate_series(1, $2::int) i),
    moved as (insert into transfers (id, reference) select id, 'order-refund:' || order_id || ':' || id from made)
    insert into refunds (order_id, transfer_id, points, num, points_before, num_before, reason)
    select order_id, id, 0.000001, 0, i * 0.000001, 0, case when i > $2::int - ${LARGE} then repeat(chr(1), 500) else '' end from made`,
  deliveries: `with app as (select id from network_apps where owner_id = $1::uuid order by id limit 1),
    counted as (update wallets set event_sequence = 2 * $2::int where user_id = $1::uuid),
    happened as (insert into events (owner_id, sequence, type) select $1::uuid, $2::int + i, 'webhook.test' from generate_series(1, $2::int) i returning id),
    told as (insert into webhook_deliveries (event_id, network_app_id, status, attempt_count, next_attempt_at, settled_at)
      select happened.id, app.id, 'DELIVERED', 10, null, now() from happened, app returning id)
    insert into webhook_attempts (delivery_id, number, duration, status_code, response)
    select id, number, 1, 500, repeat(chr(1), 1000) from (select id from told order by id desc limit ${LARGE}) newest, generate_series(1, 10) number`,
  networkApps: `insert into network_apps (owner_id, name, price) select $1::uuid, 'app ' || i, 1 from generate_series(1, least($2::int, ${FEW.networkApps})) i`,
  apiKeys: `insert into api_keys (name, prefix, hash) select repeat('x', 100), 'key' || i, sha256(('key' || i)::bytea) from generate_series(1, least($2::int, ${FEW.apiKeys})) i where $1::uuid is not null`,
  links: `insert into asset_links (asset_id, label, expires_at) select id, repeat(chr(1), 100), now() + interval '30 days'
    from assets, generate_series(1, least($2::int, ${FEW.links})) where owner_id = $1::uuid and nid = ${nid("'1'")}`,
  sessions: `insert into access_tokens (user_id, hash, name) select $1::uuid, sha256(('token' || i)::bytea), repeat('x', 100) from generate_series(1, $2::int) i`,
}

const insertOrder = statement(
  'proof_order_with_arguments',
  { parameters: { order: uuid, owner: uuid, args: bytes } },
  `insert into orders (id, buyer_id, network_app_id, network_app_name, status, price, quoted_points, quoted_num, expires_at, settled_at, action_args)
   select $order, $owner, id, name, 'EXPIRED', 1, 1, 0, now(), now(), $args from network_apps where owner_id = $owner limit 1`,
)

const findRefunded = statement(
  'proof_refunded',
  { columns: { id: uuid } },
  'select order_id as id from refunds limit 1',
)

const findLong = statement(
  'proof_long_history',
  { columns: { nid: text, sha256: text } },
  'select nid, sha256 from assets order by head_sequence desc limit 1',
)

/** Runs `work` on a connection without the statement timeout, because it takes minutes. */
async function withPatience(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await work(client).finally(() => client.end())
}

export async function enrich(parts: Parts, ownerId: string, rows: number): Promise<Riches> {
  const { databaseUrl, database } = parts
  await withPatience(databaseUrl, async (client) => {
    for (const text of Object.values(pieces)) await client.query(text, [ownerId, rows])
  })
  const envelopeCipher = openSafe(parts)
  const args = JSON.stringify({ text: 'x'.repeat(65_500) })
  for (let i = 0; i < ORDERS_WITH_ARGUMENTS; i += 1) {
    const id = randomUUIDv7()
    await database.query(insertOrder, {
      order: id,
      owner: ownerId,
      args: await envelopeCipher.seal(args, actionArgsContext(id)),
    })
  }
  // Vacuums the tables, as autovacuum would do later.
  await withPatience(databaseUrl, (client) => client.query('vacuum analyze'))
  const [long] = await database.query(findLong)
  const [refunded] = await database.query(findRefunded)
  return { longHistory: long!.nid, sha256: long!.sha256, order: toId('order', refunded!.id) }
}
