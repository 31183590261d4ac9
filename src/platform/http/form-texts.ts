/** Which texts of a multipart form are what was sent. Contract: input is never changed (decision 17). */
import { isAscii } from 'node:buffer'
import type { EventEmitter } from 'node:events'
import type { Busboy } from '@fastify/busboy'

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i
/** The parser knows these besides UTF-8; every byte is one or the half of a character in them. */
const OTHERS =
  /^(?:latin1|(?:us-)?ascii|iso[-_]?8859-1|iso88591|iso_8859-1:1987|windows-1252|(?:x-)?cp1252|utf-?16le|ucs-?2)$/
/** What a part is in that says nothing else. */
const UTF8 = /^(?:utf-?8)?$/

/** Raises when a piece of a text cannot be read. */
type Reader = (bytes?: Buffer) => void

function readUtf8(): Reader {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined })
}

const readAscii: Reader = (bytes) => {
  if (bytes && !isAscii(bytes)) throw new Error('Not ASCII.')
}

/** Undefined where whatever comes can be read. */
function readerOf(type = ''): Reader | undefined {
  const charset = (CHARSET.exec(type)?.[1] ?? '').toLowerCase()
  if (UTF8.test(charset)) return readUtf8()
  return OTHERS.test(charset) ? undefined : readAscii
}

/** A part as its bytes come. */
type Part = EventEmitter<{ header: [Record<string, string[] | undefined>]; data: [Buffer] }>
/** The parser of forms has one of parts below it, which it shows to nobody: `test/rest/bodies.test.ts` says when another version has none. */
interface OverParts {
  _parser: { parser: EventEmitter<{ part: [Part] }> }
}

/**
 * Tells of a text that has just come to its end whether it is what was sent. The parser puts U+FFFD for bytes that are no UTF-8, which callers
 * send themselves, too, and takes encodings that it does not know for Latin-1; so its bytes are looked at. Files are not.
 */
export function watchTexts(parser: InstanceType<typeof Busboy>, isFile: () => boolean): () => boolean {
  let isSound = true
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
      reader = isFile() ? undefined : readerOf(header['content-type']?.[0])
      if (reader) part.on('data', read)
    }),
  )
  return () => {
    read()
    return isSound
  }
}
