import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a plugin of the GraphQL door knows of a request before anybody has been asked who sent it. */
export interface NodeContext {
  req: IncomingMessage
  res: ServerResponse
}
