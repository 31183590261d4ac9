/** Readers of server-sent events. */
import type { TestActor } from './user.ts'

export interface ServerSentEvent {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by path, and a wrong path fails the test.
  data: any
}

export interface EventReader {
  status: number
  headers: Headers
  /** What has come so far; grows. */
  events: ServerSentEvent[]
  /** Comments so far: heartbeats. */
  readonly comments: number
  /** Settles when the other side has ended the stream. */
  ended: Promise<void>
  close(): void
}

const field = (block: string, name: string) =>
  block
    .split('\n')
    .filter((line) => line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
    .join('\n')

export async function readEvents(
  url: string,
  { actor, headers = {}, body }: { actor?: TestActor; headers?: Record<string, string>; body?: object } = {},
): Promise<EventReader> {
  const controller = new AbortController()
  const response = await fetch(url, {
    signal: controller.signal,
    headers: {
      Accept: 'text/event-stream',
      ...(body && { 'Content-Type': 'application/json' }),
      ...(actor && { Authorization: `token ${actor.token}` }),
      ...headers,
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const events: ServerSentEvent[] = []
  let comments = 0

  async function read() {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        if (block.startsWith(':')) comments += 1
        const data = field(block, 'data')
        if (data) events.push({ id: field(block, 'id'), event: field(block, 'event'), data: JSON.parse(data) })
      }
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    events,
    get comments() {
      return comments
    },
    ended: read().catch((error: unknown) => {
      if (!controller.signal.aborted) throw error
    }),
    close: () => controller.abort(),
  }
}
