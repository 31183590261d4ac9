/**
 * F10: webhooks point to internal addresses: by every spelling of an address, by DNS rebinding, and by redirects. A canary server on the
 * internal address must receive no connection.
 */
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { buildConnector, Client } from 'undici'
import {
  createWebhookSender,
  INTERNAL,
  isInternalAddress,
  webhookUrlProblem,
} from '../src/modules/webhooks/webhook-sender.ts'
import { internalHosts } from '../test/support/internal-hosts.ts'
import { answerWith, startReceiver } from '../test/support/receiver.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Timeout of a webhook request, in milliseconds. */
const TIMEOUT = 1_000
/** A public IP address that no host uses. */
const NOBODY = '2a0f:ffff:ffff:ffff::1'
const LEAST_URLS = 60
const REDIRECTS = [301, 302, 303, 307, 308]

interface Canary {
  port: number
  /** Waits for pending connections, and returns the number of connections so far. */
  count(): Promise<number>
}

export async function proveNoInside(context: ProofContext): Promise<ProofResult> {
  const canary = await startCanary(context)
  const hosts = context.random.fork('order').shuffle(internalHosts)
  const urls = hosts.map((host) => `https://${host}:${canary.port}/`)
  const reasons: string[] = []
  if (urls.length < LEAST_URLS) reasons.push(`Only ${urls.length} URLs, ${LEAST_URLS} are needed.`)

  const sender = createWebhookSender({ allowInsecure: false, timeout: TIMEOUT })
  for (const url of urls) {
    const { failure } = await sender.send(callTo(url))
    if (failure !== INTERNAL) reasons.push(`${url} was not refused as internal: ${failure}`)
    if (!webhookUrlProblem(url, { allowInsecure: false })) reasons.push(`${url} is taken for a webhook.`)
  }
  const plain = hosts.map((host) => `http://${host}:${canary.port}/`)
  for (const url of plain) await sender.send(callTo(url))
  const rebinds = await rebind(canary.port)
  const redirects = await redirect(context, canary.port)
  reasons.push(...rebinds.reasons, ...redirects)
  const connections = await canary.count()
  if (connections > 0) reasons.push(`The canary saw ${connections} connections.`)

  reasons.push(...(await catchCareless(context, urls)))
  const tried = urls.length + plain.length + rebinds.count + REDIRECTS.length
  return conclude({
    figure: `${connections} connections to the canary by ${urls.length + plain.length} URLs, ${rebinds.count} lookups and ${REDIRECTS.length} redirects`,
    n: tried,
    faultsInjected: tried,
    reasons,
  })
}

const callTo = (url: string) => ({
  url,
  id: 'event_01kam0v8x5e2vt3k1w9p0zq4rb',
  at: new Date(),
  body: '{}',
  secrets: [`whsec_${Buffer.alloc(24, 7).toString('base64')}`],
  redacted: [],
})

/** Starts a canary server on every address of this machine, for IPv4 and IPv6 if available. */
async function startCanary({ afterwards }: ProofContext): Promise<Canary> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  afterwards(async () => server.close())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async count() {
      await delay(200)
      return connections
    },
  }
}

/** Tries names that resolve to internal addresses: always, as one of several addresses, on the second lookup, or on every second lookup. */
async function rebind(port: number): Promise<{ reasons: string[]; count: number }> {
  const stories: string[][][] = [
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['0.0.0.0']],
    [[NOBODY, '127.0.0.1']],
    [['127.0.0.1', NOBODY]],
    [[NOBODY], ['127.0.0.1']],
    [['127.0.0.1'], [NOBODY], ['127.0.0.1']],
  ]
  const reasons: string[] = []
  let count = 0
  for (const story of stories) {
    for (const [index, addresses] of story.entries()) {
      let looks = 0
      // A client that resolves the name twice per request gets the internal address the second time.
      const resolve = async () => (looks++ === 0 ? addresses : ['127.0.0.1'])
      const sender = createWebhookSender({ allowInsecure: false, timeout: TIMEOUT, resolve })
      const { failure } = await sender.send(callTo(`https://rebind.example.org:${port}/`))
      count += 1
      const isInside = addresses.some(isInternalAddress)
      if (looks !== 1) reasons.push(`A name was looked up ${looks} times for one call.`)
      if (!failure || (failure === INTERNAL) !== isInside)
        reasons.push(`Look ${index + 1} gave ${addresses.join(' and ')}, and the call ended with: ${failure}`)
    }
  }
  return { reasons, count }
}

/** Tries allowed receivers that redirect to the canary. Local receivers are only reachable with the development setting. */
async function redirect(context: ProofContext, port: number): Promise<string[]> {
  const sender = createWebhookSender({ allowInsecure: true, timeout: TIMEOUT })
  const reasons: string[] = []
  for (const status of REDIRECTS) {
    const receiver = await startReceiver(
      context.afterwards,
      answerWith(status, { location: `http://127.0.0.1:${port}/` }),
    )
    const { failure } = await sender.send(callTo(receiver.url))
    if (receiver.calls.length !== 1 || !failure?.includes('redirects are not followed'))
      reasons.push(`A redirect with ${status} ended with: ${failure}`)
  }
  return reasons
}

/** Controls: unsafe senders, each with its own canary. Each canary must detect a connection. */
async function catchCareless(context: ProofContext, urls: readonly string[]): Promise<string[]> {
  const variants: Record<string, (port: number) => Promise<void>> = {
    'a guard in the lookup only': async (port) => {
      for (const url of urls) await sendGuardedByLookup(Object.assign(new URL(url), { port: String(port) }))
    },
    'a guard that looks before the connection looks': (port) => sendAfterLook(port),
    'a sender that follows redirects': async (port) => {
      const location = `http://127.0.0.1:${port}/`
      const receiver = await startReceiver(context.afterwards, answerWith(307, { location }))
      await fetch(receiver.url, { method: 'POST', body: '{}' }).catch(() => undefined)
    },
  }
  const reasons: string[] = []
  for (const [name, send] of Object.entries(variants)) {
    const canary = await startCanary(context)
    await send(canary.port)
    const connections = await canary.count()
    context.say(`control: ${name} made ${connections} connections to its canary`)
    if (connections === 0) reasons.push(`The control was not caught: ${name}.`)
  }
  return reasons
}

async function request(url: URL, connect: buildConnector.connector): Promise<void> {
  const client = new Client(url.origin, { connect })
  await client
    .request({ method: 'POST', path: '/', body: '{}', signal: AbortSignal.timeout(TIMEOUT) })
    .catch(() => undefined)
  await client.destroy()
}

/** Sends a request that checks only DNS lookups. A literal address bypasses this check. Addresses outside this machine are skipped. */
async function sendGuardedByLookup(url: URL): Promise<void> {
  if (!/^(127\.|0\.|\[::1\]|\[::\]|\[::ffff:7f)/.test(url.hostname)) return
  const guarded = buildConnector({
    timeout: TIMEOUT,
    lookup: (_host, _options, callback) => callback(new Error('internal'), '', 0),
  })
  await request(url, guarded)
}

async function sendAfterLook(port: number): Promise<void> {
  const answers = [NOBODY, '127.0.0.1']
  const look = () => answers.shift()!
  if (isInternalAddress(look())) return
  const careless = buildConnector({
    timeout: TIMEOUT,
    lookup: (_host, { all }, callback) => {
      const address = look()
      return all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4)
    },
  })
  await request(new URL(`https://rebind.example.org:${port}/`), careless)
}
