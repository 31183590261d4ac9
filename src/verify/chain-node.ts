/** A chain node, asked by JSON-RPC. */
import { SourceError } from './source-error.ts'

/** One question. */
export interface Question {
  method: string
  params: readonly unknown[]
}

/** Its answer, or why the node refused. */
export type Answer = { result: unknown; refusal?: undefined } | { result?: undefined; refusal: string }

/** A node, as much as a verifier needs of it. */
export interface ChainNode {
  /** For messages: never with what stands in a path, where providers put secrets. */
  readonly name: string
  /** Answers in the order of the questions. Raises SourceError when there is no usable answer. */
  ask(questions: readonly Question[]): Promise<Answer[]>
}

const DEADLINE_MS = 60_000
/** Questions in one request. Public nodes allow between 10 and 1,000. */
const BATCH = 20
/** Of one answer: a batch of full blocks is some megabytes. */
const LONGEST_ANSWER_BYTES = 256 * 1024 * 1024

/** What the node answered. Raises SourceError where it refused. */
export function resultOf<T>(node: ChainNode, answer: Answer | undefined): T {
  if (answer?.refusal === undefined && answer?.result !== undefined) return answer.result as T
  throw new SourceError(`The node ${node.name} refused a question: ${answer?.refusal ?? 'no answer'}.`)
}

/** A node at an `http:` or `https:` address; a name and a password in the address are sent as Basic authentication. Raises an Error where it is none. */
export function connectNode(address: string): ChainNode {
  const { url, name, headers } = readAddress(address)

  async function send(questions: readonly Question[]): Promise<Answer[]> {
    const body = questions.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    const replies = await post(url, headers, JSON.stringify(body)).catch((error: unknown) => {
      throw new SourceError(`The node ${name} does not answer: ${reasonOf(error)}.`, { cause: error })
    })
    if (!Array.isArray(replies)) throw new SourceError(`The node ${name} does not answer several questions at once.`)
    const byId = new Map(replies.map((reply) => [(reply as Reply | null)?.id, reply as Reply]))
    return questions.map((_, id) => readReply(byId.get(id)))
  }

  return {
    name,
    async ask(questions) {
      const answers: Answer[] = []
      for (let at = 0; at < questions.length; at += BATCH)
        answers.push(...(await send(questions.slice(at, at + BATCH))))
      return answers
    },
  }
}

interface Reply {
  id?: unknown
  result?: unknown
  error?: { message?: unknown }
}

const readReply = (reply: Reply | undefined): Answer =>
  reply?.error || reply?.result === undefined
    ? { refusal: String(reply?.error?.message ?? 'no answer') }
    : { result: reply.result }

function readAddress(address: string) {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('The address of a node begins with http: or https:.')
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  // `fetch` refuses credentials inside an address.
  const credentials = [url.username, url.password].map(decodeURIComponent).join(':')
  if (credentials !== ':') headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  url.username = ''
  url.password = ''
  return { url: url.href, name: url.host, headers }
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<unknown> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
  if (!response.ok) throw new Error(`status ${response.status}`)
  return JSON.parse(Buffer.from(await readBounded(response, LONGEST_ANSWER_BYTES)).toString())
}

/** The body of an answer. Raises an Error when it is longer than `maxBytes`. */
export async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Why a request failed; `fetch` hides the reason in the cause. */
export const reasonOf = (error: unknown): string => {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return reason instanceof Error ? reason.message : String(reason)
}
