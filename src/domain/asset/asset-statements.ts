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

export const findRegistered = statement<{ nid: string }>(
  'asset_registered',
  'select nid from assets where nid = $1 and deleted_at is null',
)

/** Commit, relay row and event of the asset that the part `changed` tells; `transfer` is the placeholder of what paid for it. */
const commitSql = (sequence: string, transfer: string) => `
  committed as (
    insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
    select $1::uuid, changed.id, ${sequence}, $2::uuid, $3, $4::jsonb, $5, $6, $7 from changed
  ),
  relayed as (
    insert into commit_relays (commit_id) select $1::uuid from changed
  ),
  ${eventSql({
    name: 'told',
    from: 'charge, changed',
    owner: 'charge.user_id',
    sequence: 'charge.sequence',
    type: 'commit.accepted',
    commit: '$1',
    transfer,
  })}`

/**
 * One accepted update: the asset's row is locked only while its head is the one the writer saw, then the wallet pays,
 * then the asset changes. Whatever does not hold leaves no row, and nothing happened.
 */
export const updateAsset = statement<{ updated_at: Date }>(
  'asset_update',
  `with target as (
     select id from assets where id = $8::uuid and head_sequence = $9::int and deleted_at is null for update
   ),
   ${chargeSql({ from: 'target', payer: '$2::uuid', fee: '$10', gas: '$11', transfer: '$12', reference: `'commit:' || $1::uuid` })},
   changed as (
     update assets a set caption = $13, headline = $14, tag = $15, public_access = $16, custom = $17::jsonb,
       signed_metadata = $18, signature = $19, head_sequence = $9::int + 1, head_commit_id = $1::uuid, updated_at = now()
     from charge where a.id = $8::uuid
     returning a.id, a.updated_at
   ),
   ${commitSql('$9::int + 1', '$12')},
   ${rememberSql('$20', '$21', '$22::text', 'changed')}
   select updated_at from changed`,
)

/** A registration: like an update, but the asset is new. Raises the unique index on nid when the file is registered already. */
export const insertAsset = statement<{ nid: string }>(
  'asset_insert',
  `with payer as (select user_id from wallets where user_id = $2::uuid),
   ${chargeSql({ from: 'payer', payer: 'payer.user_id', fee: '$8', gas: '$9', transfer: '$10', reference: `'commit:' || $1::uuid` })},
   changed as (
     insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, caption, headline, tag,
       public_access, custom, meta, signed_metadata, signature, head_sequence, head_commit_id, uploaded_at, updated_at,
       thumbnail_asked)
     select $11::uuid, $12, $2::uuid, $2::uuid, $13, $14, $15::bigint, $16, $17, $18, $19, $20, $21::jsonb, $22, $23, $24,
       1, $1::uuid, $25::timestamptz, $25::timestamptz, true
     from charge returning id, nid
   ),
   ${commitSql('1', '$10')},
   counted as (
     update users set asset_count = asset_count + 1 from changed where users.id = $2::uuid
   ),
   pinned as (
     insert into pins (cid, asset_id, kind) select nid, id, 'FILE' from changed
   ),
   queued as materialized (
     select ${askForThumbnailSql('id')} from changed where ${mayBePictureSql('$14')}
   ),
   ${rememberSql('$26', '$27', '$12', 'changed')}
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
