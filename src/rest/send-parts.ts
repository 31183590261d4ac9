import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Sends the parts of a body as they are read, each when the caller has taken the one before. Sends none in response to HEAD. Raises the
 * error of a part: the connection must then be aborted, because an incomplete body must not look complete. A caller who leaves is no error.
 */
export async function sendParts(
  req: IncomingMessage,
  res: ServerResponse,
  parts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  await pipeline(Readable.from(parts, { highWaterMark: 1 }), res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}
