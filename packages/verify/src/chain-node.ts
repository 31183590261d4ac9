/** A JSON-RPC client for a chain node. */
import { InputError, reasonOfSource, SourceError } from './source-error.ts'

/** A JSON-RPC request. */
export interface RpcRequest {
  method: string
  params: readonly unknown[]
}

/** The result of a request, or a sentence with the reason why there is none. `isSilent` is true if the node did not respond. */
export type RpcResponse =
  | { result: unknown; refusal?: undefined; isSilent?: undefined }
  | { result?: undefined; refusal: string; isSilent?: boolean }

/** A chain node as the verifier uses it. */
export interface ChainNode {
  /** Name of the node for messages, without the URL's path, because providers put secrets into it. */
  readonly name: string
  /** Returns responses in the order of the requests. Throws SourceError if the node does not respond. */
  request(requests: readonly RpcRequest[]): Promise<RpcResponse[]>
}

const DEADLINE_MS = 60_000
/** Maximum number of requests per batch. Public nodes allow between 10 and 1,000. */
const BATCH = 20
/** Maximum size of a response, in bytes. A batch of full blocks has some megabytes. */
const LONGEST_ANSWER_BYTES = 256 * 1024 * 1024
/** Maximum length of the node's own error message in ours, in characters. */
const LONGEST_MESSAGE = 300

/** Returns the result of a response. `what` describes it in the message. Throws SourceError if there is none or it is `null`. */
export function resultOf<T>(node: ChainNode, response: RpcResponse | undefined, what: string): T {
  if (response?.refusal !== undefined) throw new SourceError(response.refusal)
  if (response?.result !== undefined && response.result !== null) return response.result as T
  throw new SourceError(`The node ${node.name} does not have ${what}.`)
}

/** Returns the error for a response in an unexpected format. */
export const unreadable = (node: ChainNode, what: string, cause?: unknown): SourceError =>
  new SourceError(`The node ${node.name} sent an unreadable response for ${what}.`, { cause })

/** Runs `read` on a response. Throws SourceError if the response has an unexpected format. */
export function readable<T>(node: ChainNode, what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw unreadable(node, what, error)
  }
}

/**
 * Sends all requests in one batch. Repeats failed ones one at a time, because nodes limit the size of a response. If the node does not
 * respond, the reason becomes the response, so that one failure does not hide the other responses.
 */
export async function requestEach(node: ChainNode, requests: readonly RpcRequest[]): Promise<RpcResponse[]> {
  const responses = await requestBatch(node, requests)
  if (requests.length < 2) return responses
  const repeated: RpcResponse[] = []
  for (const [index, request] of requests.entries()) {
    const response = responses[index]!
    repeated.push(response.refusal === undefined ? response : (await requestBatch(node, [request]))[0]!)
  }
  return repeated
}

const requestBatch = (node: ChainNode, requests: readonly RpcRequest[]): Promise<RpcResponse[]> =>
  node.request(requests).catch((error: unknown) => {
    const refusal = reasonOfSource(error)
    return requests.map(() => ({ refusal, isSilent: true }))
  })

/**
 * Connects to a node at an `http:` or `https:` address. A name and a password in the address are sent as Basic authentication. After a
 * timeout no more requests are sent. Throws an Error when the address is not valid.
 */
export function connectNode(address: string): ChainNode {
  const { url, name, headers } = readAddress(address)
  let timedOut: SourceError | undefined

  async function send(requests: readonly RpcRequest[]): Promise<RpcResponse[]> {
    if (timedOut) throw timedOut
    const body = requests.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    const replies = await post(url, headers, JSON.stringify(body)).catch((error: unknown) => {
      const failure = new SourceError(`The node ${name} does not answer: ${reasonOf(error)}.`, { cause: error })
      if (isTimeout(error)) timedOut = failure
      throw failure
    })
    if (!Array.isArray(replies)) {
      const { refusal } = readReply(name, replies as Reply | null | undefined)
      throw new SourceError(refusal ?? `The node ${name} does not support batch requests.`)
    }
    const byId = new Map(replies.map((reply) => [(reply as Reply | null)?.id, reply as Reply]))
    return requests.map((_, id) => readReply(name, byId.get(id)))
  }

  return {
    name,
    async request(requests) {
      const responses: RpcResponse[] = []
      for (let at = 0; at < requests.length; at += BATCH)
        responses.push(...(await send(requests.slice(at, at + BATCH))))
      return responses
    },
  }
}

interface Reply {
  id?: unknown
  result?: unknown
  error?: { message?: unknown }
}

function readReply(name: string, reply: Reply | null | undefined): RpcResponse {
  if (!reply?.error && reply?.result !== undefined) return { result: reply.result }
  const { message } = reply?.error ?? {}
  const detail = typeof message === 'string' ? `: ${message.slice(0, LONGEST_MESSAGE)}` : ''
  return {
    refusal: reply?.error ? `The node ${name} returned an error${detail}.` : `The node ${name} sent no response.`,
  }
}

function readAddress(address: string) {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InputError('The URL of a node must start with http: or https:.')
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  // `fetch` rejects URLs with credentials.
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
  const text = Buffer.from(await readBounded(response, LONGEST_ANSWER_BYTES)).toString()
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the response is not JSON')
  }
}

/** Reads the body of a response. Throws an Error when it is longer than `maxBytes`. */
export async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > maxBytes) throw new Error(`the response is longer than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Returns true if a request timed out. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

/** Returns the reason of a failed request. `fetch` hides it in the error's cause. */
export const reasonOf = (error: unknown): string => {
  if (isTimeout(error)) return 'no response in time'
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return reason instanceof Error ? reason.message : String(reason)
}
