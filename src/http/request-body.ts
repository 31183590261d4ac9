/** Reads request bodies with limits that Fastify lacks: total size and chunks (test/api/http/small-chunks.test.ts). */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { MIMEType } from 'node:util'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import type { Intake } from '../modules/assets/uploads.ts'
import { removeItem } from '../shared/async.ts'
import { DomainError } from '../shared/errors.ts'

/** Number of chunks per body without a minimum size. */
const FREE_CHUNKS = 2_000
/** Minimum average size of further chunks. A million chunks of 1 byte used 340 MB and blocked for 4 s. */
const MIN_CHUNK_BYTES = 64
const MAX_OPEN_BYTES = 64_000_000
/** Milliseconds added to the age of each body, so that the ages of new bodies barely differ. */
const MIN_AGE_MS = 200

interface OpenBody {
  bytes: number
  since: number
  isReleased: boolean
  refuse(error: DomainError): void
}

/** Open bodies. A long-lived `Set` would keep removed items until a full GC (short-lived.processes.ts). */
const openBodies: OpenBody[] = []
let openBytes = 0

function release(body: OpenBody) {
  if (body.isReleased) return
  body.isReleased = true
  removeItem(openBodies, body)
  openBytes -= body.bytes
}

/** Rejects the body with the highest product of size and age, so that slow senders do not block others. */
function refuseHeaviest() {
  const now = performance.now()
  const weightOf = ({ bytes, since }: OpenBody) => bytes * (now - since + MIN_AGE_MS)
  const heaviest = openBodies.reduce((worst, body) => (weightOf(body) > weightOf(worst) ? body : worst))
  release(heaviest)
  const message = 'Too many request bodies are incomplete. Try again shortly.'
  heaviest.refuse(new DomainError('UNAVAILABLE', message, { retryAfter: 5 }))
}

/** Calls `refuse` if the process holds too many bytes or the chunks are too small. */
function trackBody(refuse: (error: DomainError) => void) {
  const body: OpenBody = { bytes: 0, since: performance.now(), isReleased: false, refuse }
  openBodies.push(body)
  let chunks = 0
  return {
    /** `bytes`: held in memory. `received`: bytes of all chunks. */
    update(bytes: number, received: number) {
      if (body.isReleased) return
      chunks += 1
      if (chunks > FREE_CHUNKS + received / MIN_CHUNK_BYTES) {
        release(body)
        const message = 'The body arrived in too many small chunks. Send it in larger chunks.'
        return refuse(new DomainError('PAYLOAD_TOO_LARGE', message))
      }
      openBytes += bytes - body.bytes
      body.bytes = bytes
      while (openBytes > MAX_OPEN_BYTES) refuseHeaviest()
    },
    release: () => release(body),
  }
}

/** Returns a function that stops listening. */
function onIncomplete(req: IncomingMessage, fail: (error: DomainError) => void): () => void {
  const onClose = () => {
    if (!req.readableEnded) fail(new DomainError('PARSE_ERROR', 'The connection closed before the body was complete.'))
  }
  req.once('close', onClose)
  // The `close` event reports a broken connection. Without a listener, an `error` event would end the process.
  req.on('error', () => {})
  if (req.destroyed) queueMicrotask(onClose)
  return () => req.off('close', onClose)
}

const COMPRESSED = /\b(?:x-)?(?:gzip|compress|deflate|br|zstd)\b/i

