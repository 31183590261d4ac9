import type { IncomingMessage, ServerResponse } from 'node:http'
import { corsHeaders } from './rest-handler.ts'
import { sendParts } from './send-parts.ts'

/** A file that is made while it is sent. */
interface Download {
  name: string
  mediaType: string
  content: AsyncIterable<string | Uint8Array>
}

/** Sends a file to be saved. It is not cached. Raises the error of its content: the connection must then be aborted. */
export function sendDownload(
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
  return sendParts(req, res, content)
}
