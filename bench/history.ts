/** An asset of the peers as Annal would have it: registered once, changed by one commit after another, each with its tree. */
import { randomBytes } from 'node:crypto'
import type { ContentStore } from '../src/files/file-types.ts'
import { compare, emptyMetadata, type Metadata, writeTree } from '../src/modules/assets/metadata.ts'
import type { PeerAsset } from './peer-data.ts'

const HOUR = 3_600_000

export interface Owner {
  id: string
  username: string
  address: string
}

export interface CommitRecord {
  id: string
  sequence: number
  message: string
  changes: string
  tree: string
  treeCid: string
  treeSha256: string
  createdAt: string
}

export interface AssetRecord {
  id: string
  nid: string
  sha256: string
  size: number
  uploadedAt: string
  updatedAt: string
  commits: CommitRecord[]
}

/** A UUID version 7 of a moment in the past, so that what is older sorts first. */
export function uuidAt(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0')
  const random = randomBytes(9).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6)}`
}

/**
 * The file is the peer's name for the asset, so the nid is the real CID of real bytes. It was registered when the peer's
 * asset was updated, and a commit followed every hour; only the last one leaves the peer's caption.
 */
export function writeHistory(peer: PeerAsset, owner: Owner, identify: ContentStore['identify']): AssetRecord {
  const file = Buffer.from(peer.id)
  const { cid: nid, sha256 } = identify(file)
  const uploadedAt = peer.updatedAt
  const final: Metadata = { ...emptyMetadata, caption: peer.caption, headline: peer.headline, custom: peer.custom }
  let before = emptyMetadata
  const commits = peer.messages.map((message, index): CommitRecord => {
    const sequence = index + 1
    const isLast = sequence === peer.messages.length
    const after = isLast ? final : { ...final, caption: `${peer.caption}, version ${sequence}` }
    const changes = compare(before, after)
    before = after
    const tree = writeTree({
      ...after,
      nid,
      sha256,
      mimeType: peer.mimeType,
      uploadedAt,
      creatorName: owner.username,
      creatorAddress: owner.address,
    })
    const { cid: treeCid, sha256: treeSha256 } = identify(Buffer.from(tree))
    const time = uploadedAt.getTime() + index * HOUR
    return {
      id: uuidAt(time),
      sequence,
      message,
      changes: JSON.stringify(changes),
      tree,
      treeCid,
      treeSha256,
      createdAt: new Date(time).toISOString(),
    }
  })
  return {
    id: uuidAt(uploadedAt.getTime()),
    nid,
    sha256,
    size: file.length,
    uploadedAt: uploadedAt.toISOString(),
    updatedAt: commits.at(-1)!.createdAt,
    commits,
  }
}
