/** A caller who writes down what was sent and what came back, byte for byte. */
import { type Answer, type Message, send } from '../../test/support/http-client.ts'
import { talkRaw } from '../../test/support/raw-http.ts'
import type { Canary, Haystack } from './canaries.ts'

/** `body` is sent as it is. */
export interface Sent extends Pick<Message, 'method' | 'headers'> {
  path: string
  body?: string | Buffer
}

export interface Exchange {
  /** Method and path without what follows `?`. */
  what: string
  sent: Buffer
  status: number
  /** Head and body. */
  answer: Buffer
  /** Refused, by its status or by what GraphQL says. */
  isError: boolean
  /** Names of the secrets that the answer is there to tell. */
  tells: readonly string[]
}

export interface Transcript {
  exchanges: Exchange[]
  /** `tells`: names of the secrets that the answer is there to tell. */
  ask(sent: Sent, tells?: readonly string[]): Promise<Answer>
  /** Bytes for a socket, as no HTTP library would send them. */
  askRaw(text: string): Promise<void>
}

const isRefused = (status: number, body: string) => status >= 400 || /^\{"(errors|error)"|"errors":\[/.test(body)

export function createTranscript(base: string): Transcript {
  const exchanges: Exchange[] = []
  return {
    exchanges,
    async ask({ method = 'POST', path, headers = {}, body = '' }, tells = []) {
      const answer = await send(base, { method, path, headers, raw: body })
      const { status, rawHeaders, bytes, text } = answer
      exchanges.push({
        what: `${method} ${path.split('?')[0]}`,
        sent: Buffer.concat([
          Buffer.from(`${method} ${path}\n${JSON.stringify(headers)}\n`),
          Buffer.from(body as string),
        ]),
        status,
        answer: Buffer.concat([Buffer.from(`${status} ${JSON.stringify(rawHeaders)}\n`), bytes]),
        isError: isRefused(status, text),
        tells,
      })
      return answer
    },
    async askRaw(text) {
      const sent = Buffer.from(text)
      const { status, bytes } = await talkRaw({ url: base, pieces: [sent], end: 'listen', patience: 5_000 })
      exchanges.push({ what: 'raw bytes', sent, status, answer: bytes, isError: true, tells: [] })
    },
  }
}

/** How often each canary was sent, in the clear or encoded for a URL. */
export const timesSent = ({ exchanges }: Transcript, { text }: Canary): number => {
  const forms = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]
  return exchanges.filter(({ sent }) => forms.some((form) => sent.includes(form))).length
}

/** Every answer with what it may tell. A refusal may tell nothing. */
export const answersOf = ({ exchanges }: Transcript): (Haystack & { tells: readonly string[] })[] =>
  exchanges.map(({ what, status, answer, isError, tells }, index) => ({
    place: `answer ${index} (${status}) to ${what}`,
    bytes: answer,
    tells: isError ? [] : tells,
  }))
