/** What the process that reads and writes manifests is told, and how it ends. */

import type { ManifestRequest } from '../../files/file-types.ts'

/** What is to be written, and how it is signed. */
export interface WritingOrder extends Omit<ManifestRequest, 'format'> {
  algorithm: string
  /** Bytes for the signature. */
  reserve: number
}

/** One file to deal with. */
export interface ManifestOrder {
  /** MIME type of the file, as its bytes show it. */
  format: string
  /** Certificates in PEM that are trusted; none when left out. */
  trustList?: string | undefined
  /** Left out, the file is only read. */
  write?: WritingOrder
}

/** Exit code: the file cannot be read. */
export const UNREADABLE = 2
/** Exit code: it holds no manifest. */
export const NOTHING = 3
