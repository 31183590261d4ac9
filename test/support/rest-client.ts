/** Sends REST requests in the encodings of older clients. Every response must match the OpenAPI document. */
import { globalAgent } from 'node:http'
import { assertDescribed } from './described.ts'
import { type Answer, type Message, send } from './http-client.ts'
import type { TestActor } from './user.ts'

export interface RestOptions extends Omit<Message, 'method' | 'path' | 'name' | 'token'> {
  actor?: TestActor | undefined
}

export type Rest = (method: string, path: string, options?: RestOptions) => Promise<Answer>

/** `path` is relative to `/api/v3/`, or absolute if it starts with a slash. */
export const createRest =
  (url: string, defaults: Pick<RestOptions, 'actor'> = {}): Rest =>
  async (method, path, { actor = defaults.actor, ...message } = {}) => {
    const { pathname, search } = new URL(path.startsWith('/') ? path : `/api/v3/${path}`, url)
    const address = pathname + search
    const answer = await send(url, { ...message, method, path: address, token: actor?.token }, { agent: globalAgent })
    const { status, headers, text } = answer
    assertDescribed({ method, path: address, status, headers, text })
    return answer
  }
