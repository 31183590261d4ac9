/** Table of known file types. It defines the registered type, display, thumbnail and signed copy of a file. */
import mime from 'mime'
import type { IncomingFile } from './uploads.ts'

/** Display of a file. The file gateway serves all files inline, except downloads. */
type Display = 'picture' | 'player' | 'inline' | 'download'

interface FileType {
  name: string
  type: string
  /** Matches the start of a file, decoded as Latin-1. */
  signature?: RegExp
  /** Matches a brand in the `ftyp` box of a file (ISO base media file format). */
  brands?: RegExp
  /** True if the brands identify only the container format. Any other brand in the file is more specific. */
  isContainer?: true
  /** Matches media types that are more specific than this one. The file name can select such a type. */
  refinedBy?: RegExp
  display: Display
  /** Name of the libvips loader that reads the file for its thumbnail. */
  thumbnail?: string
  /** Format name of the signed copy (Content Credentials) in the C2PA library. `true`: the registered type. */
  signed?: true | string
}

/** Other subtypes by registered media type, or complete media types. Each subtype may also have the prefix `x-`. */
const ALIASES: Record<string, string> = {
  'image/jpeg': 'jpeg jpg pjpeg jpe jfif x-citrix-jpeg',
  'image/png': 'png x-citrix-png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/tiff': 'tif tiff application/tif application/tiff',
  'image/avif': 'avif-sequence',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'video/mp4': 'mp4',
  'audio/mp4': 'm4a m4b m4p mp4a',
  'video/3gpp': '3gp 3gpp',
  'video/3gpp2': '3g2',
  'video/quicktime': 'quicktime',
  'video/x-msvideo': 'avi msvideo vnd.avi application/x-troff-msvideo',
  'audio/mpeg': 'mpeg mp3 mpeg3 mpeg-3 mpg',
  'audio/wav': 'wav wave vnd.wave pn-wav',
  'audio/aac': 'aac aacp hx-aac-adts',
  'audio/flac': 'flac',
  'video/ogg': 'ogg',
  'audio/ogg': 'ogg',
  'application/ogg': 'ogg',
  'video/webm': 'webm',
  'video/x-matroska': 'matroska',
  'image/bmp': 'bmp ms-bmp windows-bmp',
  'image/jp2': 'jp2 jpeg2000',
  'image/svg+xml': 'svg svg-xml',
  'application/pdf': 'pdf acrobat text/pdf',
  'application/zip': 'zip zip-compressed',
  'application/gzip': 'gzip',
  'application/json': 'json text/json',
}

const rowBy =
  (by: 'signature' | 'brands') =>
  (name: string, type: string, display: Display, pattern: RegExp, more: Partial<FileType> = {}): FileType =>
    Object.assign({ name, type, display, [by]: pattern }, more)
const [bySignature, byBrand] = [rowBy('signature'), rowBy('brands')]

