import {
  bigint,
  boolean,
  givenSql,
  int,
  joinedStatement,
  orNull,
  statement,
  text,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { countsSql } from '../accounts/email-lookup-sql.ts'
import { eventSql } from '../events/event-sql.ts'
import { charged, chargeSql, heldAccountSql } from '../wallet/ledger-sql.ts'
import { COMMITS_AT_ONCE, isNoTreeSql } from './erase-assets.sql.ts'
import { fileJobsSql } from './file-jobs-sql.ts'
import {
  assignMetadataSql,
  eraseMetadataSql,
  metadataColumnsSql,
  metadataParameters,
  metadataValuesSql,
  registrationParameters,
} from './metadata.ts'

/** Pins of an asset that its deletion removes at once: those of its commits, and of its file. */
const PINS_AT_ONCE = COMMITS_AT_ONCE + 10

/** Whose address it is, in any case. The `asker` is found by their own, verified or not. */
export const findOwner = statement(
  'asset_owner',
  { parameters: { email: text, mustBeVerified: boolean, asker: orNull(uuid) }, columns: { id: uuid } },
  `select id from users
   where lower(email) = lower($email) and deleted_at is null and (id = $asker or ${countsSql('$mustBeVerified')})
   order by email_held desc limit 1`,
)

/** Whether a file is registered, and what time it is. */
export const findRegistered = statement(
  'asset_registered',
  { parameters: { nid: text }, columns: { is_registered: boolean, now: timestamp } },
  `select exists (select from assets where nid = $nid and deleted_at is null) as is_registered,
     clock_timestamp()::timestamptz(3) as now`,
)

/** The author's commit, `changes` as JSON text. */
const commit = { user: uuid, message: text, changes: text, tree: text, treeCid: text, treeSha256: text }

interface CommitParts {
  /** The part that has a row for each asset that changed: `(id, position)`, and what `charge` tells of who paid for it. */
  asset: string
  /** SQL of what the author gave as that parameter. */
  given: (name: string) => string
}

/** Commits, relay rows and events of assets that changed. */
const commitSql = ({ asset, given }: CommitParts) => `
  inserted_commit as (
    insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
    select commit_id, id, position, payer, ${given('message')}, ${given('changes')}::jsonb, ${given('tree')}, ${given('treeCid')}, ${given('treeSha256')}
    from ${asset}
  ),
  inserted_relay as (
    insert into commit_relays (commit_id, trace) select commit_id, ${given('trace')} from ${asset}
  ),
  ${eventSql({
    from: asset,
    owner: 'payer',
    sequence: 'sequence',
    type: 'commit.accepted',
    commit: 'commit_id',
    transfer: 'transfer_id',
  })}`

const asParameter = (name: string) => `$${name}`
const ofUpdate = givenSql('updated_asset')

/**
 * One accepted update: the asset's row is locked only while its head is the one the writer saw, then the wallet pays,
 * then the asset changes. Whatever does not hold leaves no row, and nothing happened.
 */
export const updateAsset = joinedStatement(
  'asset_update',
  {
    apart: ['user', 'asset'],
    parameters: {
      ...commit,
      ...charged,
      asset: uuid,
      nid: text,
      headSequence: int,
      ...metadataParameters,
      ...remembered,
    },
    columns: { commit_id: uuid, updated_at: timestamp },
  },
  ({ item, skipsLocked, place }) => `with ${item},
   locked_asset as (
     select item.*, item.user as payer
     from item join assets a on a.id = item.asset and a.head_sequence = item.head_sequence and a.deleted_at is null
       ${skipsLocked ? heldAccountSql.join('item.user') : ''}
     for no key update of a ${skipsLocked ? `skip locked ${heldAccountSql.locks}` : ''}
   ),
   ${chargeSql({ from: 'locked_asset' })},
   updated_asset as (
     update assets a set ${assignMetadataSql(givenSql('charge'))}, head_sequence = charge.head_sequence + 1,
       head_commit_id = charge.commit_id, updated_at = now()
     from charge where a.id = charge.asset
     returning charge.*, a.id, a.head_sequence as position, a.updated_at
   ),
   ${commitSql({ asset: 'updated_asset', given: ofUpdate })},
   ${rememberSql('updated_asset.nid', 'updated_asset', ofUpdate)}
   select ${place} commit_id, updated_at from updated_asset`,
)

/** A registration: like an update, but the asset is new. Raises the unique index on nid when the file is registered already. */
export const insertAsset = statement(
  'asset_insert',
  {
    parameters: {
      ...commit,
      ...charged,
      nid: text,
      fileName: text,
      mimeType: text,
      fileSize: bigint,
      sha256: text,
      ...registrationParameters,
      uploadedAt: timestamp,
      ...remembered,
    },
    columns: { nid: text, jobs: bigint },
  },
  `with author as (select user_id as payer, $fee as fee, $gas as gas from wallets where user_id = $user),
   ${chargeSql({ from: 'author' })},
   inserted_asset as (
     insert into assets (nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, ${metadataColumnsSql},
       head_sequence, head_commit_id, uploaded_at, updated_at, thumbnail_asked)
     select $nid, $user, $user, $fileName, $mimeType, $fileSize, $sha256, ${metadataValuesSql},
       1, charge.commit_id, $uploadedAt, $uploadedAt, true
     from charge returning id, nid
   ),
   first_commit as (select charge.*, inserted_asset.id, 1 as position from charge, inserted_asset),
   ${commitSql({ asset: 'first_commit', given: asParameter })},
   updated_owner as (
     update users set asset_count = asset_count + 1 from inserted_asset where users.id = $user
   ),
   inserted_pin as (
     insert into pins (cid, asset_id, kind) select nid, id, 'FILE' from inserted_asset
   ),
   ${fileJobsSql({ from: 'inserted_asset', mimeType: '$mimeType', owner: '$user' })},
   ${rememberSql('$nid', 'inserted_asset')}
   select nid, (select count(*) from enqueued_jobs) as jobs from inserted_asset`,
)

/**
 * The parts of a writing statement that empty the assets for which a condition holds, and what their commits tell; `deleted_assets`
 * tells them: `(id, nid, owner_id)`. Commits that the relay has not prepared keep their tree until it has: they are paid
 * for and belong on the chain. A sweep erases these, and the rest of a history that is too long for one statement.
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

/** Takes one asset out of the service. */
export const deleteAsset = statement(
  'asset_delete',
  { parameters: { asset: uuid, ...remembered }, columns: { nid: text } },
  `with ${emptyAssetsSql('id = $asset')},
   updated_owner as (
     update users set asset_count = asset_count - 1 from deleted_assets where users.id = deleted_assets.owner_id
   ),
   ${rememberSql('deleted_assets.nid', 'deleted_assets')}
   select nid from deleted_assets`,
)
