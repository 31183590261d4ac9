/** Sends generated requests over a few keep-alive connections. */
import { Agent } from 'node:http'
import { type Message, trySend } from '../../test/support/http-client.ts'
import type { FuzzAnswer } from './fuzz-judge.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** Timeout in milliseconds. It is longer than any allowed response time. */
const PATIENCE = 30_000
/** Time to read from an endless stream after its first byte, in milliseconds. */
const STREAM = 50

/** Sends a request. Never throws: a missing response has the status 0. */
export async function sendFuzz(url: string, message: Message): Promise<FuzzAnswer> {
  const { status, headers, text } = await trySend(url, message, { agent, patience: PATIENCE, streamFor: STREAM })
  return { status, type: headers.get('content-type') ?? '', text, headers }
}
