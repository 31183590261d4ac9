/** Reads multipart forms from the socket: fields into memory, files to whoever takes them, and no more than is allowed of either. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import { DomainError } from '../../domain/errors.ts'
import { bodyRoom } from './body-room.ts'
import { ByteGatherer } from './byte-gatherer.ts'
import { watchTexts } from './form-texts.ts'
import { fileNameOfPart, watchDispositions } from './part-file-name.ts'
import { assertDeclared, onBroken, tooLarge } from './request-body.ts'

/** Of a form, however it is encoded. */
export const MAX_FIELDS = 100
/** Parts that are files, whether or not somebody takes them. */
const MAX_FILE_PARTS = 10
/** All parts, also those that are neither: a part without a name takes a few bytes, and as much time as any other. */
const MAX_PARTS = MAX_FIELDS + MAX_FILE_PARTS
/** Pieces below so many bytes are put together with what comes at the same moment: the parser takes as long for a byte. */
const SMALL_BYTES = 4_096
/** Bytes that are put together at most. */
const GATHERED_BYTES = 65_536
/** Bytes of boundaries and headers of parts, and of what is read but not told apart yet. */
const FRAMING_BYTES = 131_072

/** A file of a form, on its way. */
export interface FormFile {
  /** As the caller sent it, without any path. */
  filename: string
  mimeType: string
  /** Must be read to its end, or the form comes to none. */
  bytes: Readable
}

/** How much of a form is taken, and by whom. */
export interface FormParts {
  /** Bytes of everything but the files. */
  maxBytes: number
  maxFileBytes: number
  /** How many are taken at most. */
  maxFiles: number
  /** Whether a part of this name is a field though it comes as a file: a `Blob` of text does. */
  isText?(name: string): boolean
  /** Of what could not be read the value is not what was sent. May raise a refusal. */
  onField(name: string, value: string, isSound: boolean): void
  /**
   * Takes a file, and is waited for. Undefined: nobody asked for it; it is dropped, and counts as a field does. May raise a refusal.
   */
  onFile(name: string, file: FormFile): Promise<void> | undefined
}

/** A form that is being read. */
export interface Form {
  /**
   * When all of it is read and taken. Rejects with PAYLOAD_TOO_LARGE, PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, UNAVAILABLE and
   * what the takers raise.
   */
  whole: Promise<void>
  /** Lets go of what is not read yet. */
  cancel(): void
}

type Parser = InstanceType<typeof Busboy>

const notAForm = (cause: unknown) =>
  new DomainError('PARSE_ERROR', `Multipart form parse error - ${(cause as Error).message}`, { cause })

const unread = () => new DomainError('PARSE_ERROR', 'The body was not read to its end.')

/** Raises PARSE_ERROR. The parser lets parts without a name through. */
function assertNamed(name: string | undefined): asserts name is string {
  if (name === undefined) throw notAForm(new Error('a part has no name'))
}

/** What a mailer makes of a part, by its Content-Transfer-Encoding; other words there leave the bytes as they are. */
const ENCODED_PART = /^(?:base64|quoted-printable)$/

/** Nobody decodes it: its code would be registered and paid for instead of the file. Raises UNSUPPORTED_MEDIA_TYPE. */
function assertAsItIs(name: string, encoding: string) {
  if (!ENCODED_PART.test(encoding)) return
  const problem = `\`${name}\` is encoded (Content-Transfer-Encoding: ${encoding}). Send it as it is.`
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', problem)
}

/** Who chose no file sends one without a name: that is no empty text. */
const isFile = (type: string | undefined, filename: string | undefined, isText: boolean) =>
  (filename !== undefined || type === 'application/octet-stream') && !(isText && filename)

/** `asSent` returns the newest text as it was sent, and `dispositionNow` the Content-Disposition header of the newest part. */
function createParser(req: IncomingMessage, { maxBytes, maxFileBytes, isText }: FormParts) {
  let comesAFile = false
  try {
    const parser: Parser = new Busboy({
      preservePath: true,
      isPartAFile(name, type, filename) {
        comesAFile = isFile(type, filename, isText?.(name ?? '') === true)
        return comesAFile
      },
      headers: { ...req.headers, 'content-type': req.headers['content-type'] ?? '' },
      limits: {
        fieldSize: maxBytes,
        fields: MAX_FIELDS,
        files: MAX_FILE_PARTS,
        parts: MAX_PARTS,
        fileSize: maxFileBytes,
        headerPairs: 50,
      },
    })
    return { parser, asSent: watchTexts(parser, () => comesAFile), dispositionNow: watchDispositions(parser) }
  } catch (error) {
    throw notAForm(error)
  }
}

