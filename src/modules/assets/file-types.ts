/** The file types that Annal knows. The table decides the registered type, the display, the thumbnail and the signed copy of a file. */

/** How a file is shown. Pages show pictures and players. The gateway serves everything inline except downloads. */
export type Display = 'picture' | 'player' | 'inline' | 'download'

interface FileType {
  /** Name for people. */
  name: string
  /** Registered media type. */
  type: string
  /** Other names of the media type, in lower case. */
  aliases?: readonly string[]
  /** Matches the first bytes, read as Latin-1. */
  signature?: RegExp
  /** Matches brands of the `ftyp` box (ISO base media file format). */
  brands?: RegExp
  /** The brands only name the container. Any other brand of the file says more. */
  isContainer?: true
  /** Matches more specific types. The file name may choose one. */
  refinedBy?: RegExp
  display: Display
  /** The libvips loader that reads the file for its thumbnail. */
  thumbnail?: string
  /** The format of the signed copy (Content Credentials), for the C2PA library. */
  signed?: string
}

const mp4: FileType = {
  name: 'MP4',
  type: 'video/mp4',
  aliases: ['video/x-mp4'],
  refinedBy: /^(?:audio|video)\//,
  display: 'player',
  signed: 'video/mp4',
}
const tiff: FileType = {
  name: 'TIFF',
  type: 'image/tiff',
  aliases: ['image/tif', 'image/x-tif', 'image/x-tiff', 'application/tif', 'application/tiff', 'application/x-tiff'],
  refinedBy: /^image\/(?!svg)/,
  display: 'inline',
  thumbnail: 'Tiff',
}

