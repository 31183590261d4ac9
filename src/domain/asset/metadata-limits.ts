/** How large the parts of an asset's metadata may be. Doors tell it, and count with it what an answer can hold. */

/** In characters. */
export const metadataLengths = {
  caption: 4_000,
  headline: 25,
  tag: 255,
  mimeType: 255,
  fileName: 255,
  commitMessage: 1_000,
} as const

/** Of JSON, in bytes; of texts as they were sent. */
export const metadataBytes = {
  custom: 10_240,
  meta: 65_536,
  signedMetadata: 32_768,
  signature: 32_768,
} as const
