/** Table of known file types. It defines the registered type, display, thumbnail and signed copy of a file. */
import mime from 'mime'
import type { IncomingFile } from './uploads.ts'

/** Display of a file. Asset pages show pictures and players. The file gateway serves all files inline, except downloads. */
export type Display = 'picture' | 'player' | 'inline' | 'download'

interface FileType {
  name: string
  type: string
  /** Matches the first bytes of the file, decoded as Latin-1. */
  signature?: RegExp
  /** Matches brands of the `ftyp` box (ISO base media file format). */
  brands?: RegExp
  /** True if the brands identify only the container format. Any other brand in the file is more specific. */
  isContainer?: true
  /** Matches media types that are more specific than this one. The file name can select such a type. */
  refinedBy?: RegExp
  display: Display
  /** The libvips loader that reads the file for its thumbnail. */
  thumbnail?: string
  /** The format of the signed copy (Content Credentials), for the C2PA library. `true`: the registered type. */
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

const mp4: FileType = {
  name: 'MP4',
  type: 'video/mp4',
  refinedBy: /^(?:audio|video)\//,
  display: 'player',
  signed: true,
}
const threeGp: FileType = { name: '3GP', type: 'video/3gpp', display: 'player', signed: 'video/mp4' }
const heif: FileType = { name: 'HEIF', type: 'image/heif', isContainer: true, display: 'inline', signed: 'image/heif' }
const heic: FileType = { name: 'HEIC', type: 'image/heic', display: 'inline', signed: 'image/heic' }
const tiff = { name: 'TIFF', type: 'image/tiff', refinedBy: /^image\/(?!svg)/, thumbnail: 'Tiff' } as const

/** Known file types. The first row that matches a file is used. */
const FILE_TYPES: readonly FileType[] = [
  { name: 'JPEG', type: 'image/jpeg', signature: /^\xff\xd8\xff/, display: 'picture', thumbnail: 'Jpeg', signed: true },
  { name: 'PNG', type: 'image/png', signature: /^\x89PNG\r\n/, display: 'picture', thumbnail: 'Png', signed: true },
  {
    name: 'WebP',
    type: 'image/webp',
    signature: /^RIFF.{4}WEBP/s,
    display: 'picture',
    thumbnail: 'Webp',
    signed: true,
  },
  { name: 'GIF', type: 'image/gif', signature: /^GIF8[79]a/, display: 'picture', thumbnail: 'Nsgif', signed: true },
  { ...tiff, signature: /^(?:II\*\0|MM\0\*)/, display: 'inline', signed: true },
  // The C2PA library does not write BigTIFF.
  { ...tiff, signature: /^(?:II\+\0|MM\0\+)/, display: 'inline' },
  {
    ...{ name: 'AVIF', type: 'image/avif', brands: /^(?:avi[fs]|MA1[AB])$/ },
    ...{ display: 'picture', thumbnail: 'Heif', signed: true },
  },
  // The thumbnail decoder does not support HEVC.
  { ...heic, brands: /^hei[cxms]$/ },
  { ...heic, type: 'image/heic-sequence', brands: /^hev[cxms]$/ },
  { ...heif, brands: /^(?:mif[12]|miaf)$/ },
  { ...heif, type: 'image/heif-sequence', brands: /^msf1$/ },
  { name: 'CR3', type: 'image/x-canon-cr3', brands: /^crx $/, display: 'download' },
  // Video files also list the brand M4A, so this row must come before it.
  { ...mp4, brands: /^M4V/ },
  { name: 'M4A', type: 'audio/mp4', brands: /^(?:M4[ABP] |F4[AB] )$/, display: 'player', signed: true },
  { ...mp4, brands: /^(?:iso[m\d]|mp[47]\d|avc1|dash|cmf[c\d]|ms[di]x|MSNV|XAVC|F4[VP] )$/, isContainer: true },
  // MP4 files from cameras also list the brands of the next three rows.
  { ...threeGp, brands: /^3g[eghprst][\da-z]$/ },
  { ...threeGp, type: 'video/3gpp2', brands: /^3g2[\da-z]$/ },
  { name: 'MOV', type: 'video/quicktime', brands: /^qt {2}$/, display: 'player', signed: true },
  // Matches all other brands.
  { ...mp4, brands: /^/, isContainer: true },
  { name: 'AVI', type: 'video/x-msvideo', signature: /^RIFF.{4}AVI /s, display: 'player', signed: 'video/avi' },
  {
    ...{ name: 'MP3', type: 'audio/mpeg', signature: /^(?:ID3[\cB-\cD]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/ },
    ...{ display: 'player', signed: true },
  },
  { name: 'WAV', type: 'audio/wav', signature: /^RIFF.{4}WAVE/s, display: 'player', signed: true },
  { name: 'AAC', type: 'audio/aac', signature: /^\xff[\xf0\xf1\xf8\xf9]/, display: 'player' },
  { name: 'FLAC', type: 'audio/flac', signature: /^fLaC\0/, display: 'player' },
  { name: 'Ogg video', type: 'video/ogg', signature: /^OggS\0.{23}\x80theora/s, display: 'player' },
  {
    ...{ name: 'Ogg audio', type: 'audio/ogg', display: 'player' },
    signature: /^OggS\0.{23}(?:OpusHead|\cAvorbis|Speex {3}|\x7fFLAC)/s,
  },
  {
    ...{ name: 'Ogg', type: 'application/ogg', display: 'download' },
    ...{ signature: /^OggS\0/, refinedBy: /^(?:audio|video)\// },
  },
  {
    ...{ name: 'WebM', type: 'video/webm', display: 'player' },
    ...{ signature: /^\cZE\xdf\xa3.{0,40}B\x82.{1,2}webm/s, refinedBy: /^audio\// },
  },
  {
    ...{ name: 'Matroska', type: 'video/x-matroska', display: 'player' },
    ...{ signature: /^\cZE\xdf\xa3.{0,40}B\x82.{1,2}matroska/s, refinedBy: /^audio\// },
  },
  { name: 'BMP', type: 'image/bmp', signature: /^BM.{4}\0{4}/s, display: 'picture' },
  { name: 'JPEG XL', type: 'image/jxl', signature: /^\0{3}\fJXL \r\n\x87\n/, display: 'download' },
  { name: 'JPEG 2000', type: 'image/jp2', signature: /^\0{3}\fjP {2}\r\n\x87\n/, display: 'download' },
  // SVG files can contain scripts that browsers run.
  { name: 'SVG', type: 'image/svg+xml', display: 'download' },
  { name: 'PDF', type: 'application/pdf', signature: /^%PDF-\d/, display: 'download' },
  { name: 'ZIP', type: 'application/zip', signature: /^PK\cC\cD/, refinedBy: /^application\//, display: 'download' },
  { name: 'gzip', type: 'application/gzip', signature: /^[^ -~]\x8b[\b]/, display: 'download' },
  { name: 'JSON', type: 'application/json', display: 'inline' },
  { name: 'Text', type: 'text/plain', display: 'inline' },
]

/** Number of bytes that `detectType` needs at most. An `ftyp` box with all its brands fits into them. */
export const HEAD_BYTES = 4_096

const BRAND_BYTES = 4

/** Returns the brands of the `ftyp` box, starting with the major brand. Returns undefined if the file does not start with such a box. */
function brandsOf(head: Buffer): string[] | undefined {
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return undefined
  const size = head.readUInt32BE(0)
  // A size of 1 means that a 64-bit size follows. A size of 0 means that the box extends to the end of the file.
  const start = size === 1 ? 16 : 8
  const declared = size === 1 ? Number(head.readBigUInt64BE(8)) : size || head.length
  const end = Math.min(declared, head.length)
  const brands = [head.toString('latin1', start, start + BRAND_BYTES)]
  // Skips the minor version, which follows the major brand.
  for (let at = start + 2 * BRAND_BYTES; at + BRAND_BYTES <= end; at += BRAND_BYTES) {
    brands.push(head.toString('latin1', at, at + BRAND_BYTES))
  }
  return brands
}

function typeOfBrands(brands: readonly string[]): FileType | undefined {
  const matching = (candidates: readonly string[]) =>
    FILE_TYPES.find(({ brands: known }) => known && candidates.some((brand) => known.test(brand)))
  const major = matching(brands.slice(0, 1))
  return major?.isContainer ? matching(brands) : major
}

/** Returns the table row that matches the first `HEAD_BYTES` bytes of a file, or undefined. */
function rowOf(bytes: Uint8Array): FileType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const brands = brandsOf(head)
  if (brands) return typeOfBrands(brands)
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

/** Returns a media type in lower case and without its parameters. */
const bareType = (mediaType: string) => mediaType.split(';', 1)[0]!.trim().toLowerCase()

const rowOfType = (mediaType: string) => rowsByName.get(bareType(mediaType))

/** Returns the type of a file by its first `HEAD_BYTES` bytes, or undefined if they match no type. */
export const detectType = (head: Uint8Array): string | undefined => rowOf(head)?.type

/** Returns the registered name of a media type that is an alias, or undefined. */
export function aliasedType(mediaType: string): string | undefined {
  const row = rowOfType(mediaType)
  return row && row.type !== bareType(mediaType) ? row.type : undefined
}

/** Returns true if `named` is more specific than the detected type. A type with a signature never is: its content would have matched. */
export function isRefinement(named: string, head: Uint8Array): boolean {
  return rowOf(head)?.refinedBy?.test(named) === true && rowOfType(named)?.signature === undefined
}

/** Top-level type of a media type. `file` means any other type. */
export type MediaKind = 'image' | 'video' | 'audio' | 'file'

const KINDS = ['image', 'video', 'audio'] as const

export const mediaKindOf = (mediaType: string): MediaKind =>
  KINDS.find((kind) => bareType(mediaType).startsWith(`${kind}/`)) ?? 'file'

/** Audio and video types that are not in the table. Types that end in `+xml` are excluded, because browsers run scripts in them. */
const PLAYABLE = /^(?:audio|video)\/[\w.-]+$/

export const displayOf = (mediaType: string): Display =>
  rowOfType(mediaType)?.display ?? (PLAYABLE.test(bareType(mediaType)) ? 'player' : 'download')

/** Returns true if Annal makes a thumbnail of a file with these first bytes. */
export const hasThumbnail = (head: Uint8Array): boolean => rowOf(head)?.thumbnail !== undefined

export const thumbnailLoaders: ReadonlySet<string> = new Set(FILE_TYPES.flatMap(({ thumbnail }) => thumbnail ?? []))

/** Returns the media type of a file and its format for the C2PA library. Returns undefined if the file cannot have a signed copy. */
export function signedTypeOf(head: Uint8Array): { type: string; format: string } | undefined {
  const row = rowOf(head)
  if (row?.signed === undefined) return undefined
  return { type: row.type, format: row.signed === true ? row.type : row.signed }
}

const namesWith = (column: 'thumbnail' | 'signed', conjunction: string) =>
  [...new Set(FILE_TYPES.filter((row) => row[column]).map(({ name }) => name))]
    .join(', ')
    .replace(/, ([^,]+)$/, ` ${conjunction} $1`)

export const signedTypeNames = namesWith('signed', 'and')

export const thumbnailTypeNames = namesWith('thumbnail', 'or')

/** PostgreSQL patterns for registered types whose files may support a thumbnail or a signed copy. */
export const typePatterns = { thumbnail: patternOf('thumbnail'), signed: patternOf('signed') } as const

/** Includes unknown subtypes, because the content may still match. Excludes SVG, because it is text. */
function patternOf(column: 'thumbnail' | 'signed'): string {
  const kinds = new Set(FILE_TYPES.filter((row) => row[column]).map(({ type }) => mediaKindOf(type)))
  return `^(?:(?:${[...kinds].join('|')})/(?!svg)|application/(?:octet-stream|mp4))`
}

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

/** Returns true if a text is a valid media type. It is sent as a response header when the file is read. */
export const isMimeType = (text: string) => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[ -~]*)?$/.test(text)

/** Returns true if a declared type does not describe the file: it is empty, a wildcard such as `image/*`, or a placeholder. */
export const isUninformative = (text: string): boolean =>
  text.trim() === '' || /^[\w.+-]*\*?\/\*$/.test(text) || UNINFORMATIVE.has(text.split(';', 1)[0]!.trim().toLowerCase())

/** Returns the declared type of a form part. Returns `application/octet-stream` if the part declares no media type. */
export const declaredTypeOf = ({ mimetype }: IncomingFile): string => (isMimeType(mimetype) ? mimetype : OCTETS)

async function headOf(file: IncomingFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const piece of file.createReadStream()) {
    parts.push(piece.slice(0, HEAD_BYTES))
    length += piece.length
    if (length >= HEAD_BYTES) break
  }
  return Buffer.concat(parts)
}

/** Returns true if the bytes contain control characters that do not occur in text files. */
const isBinary = (head: Uint8Array) => head.some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d].includes(byte))

const NOT_TEXT = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip)$)/

