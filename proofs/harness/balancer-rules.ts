/** What a balancer does with single requests: what it sends again, what it holds back, and what it says of whoever asked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { until } from '../../test/support/eventually.ts'
import { type Message, openRequest, trySend } from '../../test/support/http-client.ts'
import { listen } from '../../test/support/listen.ts'
import { type Backend, type BalancerKind, type Spoil, startBalancer } from './balancer.ts'
import type { ProofContext } from './proof.ts'

/** Two backends that are ready, begin a stream where one is asked for, take each other request, and end its connection without an answer. */
interface DeafBackends {
  backends: Backend[]
  /** Who got the request of this name, in order. */
  gotBy(name: string): string[]
  /** Bytes of bodies so far. */
  bytes(): number
  /** `X-Forwarded-For` of the request that came last. */
  forwardedFor(): string | undefined
  /** Streams that were begun, and how many of them have ended. */
  streams(): { begun: number; ended: number }
}

async function startDeafBackends({ afterwards }: ProofContext): Promise<DeafBackends> {
  const got = new Map<string, string[]>()
  let bytes = 0
  let forwardedFor: string | undefined
  const streams = { begun: 0, ended: 0 }
  const serve = (name: string) => (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/readyz') return void response.writeHead(200).end('{}')
    if (request.url === STREAM) {
      streams.begun += 1
      response.once('close', () => {
        streams.ended += 1
      })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
      return
    }
    forwardedFor = request.headers['x-forwarded-for'] as string | undefined
    const wish = String(request.headers['x-wish'])
    got.set(wish, [...(got.get(wish) ?? []), name])
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.once('end', () => request.socket.destroy())
  }
  const backends: Backend[] = []
  for (const name of ['deaf-0', 'deaf-1']) {
    const port = await listen(createServer(serve(name)), afterwards)
    backends.push({ name, url: `http://127.0.0.1:${port}`, healthPort: port })
  }
  return {
    backends,
    gotBy: (name) => got.get(name) ?? [],
    bytes: () => bytes,
    forwardedFor: () => forwardedFor,
    streams: () => streams,
  }
}

const MUCH = 300_000
const STREAM = '/api/v3/events/stream'
const small = { caption: 'a' }
const file = new File([new Uint8Array(MUCH)], 'file.bin')

/** Requests that nobody answers, and whether another gateway may be asked. */
const wishes: [name: string, mayRepeat: boolean, message: Message][] = [
  ['a read', true, { method: 'GET', path: '/api/v3/auth/users/me/' }],
  ['a change with a key', true, { method: 'PATCH', path: '/api/v3/assets/a/', key: 'k1', json: small }],
  ['a mutation with a key', true, { method: 'POST', path: '/graphql', key: 'k2', json: { query: '{ a }' } }],
  ['a change without a key', false, { method: 'PATCH', path: '/api/v3/assets/a/', json: small }],
  ['a mutation without a key', false, { method: 'POST', path: '/graphql', json: { query: '{ a }' } }],
  ['a sign-in', false, { method: 'POST', path: '/api/v3/auth/token/login/', json: small }],
  ['an upload', false, { method: 'POST', path: '/api/v3/assets/', multipart: { asset_file: file } }],
]

/** Sentences about whatever a balancer does as it must not. */
export async function judgeRules(
  context: ProofContext,
  kind: BalancerKind,
  spoil: Spoil = (text) => text,
): Promise<string[]> {
  const reasons: string[] = []
  const deaf = await startDeafBackends(context)
  // These fail all the time: nobody is to be left out for it.
  const isPatient: Spoil = (text) => text.replaceAll('max_fails=3', 'max_fails=0')
  const balancer = await startBalancer(context, kind, deaf.backends, (text) => spoil(isPatient(text)))
  for (const backend of deaf.backends) await balancer.isUsed(backend)
  for (const [name, mayRepeat, message] of wishes) {
    const spoofed = { 'x-wish': name, 'x-forwarded-for': '192.0.2.7' }
    const answer = await trySend(balancer.url, { ...message, headers: spoofed })
    const times = deaf.gotBy(name)
    if (answer.status !== 502 && answer.status !== 0) reasons.push(`${name} was answered with ${answer.status}.`)
    if (times.length === 0) reasons.push(`${name} came to nobody.`)
    if (!mayRepeat && times.length > 1) reasons.push(`${name} was sent ${times.length} times.`)
    if (mayRepeat && new Set(times).size < 2) reasons.push(`${name} was sent to ${times.join(', ')} alone.`)
  }
  if (deaf.forwardedFor()?.replaceAll(' ', '') !== '192.0.2.7,127.0.0.1')
    reasons.push(`Gateways are told that ${deaf.forwardedFor()} asks.`)
  // A body goes through as it comes: the gateway has the most of it while its end is not sent.
  const before = deaf.bytes()
  const length = String(250_000_000)
  const begun = openRequest(`${balancer.url}/api/v3/assets/`, {
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': length, 'x-wish': 'a slow upload' },
  })
  begun.write(Buffer.alloc(2 * MUCH))
  await until('an upload goes through', () => deaf.bytes() - before > MUCH, 5_000, 10).catch(() =>
    reasons.push(`${deaf.bytes() - before} bytes of ${2 * MUCH} went through while the upload was under way.`),
  )
  begun.abort()
  // Whoever follows a stream and leaves gives their place up: the gateway learns of it before it says anything.
  const followed = openRequest(balancer.url + STREAM, { method: 'GET' })
  await until('a stream begins', () => deaf.streams().begun > 0, 5_000, 10)
  followed.abort()
  await until('the stream ends', () => deaf.streams().ended > 0, 5_000, 10).catch(() =>
    reasons.push('A stream was kept open for 5 s after its reader had left.'),
  )
  return reasons.map((reason) => `${kind}: ${reason}`)
}
