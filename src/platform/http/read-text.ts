import type { IncomingMessage } from 'node:http'
import { DomainError } from '../../domain/errors.ts'
import { bodyRoom } from './body-room.ts'
import { ByteGatherer } from './byte-gatherer.ts'
import { assertDeclared, onBroken, tooLarge } from './request-body.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = new ByteGatherer()
    const settle = (finish: () => void) => {
      forget()
      body.release()
      req.off('data', take).off('end', end)
      finish()
    }
    const take = (chunk: Buffer) => {
      if (bytes.size + chunk.length > maxBytes) return settle(() => reject(tooLarge(maxBytes)))
      bytes.add(chunk)
      body.hold(bytes.size)
    }
    const end = () => settle(() => resolve(bytes.take()))
    const fail = (error: DomainError) => settle(() => reject(error))
    const body = bodyRoom.open(fail)
    const forget = onBroken(req, fail)
    req.on('data', take).once('end', end)
  })
}

/** A request's body as text. Raises PAYLOAD_TOO_LARGE (also when it comes in too many small pieces), UNAVAILABLE, and PARSE_ERROR when it is broken off or not UTF-8. */
export async function readText(req: IncomingMessage, maxBytes: number): Promise<string> {
  assertDeclared(req, maxBytes)
  const bytes = await readBytes(req, maxBytes)
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new DomainError('PARSE_ERROR', 'The body is not valid UTF-8.', { cause: error })
  }
}
