/** How the files begin that thumbnails are made of: what begins otherwise need not be given to a decoder, which is a process of its own. */

/** Bytes that tell. */
export const SIGNATURE_BYTES = 12

/** JPEG, PNG, GIF, WebP, TIFF with its two orders of bytes and two sizes, and the family of AVIF. */
const SIGNATURES = [
  /^\xff\xd8\xff/,
  /^\x89PNG\r\n/,
  /^GIF8[79]a/,
  /^RIFF.{4}WEBP/s,
  /^II[*+]\0/,
  /^MM\0[*+]/,
  /^.{4}ftyp/s,
]

/** Whether a file may be a picture that we read, by its first `SIGNATURE_BYTES` bytes. */
export function beginsAsPicture(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString('latin1')
  return SIGNATURES.some((signature) => signature.test(text))
}
