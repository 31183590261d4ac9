/**
 * JSON-RPC over HTTP to a chain node. The library's own provider polls, retries and remembers behind our back; the relay
 * must know what was answered and what was not.
 */

import { askLocalSocket, socketPathOf } from '../embedded/local-socket.ts'
import { readAtMost } from '../shared/async.ts'
import { unavailable } from '../shared/errors.ts'
import { noopTracer, type Tracer } from '../telemetry/telemetry-types.ts'

/** The node understood and said no. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** One question. */
export interface RpcCall {
  method: string
  params: readonly unknown[]
}

/** Its answer, or why the node refused. */
export type RpcOutcome = { result: unknown; error?: undefined } | { result?: undefined; error: RpcError }

/** A chain node, as it can be asked. */
export interface Rpc {
  /** For messages: the host alone, because providers put their secrets into the path. Of a socket, where it is. */
  readonly host: string
  /** Raises RpcError for a refusal, UNAVAILABLE when there was no usable answer. */
  call<T>(method: string, ...params: unknown[]): Promise<T>
  /** Outcomes in the order of the calls. Raises UNAVAILABLE when there was no usable answer to one of them. */
  batch(calls: readonly RpcCall[]): Promise<RpcOutcome[]>
  /** The same node, for somebody who gives up when `signal` says so. */
  until(signal: AbortSignal): Rpc
}

/** Where the node is, and how it is asked. */
export interface RpcOptions {
  /** `http:`, `https:`, or `ipc:` with the path of a node's socket. */
  url: string
  /** Milliseconds until a request counts as unanswered. */
  timeout?: number
  /** Calls in one HTTP request. Public nodes allow between 10 and 1,000. */
  batchSize?: number
  /** Bytes of one answer; 64 MB when missing. Strangers write into blocks and logs what they like. */
  mostBytes?: number
  signal?: AbortSignal
  /** Follows questions by their methods; nobody does when it is missing. */
  tracer?: Tracer
}

/** "Too many requests", as nodes say it inside an answer: by a code, or in words of their own. They come back later with the same call. */
const limitCodes = new Set([429, -32005, -32029])
const limitWords = /rate.?limit|request (limit|rate|count)|too many (requests|connections)|compute units?/i
/** Whether the node limits us. What a contract says that refuses a call is no limit of the node's. */
const isLimit = ({ code, message }: RpcError) =>
  limitCodes.has(code) || (limitWords.test(message) && code !== REVERTED && !/revert/i.test(message))
const REVERTED = 3
/** What servers say of a body that they do not take, for its length or because it is no single call. */
const batchRefusals = new Set([400, 405, 413, 415, 422, 501])
/** What will be as much the next time: nodes use the code of a passing limit (-32005) for it, too. */
const isTooMuch = ({ message }: RpcError) =>
  /block range|range (of blocks|limit)|blocks? (distance|limit)|(more than \d+|too many) (results|logs|blocks)|batch size|gas limit/i.test(
    message,
  )

const LONGEST_ANSWER_BYTES = 64_000_000

interface Reply {
  id?: number | null
  result?: unknown
  error?: { code?: number; message?: string } | string
}

const isReply = (value: unknown): value is Reply => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A node's JSON-RPC. Calls are sent together where the node takes batches, and one by one where it does not; nothing is
 * repeated.
 */
