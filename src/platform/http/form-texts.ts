/** Which texts of a multipart form are what was sent. Contract: input is never changed (decision 17). */
import { isAscii } from 'node:buffer'
import type { EventEmitter } from 'node:events'
import type { Busboy } from '@fastify/busboy'

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i
/** What a part is in that says nothing else. */
const UTF8 = /^(?:utf-?8)?$/
const UTF16 = /^(?:utf-?16le|ucs-?2)$/
/** Every byte is a character in these. */
const LATIN1 = /^(?:latin1|iso[-_]?8859-1|iso88591|iso_8859-1:1987)$/
/** Latin-1 but for the bytes 0x80 to 0x9f, such as € and the quotation marks of print, which the parser does not know. */
const WINDOWS = /^(?:windows-1252|(?:x-)?cp1252)$/

const windows = new TextDecoder('windows-1252')
const toWindows = (text: string) =>
  text.replaceAll(/[\x80-\x9f]+/g, (bytes) => windows.decode(Buffer.from(bytes, 'latin1')))

/** Raises when a piece of a text cannot be read. */
type Reader = (bytes?: Buffer) => void

function readUnicode(encoding: 'utf-8' | 'utf-16le'): Reader {
  const decoder = new TextDecoder(encoding, { fatal: true })
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined })
}

const readAscii: Reader = (bytes) => {
  if (bytes && !isAscii(bytes)) throw new Error('Not ASCII.')
}

/** It is no charset, but the parser takes it for one, and writes the text in it. */
const readBase64: Reader = () => {
  throw new Error('Not a charset.')
}

/** Undefined where whatever comes can be read. */
function readerOf(charset: string): Reader | undefined {
  if (UTF8.test(charset)) return readUnicode('utf-8')
  if (UTF16.test(charset)) return readUnicode('utf-16le')
  if (charset === 'base64') return readBase64
  return LATIN1.test(charset) || WINDOWS.test(charset) ? undefined : readAscii
}

/** A part as its bytes come. */
type Part = EventEmitter<{ header: [Record<string, string[] | undefined>]; data: [Buffer] }>
/** The parser of forms has one of parts below it, which it shows to nobody: `test/rest/bodies.test.ts` says when another version has none. */
interface OverParts {
  _parser: { parser: EventEmitter<{ part: [Part] }> }
}

/** A text of a form. Of one that is not sound the value is not what was sent. */
export interface FormText {
  value: string
  isSound: boolean
}

/**
 * Tells of a text that has just come to its end what was sent, by what the parser made of it. The parser puts U+FFFD for bytes that are no UTF-8, which
 * callers send themselves, too, and takes encodings that it does not know, and windows-1252, for Latin-1; so its bytes are looked at. Files are not.
 */
export function watchTexts(parser: InstanceType<typeof Busboy>, isFile: () => boolean): (text: string) => FormText {
  let isSound = true
  let charset = ''
  let reader: Reader | undefined
  const read: Reader = (bytes) => {
    try {
      reader?.(bytes)
    } catch {
      isSound = false
      reader = undefined
    }
  }
  const { parser: parts } = (parser as unknown as OverParts)._parser
  parts.on('part', (part) =>
    part.on('header', (header) => {
      isSound = true
      charset = (CHARSET.exec(header['content-type']?.[0] ?? '')?.[1] ?? '').toLowerCase()
      reader = isFile() ? undefined : readerOf(charset)
      if (reader) part.on('data', read)
    }),
  )
  return (text) => {
    read()
    return { value: WINDOWS.test(charset) ? toWindows(text) : text, isSound }
  }
}