const isMedia = /^(?:audio|video)\//
const isImage = /^image\/(?!svg)/
const orAudio = { refinedBy: /^audio\// }
const tiff = { refinedBy: isImage, thumbnail: 'Tiff' }
const mp4 = { refinedBy: isMedia, signed: true } as const
const mp4Container = { ...mp4, isContainer: true } as const
const heifContainer = { isContainer: true, signed: 'image/heif' } as const
const isoBrands = /^(?:iso[m\d]|mp[47]\d|avc1|dash|cmf[c\d]|ms[di]x|MSNV|XAVC|F4[VP] )$/
const asMp4 = { signed: 'video/mp4' } as const
const asHeic = { signed: 'image/heic' } as const

/** Known file types. The first row that matches a file is used. */
const FILE_TYPES: readonly FileType[] = [
  bySignature('JPEG', 'image/jpeg', 'picture', /^\xff\xd8\xff/, { thumbnail: 'Jpeg', signed: true }),
  bySignature('PNG', 'image/png', 'picture', /^\x89PNG\r\n/, { thumbnail: 'Png', signed: true }),
  bySignature('WebP', 'image/webp', 'picture', /^RIFF.{4}WEBP/s, { thumbnail: 'Webp', signed: true }),
  bySignature('GIF', 'image/gif', 'picture', /^GIF8[79]a/, { thumbnail: 'Nsgif', signed: true }),
  bySignature('TIFF', 'image/tiff', 'inline', /^(?:II\*\0|MM\0\*)/, { ...tiff, signed: true }),
  // BigTIFF. The C2PA library does not write it.
  bySignature('TIFF', 'image/tiff', 'inline', /^(?:II\+\0|MM\0\+)/, tiff),
  byBrand('AVIF', 'image/avif', 'picture', /^(?:avi[fs]|MA1[AB])$/, { thumbnail: 'Heif', signed: true }),
  // The thumbnail decoder does not support HEVC.
  byBrand('HEIC', 'image/heic', 'inline', /^hei[cxms]$/, asHeic),
  byBrand('HEIC', 'image/heic-sequence', 'inline', /^hev[cxms]$/, asHeic),
  byBrand('HEIF', 'image/heif', 'inline', /^(?:mif[12]|miaf)$/, heifContainer),
  byBrand('HEIF', 'image/heif-sequence', 'inline', /^msf1$/, heifContainer),
  byBrand('CR3', 'image/x-canon-cr3', 'download', /^crx $/),
  // Video files also list the brand M4A, so this row must precede it.
  byBrand('MP4', 'video/mp4', 'player', /^M4V/, mp4),
  byBrand('M4A', 'audio/mp4', 'player', /^(?:M4[ABP] |F4[AB] )$/, { signed: true }),
  byBrand('MP4', 'video/mp4', 'player', isoBrands, mp4Container),
  // MP4 files from cameras also list the brands of the next three rows.
  byBrand('3GP', 'video/3gpp', 'player', /^3g[eghprst][\da-z]$/, asMp4),
  byBrand('3GP', 'video/3gpp2', 'player', /^3g2[\da-z]$/, asMp4),
  byBrand('MOV', 'video/quicktime', 'player', /^qt {2}$/, { signed: true }),
  // Matches all other brands.
  byBrand('MP4', 'video/mp4', 'player', /^/, mp4Container),
  bySignature('AVI', 'video/x-msvideo', 'player', /^RIFF.{4}AVI /s, { signed: 'video/avi' }),
  bySignature('MP3', 'audio/mpeg', 'player', /^(?:ID3[\cB-\cD]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/, { signed: true }),
  bySignature('WAV', 'audio/wav', 'player', /^RIFF.{4}WAVE/s, { signed: true }),
  bySignature('AAC', 'audio/aac', 'player', /^\xff[\xf0\xf1\xf8\xf9]/),
  bySignature('FLAC', 'audio/flac', 'player', /^fLaC\0/),
  bySignature('Ogg video', 'video/ogg', 'player', /^OggS\0.{23}\x80theora/s),
  bySignature('Ogg audio', 'audio/ogg', 'player', /^OggS\0.{23}(?:OpusHead|\cAvorbis|Speex {3}|\x7fFLAC)/s),
  bySignature('Ogg', 'application/ogg', 'download', /^OggS\0/, { refinedBy: isMedia }),
  bySignature('WebM', 'video/webm', 'player', /^\cZE\xdf\xa3.{0,40}B\x82.{1,2}webm/s, orAudio),
  bySignature('Matroska', 'video/x-matroska', 'player', /^\cZE\xdf\xa3.{0,40}B\x82.{1,2}matroska/s, orAudio),
  bySignature('BMP', 'image/bmp', 'picture', /^BM.{4}\0{4}/s),
  bySignature('JPEG XL', 'image/jxl', 'download', /^\0{3}\fJXL \r\n\x87\n/),
  bySignature('JPEG 2000', 'image/jp2', 'download', /^\0{3}\fjP {2}\r\n\x87\n/),
  bySignature('PDF', 'application/pdf', 'download', /^%PDF-\d/),
  bySignature('ZIP', 'application/zip', 'download', /^PK\cC\cD/, { refinedBy: /^application\// }),
  bySignature('gzip', 'application/gzip', 'download', /^[^ -~]\x8b[\b]/),
  // SVG files can contain scripts that browsers run.
  { name: 'SVG', type: 'image/svg+xml', display: 'download' },
  { name: 'JSON', type: 'application/json', display: 'inline' },
  { name: 'Text', type: 'text/plain', display: 'inline' },
]

/** Number of bytes at the start of a file that identify its type. An `ftyp` box with all its brands fits into them. */
export const HEAD_BYTES = 4_096

/** Returns the brands in the `ftyp` box of a file, the major brand first. */
function brandsOf(head: Buffer): string[] | undefined {
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return undefined
  const size = head.readUInt32BE(0)
  // A size of 1 means that a 64-bit size follows. A size of 0 means that the box extends to the end of the file.
  const start = size === 1 ? 16 : 8
  const declared = size === 1 ? Number(head.readBigUInt64BE(8)) : size || head.length
  const end = Math.min(declared, head.length)
  const words = head.toString('latin1', start, end).match(/.{4}/gs) ?? []
  // The second word is the minor version.
  return words.filter((_, index) => index !== 1)
}

/** Returns the table row that matches the first `HEAD_BYTES` bytes of a file, or undefined. */
function rowOf(bytes: Uint8Array): FileType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const brands = brandsOf(head)
  if (brands) {
    const matching = (candidates: readonly string[]) =>
      FILE_TYPES.find(({ brands: known }) => known && candidates.some((brand) => known.test(brand)))
    const major = matching(brands.slice(0, 1))
    return major?.isContainer ? matching(brands) : major
  }
  const text = head.toString('latin1', 0, 128)
  return FILE_TYPES.find(({ signature }) => signature?.test(text))
}

const rowsByName = new Map<string, FileType>()
for (const row of FILE_TYPES) {
  const [kind] = row.type.split('/')
  const aliases = (ALIASES[row.type]?.split(' ') ?? []).map((name) => (name.includes('/') ? name : `${kind}/${name}`))
  const prefixed = aliases.map((name) => name.replace('/', '/x-'))
  for (const name of [row.type, ...aliases, ...prefixed]) if (!rowsByName.has(name)) rowsByName.set(name, row)
}

const bareType = (mediaType: string) => mediaType.split(';', 1)[0]!.trim().toLowerCase()

const rowOfType = (mediaType: string) => rowsByName.get(bareType(mediaType))

/** Returns the registered name of an alias. */
function aliasedType(mediaType: string): string | undefined {
  const row = rowOfType(mediaType)
  return row && row.type !== bareType(mediaType) ? row.type : undefined
}

/** Audio and video types that are not in the table, except `+xml`, because browsers run scripts in them. */
const PLAYABLE = /^(?:audio|video)\/[\w.-]+$/

export const displayOf = (mediaType: string): Display =>
  rowOfType(mediaType)?.display ?? (PLAYABLE.test(bareType(mediaType)) ? 'player' : 'download')

export const hasThumbnail = (head: Uint8Array): boolean => rowOf(head)?.thumbnail !== undefined

export const thumbnailLoaders: ReadonlySet<string> = new Set(FILE_TYPES.flatMap(({ thumbnail }) => thumbnail ?? []))

/** Returns the type and the C2PA format of a file. Returns undefined if it cannot have a signed copy. */
export function signedTypeOf(head: Uint8Array): { type: string; format: string } | undefined {
  const { type, signed } = rowOf(head) ?? { type: '' }
  return signed === undefined ? undefined : { type, format: signed === true ? type : signed }
}

const namesWith = (column: 'thumbnail' | 'signed', conjunction: string) =>
  [...new Set(FILE_TYPES.filter((row) => row[column]).map(({ name }) => name))]
    .join(', ')
    .replace(/, ([^,]+)$/, ` ${conjunction} $1`)

export const signedTypeNames = namesWith('signed', 'and')
export const thumbnailTypeNames = namesWith('thumbnail', 'or')

/** Includes unknown subtypes, because the content may still match. Excludes SVG, because it is text. */
function patternOf(column: 'thumbnail' | 'signed'): string {
  const kinds = new Set(FILE_TYPES.filter((row) => row[column]).map(({ type }) => type.split('/')[0]))
  return `^(?:(?:${[...kinds].join('|')})/(?!svg)|application/(?:octet-stream|mp4))`
}

/** PostgreSQL patterns for registered types whose files may get a thumbnail, or may have a manifest. */
export const typePatterns = { thumbnail: patternOf('thumbnail'), manifest: patternOf('signed') } as const

const OCTETS = 'application/octet-stream'
const TEXT = 'text/plain'

/** Placeholder types that clients send if they do not know the type of a file. */
const UNINFORMATIVE = new Set([
  OCTETS,
  ...['application/x-octet-stream', 'application/octetstream', 'application/binary', 'application/x-binary'],
  ...['application/unknown', 'application/x-unknown', 'application/x-unknown-content-type'],
  ...['application/download', 'application/x-download', 'application/force-download', 'application/x-force-download'],
  ...['binary/octet-stream', 'content/unknown', 'unknown/unknown', 'unknown/application', 'multipart/form-data'],
])

/** Returns true if a text is a valid media type, which can be sent in a response header. */
export const isMimeType = (text: string) => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[ -~]*)?$/.test(text)

/** Returns true if a declared type is empty, a wildcard such as `image/*`, or a placeholder. */
export const isUninformative = (text: string): boolean =>
  text.trim() === '' || /^[\w.+-]*\*?\/\*$/.test(text) || UNINFORMATIVE.has(bareType(text))

export const declaredTypeOf = ({ mimetype }: IncomingFile): string => (isMimeType(mimetype) ? mimetype : OCTETS)

async function headOf(file: IncomingFile): Promise<Uint8Array> {
  let head = Buffer.alloc(0)
  for await (const piece of file.createReadStream()) {
    head = Buffer.concat([head, piece])
    if (head.length >= HEAD_BYTES) break
  }
  return head.subarray(0, HEAD_BYTES)
}

/** Returns true for control characters that do not occur in text files. */
const isBinary = (head: Uint8Array) => head.some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d].includes(byte))