/** A refusal ends the reading at once. Raises PAYLOAD_TOO_LARGE, PARSE_ERROR before anything is read. */
export function readForm(req: IncomingMessage, parts: FormParts): Form {
  const { maxBytes, maxFileBytes, maxFiles, onField, onFile } = parts
  assertDeclared(req, maxBytes + maxFiles * maxFileBytes + FRAMING_BYTES)
  const { parser, asSent, dispositionNow } = createParser(req, parts)
  const { promise: whole, resolve, reject } = Promise.withResolvers<void>()
  // Whoever cancels does not wait for it.
  whole.catch(() => {})
  const streams = new Set<BusboyFileStream>()
  const takers: Promise<void>[] = []
  let received = 0
  let fieldBytes = 0
  const gathered = new ByteGatherer()
  let handingOver: NodeJS.Immediate | undefined
  let isOver = false

  const letGo = (reason?: unknown) => {
    isOver = true
    forget()
    body.release()
    req.off('data', take).off('end', end)
    clearImmediate(handingOver)
    parser.destroy()
    // The parser does not take its files along: whoever reads one would wait for ever.
    for (const stream of streams) stream.destroy(reason instanceof Error ? reason : unread())
  }
  const fail = (error: unknown) => {
    if (isOver) return
    letGo(error)
    // What the takers opened is closed before anybody hears of it.
    void Promise.allSettled(takers).then(() => reject(error))
  }
  const guarded = (work: () => void) => {
    try {
      if (!isOver) work()
    } catch (error) {
      fail(error)
    }
  }
  const refuse = (message: string) => fail(new DomainError('PAYLOAD_TOO_LARGE', message))

  const fileBytes = () => [...streams].reduce((sum, stream) => sum + stream.bytesRead, 0)
  const assertBounded = () => {
    const others = received - fileBytes()
    if (others > maxBytes + FRAMING_BYTES) throw tooLarge(maxBytes)
    body.hold(others)
  }
  const parse = (bytes: Buffer) =>
    guarded(() => {
      received += bytes.length
      if (!parser.write(bytes)) {
        req.pause()
        parser.once('drain', () => req.resume())
      }
      assertBounded()
    })
  const handOver = () => {
    clearImmediate(handingOver)
    handingOver = undefined
    if (gathered.size > 0) parse(gathered.take())
  }
  const take = (chunk: Buffer) => {
    gathered.add(chunk)
    if (chunk.length >= SMALL_BYTES || gathered.size >= GATHERED_BYTES) handOver()
    else handingOver ??= setImmediate(handOver)
  }
  const end = () => {
    handOver()
    guarded(() => {
      if (received > 0) return void parser.end()
      // An empty body is an empty form, also one whose length nobody announced.
      letGo()
      resolve()
    })
  }
  const body = bodyRoom.open(fail)
  const forget = onBroken(req, fail)

  parser.on('field', (name: string | undefined, text: string, _nameCut: boolean, cut: boolean, encoding) =>
    guarded(() => {
      const { value, isSound } = asSent(text)
      assertNamed(name)
      assertAsItIs(name, encoding)
      fieldBytes += Buffer.byteLength(name) + Buffer.byteLength(value)
      if (cut || fieldBytes > maxBytes) throw tooLarge(maxBytes)
      onField(name, value, isSound)
    }),
  )
  parser.on('file', (name: string | undefined, bytes: BusboyFileStream, filename, encoding, mimeType: string) =>
    guarded(() => {
      // Told by the parser, or by whoever takes the file.
      bytes.on('error', () => {})
      assertNamed(name)
      assertAsItIs(name, encoding)
      const taking = onFile(name, { filename: fileNameOfPart(dispositionNow(), filename), mimeType, bytes })
      if (!taking) return void bytes.resume()
      streams.add(bytes)
      bytes.on('limit', () => refuse(`A file is over the limit of ${maxFileBytes} bytes.`))
      takers.push(taking)
      taking.catch(fail)
    }),
  )
  parser.on('partsLimit', () => refuse(`The body has more than ${MAX_PARTS} parts.`))
  parser.on('filesLimit', () => refuse(`The body has more than ${MAX_FILE_PARTS} files.`))
  parser.on('fieldsLimit', () => refuse(`The body has more than ${MAX_FIELDS} fields.`))
  // Stays: taking the parser apart may emit one more.
  parser.on('error', (error: Error) => fail(notAForm(error)))
  parser.once('finish', () => {
    if (isOver) return
    Promise.all(takers).then(() => {
      isOver = true
      forget()
      body.release()
      resolve()
    }, fail)
  })
  req.on('data', take).once('end', end)
  return { whole, cancel: () => fail(new DomainError('PARSE_ERROR', 'Nobody waited for the body.')) }
}