/** The first row that matches a file decides. */
const FILE_TYPES: readonly FileType[] = [
  {
    name: 'JPEG',
    type: 'image/jpeg',
    aliases: [
      'image/jpg',
      'image/pjpeg',
      'image/jpe',
      'image/jfif',
      'image/x-jpeg',
      'image/x-jpg',
      'image/x-citrix-jpeg',
    ],
    signature: /^\xff\xd8\xff/,
    display: 'picture',
    thumbnail: 'Jpeg',
    signed: 'image/jpeg',
  },
  {
    name: 'PNG',
    type: 'image/png',
    aliases: ['image/x-png', 'image/x-citrix-png'],
    signature: /^\x89PNG\r\n/,
    display: 'picture',
    thumbnail: 'Png',
    signed: 'image/png',
  },
  {
    name: 'WebP',
    type: 'image/webp',
    aliases: ['image/x-webp'],
    signature: /^RIFF.{4}WEBP/s,
    display: 'picture',
    thumbnail: 'Webp',
    signed: 'image/webp',
  },
  {
    name: 'GIF',
    type: 'image/gif',
    aliases: ['image/x-gif'],
    signature: /^GIF8[79]a/,
    display: 'picture',
    thumbnail: 'Nsgif',
    signed: 'image/gif',
  },
  { ...tiff, signature: /^(?:II\*\0|MM\0\*)/, signed: 'image/tiff' },
  // The C2PA library does not write BigTIFF.
  { ...tiff, signature: /^(?:II\+\0|MM\0\+)/ },
  {
    name: 'AVIF',
    type: 'image/avif',
    aliases: ['image/avif-sequence'],
    brands: /^(?:avi[fs]|MA1[AB])$/,
    display: 'picture',
    thumbnail: 'Heif',
    signed: 'image/avif',
  },
  // The decoder of thumbnails cannot read HEVC.
  {
    name: 'HEIC',
    type: 'image/heic',
    aliases: ['image/x-heic'],
    brands: /^hei[cxms]$/,
    display: 'inline',
    signed: 'image/heic',
  },
  { name: 'HEIC', type: 'image/heic-sequence', brands: /^hev[cxms]$/, display: 'inline', signed: 'image/heic' },
  {
    name: 'HEIF',
    type: 'image/heif',
    aliases: ['image/x-heif'],
    brands: /^(?:mif[12]|miaf)$/,
    isContainer: true,
    display: 'inline',
    signed: 'image/heif',
  },
  {
    name: 'HEIF',
    type: 'image/heif-sequence',
    brands: /^msf1$/,
    isContainer: true,
    display: 'inline',
    signed: 'image/heif',
  },
  { name: 'CR3', type: 'image/x-canon-cr3', brands: /^crx $/, display: 'download' },
  // Films also list the brand M4A.
  { ...mp4, brands: /^M4V/ },
  {
    name: 'M4A',
    type: 'audio/mp4',
    aliases: ['audio/m4a', 'audio/x-m4a', 'audio/m4b', 'audio/x-m4b', 'audio/x-m4p', 'audio/mp4a'],
    brands: /^(?:M4[ABP] |F4[AB] )$/,
    display: 'player',
    signed: 'audio/mp4',
  },
  { ...mp4, brands: /^(?:iso[m\d]|mp[47]\d|avc1|dash|cmf[c\d]|ms[di]x|MSNV|XAVC|F4[VP] )$/, isContainer: true },
  // MP4 files of cameras also list the brands of the next three rows.
  {
    name: '3GP',
    type: 'video/3gpp',
    aliases: ['video/3gp', 'video/x-3gpp'],
    brands: /^3g[eghprst][\da-z]$/,
    display: 'player',
    signed: 'video/mp4',
  },
  {
    name: '3GP',
    type: 'video/3gpp2',
    aliases: ['video/3g2'],
    brands: /^3g2[\da-z]$/,
    display: 'player',
    signed: 'video/mp4',
  },
  {
    name: 'MOV',
    type: 'video/quicktime',
    aliases: ['video/x-quicktime'],
    brands: /^qt {2}$/,
    display: 'player',
    signed: 'video/quicktime',
  },
  // Any other brand.
  { ...mp4, brands: /^/, isContainer: true },
  {
    name: 'AVI',
    type: 'video/x-msvideo',
    aliases: ['video/avi', 'video/msvideo', 'video/vnd.avi', 'application/x-troff-msvideo'],
    signature: /^RIFF.{4}AVI /s,
    display: 'player',
    signed: 'video/avi',
  },
  {
    name: 'MP3',
    type: 'audio/mpeg',
    aliases: ['audio/mp3', 'audio/x-mp3', 'audio/x-mpeg', 'audio/mpeg3', 'audio/x-mpeg-3', 'audio/mpg', 'audio/x-mpg'],
    signature: /^(?:ID3[\cB-\cD]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/,
    display: 'player',
    signed: 'audio/mpeg',
  },
  {
    name: 'WAV',
    type: 'audio/wav',
    aliases: ['audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'audio/x-pn-wav'],
    signature: /^RIFF.{4}WAVE/s,
    display: 'player',
    signed: 'audio/wav',
  },
  {
    name: 'AAC',
    type: 'audio/aac',
    aliases: ['audio/x-aac', 'audio/aacp', 'audio/x-hx-aac-adts'],
    signature: /^\xff[\xf0\xf1\xf8\xf9]/,
    display: 'player',
  },
  { name: 'FLAC', type: 'audio/flac', aliases: ['audio/x-flac'], signature: /^fLaC\0/, display: 'player' },
  {
    name: 'Ogg video',
    type: 'video/ogg',
    aliases: ['video/x-ogg'],
    signature: /^OggS\0.{23}\x80theora/s,
    display: 'player',
  },
  {
    name: 'Ogg audio',
    type: 'audio/ogg',
    aliases: ['audio/x-ogg'],
    signature: /^OggS\0.{23}(?:OpusHead|\cAvorbis|Speex {3}|\x7fFLAC)/s,
    display: 'player',
  },
  {
    name: 'Ogg',
    type: 'application/ogg',
    aliases: ['application/x-ogg'],
    signature: /^OggS\0/,
    refinedBy: /^(?:audio|video)\//,
    display: 'download',
  },
  {
    name: 'WebM',
    type: 'video/webm',
    aliases: ['video/x-webm'],
    signature: /^\cZE\xdf\xa3.{0,40}B\x82.{1,2}webm/s,
    refinedBy: /^audio\//,
    display: 'player',
  },
  {
    name: 'Matroska',
    type: 'video/x-matroska',
    aliases: ['video/matroska'],
    signature: /^\cZE\xdf\xa3.{0,40}B\x82.{1,2}matroska/s,
    refinedBy: /^audio\//,
    display: 'player',
  },
  {
    name: 'BMP',
    type: 'image/bmp',
    aliases: ['image/x-bmp', 'image/x-ms-bmp', 'image/x-windows-bmp', 'image/ms-bmp'],
    signature: /^BM.{4}\0{4}/s,
    display: 'picture',
  },
  { name: 'JPEG XL', type: 'image/jxl', signature: /^\0{3}\fJXL \r\n\x87\n/, display: 'download' },
  {
    name: 'JPEG 2000',
    type: 'image/jp2',
    aliases: ['image/jpeg2000', 'image/x-jp2'],
    signature: /^\0{3}\fjP {2}\r\n\x87\n/,
    display: 'download',
  },
  // Browsers run scripts in SVG.
  { name: 'SVG', type: 'image/svg+xml', aliases: ['image/svg', 'image/svg-xml'], display: 'download' },
  {
    name: 'PDF',
    type: 'application/pdf',
    aliases: ['application/x-pdf', 'application/acrobat', 'text/pdf', 'text/x-pdf'],
    signature: /^%PDF-\d/,
    display: 'download',
  },
  {
    name: 'ZIP',
    type: 'application/zip',
    aliases: ['application/x-zip', 'application/x-zip-compressed'],
    signature: /^PK\cC\cD/,
    refinedBy: /^application\//,
    display: 'download',
  },
  {
    name: 'gzip',
    type: 'application/gzip',
    aliases: ['application/x-gzip'],
    signature: /^[^ -~]\x8b[\b]/,
    display: 'download',
  },
  {
    name: 'JSON',
    type: 'application/json',
    aliases: ['application/x-json', 'text/json', 'text/x-json'],
    display: 'inline',
  },
  { name: 'Text', type: 'text/plain', display: 'inline' },
]

/** Bytes that `detectType` needs at most. An `ftyp` box with all its brands fits. */
export const HEAD_BYTES = 4_096

/** Bytes of a brand. */
const BRAND_BYTES = 4

/** Returns the brands of the `ftyp` box, the major one first, or undefined if the file does not start with one. */
function brandsOf(head: Buffer): string[] | undefined {
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return undefined
  const size = head.readUInt32BE(0)
  // A size of 1 means that 64 bits follow, and 0 that the box ends with the file.
  const start = size === 1 ? 16 : 8
  const declared = size === 1 ? Number(head.readBigUInt64BE(8)) : size || head.length
  const end = Math.min(declared, head.length)
  const brands = [head.toString('latin1', start, start + BRAND_BYTES)]
  // The minor version follows the major brand.
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

/** Returns the row of a file by its first `HEAD_BYTES` bytes, or undefined if no row matches. */
function rowOf(bytes: Uint8Array): FileType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const brands = brandsOf(head)
  if (brands) return typeOfBrands(brands)
  const text = head.toString('latin1', 0, 128)
  return FILE_TYPES.find(({ signature }) => signature?.test(text))
}

const rowsByName = new Map<string, FileType>()
for (const row of FILE_TYPES) {
  for (const name of [row.type, ...(row.aliases ?? [])]) if (!rowsByName.has(name)) rowsByName.set(name, row)
}

/** Returns a media type in lower case and without its parameters. */
const bareType = (mediaType: string) => mediaType.split(';', 1)[0]!.trim().toLowerCase()

/** Returns the row of a media type or of one of its aliases. */
const rowOfType = (mediaType: string) => rowsByName.get(bareType(mediaType))

/** Returns the type of a file by its first `HEAD_BYTES` bytes, or undefined if they match no type. */
export const detectType = (head: Uint8Array): string | undefined => rowOf(head)?.type

/** Returns the registered name of a media type that is an alias, or undefined. */
export function aliasedType(mediaType: string): string | undefined {
  const row = rowOfType(mediaType)
  return row && row.type !== bareType(mediaType) ? row.type : undefined
}

/** Returns whether `named` is a more specific type than the detected one. A type with a signature is never more specific: it would have been detected. */
export function isRefinement(named: string, head: Uint8Array): boolean {
  return rowOf(head)?.refinedBy?.test(named) === true && rowOfType(named)?.signature === undefined
}

/** Top-level type of a media type. `file` stands for all others. */
export type MediaKind = 'image' | 'video' | 'audio' | 'file'

const KINDS = ['image', 'video', 'audio'] as const

/** Returns the kind of a media type. */
export const mediaKindOf = (mediaType: string): MediaKind =>
  KINDS.find((kind) => bareType(mediaType).startsWith(`${kind}/`)) ?? 'file'

/** Sound and films of types that the table does not have. Browsers run scripts in types that end in `+xml`. */
const PLAYABLE = /^(?:audio|video)\/[\w.-]+$/

/** Returns how a file of a registered type is shown. */
export const displayOf = (mediaType: string): Display =>
  rowOfType(mediaType)?.display ?? (PLAYABLE.test(bareType(mediaType)) ? 'player' : 'download')

/** Returns whether a thumbnail is made of a file that starts with these bytes. */
export const hasThumbnail = (head: Uint8Array): boolean => rowOf(head)?.thumbnail !== undefined

/** The libvips loaders that read files for thumbnails. */
export const thumbnailLoaders: ReadonlySet<string> = new Set(FILE_TYPES.flatMap(({ thumbnail }) => thumbnail ?? []))

/** Returns the type of a file and its format for the C2PA library, or undefined if the file can have no signed copy. */
export function signedTypeOf(head: Uint8Array): { type: string; format: string } | undefined {
  const row = rowOf(head)
  return row?.signed === undefined ? undefined : { type: row.type, format: row.signed }
}

/** Joins the names of the rows that have a value in the column. */
const namesWith = (column: 'thumbnail' | 'signed', conjunction: string) =>
  [...new Set(FILE_TYPES.filter((row) => row[column]).map(({ name }) => name))]
    .join(', ')
    .replace(/, ([^,]+)$/, ` ${conjunction} $1`)

/** The names of the types that can have a signed copy. */
export const signedTypeNames = namesWith('signed', 'and')

/** The names of the types that can have a thumbnail. */
export const thumbnailTypeNames = namesWith('thumbnail', 'or')

/** Registered types whose files may match a row with a thumbnail, and those whose files may match a row with a signed copy. For PostgreSQL. */
export const typePatterns = { thumbnail: patternOf('thumbnail'), signed: patternOf('signed') } as const

/** Files with an informative but unknown type are included. SVG is text. */
function patternOf(column: 'thumbnail' | 'signed'): string {
  const kinds = new Set(FILE_TYPES.filter((row) => row[column]).map(({ type }) => mediaKindOf(type)))
  return `^(?:(?:${[...kinds].join('|')})/(?!svg)|application/(?:octet-stream|mp4))`
}
