/** How generated requests are sent: over a few connections that stay open. */
import { Agent } from 'node:http'
import { type Message, trySend } from '../../test/support/http-client.ts'
import type { FuzzAnswer } from './fuzz-judge.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** Milliseconds. Longer than any answer may take. */
const PATIENCE = 30_000
/** Milliseconds after the first byte of a stream, which has no end. */
const STREAM = 50

/** Never raises: no answer is told as the status 0. */
export async function sendFuzz(url: string, message: Message): Promise<FuzzAnswer> {
  const { status, headers, text } = await trySend(url, message, { agent, patience: PATIENCE, streamFor: STREAM })
  return { status, type: headers.get('content-type') ?? '', text, headers }
}
