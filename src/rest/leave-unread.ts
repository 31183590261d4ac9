import type { IncomingMessage, ServerResponse } from 'node:http'

/** For a refused request: what the caller still sends is read to nowhere, and the connection is not used again. */
export function leaveUnread(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete) return
  res.setHeader('Connection', 'close')
  req.resume()
}
