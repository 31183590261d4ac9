/** Signed copies of files. A copy is replaced after a change of the asset, its transaction or the signer. */
import { createHash } from 'node:crypto'
import type { Use } from '../../context.ts'
import { keyValueKeys } from '../../db/key-value-store.ts'
import { int, orNull, statement, text, uuid } from '../../db/sql.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { canonicalNid } from '../../shared/ids.ts'
import { rateLimitKeys } from '../../shared/limiters.ts'
import { owns, readableAssets } from '../../shared/policy.ts'
import { readHead } from '../assets/file-blocks.ts'
import { signedTypeNames, signedTypeOf } from '../assets/file-types.ts'
import { storeAndPin } from '../assets/pinned-files.ts'
import { type ManifestFacts, manifestOf } from './manifest.ts'

const findManifestFacts = statement(
  'c2pa_facts',
  {
    parameters: { commit: uuid, registry: orNull(text) },
    columns: {
      ...{ sequence: int, tree: text, treeCid: text, treeSha256: text },
      ...{ transaction: orNull(text), chainId: orNull(text), registry: orNull(text) },
    },
  },
  `with chain as (select value as id from key_values where key = '${keyValueKeys.chain}')
   select c.sequence, c.tree, c.tree_cid as "treeCid", c.tree_sha256 as "treeSha256",
     case when r.status in ('INCLUDED', 'FINAL') then r.transaction_hash end as transaction,
     (select id from chain) as "chainId",
     coalesce($registry, (select value from key_values, chain where key = '${keyValueKeys.registry}' || chain.id)) as registry
   from commits c left join commit_relays r on r.commit_id = c.id
   where c.id = $commit and c.tree <> ''`,
)

/** Pins a signed copy and unpins others. The lock lets a concurrent statement see this pin. */
export const pinSigned = statement(
  'c2pa_pin',
  { parameters: { asset: uuid, cid: text, version: text }, columns: { id: uuid } },
  `with locked_asset as (
     select id from assets where id = $asset and deleted_at is null for no key update
   ),
   updated_asset as (
     update assets a set c2pa_cid = $cid, c2pa_version = $version from locked_asset where a.id = locked_asset.id
     returning a.id
   ),
   deleted_pin as (
     delete from pins using locked_asset
     where pins.asset_id = locked_asset.id and pins.kind = 'C2PA' and pins.cid <> $cid
   ),
   inserted_pin as (
     insert into pins (cid, asset_id, kind) select $cid, id, 'C2PA' from updated_asset on conflict do nothing
   )
   select id from updated_asset`,
)

/** Maximum file size, in bytes. Larger files take too much time and memory. */
const MAX_BYTES = 50_000_000
/** Version of the manifest layout. Increase it when the content of manifests changes. */
const LAYOUT = 1
/** Time until a rejected file is tried again, in milliseconds. */
const REJECTED_FOR_MS = 600_000

type Versioned = ManifestFacts & { commit: string }

const selection = {
  ...{ id: true, nid: true, ownerId: true, fileName: true, fileSize: true, publicAccess: true },
  ...{ headCommitId: true, c2paCid: true, c2paVersion: true, owner: { select: { allowC2paDownload: true } } },
} as const

const tooLarge = `Content Credentials are available only for files of at most ${MAX_BYTES / 1e6} MB.`
const noFormat = `Files of this type cannot have Content Credentials. ${signedTypeNames} files can.`

type Needs = Use<'config' | 'contentCredentials' | 'contentStore' | 'database' | 'log' | 'meter'> &
  Use<'semaphores' | 'signedCopies' | 'version'>

const versionOf = ({ version }: Use<'version'>, signedBy: string, facts: Versioned) =>
  createHash('sha256').update([LAYOUT, version, signedBy, facts.commit, facts.transaction].join(' ')).digest('hex')

