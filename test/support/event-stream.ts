import { type Credentials, headersOf } from './http-client.ts'
import type { TestActor } from './user.ts'

export interface ServerSentEvent {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by path, and a wrong path fails the test.
  data: any
}

const field = (block: string, name: string) =>
  block
    .split('\n')
    .filter((line) => line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
    .join('\n')

export interface EventRequest extends Credentials {
  actor?: TestActor | undefined
  headers?: Record<string, string>
  body?: object
}

export async function readEvents(url: string, { actor, body, ...message }: EventRequest = {}) {
  const controller = new AbortController()
  const response = await fetch(url, {
    signal: controller.signal,
    headers: {
      accept: 'text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...headersOf({ ...message, ...(actor && { token: actor.token }) }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const events: ServerSentEvent[] = []
  let comments = 0
  let whole = ''
  let hasEnded = false

  async function read() {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      whole += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        if (block.startsWith(':')) comments += 1
        const data = field(block, 'data')
        if (data) events.push({ id: field(block, 'id'), event: field(block, 'event'), data: JSON.parse(data) })
      }
    }
  }

  const ended = read()
    .catch((error: unknown) => {
      if (!controller.signal.aborted) throw error
    })
    .finally(() => {
      hasEnded = true
    })

  return {
    status: response.status,
    headers: response.headers,
    get text() {
      return whole
    },
    events,
    get comments() {
      return comments
    },
    ended,
    get hasEnded() {
      return hasEnded
    },
    close: () => controller.abort(),
  }
}

export type EventReader = Awaited<ReturnType<typeof readEvents>>
