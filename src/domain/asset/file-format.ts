/** Which files can carry a manifest, told by how they begin: callers send everything under any type. */

/** Bytes that tell. */
export const FORMAT_BYTES = 16

/** How each begins, and its MIME type. Of the family of MP4 the first brand counts. */
const FORMATS: readonly (readonly [RegExp, string])[] = [
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^\x89PNG\r\n/, 'image/png'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^RIFF.{4}WAVE/s, 'audio/wav'],
  [/^RIFF.{4}AVI /s, 'video/avi'],
  [/^(?:ID3|\xff[\xf2\xf3\xfb])/, 'audio/mpeg'],
  [/^(?:II\*\0|MM\0\*)/, 'image/tiff'],
  [/^.{4}ftypavi[fs]/s, 'image/avif'],
  [/^.{4}ftyp(?:hei[cxms]|hev[cx])/s, 'image/heic'],
  [/^.{4}ftypmif1/s, 'image/heif'],
  [/^.{4}ftypM4A /s, 'audio/mp4'],
  [/^.{4}ftypqt {2}/s, 'video/quicktime'],
  [/^.{4}ftyp/s, 'video/mp4'],
]

/** What is told where a file is of none of them. */
export const FORMAT_NAMES = 'JPEG, PNG, WebP, GIF, TIFF, AVIF, HEIC, HEIF, MP4, MOV, AVI, M4A, MP3 and WAV'

/** The MIME type of a file by its first `FORMAT_BYTES` bytes; undefined when it carries no manifest. */
export function formatOf(head: Uint8Array): string | undefined {
  const text = Buffer.from(head).toString('latin1')
  return FORMATS.find(([beginning]) => beginning.test(text))?.[1]
}