async function createCopy(context: Needs, id: string, format: string, facts: Versioned): Promise<string> {
  const { contentCredentials, contentStore, database } = context
  const request = { format, ...manifestOf(facts, context.version) }
  return storeAndPin(
    context,
    () => contentStore.importFile(contentCredentials.write(contentStore.read(facts.nid), request)),
    async (imported) => {
      // The signing method is known only after signing: the authority may have refused a time stamp.
      const version = versionOf(context, contentCredentials.signedBy()!.at(-1)!, facts)
      const [pinned] = await database.query(pinSigned, { asset: id, cid: imported.cid, version })
      if (pinned) return imported.cid
      await imported.discard()
      throw notFound('Asset')
    },
  )
}

/** Creates a copy once for concurrent callers. Rejects a file that recently could not be signed. */
async function createOnce({ signedCopies }: Needs, key: string, create: () => Promise<string>): Promise<string> {
  const { inProgress, rejections } = signedCopies
  const rejection = rejections.get(key)
  if (rejection && rejection.until > performance.now()) throw rejection.error
  const running = inProgress.get(key) ?? create()
  inProgress.set(key, running)
  try {
    return await running
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_FAILED') {
      if (rejections.size >= 1_000) rejections.clear()
      rejections.set(key, { error, until: performance.now() + REJECTED_FOR_MS })
    }
    throw error
  } finally {
    inProgress.delete(key)
  }
}

/** Predicts whether every reader of an asset can get a signed copy. */
export async function hasSignedCopy(
  { contentCredentials, contentStore, database }: Use<'contentCredentials' | 'contentStore' | 'database'>,
  nid: string,
): Promise<boolean> {
  const asset = await database.read.asset.findFirst({ select: selection, where: { nid, deletedAt: null } })
  if (!asset?.owner.allowC2paDownload || asset.fileSize > MAX_BYTES) return false
  try {
    return contentCredentials.signedBy() !== undefined && signedTypeOf(await readHead(contentStore, nid)) !== undefined
  } catch (error) {
    if (error instanceof DomainError && error.code === 'UNAVAILABLE') return false
    throw error
  }
}

/**
 * Returns the signed copy of a file, for readers of the asset and holders of a link to the file (`linkedAsset`). The
 * account of the owner may forbid copies for others. Throws NOT_FOUND, UNAVAILABLE, VALIDATION_FAILED.
 */
export async function findSignedCopy(context: Needs & Use<'actor'>, id: string, linkedAsset?: string) {
  const { actor, config, contentCredentials, contentStore, database } = context
  const nid = canonicalNid(id)
  if (nid === undefined) throw notFound('Asset')
  const where = { nid, ...readableAssets(actor, linkedAsset) }
  const asset = await database.read.asset.findFirst({ select: selection, where })
  if (!asset) throw notFound('Asset')
  const signedBy = contentCredentials.signedBy()
  if (signedBy === undefined || !(owns(actor, asset) || asset.owner.allowC2paDownload)) {
    throw notFound('File with Content Credentials')
  }
  const { id: assetId, c2paCid, fileName, publicAccess } = asset
  if (asset.fileSize > MAX_BYTES) throw validationFailed({ file: [tooLarge] })
  const signed = signedTypeOf(await readHead(contentStore, nid))
  if (!signed) throw validationFailed({ file: [noFormat] })
  const registry = config.chain.registryAddress ?? null
  const [found] = await database.query(findManifestFacts, { commit: asset.headCommitId, registry })
  // The asset was deleted in the meantime.
  if (!found) throw notFound('Asset')
  const facts = { nid, fileName, ...found, commit: asset.headCommitId }
  const versions = signedBy.map((way) => versionOf(context, way, facts))
  const isCurrent = c2paCid !== null && versions.includes(asset.c2paVersion ?? '')
  const keys = [...rateLimitKeys(actor), `owner:${asset.ownerId}`]
  const create = () =>
    context.semaphores.signedCopies(() => createCopy(context, assetId, signed.format, facts), { keys })
  const cid = isCurrent ? c2paCid : await createOnce(context, `${assetId} ${versions[0]}`, create)
  const isOpen = publicAccess && asset.owner.allowC2paDownload
  return { cid, assetId, mimeType: signed.type, fileName, publicAccess, isOpen }
}
