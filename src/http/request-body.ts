/** Reads request bodies into memory. Fastify limits neither all bodies together nor the pieces of one (test/api/http/small-chunks.test.ts). */

import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import type { BodyReaders } from '../modules/assets/uploads.ts'
import { removeItem } from '../shared/async.ts'
import { DomainError } from '../shared/errors.ts'

/** Pieces of a body that may have any size. */
const FREE_PIECES = 2_000
/** Average size of each further piece, in bytes. A million pieces of one byte took 340 MB and 4 s of the event loop. */
const LEAST_BYTES = 64

/** Maximum size of all incomplete bodies of the process together, in bytes. */
const MAX_HELD_BYTES = 64_000_000
/** Added to the age of each body, in milliseconds, so that age alone does not decide among new bodies. */
const LEAST_AGE_MS = 200

interface Holder {
  bytes: number
  since: number
  isReleased: boolean
  refuse(error: DomainError): void
}

const TOO_MANY_PIECES = 'The body came in too many small pieces. Send it in larger ones.'
/** An array: a `Set` that lives long would keep holders until a full garbage collection (test/processes/short-lived.processes.ts). */
const holders: Holder[] = []
let heldBytes = 0

function release(holder: Holder) {
  if (holder.isReleased) return
  holder.isReleased = true
  removeItem(holders, holder)
  heldBytes -= holder.bytes
}

/** Rejects the body that holds the most bytes for the longest time, so that slow senders do not lock others out. */
function refuseHeaviest() {
  const now = performance.now()
  const weightOf = ({ bytes, since }: Holder) => bytes * (now - since + LEAST_AGE_MS)
  const heaviest = holders.reduce((worst, holder) => (weightOf(holder) > weightOf(worst) ? holder : worst))
  release(heaviest)
  const message = 'Too many request bodies are incomplete. Try again shortly.'
  heaviest.refuse(new DomainError('UNAVAILABLE', message, { retryAfter: 5 }))
}

/** Counts the bytes of a body that is being read. `refuse` is called when the process holds too many. */
function holdBody(refuse: (error: DomainError) => void) {
  const holder: Holder = { bytes: 0, since: performance.now(), isReleased: false, refuse }
  holders.push(holder)
  let pieces = 0
  return {
    /** Sets the number of bytes in memory, for each piece. `received`: bytes of all pieces. */
    hold(bytes: number, received: number) {
      if (holder.isReleased) return
      pieces += 1
      if (pieces > FREE_PIECES + received / LEAST_BYTES) {
        release(holder)
        return refuse(new DomainError('PAYLOAD_TOO_LARGE', TOO_MANY_PIECES))
      }
      heldBytes += bytes - holder.bytes
      holder.bytes = bytes
      while (heldBytes > MAX_HELD_BYTES) refuseHeaviest()
    },
    release: () => release(holder),
  }
}

/** Calls `fail` once if a body will never be complete, also if that has already happened. Returns a function that stops listening. */
function onBroken(req: IncomingMessage, fail: (error: DomainError) => void): () => void {
  const broken = () => {
    if (!req.readableEnded) fail(new DomainError('PARSE_ERROR', 'The body ended too early.'))
  }
  req.once('close', broken)
  // `close` reports a broken connection. This listener stays, because the error may come at any time.
  req.on('error', () => {})
  if (req.destroyed) queueMicrotask(broken)
  return () => req.off('close', broken)
}

const COMPRESSED = /\b(?:x-)?(?:gzip|compress|deflate|br|zstd)\b/i

