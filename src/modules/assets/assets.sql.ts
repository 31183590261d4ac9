import { bigint, boolean, givenSql, int, joinedStatement, statement, text, timestamp, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { enqueueSql } from '../../jobs/enqueue-sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { eventSql } from '../events/events.sql.ts'
import { charged, chargeSql, heldAccountSql } from '../wallet/ledger-sql.ts'
import type { Changes } from './asset-tree.ts'
import { typePatterns } from './file-types.ts'
import {
  assignMetadataSql,
  metadataColumnsSql,
  metadataParameters,
  metadataValuesSql,
  registrationParameters,
} from './metadata.ts'

/** Checks if a file is registered, and reads the database time. */
export const findRegistered = statement(
  'asset_registered',
  { parameters: { nid: text }, columns: { is_registered: boolean, now: timestamp } },
  `select exists (select from assets where nid = $nid and deleted_at is null) as is_registered,
     clock_timestamp()::timestamptz(3) as now`,
)

/** Returns the parameters of a commit: its author, message and changes, and the tree with its identity. */
export function commitParams(
  { identify }: Pick<ContentStore, 'identify'>,
  { user, message = '', changes, tree }: { user: string; message?: string | undefined; changes: Changes; tree: string },
) {
  const { cid: treeCid, sha256: treeSha256 } = identify(Buffer.from(tree))
  return { user, message, changes: JSON.stringify(changes), tree, treeCid, treeSha256 }
}

/** Newly registered files for which jobs are enqueued. */
interface NewFiles {
  /** Name of the CTE that returns the assets with their `id`. */
  from: string
  /** SQL expressions. */
  mimeType: string
  owner: string
}

/** SQL condition on the registered type of a file. The job itself checks the content. */
const matchesSql = (mimeType: string, pattern: keyof typeof typePatterns) => `${mimeType} ~* '${typePatterns[pattern]}'`

/** Job that processes a new file. Jobs are queued per account, because slow files of one account must not delay other accounts. */
const fileJob = (queue: 'thumbnail' | 'manifest', { from, mimeType, owner }: NewFiles) => ({
  queue,
  from: `${from} where ${matchesSql(mimeType, queue === 'thumbnail' ? 'thumbnail' : 'signed')}`,
  data: { assetId: 'id' },
  group: owner,
  fairly: true as const,
})

/** SQL of the CTE `enqueued_jobs`. It enqueues a thumbnail job for each file whose type may be a picture. */
export const thumbnailJobsSql = (files: NewFiles) => enqueueSql('enqueued_jobs', fileJob('thumbnail', files))

/** Statement parameters of a commit. `changes` is JSON text. */
const commit = { user: uuid, message: text, changes: text, tree: text, treeCid: text, treeSha256: text }

interface CommitParts {
  /** Name of the CTE with one row per changed asset: `id`, `position`, and the columns of the CTE `charge`. */
  asset: string
  /** Returns the SQL expression of a parameter. */
  given: (name: string) => string
}

/** SQL of the CTEs that insert the commits, relay rows and events of changed assets. */
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
 * Updates an asset and charges the wallet. The statement locks the asset and compares its newest commit with the expected one. If a
 * condition fails, it returns no row and has no effect.
 */
export const updateAssetStatement = joinedStatement(
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

const newFile: NewFiles = { from: 'inserted_asset', mimeType: '$mimeType', owner: '$user' }

/** Registers an asset and charges the wallet. Violates the unique index on `nid` if the file is already registered. */
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
       head_sequence, head_commit_id, uploaded_at, updated_at, thumbnail_requested)
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
   ${enqueueSql('enqueued_jobs', fileJob('thumbnail', newFile), fileJob('manifest', newFile))},
   ${rememberSql('$nid', 'inserted_asset')}
   select nid, (select count(*) from enqueued_jobs) as jobs from inserted_asset`,
)
