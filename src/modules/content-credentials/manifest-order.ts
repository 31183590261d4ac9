/** Input and exit codes of the process that reads and writes manifests. */

import type { ManifestRequest } from '../../files/file-types.ts'

/** The manifest to write, and parameters of its signature. */
export interface WritingOrder extends Omit<ManifestRequest, 'format'> {
  algorithm: string
  /** Space reserved for the signature, in bytes. */
  reserve: number
}

/** Instructions for one file. */
export interface ManifestOrder {
  /** MIME type of the file, detected from its bytes. */
  format: string
  /** Trusted certificates in PEM format. Default: none. */
  trustList?: string | undefined
  /** If undefined, the file is only read. */
  write?: WritingOrder
}

/** Exit code: the file cannot be read. */
export const UNREADABLE = 2
/** Exit code: it holds no manifest. */
export const NOTHING = 3
