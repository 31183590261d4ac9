/**
 * Reads the file name in the `Content-Disposition` header of a form part. The parser ignores `filename*` after `filename`
 * (test/api/http/file-names.test.ts).
 */

/** A private field of the form parser: its parser of parts. */
interface FormParser {
  _parser: {
    parser: {
      prependListener(
        event: 'part',
        listener: (part: {
          on(event: 'header', listener: (header: Record<string, string[] | undefined>) => void): void
        }) => void,
      ): void
    }
  }
}

/** Returns a function that returns the `Content-Disposition` header of the newest part. */
export function watchDispositions(parser: unknown): () => string {
  let disposition = ''
  // Before the parser's own listener, which reports the file.
  ;(parser as FormParser)._parser.parser.prependListener('part', (part) =>
    part.on('header', (header) => {
      disposition = header['content-disposition']?.[0] ?? ''
    }),
  )
  return () => disposition
}

const PARAMETER = /;[ \t]*([^=;\s"]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^;]*)/g

/** Returns the parameters of a header by their names in lower case, without quotation marks. */
function parametersOf(disposition: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, name, value] of disposition.matchAll(PARAMETER)) {
    const text = value!.trim().replace(/^"(.*)"$/s, (_, quoted: string) => quoted.replaceAll(/\\(["\\])/g, '$1'))
    found.set(name!.toLowerCase(), text)
  }
  return found
}

/** Returns the value of an extended parameter (RFC 8187), or undefined if it cannot be decoded. */
function decodeExtended(value: string): string | undefined {
  const [, charset, encoded] = /^([\w.:-]+)'[^']*'(.*)$/s.exec(value) ?? []
  if (charset === undefined || encoded === undefined || /%(?![\da-f]{2})/i.test(encoded)) return undefined
  const bytes = encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  try {
    return new TextDecoder(charset, { fatal: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return undefined
  }
}

/** .NET writes a name that is not ASCII like this, in addition to `filename*`. */
const ENCODED_WORD = /^=\?utf-8\?b\?([a-z\d+/]+={0,2})\?=$/i

/** Decodes a `filename`. Browsers encode these three characters and no others. */
const decodePlain = (name: string) => {
  const encoded = ENCODED_WORD.exec(name)?.[1]
  return encoded ? Buffer.from(encoded, 'base64').toString() : name.replaceAll(/%(?:22|0D|0A)/g, decodeURIComponent)
}

/** Returns a name without its folders. */
function withoutFolders(path: string): string {
  const name = path.split(/[\\/]/).at(-1)!
  return name === '.' || name === '..' ? '' : name
}

/**
 * Returns the file name of a part without folders, or an empty text if it has none. `filename*` has precedence over `filename` (RFC 6266, section
 * 4.3), unless it cannot be decoded. `parsed`: the parser's value of the last one of both.
 */
export function fileNameOfPart(disposition: string, parsed = ''): string {
  const parameters = parametersOf(disposition)
  const extended = parameters.get('filename*')
  if (extended === undefined) return withoutFolders(decodePlain(parsed))
  const name = withoutFolders(decodeExtended(extended) ?? '')
  if (name !== '') return name
  const plain = parameters.get('filename')
  return withoutFolders(decodePlain(plain === undefined ? parsed : Buffer.from(plain, 'latin1').toString()))
}
