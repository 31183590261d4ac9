/** Reads request bodies into memory. Fastify limits neither all bodies together nor the pieces of one (test/api/http/small-chunks.test.ts). */
import { IncomingMessage } from 'node:http'
import { DomainError } from '../shared/errors.ts'

/** Pieces of a body that may have any size. */
const FREE_PIECES = 2_000
/** Average size of each further piece, in bytes. A million pieces of one byte took 340 MB and 4 s of the event loop. */
const LEAST_BYTES = 64

/** A request that stops reading its body, and emits `excess` once, when the body arrives in too many small pieces. */
export class BoundedRequest extends IncomingMessage {
  /** True after `excess`. */
  isExcessive = false
  #pieces = 0
  #bytes = 0

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece === null) return super.push(null)
    // The parser pauses a connection whose request takes no more.
    if (this.isExcessive) return false
    this.#pieces += 1
    this.#bytes += piece.length
    if (this.#pieces <= FREE_PIECES + this.#bytes / LEAST_BYTES) return super.push(piece, encoding)
    this.isExcessive = true
    this.emit('excess')
    return false
  }
}

/** Maximum size of all incomplete bodies of the process together, in bytes. */
const MAX_HELD_BYTES = 64_000_000
/** Added to the age of each body, in milliseconds, so that age alone does not decide among new bodies. */
const LEAST_AGE_MS = 200

interface Holder {
  bytes: number
  since: number
  refuse(error: DomainError): void
}

const holders = new Set<Holder>()
let heldBytes = 0

function release(holder: Holder) {
  if (holders.delete(holder)) heldBytes -= holder.bytes
}

/** Rejects the body that holds the most bytes for the longest time, so that slow senders do not lock others out. */
function refuseHeaviest() {
  const now = performance.now()
  const weightOf = ({ bytes, since }: Holder) => bytes * (now - since + LEAST_AGE_MS)
  const heaviest = [...holders].reduce((worst, holder) => (weightOf(holder) > weightOf(worst) ? holder : worst))
  release(heaviest)
  const message = 'Too many request bodies are incomplete. Try again shortly.'
  heaviest.refuse(new DomainError('UNAVAILABLE', message, { retryAfter: 5 }))
}

/** Counts the bytes of a body that is being read. `refuse` is called when the process holds too many. */
export function holdBody(refuse: (error: DomainError) => void) {
  const holder: Holder = { bytes: 0, since: performance.now(), refuse }
  holders.add(holder)
  return {
    /** Sets the number of bytes in memory. */
    hold(bytes: number) {
      if (!holders.has(holder)) return
      heldBytes += bytes - holder.bytes
      holder.bytes = bytes
      while (heldBytes > MAX_HELD_BYTES) refuseHeaviest()
    },
    release: () => release(holder),
  }
}

/** Calls `fail` once if a body will never be complete, also if that has already happened. Returns a function that stops listening. */
export function onBroken(req: IncomingMessage, fail: (error: DomainError) => void): () => void {
  const broken = () => {
    if (!req.readableEnded) fail(new DomainError('PARSE_ERROR', 'The body ended too early.'))
  }
  const excessive = () =>
    fail(new DomainError('PAYLOAD_TOO_LARGE', 'The body came in too many small pieces. Send it in larger ones.'))
  req.once('close', broken).once('excess', excessive)
  // `close` reports a broken connection. This listener stays, because the error may come at any time.
  req.on('error', () => {})
  if (req.destroyed) queueMicrotask(broken)
  else if ((req as Partial<BoundedRequest>).isExcessive) queueMicrotask(excessive)
  return () => req.off('close', broken).off('excess', excessive)
}

const COMPRESSED = /\b(?:x-)?(?:gzip|compress|deflate|br|zstd)\b/i

/** The error PAYLOAD_TOO_LARGE of a body. */
export const tooLarge = (maxBytes: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${maxBytes} bytes.`)

/** Checks the headers of a body. Throws UNSUPPORTED_MEDIA_TYPE if it is compressed, and PAYLOAD_TOO_LARGE. */
export function assertDeclared(req: IncomingMessage, maxBytes: number): void {
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
      body.hold(size)
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
