/** What reading any request's body needs. */
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../../domain/errors.ts'

/**
 * Tells once when a body will never be whole, also when that has happened already: a caller who went away is told of by one
 * event, which nobody may have listened to. Raises nothing. Returns what stops the listening.
 */
export function onBroken(req: IncomingMessage, tell: (error: DomainError) => void): () => void {
  // Made only when it is needed: an error with its stack costs more than reading the body.
  const broken = () => {
    if (!req.readableEnded) tell(new DomainError('PARSE_ERROR', 'The body ended too early.'))
  }
  req.once('close', broken)
  // A broken connection is an error, too; it is told by the end that follows. This stays, for it may come at any time.
  req.on('error', () => {})
  if (req.destroyed) queueMicrotask(broken)
  return () => req.off('close', broken)
}

/** Refuses a body that says itself that it is too large, before a byte is read. Raises PAYLOAD_TOO_LARGE. */
export function assertDeclared(req: IncomingMessage, maxBytes: number): void {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** The refusal PAYLOAD_TOO_LARGE of a body. */
export const tooLarge = (maxBytes: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${maxBytes} bytes.`)
