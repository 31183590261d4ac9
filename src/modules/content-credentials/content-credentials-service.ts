/**
 * Assets as files with Content Credentials: made when they are asked for, kept in the content store and pinned like the file. So they are
 * as private as the file and go with it. One is made anew once the asset, its transaction or the signer has changed.
 */
import { createHash } from 'node:crypto'
import type { Database } from '../../db/database-types.ts'
import { settingKeys } from '../../db/key-value-store.ts'
import { int, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { ContentCredentials, ContentStore } from '../../files/file-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { canonicalNid } from '../../shared/ids.ts'
import { owns, readableAssets } from '../../shared/policy.ts'
import { rateLimitKeys } from '../../shared/rate-limiter.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import { HEAD_BYTES, signedTypeNames, signedTypeOf } from '../assets/file-types.ts'
import { readHead } from '../assets/find-file.ts'
import { type ManifestFacts, manifestOf } from './manifest.ts'

/** The entry of a commit in a manifest. It names the transaction once that is in a block. */
const findManifestFacts = statement(
  'c2pa_facts',
  {
    parameters: { commit: uuid, registry: orNull(text) },
    columns: {
      sequence: int,
      tree: text,
      tree_cid: text,
      tree_sha256: text,
      transaction: orNull(text),
      chain_id: orNull(text),
      registry: orNull(text),
    },
  },
  `with chain as (select value as id from settings where key = '${settingKeys.chain}')
   select c.sequence, c.tree, c.tree_cid, c.tree_sha256,
     case when r.status in ('INCLUDED', 'FINAL') then r.transaction_hash end as transaction,
     (select id from chain) as chain_id,
     coalesce($registry, (select value from settings, chain where key = '${settingKeys.registry}' || chain.id)) as registry
   from commits c left join commit_relays r on r.commit_id = c.id
   where c.id = $commit and c.tree <> ''`,
)

/** Pins the file with our manifest, and unpins every earlier one: of two that are made at once the later one does not see the other's pin. Once the asset is deleted there is no row. */
export const keepSigned = statement(
  'c2pa_keep',
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

/** A larger file is read by nobody's process in reasonable time and memory. */
const MAX_BYTES = 50_000_000
/** Another one when what we write changes. */
const LAYOUT = 1
/** Files that could not be dealt with are not tried again for a while: some take long, and none of them gets better by asking. */
const REFUSED_FOR_MS = 600_000
const MOST_REFUSALS = 1_000

/** A file with our manifest, as it is served. */
export interface SignedFile {
  cid: string
  /** UUID of the asset. */
  assetId: string
  mimeType: string
  fileName: string
  publicAccess: boolean
  /** True when anyone may read it: the asset is public, and its owner allows others to read such files. */
  isOpen: boolean
}

interface Dependencies {
  database: Database
  contentStore: ContentStore
  contentCredentials: ContentCredentials
  /** Stores a file, and pins it. */
  keep<Stored, Result>(store: () => Promise<Stored>, pin: (stored: Stored) => Promise<Result>): Promise<Result>
  /** Whose files are made at once, and for whom. */
  manifests: Semaphore
  /** Of this program. */
  version: string
  /** Where the registry is, if it is configured. */
  registryAddress: string | undefined
}

/** Facts with the commit that they are of. */
type Versioned = ManifestFacts & { commit: string }

const selection = {
  ...{ id: true, nid: true, ownerId: true, fileName: true, fileSize: true, publicAccess: true },
  ...{ headCommitId: true, c2paCid: true, c2paVersion: true, owner: { select: { allowC2paDownload: true } } },
} as const

const tooLarge = () =>
  validationFailed({ file: [`Only files of at most ${MAX_BYTES / 1e6} MB are given with Content Credentials.`] })
const noFormat = () =>
  validationFailed({ file: [`Files of this type cannot have Content Credentials. ${signedTypeNames} files can.`] })

/** Files with Content Credentials. */
export type ContentCredentialsService = ReturnType<typeof createContentCredentialsService>

/** Creates the service of files with Content Credentials. */
export function createContentCredentialsService(deps: Dependencies) {
  const { database, contentStore, contentCredentials, keep, manifests, version: program, registryAddress } = deps
  const underWay = new Map<string, Promise<string>>()
  const refusals = new Map<string, { error: DomainError; until: number }>()

  /** What a file with our manifest was made of, by who signs and how. */
  const versionOf = (signedBy: string, facts: Versioned) =>
    createHash('sha256').update([LAYOUT, program, signedBy, facts.commit, facts.transaction].join(' ')).digest('hex')

  async function make(id: string, format: string, facts: Versioned): Promise<string> {
    const request = { format, ...manifestOf(facts, program) }
    return keep(
      () => contentStore.importFile(contentCredentials.write(contentStore.read(facts.nid), request)),
      async (imported) => {
        // How it was signed is known now: a time stamp may have been refused.
        const version = versionOf(contentCredentials.signedBy()!.at(-1)!, facts)
        const [kept] = await database.query(keepSigned, { asset: id, cid: imported.cid, version })
        if (kept) return imported.cid
        await imported.discard()
        throw notFound('Asset')
      },
    )
  }

  /** The same for all who ask at once. What cannot be dealt with is remembered for a while. */
  async function makeOnce(place: string, make: () => Promise<string>): Promise<string> {
    const refusal = refusals.get(place)
    if (refusal && refusal.until > performance.now()) throw refusal.error
    const running = underWay.get(place) ?? make()
    underWay.set(place, running)
    try {
      return await running
    } catch (error) {
      if (error instanceof DomainError && error.code === 'VALIDATION_FAILED') {
        if (refusals.size >= MOST_REFUSALS) refusals.clear()
        refusals.set(place, { error, until: performance.now() + REFUSED_FOR_MS })
      }
      throw error
    } finally {
      underWay.delete(place)
    }
  }

  return {
    /**
     * Whether everybody who sees an asset may have its file with our manifest, as far as can be told before one is made. An asset that is
     * not there, a file store that does not answer and a certificate that has expired give false.
     */
    async isOffered(nid: string): Promise<boolean> {
      const asset = await database.read.asset.findFirst({ select: selection, where: { nid, deletedAt: null } })
      if (!asset?.owner.allowC2paDownload || asset.fileSize > MAX_BYTES) return false
      try {
        return (
          contentCredentials.signedBy() !== undefined &&
          signedTypeOf(await readHead(contentStore, nid, HEAD_BYTES)) !== undefined
        )
      } catch (error) {
        if (error instanceof DomainError && error.code === 'UNAVAILABLE') return false
        throw error
      }
    },

    /**
     * Returns the signed copy of an asset's file, for readers of the asset and of a link to its file (`linkedAsset`), or only for the owner if the
     * account forbids signed copies for others. Raises NOT_FOUND, VALIDATION_FAILED if the file cannot have a signed copy, UNAVAILABLE.
     */
    async find(actor: Actor, given: string, linkedAsset?: string): Promise<SignedFile> {
      const nid = canonicalNid(given)
      if (nid === undefined) throw notFound('Asset')
      const where = { nid, ...readableAssets(actor, linkedAsset) }
      const asset = await database.read.asset.findFirst({ select: selection, where })
      if (!asset) throw notFound('Asset')
      const signedBy = contentCredentials.signedBy()
      if (signedBy === undefined || !(owns(actor, asset) || asset.owner.allowC2paDownload)) {
        throw notFound('File with Content Credentials')
      }
      const { id, c2paCid, fileName, publicAccess } = asset
      if (asset.fileSize > MAX_BYTES) throw tooLarge()
      const signed = signedTypeOf(await readHead(contentStore, nid, HEAD_BYTES))
      if (!signed) throw noFormat()
      const [found] = await database.query(findManifestFacts, {
        commit: asset.headCommitId,
        registry: registryAddress ?? null,
      })
      // Deleted since.
      if (!found) throw notFound('Asset')
      const { tree_cid: treeCid, tree_sha256: treeSha256, chain_id: chainId, ...rest } = found
      const facts = { nid, fileName, treeCid, treeSha256, chainId, ...rest, commit: asset.headCommitId }
      const versions = signedBy.map((way) => versionOf(way, facts))
      const isFresh = c2paCid !== null && versions.includes(asset.c2paVersion ?? '')
      const keys = [...rateLimitKeys(actor), `owner:${asset.ownerId}`]
      const makeInTurn = () => manifests(() => make(id, signed.format, facts), { keys })
      const cid = isFresh ? c2paCid : await makeOnce(`${id} ${versions[0]}`, makeInTurn)
      const isOpen = publicAccess && asset.owner.allowC2paDownload
      return { cid, assetId: id, mimeType: signed.type, fileName, publicAccess, isOpen }
    },
  }
}
