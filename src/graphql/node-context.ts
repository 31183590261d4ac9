import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodyReaders } from '../modules/assets/uploads.ts'
import type { Context } from '../services-context.ts'

/** What a GraphQL plugin knows of a request before the caller is authenticated. */
export interface NodeContext {
  req: IncomingMessage
  res: ServerResponse
  /** The log of the request. */
  requestLog: Context['requestLog']
  /** Finds out who asks and with what. */
  findCaller(): Promise<Context>
  /** The body, if that is text. Raises what `BodyReaders` say. */
  readText(): Promise<string>
}

/** How a request is read. */
export interface RequestReaders {
  createContext(req: IncomingMessage, res: ServerResponse): Promise<Context>
  logOf(res: ServerResponse): Context['requestLog']
  body: Pick<BodyReaders<IncomingMessage>, 'readText' | 'maxBytes'>
}

/** Asks once, whoever wants to know. */
function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}

/**
 * What is found out of a request once. It goes along with the request: what a `WeakMap` keeps of one is gone only when V8 marks its whole
 * heap, and with it all that the request holds.
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
