import { countsSql } from '../account/address-sql.ts'
import { eventSql } from '../event/event-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'
import { chargeSql } from '../wallet/charge-sql.ts'
import { COMMITS_AT_ONCE } from './erasure-statements.ts'
import { askForThumbnailSql, mayBePictureSql } from './thumbnail-sql.ts'

/** Pins of an asset that its deletion removes at once: those of its commits, and of its file. */
const PINS_AT_ONCE = COMMITS_AT_ONCE + 10

/** Whose address $1 is, in any case; $2: whether it must be verified, but for $3, who asks. */
export const findOwner = statement<{ id: string }>(
  'asset_owner',
  `select id from users
   where lower(email) = lower($1) and deleted_at is null and (id = $3::uuid or ${countsSql('$2')})
   order by email_held desc limit 1`,
)

/** Whether a file is registered, and what time it is. $1 nid. */
export const findRegistered = statement<{ is_registered: boolean; now: Date }>(
  'asset_registered',
  `select exists (select from assets where nid = $1 and deleted_at is null) as is_registered,
     clock_timestamp()::timestamptz(3) as now`,
)

/** Commit, relay row and event of the asset that the part `changed` tells. */
const commitSql = (sequence: string) => `
  committed as (
    insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
    select charge.commit_id, changed.id, ${sequence}, $1::uuid, $2, $3::jsonb, $4, $5, $6 from charge, changed
  ),
  relayed as (
    insert into commit_relays (commit_id) select charge.commit_id from charge, changed
  ),
  ${eventSql({
    name: 'told',
    from: 'charge, changed',
    owner: 'charge.user_id',
    sequence: 'charge.sequence',
    type: 'commit.accepted',
    commit: 'charge.commit_id',
    transfer: 'charge.transfer_id',
  })}`

/**
 * One accepted update: the asset's row is locked only while its head is the one the writer saw, then the wallet pays,
 * then the asset changes. Whatever does not hold leaves no row, and nothing happened.
 */
export const updateAsset = statement<{ commit_id: string; updated_at: Date }>(
  'asset_update',
  `with target as (
     select id from assets where id = $7::uuid and head_sequence = $8::int and deleted_at is null for update
   ),
   ${chargeSql({ from: 'target', payer: '$1::uuid', fee: '$9', gas: '$10' })},
   changed as (
     update assets a set caption = $11, headline = $12, tag = $13, public_access = $14, custom = $15::jsonb,
       signed_metadata = $16, signature = $17, head_sequence = $8::int + 1, head_commit_id = charge.commit_id, updated_at = now()
     from charge where a.id = $7::uuid
     returning a.id, a.head_commit_id as commit_id, a.updated_at
   ),
   ${commitSql('$8::int + 1')},
   ${rememberSql('$18', '$19', '$20::text', 'changed')}
   select commit_id, updated_at from changed`,
)

/** A registration: like an update, but the asset is new. Raises the unique index on nid when the file is registered already. */
export const insertAsset = statement<{ nid: string }>(
  'asset_insert',
  `with payer as (select user_id from wallets where user_id = $1::uuid),
   ${chargeSql({ from: 'payer', payer: 'payer.user_id', fee: '$7', gas: '$8' })},
   changed as (
     insert into assets (nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, caption, headline, tag,
       public_access, custom, meta, signed_metadata, signature, head_sequence, head_commit_id, uploaded_at, updated_at,
       thumbnail_asked)
     select $9, $1::uuid, $1::uuid, $10, $11, $12::bigint, $13, $14, $15, $16, $17, $18::jsonb, $19, $20, $21,
       1, charge.commit_id, $22::timestamptz, $22::timestamptz, true
     from charge returning id, nid
   ),
   ${commitSql('1')},
   counted as (
     update users set asset_count = asset_count + 1 from changed where users.id = $1::uuid
   ),
   pinned as (
     insert into pins (cid, asset_id, kind) select nid, id, 'FILE' from changed
   ),
   queued as materialized (
     select ${askForThumbnailSql('id')} from changed where ${mayBePictureSql('$11')}
   ),
   ${rememberSql('$23', '$24', '$9', 'changed')}
   select nid, (select count(*) from queued) as jobs from changed`,
)

/**
 * The parts of a writing statement that empty the assets for which a condition holds, and what their commits tell; `gone`
 * tells them: `(id, nid, owner_id)`. Commits that the relay has not prepared keep their tree until it has: they are paid
 * for and belong on the chain. A sweep erases these, and the rest of a history that is too long for one statement.
 */
export const emptyAssetsSql = (condition: string) => `
   gone as (
     update assets set deleted_at = now(), updated_at = now(), caption = '', headline = '', tag = '', custom = '{}', meta = null,
       signed_metadata = null, signature = null, file_name = '', public_access = false, thumbnail_cid = null
     where ${condition} and deleted_at is null returning id, nid, owner_id
   ),
   erased as (
     update commits c set tree = '', message = '', changes = '{}' from gone, commit_relays r
     where c.asset_id = gone.id and c.sequence <= ${COMMITS_AT_ONCE} and r.commit_id = c.id and r.status = 'FINAL'
   ),
   unpinned as (
     delete from pins using gone, lateral (
       select cid from pins where asset_id = gone.id order by kind = 'TREE' limit ${PINS_AT_ONCE}
     ) as pinned where pins.asset_id = gone.id and pins.cid = pinned.cid
   )`

/** Takes one asset out of the service: $1 asset. */
export const deleteAsset = statement<{ nid: string }>(
  'asset_delete',
  `with ${emptyAssetsSql('id = $1')},
   counted as (
     update users set asset_count = asset_count - 1 from gone where users.id = gone.owner_id
   ),
   ${rememberSql('$2', '$3', 'gone.nid', 'gone')}
   select nid from gone`,
)