export const tooLarge = (maxBytes: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${maxBytes} bytes.`)

/** Checks the headers of a body. Throws UNSUPPORTED_MEDIA_TYPE if it is compressed, and PAYLOAD_TOO_LARGE. */
function assertDeclared(req: IncomingMessage, maxBytes: number): void {
  if (COMPRESSED.test(req.headers['content-encoding'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body is compressed (Content-Encoding). Send it as it is.')
  }
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    const settle = (finish: () => void) => {
      forget()
      body.release()
      req.off('data', take).off('end', end)
      finish()
    }
    const fail = (error: DomainError) => settle(() => reject(error))
    const take = (piece: Buffer) => {
      size += piece.length
      if (size > maxBytes) return fail(tooLarge(maxBytes))
      pieces.push(piece)
      body.hold(size, size)
    }
    const end = () => settle(() => resolve(Buffer.concat(pieces)))
    const body = holdBody(fail)
    const forget = onBroken(req, fail)
    req.on('data', take).once('end', end)
  })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads a body as text. Throws PAYLOAD_TOO_LARGE, UNAVAILABLE, and PARSE_ERROR if the body is incomplete or not UTF-8. */
export async function readText(req: IncomingMessage, maxBytes: number): Promise<string> {
  assertDeclared(req, maxBytes)
  const bytes = await readBytes(req, maxBytes)
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new DomainError('PARSE_ERROR', 'The body is not valid UTF-8.', { cause: error })
  }
}

/** Returns the media type of a `Content-Type` header in lower case and without parameters. Returns an empty text without a header. */
export const mediaTypeOf = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Maximum number of fields of a form in any encoding. */
export const MAX_FIELDS = 100
/** Maximum number of parts that are files, including dropped ones. */
const MAX_FILE_PARTS = 10
/** Maximum number of parts, including those without a name. */
const MAX_PARTS = MAX_FIELDS + MAX_FILE_PARTS
/** Bytes of boundaries and part headers, and of bytes that are not parsed yet. */
const FRAMING_BYTES = 131_072

type ReadForm = BodyReaders<IncomingMessage>['readForm']

const notAForm = (cause: unknown) =>
  new DomainError('PARSE_ERROR', `Multipart form parse error - ${(cause as Error).message}`, { cause })

const ENCODED_PART = /^(?:base64|quoted-printable)$/

interface Part {
  name: string | undefined
  stream: BusboyFileStream
  filename: string | undefined
  disposition: string
  encoding: string
  mimetype: string
}

/** A browser sends a file part without a name for an input where no file was chosen. */
const isFile = (type: string, filename: string | undefined, isText: boolean) =>
  (filename !== undefined || type === 'application/octet-stream') && !(isText && filename)

/** Creates a parser that gives every part as a stream of bytes: of a text, it would replace bytes that are not UTF-8. */
function createParser({ headers }: IncomingMessage, fileSize: number) {
  try {
    return new Busboy({
      preservePath: true,
      isPartAFile: () => true,
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: { parts: MAX_PARTS, fileSize, headerPairs: 50 },
    })
  } catch (error) {
    throw notAForm(error)
  }
}

/**
 * Reads a multipart form: fields into memory, files to their handlers. Throws PAYLOAD_TOO_LARGE and PARSE_ERROR before anything is read.
 * `graphql-upload-ts` and `@fastify/multipart` lack what these tests check: test/api/graphql/multipart.test.ts (no byte of a file before
 * permission), test/api/http/small-chunks.test.ts (bounded memory).
 */
export const readForm: ReadForm = (req, parts) => {
  const { maxBytes, maxFileBytes, maxFiles, isText, onField, onFile } = parts
  assertDeclared(req, maxBytes + maxFiles * maxFileBytes + FRAMING_BYTES)
  const parser = createParser(req, maxFileBytes)
  const dispositionNow = watchDispositions(parser)
  const { promise: whole, resolve, reject } = Promise.withResolvers<void>()
  // A caller that cancels does not wait for it.
  whole.catch(() => {})
  const streams = new Set<BusboyFileStream>()
  const taken = new Set<BusboyFileStream>()
  const counts = { fields: 0, files: 0 }
  let turn = Promise.resolve()
  let received = 0
  let fieldBytes = 0
  let isOver = false

  function stop() {
    isOver = true
    forget()
    body.release()
    req.off('data', parse).off('end', end)
  }

  function fail(error: unknown) {
    if (isOver) return
    stop()
    parser.destroy()
    // The parser does not destroy its streams, and their readers would wait forever.
    for (const stream of streams) stream.destroy(error instanceof Error ? error : undefined)
    // Handlers close their files first.
    void turn.then(() => reject(error))
  }

  const refuse = (message: string) => fail(new DomainError('PAYLOAD_TOO_LARGE', message))

  function count(kind: 'fields' | 'files', max: number) {
    counts[kind] += 1
    if (counts[kind] > max) throw new DomainError('PAYLOAD_TOO_LARGE', `The body has more than ${max} ${kind}.`)
  }

  async function readField(name: string, stream: BusboyFileStream) {
    const chunks: Buffer[] = []
    fieldBytes += Buffer.byteLength(name)
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      fieldBytes += chunk.length
      if (fieldBytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
    if (!isOver) onField(name, decode(Buffer.concat(chunks)))
  }

  async function takePart({ name, stream, filename, disposition, encoding, mimetype }: Part) {
    if (isOver) return
    // The parser lets parts without a name through.
    if (name === undefined) throw notAForm(new Error('a part has no name'))
    // Otherwise its code would be registered and paid for instead of the file.
    if (ENCODED_PART.test(encoding)) {
      const problem = `\`${name}\` is encoded (Content-Transfer-Encoding: ${encoding}). Send it as it is.`
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', problem)
    }
    if (!isFile(mimetype, filename, isText?.(name) === true)) {
      count('fields', MAX_FIELDS)
      return readField(name, stream)
    }
    count('files', MAX_FILE_PARTS)
    const taking = onFile(name, { filename: fileNameOfPart(disposition, filename), mimetype, bytes: stream })
    if (!taking) return void stream.resume()
    taken.add(stream)
    await taking
  }

  function parse(bytes: Buffer) {
    received += bytes.length
    if (!parser.write(bytes)) {
      req.pause()
      parser.once('drain', () => req.resume())
    }
    let others = received
    for (const { bytesRead } of taken) others -= bytesRead
    if (others > maxBytes + FRAMING_BYTES) fail(tooLarge(maxBytes))
    else if (!isOver) body.hold(others, received)
  }

  function finish() {
    if (isOver) return
    stop()
    resolve()
  }

  // An empty body is an empty form.
  const end = () => (received > 0 ? parser.end() : finish())

  const body = holdBody(fail)
  const forget = onBroken(req, fail)
  parser.on('file', (name: string | undefined, stream: BusboyFileStream, filename, encoding, mimetype) => {
    const disposition = dispositionNow()
    streams.add(stream)
    // Reported by the parser, or by the handler of the part.
    stream.on('error', () => {})
    stream.on('limit', () => refuse(`A file is over the limit of ${maxFileBytes} bytes.`))
    turn = turn.then(() => takePart({ name, stream, filename, disposition, encoding, mimetype })).catch(fail)
  })
  parser.on('partsLimit', () => refuse(`The body has more than ${MAX_PARTS} parts.`))
  // Stays: destroying the parser may emit one more error.
  parser.on('error', (error: Error) => fail(notAForm(error)))
  parser.once('finish', () => void turn.then(finish))
  req.on('data', parse).once('end', end)
  return { whole, cancel: () => fail(new DomainError('PARSE_ERROR', 'The body is not needed.')) }
}

const fieldDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Buffer): string | undefined {
  try {
    return fieldDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * A private field of Busboy: its parser of parts. Busboy 3.2.6 ignores `filename*` after `filename` (test/api/http/file-names.test.ts). The public `Dicer`
 * has no limits of files and parts.
 */
interface FormParser {
  _parser: { parser: EventEmitter }
}

/** Returns a function that returns the `Content-Disposition` header of the newest part. */
function watchDispositions(parser: unknown): () => string {
  let disposition = ''
  // Before the parser's own listener, which reports the file.
  ;(parser as FormParser)._parser.parser.prependListener('part', (part: EventEmitter) =>
    part.on('header', (header: Record<string, string[] | undefined>) => {
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

function withoutFolders(path: string): string {
  const name = path.split(/[\\/]/).at(-1)!
  return name === '.' || name === '..' ? '' : name
}

/**
 * Returns the file name of a part without folders, or an empty text if it has none. `filename*` has precedence over `filename` (RFC 6266, section
 * 4.3), unless it cannot be decoded. `parsed`: the parser's value of the last one of both.
 */
function fileNameOfPart(disposition: string, parsed = ''): string {
  const parameters = parametersOf(disposition)
  const extended = parameters.get('filename*')
  if (extended === undefined) return withoutFolders(decodePlain(parsed))
  const name = withoutFolders(decodeExtended(extended) ?? '')
  if (name !== '') return name
  const plain = parameters.get('filename')
  return withoutFolders(decodePlain(plain === undefined ? parsed : Buffer.from(plain, 'latin1').toString()))
}
