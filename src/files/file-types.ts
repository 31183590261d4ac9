import type { OnError } from '../shared/log.ts'

/** Identity of a file: its CIDv1, its SHA-256 as 64 hex digits, and its size in bytes. */
export type StoredFile = { cid: string; sha256: string; size: number }

export type Pieces = AsyncIterable<Uint8Array>

/** An uploaded file, on disk until its request ends. */
export interface HeldFile {
  readonly size: number
  /** Returns the bytes of the file. Can be called several times. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
  bytes(): Pieces
  /** Deletes the file when its readers are done. Can be called several times. */
  release(): Promise<void>
}

export interface UploadFolder {
  /** Writes a stream to disk. `onBytes` can reject bytes by throwing. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
  hold(bytes: Pieces, onBytes: (count: number) => Promise<void>): Promise<HeldFile>
  /** Deletes abandoned files older than `seconds`. Reports errors to `onError`, by file name. */
  sweep(seconds: number, onError: OnError): Promise<void>
}

/** A file in the content store that is not pinned yet. */
export interface ImportedFile extends StoredFile {
  /** Deletes the file, except blocks that other imports use. Does not throw. */
  discard(): Promise<void>
}

interface CollectionOptions {
  /** Stops garbage collection between two blocks. The next collection deletes the rest. */
  cancel?: AbortSignal | undefined
  onError?: OnError
  isPinned?(cid: string): Promise<boolean>
  /** Restores a missing pinned file, if possible. Only the Kubo store calls this function. */
  restore?(cid: string): Promise<void>
}

/** Selection of the blocks in a CAR. `block`: the root block only. */
export interface CarSelection {
  scope: 'block' | 'all'
  /** Selects only the blocks that contain these bytes of the file. */
  range?: { offset: number; length: number } | undefined
  /** True to send a block each time that it occurs in the file. False to send each block once. */
  duplicates: boolean
}

export interface ContentStore {
  /** Imports a file. Blocks are garbage until a pin exists. Throws INSUFFICIENT_STORAGE, UNAVAILABLE, source errors. */
  importFile(source: Pieces): Promise<ImportedFile>
  identifyFile(source: Pieces): Promise<StoredFile>
  identify(bytes: Uint8Array): { cid: string; sha256: string }
  /** Stores a document as one raw block. Returns its CID. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
  putDocument(bytes: Uint8Array, cancel?: AbortSignal): Promise<string>
  /** Reads a file or a byte range of a file. Throws NOT_FOUND, UNAVAILABLE. */
  read(cid: string, range?: { offset: number; length: number }): Pieces
  /** Returns the size of a file in bytes. Throws NOT_FOUND, UNAVAILABLE. */
  size(cid: string): Promise<number>
  /** Reads a block. Throws NOT_FOUND, UNAVAILABLE. */
  readBlock(cid: string): Promise<Uint8Array>
  /** Returns true if all blocks of a file are stored. Throws UNAVAILABLE. */
  isWhole(cid: string): Promise<boolean>
  /** Exports a file as a CAR, depth first. Default: all blocks, each once. Throws NOT_FOUND, UNAVAILABLE. */
  exportCar(cid: string, selection?: CarSelection): Pieces
  /** Yields the CIDs of all blocks below a block, each once. Does not read leaves. Throws NOT_FOUND, UNAVAILABLE. */
  blocksBelow(cid: string): AsyncIterable<string>
  /** Deletes unpinned blocks older than `graceSeconds`. Returns the number of deleted blocks. Throws UNAVAILABLE. */
  collectGarbage(pinned: AsyncIterable<string>, graceSeconds: number, options?: CollectionOptions): Promise<number>
  /** Returns true if the content store accepts files. Returns within two seconds. */
  isReachable(): Promise<boolean>
}

export interface ManifestDefinition {
  claim_generator_info: { name: string; version: string }[]
  title: string
  /** Assertions. `created`: true if the signer made the assertion, false if another party made it. */
  assertions: { label: string; data: unknown; kind?: 'Json'; created?: true }[]
}

/** Manifests to write into a file. */
export interface ManifestRequest {
  /** MIME type of the file, detected from its bytes. */
  format: string
  /** Manifest for a file without a manifest. */
  first: ManifestDefinition
  /** True if `first` states the origin of the file. */
  firstIsOrigin: boolean
  /** Manifest for a file that has a manifest. The existing manifest becomes an ingredient. */
  following: ManifestDefinition
}

/** Report of the C2PA library on a manifest, as JSON, and the name of the trust list. */
export type ManifestReport = { report: string; trustList: string | null }

/** Reads and writes C2PA manifests in files, each in its own process. */
export interface ContentCredentials {
  /**
   * Returns the acceptable versions of signer and signing method, the current one last. Returns undefined if signing is
   * not configured. Throws UNAVAILABLE if the certificate has expired.
   */
  signedBy(): readonly [string, ...string[]] | undefined
  /** Yields the file with a signed manifest. Throws VALIDATION_FAILED, UNAVAILABLE, and the errors of the source. */
  write(source: Pieces, request: ManifestRequest): Pieces
  /** Reads the manifest of a file, or returns undefined. Throws VALIDATION_FAILED, UNAVAILABLE and source errors. */
  read(source: Pieces, format: string): Promise<ManifestReport | undefined>
}