const typeOfName = (fileName: string): string | undefined => {
  const type = mime.getType(fileName) ?? undefined
  return type && (aliasedType(type) ?? type)
}

/**
 * Returns the media type to register for a file. An informative declared type is kept. Otherwise the type is detected from the content or
 * taken from the file name. `given`: the type in the input, which takes precedence over the type of the form part. Throws the errors of
 * reading the file.
 */
export async function registeredTypeOf(file: IncomingFile, given: string | undefined): Promise<string> {
  const isGiven = given !== undefined && !isUninformative(given)
  const declared = isGiven ? given : declaredTypeOf(file)
  const alias = aliasedType(declared)
  // `text/plain` is the default type of form parts, so it may not describe the file.
  const mayBeText = !isGiven && declared.toLowerCase().startsWith(TEXT)
  const isInformative = !isUninformative(declared) && alias === undefined && !mayBeText
  if (isInformative) return declared
  const head = await headOf(file)
  const detected = mayBeText && !isBinary(head) ? undefined : detectType(head)
  const named = typeOfName(file.filename)
  if (detected !== undefined) return named !== undefined && isRefinement(named, head) ? named : detected
  if (alias !== undefined) return alias
  if (!mayBeText) return named ?? OCTETS
  return named !== undefined && NOT_TEXT.test(named) ? named : declared
}
