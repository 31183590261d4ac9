/** What reading any request's body needs. */
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../../domain/errors.ts'
import type { BoundedRequest } from './bounded-request.ts'

const inTooManyPieces = () =>
  new DomainError('PAYLOAD_TOO_LARGE', 'The body came in too many small pieces. Send it in larger ones.')

/**
 * Tells once when a body will never be whole, also when that has happened already: a caller who went away is told of by one
 * event, which nobody may have listened to, and so is one whose body was given up. Raises nothing. Returns what stops the listening.
 */
export function onBroken(req: IncomingMessage, tell: (error: DomainError) => void): () => void {
  // Made only when it is needed: an error with its stack costs more than reading the body.
  const broken = () => {
    if (!req.readableEnded) tell(new DomainError('PARSE_ERROR', 'The body ended too early.'))
  }
  const excessive = () => tell(inTooManyPieces())
  req.once('close', broken).once('excess', excessive)
  // A broken connection is an error, too; it is told by the end that follows. This stays, for it may come at any time.
  req.on('error', () => {})
  if (req.destroyed) queueMicrotask(broken)
  else if ((req as Partial<BoundedRequest>).isExcessive) queueMicrotask(excessive)
  return () => req.off('close', broken).off('excess', excessive)
}

/** Codings that make other bytes of a body; whatever else callers write there says nothing. */
const COMPRESSED = /\b(?:x-)?(?:gzip|compress|deflate|br|zstd)\b/i

/**
 * Refuses a body that says itself that it is compressed, or too large, before a byte is read. Raises UNSUPPORTED_MEDIA_TYPE and
 * PAYLOAD_TOO_LARGE.
 */
export function assertDeclared(req: IncomingMessage, maxBytes: number): void {
  const coding = req.headers['content-encoding'] ?? ''
  if (COMPRESSED.test(coding)) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body is compressed (Content-Encoding). Send it as it is.')
  }
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** The refusal PAYLOAD_TOO_LARGE of a body. */
export const tooLarge = (maxBytes: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${maxBytes} bytes.`)
