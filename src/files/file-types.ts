/** Files, their blocks, and what is made of them. */

import type { OnError } from '../shared/log.ts'

/** What a file is called in the content store, and what it holds. */
export interface StoredFile {
  /** CIDv1: raw leaf for one block, dag-pb above. */
  cid: string
  /** 64 lowercase hex digits. */
  sha256: string
  /** Bytes. */
  size: number
}

/** The bytes of a file. */
export interface Pieces extends AsyncIterable<Uint8Array> {
  /** For a piece that nobody reads any more: its memory may be written to. What is never given back is left to the garbage collector. */
  giveBack?(piece: Uint8Array): void
}

/** A file that a request brought, on disk for as long as the request lasts. */
export interface HeldFile {
  /** Bytes. */
  readonly size: number
  /** May be called several times. Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
  bytes(): Pieces
  /** Its room is free once nobody reads it any more. May be called again. */
  release(): Promise<void>
}

/** Where files of requests under way lie. */
export interface UploadFolder {
  /**
   * Writes a stream down, whose pieces nobody else may go on using: their memory is freed. `onBytes` is told how many bytes are to be written, is
   * waited for, and may refuse them. Nothing stays behind when it fails. Raises what the stream raises, INSUFFICIENT_STORAGE, UNAVAILABLE.
   */
  hold(bytes: AsyncIterable<Uint8Array>, onBytes: (count: number) => Promise<void>): Promise<HeldFile>
  /** Removes what was left behind more than `seconds` ago. `onError` is told of what cannot be removed, by its name. */
  sweep(seconds: number, onError: OnError): Promise<void>
}

/** A file whose blocks lie in the store, and that nothing pins yet. */
export interface ImportedFile extends StoredFile {
  /** For a file that nobody wants after all: gives its room back, but for what others have imported, too. Raises nothing. */
  discard(): Promise<void>
}

/** How blocks that nobody needs are removed. */
export interface CollectionOptions {
  /** Ends it between two blocks: it raises then, and what is left is for the next time. */
  cancel?: AbortSignal | undefined
  onError?: OnError
  /** Whether a CID is pinned by now. */
  isPinned?(cid: string): Promise<boolean>
  /** Puts back what is needed and not there, where it can be had; a store that does not notice such files does not ask. */
  restore?(cid: string): Promise<void>
}

/** Which blocks of a file a CAR holds. */
export interface CarSelection {
  /** The first block alone, or what hangs on it, too. */
  scope: 'block' | 'all'
  /** Of what hangs on it only what these bytes of the file are read from. */
  range?: { offset: number; length: number } | undefined
  /** Whether a block is sent again each time that the file has it. */
  duplicates: boolean
}

/** The file network: blocks under their CIDs. */
export interface ContentStore {
  /**
   * Streams a file into blocks on disk. Memory stays flat. Blocks of a file that nobody pins are garbage; of a failed import
   * nothing stays. Raises what the source raises, INSUFFICIENT_STORAGE, UNAVAILABLE.
   */
  importFile(source: Pieces): Promise<ImportedFile>
  /** The identity a file would have, without storing anything. */
  identifyFile(source: Pieces): Promise<StoredFile>
  /** The identity a small document would have, without storing it. */
  identify(bytes: Uint8Array): { cid: string; sha256: string }
  /**
   * Stores a document as one raw block. `cancel` ends the wait for a store that does not answer. Raises INSUFFICIENT_STORAGE,
   * UNAVAILABLE.
   */
  putDocument(bytes: Uint8Array, cancel?: AbortSignal): Promise<string>
  /** A file's bytes, or a part of them. Raises NOT_FOUND. */
  read(cid: string, range?: { offset: number; length: number }): AsyncIterable<Uint8Array>
  /** Bytes of the whole file. Raises NOT_FOUND. */
  size(cid: string): Promise<number>
  /** Raises NOT_FOUND. */
  readBlock(cid: string): Promise<Uint8Array>
  /** Whether every block of it is there. Raises UNAVAILABLE. */
  isWhole(cid: string): Promise<boolean>
  /** The file's blocks as a CAR stream, depth first: all of them, each once, or those that are selected. Raises NOT_FOUND, UNAVAILABLE. */
  exportCar(cid: string, selection?: CarSelection): AsyncIterable<Uint8Array>
  /** The CIDs of all blocks below it, each once. Leaves are not read. Raises NOT_FOUND, UNAVAILABLE. */
  blocksBelow(cid: string): AsyncIterable<string>
  /**
   * Removes every block that no pinned CID reaches and that is older than `graceSeconds`; returns how many. What cannot be read or
   * removed keeps nothing else from it. Raises UNAVAILABLE when the store as a whole is away, and where nobody is told of troubles
   * the first of them.
   */
  collectGarbage(pinned: AsyncIterable<string>, graceSeconds: number, options?: CollectionOptions): Promise<number>
  /** Whether it answers now and takes files; false within two seconds at the latest. */
  isReachable(): Promise<boolean>
}

/** Small pictures of what strangers sent. */
export interface PictureMaker {
  /**
   * WebP pictures that fit into squares of these sides, largest first, turned upright and without anything but the picture; undefined when
   * the source is no raster picture, too large a one, or one that takes too much to read. Each takes a core and up to 0.7 GB for seconds:
   * who asks bounds how many there are at once. Raises UNAVAILABLE, and what reading the source raises.
   */
  make(source: AsyncIterable<Uint8Array>, sides: readonly number[]): Promise<Uint8Array[] | undefined>
}

/** A manifest as the library takes it: title, generator and assertions. */
export interface ManifestDefinition {
  claim_generator_info: { name: string; version: string }[]
  title: string
  /** `created`: the word of who signs; else what was gathered from others. */
  assertions: { label: string; data: unknown; kind?: 'Json'; created?: true }[]
}

/** What is to be written into a file. */
export interface ManifestRequest {
  /** MIME type of the file, as its bytes show it. */
  format: string
  /** For a file that holds no manifest yet. */
  first: ManifestDefinition
  /** Whether `first` says how the file came about; else the file is taken as it was found. */
  firstIsOrigin: boolean
  /** For one that holds a manifest, which stays in it as what ours was made from. */
  following: ManifestDefinition
}

/** Manifests inside of files, as C2PA has them, each dealt with in a process of its own. */
export interface ContentCredentials {
  /**
   * Texts that change with who signs and how, the best way first and as it is done now last: a file that was signed in any of these
   * ways is good still. Undefined where nothing is signed. Raises UNAVAILABLE when the certificate has expired.
   */
  signedBy(): readonly [string, ...string[]] | undefined
  /**
   * The file with a signed manifest, as it is written. Raises, also after bytes came, VALIDATION_FAILED when the file cannot be dealt with,
   * UNAVAILABLE, and what the source raises.
   */
  write(source: AsyncIterable<Uint8Array>, request: ManifestRequest): AsyncIterable<Uint8Array>
  /**
   * A report on the manifest in a file, as the library writes it in JSON, and in words the certificates that its signer was judged
   * by; undefined when there is none. Raises VALIDATION_FAILED when the file cannot be dealt with, UNAVAILABLE, and what the
   * source raises.
   */
  read(
    source: AsyncIterable<Uint8Array>,
    format: string,
  ): Promise<{ report: string; trustList: string | null } | undefined>
}