export const tooLarge = (maxBytes: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than the limit of ${maxBytes} bytes.`)

function assertDeclared(req: IncomingMessage, maxBytes: number): void {
  if (COMPRESSED.test(req.headers['content-encoding'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body is compressed (Content-Encoding). Send it uncompressed.')
  }
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (finish: () => void) => {
      stopListening()
      body.release()
      req.off('data', onData).off('end', onEnd)
      finish()
    }
    const fail = (error: DomainError) => settle(() => reject(error))
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) return fail(tooLarge(maxBytes))
      chunks.push(chunk)
      body.update(size, size)
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)))
    const body = trackBody(fail)
    const stopListening = onIncomplete(req, fail)
    req.on('data', onData).once('end', onEnd)
  })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws PAYLOAD_TOO_LARGE, UNAVAILABLE, and PARSE_ERROR for an incomplete or non-UTF-8 body. */
export async function readText(req: IncomingMessage, maxBytes: number): Promise<string> {
  assertDeclared(req, maxBytes)
  const bytes = await readBytes(req, maxBytes)
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new DomainError('PARSE_ERROR', 'The body is not valid UTF-8.', { cause: error })
  }
}

/** Returns the media type in lower case without parameters, or '' without a header. */
export const mediaTypeOf = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase()

/** Maximum size of a request body without its files, in bytes. */
export const MAX_BODY_BYTES = 1_000_000
/** Maximum number of fields in a multipart or URL-encoded form. */
export const MAX_FIELDS = 100
const MAX_FILE_PARTS = 10
const MAX_PARTS = MAX_FIELDS + MAX_FILE_PARTS
/** Maximum total size of a form's boundaries, part headers and unparsed bytes, in bytes. */
const FRAMING_BYTES = 131_072

const notAForm = (cause: unknown) =>
  new DomainError('PARSE_ERROR', `Multipart form parse error - ${(cause as Error).message}`, { cause })

export interface BodyLimits {
  /** Maximum size of the body without files, in bytes. */
  maxBytes: number
  maxFileBytes: number
}

interface FormOptions extends BodyLimits {
  maxFiles: number
  /** Returns true to treat a part as a text field although it has a file name. */
  isText?(name: string): boolean
  /** `value` is undefined if its bytes are not UTF-8. */
  onField(name: string, value: string | undefined): void
  /** Returns undefined to skip the file. */
  onFile(name: string, file: Parameters<Intake['hold']>[0]): Promise<void> | undefined
}

/** If the user selects no file, a browser sends a file with an empty name. */
const isFile = (type: string, filename: string | undefined, isText: boolean) =>
  (filename !== undefined || type === 'application/octet-stream') && !(isText && filename)

/** Treats every part as a file: in fields, Busboy would silently replace invalid UTF-8. */
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

/** Other parsers read files before authorization (multipart.test.ts), or have no memory limit (small-chunks.test.ts). */
export function readForm(req: IncomingMessage, options: FormOptions): { whole: Promise<void>; cancel(): void } {
  const { maxBytes, maxFileBytes, maxFiles, isText, onField, onFile } = options
  assertDeclared(req, maxBytes + maxFiles * maxFileBytes + FRAMING_BYTES)
  const parser = createParser(req, maxFileBytes)
  const dispositionNow = watchDispositions(parser)
  const { promise: whole, resolve, reject } = Promise.withResolvers<void>()
  // A caller that cancels does not await `whole`, so its rejection must not count as unhandled.
  whole.catch(() => {})
  const streams = new Set<BusboyFileStream>()
  const handledFiles = new Set<BusboyFileStream>()
  const counts = { fields: 0, files: 0 }
  let handling = Promise.resolve()
  let received = 0
  let fieldBytes = 0
  let hasEnded = false

  function stop() {
    hasEnded = true
    stopListening()
    body.release()
    req.off('data', parse).off('end', end)
  }

  function fail(error: unknown) {
    if (hasEnded) return
    stop()
    parser.destroy()
    // The form parser does not destroy its file streams, so their readers would wait indefinitely.
    for (const stream of streams) stream.destroy(error instanceof Error ? error : undefined)
    // The promise of the form is rejected only after the handlers have closed their files.
    void handling.then(() => reject(error))
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
    if (!hasEnded) onField(name, decode(Buffer.concat(chunks)))
  }

  function parse(bytes: Buffer) {
    received += bytes.length
    if (!parser.write(bytes)) {
      req.pause()
      parser.once('drain', () => req.resume())
    }
    let bytesInMemory = received
    for (const { bytesRead } of handledFiles) bytesInMemory -= bytesRead
    if (bytesInMemory > maxBytes + FRAMING_BYTES) fail(tooLarge(maxBytes))
    else if (!hasEnded) body.update(bytesInMemory, received)
  }

  function finish() {
    if (hasEnded) return
    stop()
    resolve()
  }

  // An empty request body counts as an empty form.
  const end = () => (received > 0 ? parser.end() : finish())

  const body = trackBody(fail)
  const stopListening = onIncomplete(req, fail)
  parser.on('file', (name: string | undefined, stream: BusboyFileStream, filename, encoding, mimetype) => {
    const disposition = dispositionNow()
    streams.add(stream)
    // The form parser or the handler of the part reports stream errors.
    stream.on('error', () => {})
    stream.on('limit', () => refuse(`The file is larger than the limit of ${maxFileBytes} bytes.`))
    const handlePart = async () => {
      if (hasEnded) return
      if (name === undefined) throw notAForm(new Error('A part of the form has no name.'))
      // Without this check, the service would register the encoded text instead of the file.
      if (/^(?:base64|quoted-printable)$/.test(encoding)) {
        const problem = `The part \`${name}\` is encoded (Content-Transfer-Encoding: ${encoding}). Send it without an encoding.`
        throw new DomainError('UNSUPPORTED_MEDIA_TYPE', problem)
      }
      if (!isFile(mimetype, filename, isText?.(name) === true)) {
        count('fields', MAX_FIELDS)
        return readField(name, stream)
      }
      count('files', MAX_FILE_PARTS)
      const handled = onFile(name, { filename: fileNameOfPart(disposition, filename), mimetype, bytes: stream })
      if (!handled) return void stream.resume()
      handledFiles.add(stream)
      await handled
    }
    handling = handling.then(handlePart).catch(fail)
  })
  parser.on('partsLimit', () => refuse(`The body has more than ${MAX_PARTS} parts.`))
  // The `error` listener is never removed, because destroying the parser may emit another error.
  parser.on('error', (error: Error) => fail(notAForm(error)))
  parser.once('finish', () => void handling.then(finish))
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

