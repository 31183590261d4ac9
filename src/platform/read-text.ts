import type { IncomingMessage } from 'node:http'
import { DomainError } from '../domain/errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A request's body as text. Raises PAYLOAD_TOO_LARGE, and PARSE_ERROR when it is not UTF-8. */
export async function readText(req: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLarge = () => new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${maxBytes} bytes.`)
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) reject(tooLarge())
      else chunks.push(chunk)
    })
    req.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    req.once('error', reject)
    req.once('close', () => {
      // Made only when it is needed: an error with its stack costs more than reading the body.
      if (!req.complete) reject(new DomainError('PARSE_ERROR', 'The body ended too early.'))
    })
  })
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new DomainError('PARSE_ERROR', 'The body is not valid UTF-8.', { cause: error })
  }
}
