import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from '../context.ts'
import type { BodyReaders } from '../modules/assets/uploads.ts'

/** Request data that plugins can use before the caller is authenticated. */
export interface NodeContext {
  req: IncomingMessage
  res: ServerResponse
  /** Returns the log of the request. */
  requestLog: Context['requestLog']
  /** Authenticates the caller and creates the context of the request. */
  findCaller(): Promise<Context>
  /** Returns a text body. Throws the errors of `BodyReaders`. */
  readText(): Promise<string>
}

/** Functions that read a request. */
export interface RequestReaders {
  createContext(req: IncomingMessage, res: ServerResponse): Promise<Context>
  logOf(res: ServerResponse): Context['requestLog']
  body: Pick<BodyReaders<IncomingMessage>, 'readText' | 'maxBytes'>
}

/** Returns a function that calls `ask` only once. */
function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}

/**
 * Creates the request data, each part of which is computed once. It is passed along with the request. A `WeakMap`
 * would keep it, and all that it refers to, until V8's next full garbage collection.
 */
export const newNodeContext = (
  { createContext, logOf, body }: RequestReaders,
  req: IncomingMessage,
  res: ServerResponse,
): NodeContext => ({
  req,
  res,
  requestLog: logOf(res),
  findCaller: once(() => createContext(req, res)),
  readText: once(() => body.readText(req, body.maxBytes)),
})