export function createRpc(options: RpcOptions): Rpc {
  const { url, timeout = 10_000, batchSize = 50, mostBytes = LONGEST_ANSWER_BYTES, tracer = noopTracer } = options
  const { username, password, ...target } = splitCredentials(url)
  const socketPath = socketPathOf(url)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  // `fetch` refuses credentials inside an address.
  if (username) headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  let isBatching = true
  let lastId = 0

  const noAnswer = (why: string, cause?: unknown) =>
    unavailable('The chain', new Error(`${target.host} ${why}`, { cause }))

  const ask = async (body: string, signal: AbortSignal) => {
    if (socketPath) return { text: await askLocalSocket(socketPath, body, signal, mostBytes), ok: true, status: 200 }
    const response = await fetch(target.href, { method: 'POST', headers, body, signal, redirect: 'error' })
    const text = (await readAtMost(response.body ?? [], mostBytes)).toString()
    return { text, ok: response.ok, status: response.status }
  }

  /** `what`: the method, or that it is several calls. Undefined where the server refuses several at once. */
  const post = (what: string, body: object): Promise<unknown> =>
    tracer.span(what, { kind: 'client', facts: { 'rpc.system.name': 'jsonrpc', 'rpc.method': what } }, () =>
      exchange(body),
    )

  const exchange = async (body: object): Promise<unknown> => {
    try {
      const deadline = AbortSignal.timeout(timeout)
      const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline
      const { text, ok, status } = await ask(JSON.stringify(body), signal)
      const parsed = parseJson(text)
      // Some nodes answer a JSON-RPC error with an HTTP error status; the error inside says more.
      if (parsed !== undefined && (ok || Array.isArray(parsed) || (isReply(parsed) && parsed.error))) {
        if (status !== 429) return parsed
      }
      if (Array.isArray(body) && batchRefusals.has(status)) return undefined
      throw new Error(ok ? 'answered with something other than JSON' : `answered with status ${status}`)
    } catch (error) {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
      throw noAnswer(reason instanceof Error ? reason.message : 'did not answer', error)
    }
  }

  const read = (reply: unknown): RpcOutcome => {
    if (reply === undefined) throw noAnswer('left a call of a batch without an answer')
    if (!isReply(reply)) throw noAnswer('answered with something other than JSON-RPC')
    if (reply.error) {
      const { code = 0, message = 'no reason given' } =
        typeof reply.error === 'string' ? { message: reply.error } : reply.error
      const error = new RpcError(code, message)
      if (isLimit(error) && !isTooMuch(error)) throw noAnswer(`limits us: ${error.message}`)
      return { error }
    }
    if (reply.result === undefined) throw noAnswer('answered without a result')
    return { result: reply.result }
  }

  const encode = ({ method, params }: RpcCall) => ({ jsonrpc: '2.0', id: ++lastId, method, params })

  const sendTogether = async (calls: readonly RpcCall[]): Promise<RpcOutcome[] | undefined> => {
    const bodies = calls.map(encode)
    const replies = await post('batch', bodies)
    // One answer for all: a limit, which passes, or a node that takes no batches, or none of this length.
    const [first, ...others] = [replies].flat()
    const refusal = others.length === 0 && isReply(first) && first.error ? first : undefined
    if (refusal) read(refusal)
    if (refusal || !Array.isArray(replies)) return undefined
    const byId = new Map(replies.filter(isReply).map((reply) => [reply.id, reply]))
    return bodies.map(({ id }) => read(byId.get(id)))
  }

  const sendSingly = async (calls: readonly RpcCall[]): Promise<RpcOutcome[]> => {
    const outcomes: RpcOutcome[] = []
    for (const each of calls) outcomes.push(read(await post(each.method, encode(each))))
    return outcomes
  }

  const batch: Rpc['batch'] = async (calls) => {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < calls.length; start += batchSize) {
      const part = calls.slice(start, start + batchSize)
      const isTogether = isBatching && part.length > 1
      const together = isTogether ? await sendTogether(part) : undefined
      outcomes.push(...(together ?? (await sendSingly(part))))
      // It answered each call by itself and not all together, so that is how it is asked from now on.
      if (isTogether && !together) isBatching = false
    }
    return outcomes
  }

  return {
    host: target.host,
    batch,
    until: (signal) => createRpc({ ...options, signal }),
    async call<T>(method: string, ...params: unknown[]) {
      const outcome = read(await post(method, encode({ method, params })))
      if (outcome.error) throw outcome.error
      return outcome.result as T
    },
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function splitCredentials(text: string) {
  const url = new URL(text)
  const username = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  url.username = ''
  url.password = ''
  return { username, password, host: url.host || url.pathname, href: url.href }
}

/** Answers that do not fit together: several nodes behind one address, or a chain that changes right now. */
export const contradiction = ({ host }: Rpc) => unavailable('The chain', new Error(`${host} contradicts itself`))

/** The result of an outcome. Raises its RpcError. */
export const resultOf = <T>(outcome: RpcOutcome | undefined): T => {
  if (!outcome) throw new TypeError('A batch answered fewer calls than it was given.')
  if (outcome.error) throw outcome.error
  return outcome.result as T
}

/** A number as JSON-RPC writes quantities. */
export const quantity = (value: number | bigint) => `0x${value.toString(16)}`