const NOT_TEXT = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip)$)/

/**
 * Returns the media type to register. An informative declared type is kept. Otherwise the type is detected from the
 * content or the file name. `given`: the type in the input, which takes precedence over the type of the form part.
 */
export async function registeredTypeOf(file: IncomingFile, given: string | undefined): Promise<string> {
  const isGiven = given !== undefined && !isUninformative(given)
  const declared = isGiven ? given : declaredTypeOf(file)
  const alias = aliasedType(declared)
  // `text/plain` is the default type of form parts, so it may not describe the file.
  const mayBeText = !isGiven && declared.toLowerCase().startsWith(TEXT)
  if (!isUninformative(declared) && alias === undefined && !mayBeText) return declared
  const head = await headOf(file)
  const detected = mayBeText && !isBinary(head) ? undefined : rowOf(head)
  const extensionType = mime.getType(file.filename) ?? undefined
  const named = extensionType && (aliasedType(extensionType) ?? extensionType)
  if (detected) {
    // A type with a signature would have been detected.
    const isRefinement = named && detected.refinedBy?.test(named) && rowOfType(named)?.signature === undefined
    return isRefinement ? named : detected.type
  }
  if (alias !== undefined) return alias
  if (!mayBeText) return named ?? OCTETS
  return named !== undefined && NOT_TEXT.test(named) ? named : declared
}
