import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { corsHeaders } from './rest-handler.ts'

/** A file that is made while it is sent. */
interface Download {
  name: string
  mediaType: string
  content: AsyncIterable<string | Uint8Array>
}

/**
 * Sends it to be saved; nothing of its content in answer to HEAD. It is of this moment, and kept nowhere. Raises what its content raises:
 * then the connection is to be cut, for a part is not the whole.
 */
export async function sendDownload(
  req: IncomingMessage,
  res: ServerResponse,
  { name, mediaType, content }: Download,
): Promise<void> {
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': mediaType,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
  })
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  await pipeline(Readable.from(content, { highWaterMark: 1 }), res).catch((error: unknown) => {
    // A caller who leaves is no fault.
    if (!req.destroyed && !res.closed) throw error
  })
}