declare module '@fastify/busboy' {
  interface BusboyInstance {
    /** Private parser. Busboy 3.2.6 ignores `filename*` after `filename` (file-names.test.ts), and `Dicer` lacks limits. */
    _parser: { parser: EventEmitter }
  }
}

function watchDispositions(busboy: BusboyInstance): () => string {
  let disposition = ''
  // This listener must run before Busboy's own listener, which reports the file.
  busboy._parser.parser.prependListener('part', (part: EventEmitter) =>
    part.on('header', (header: Record<string, string[] | undefined>) => {
      disposition = header['content-disposition']?.[0] ?? ''
    }),
  )
  return () => disposition
}

/** Parameters of a Content-Disposition header have the syntax of media type parameters. */
const parametersOf = (disposition: string) => new MIMEType(disposition.replace(/^[^;]*/, 'form/data')).params

/** Decodes an extended header parameter (RFC 8187), or returns undefined if it is invalid. */
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

const ENCODED_WORD = /^=\?utf-8\?b\?([a-z\d+/]+={0,2})\?=$/i

/** Browsers percent-encode only quotation marks and line breaks. .NET sends an encoded word (RFC 2047). */
const decodePlain = (name: string) => {
  const encoded = ENCODED_WORD.exec(name)?.[1]
  return encoded ? Buffer.from(encoded, 'base64').toString() : name.replaceAll(/%(?:22|0D|0A)/g, decodeURIComponent)
}

function withoutFolders(path: string): string {
  const name = path.split(/[\\/]/).at(-1)!
  return name === '.' || name === '..' ? '' : name
}

/** `filename*` has precedence over `filename` (RFC 6266, section 4.3) unless invalid. `parsed`: file name found by Busboy. */
function fileNameOfPart(disposition: string, parsed = ''): string {
  const parameters = parametersOf(disposition)
  const extended = parameters.get('filename*')
  if (extended === null) return withoutFolders(decodePlain(parsed))
  const name = withoutFolders(decodeExtended(extended) ?? '')
  if (name !== '') return name
  const plain = parameters.get('filename')
  return withoutFolders(decodePlain(plain === null ? parsed : Buffer.from(plain, 'latin1').toString()))
}
