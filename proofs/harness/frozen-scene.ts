/** Three gateways on one database and one chain, and people who use all of it now and then. */
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toId } from '../../src/domain/ids.ts'
import { statement, text } from '../../src/domain/sql.ts'
import { type ChainProxy, startChainProxy } from '../../test/support/chain-proxy.ts'
import { until } from '../../test/support/eventually.ts'
import { type ReceivedCall, type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { type Account, type Acknowledged, nothingAcknowledged, openAccount, runCallers, updateCall } from './callers.ts'
import { type Call, persist } from './client.ts'
import { type Coins, openCoins } from './coins.ts'
import { readDeliveries } from './deliveries.ts'
import { createGates, type Gate, type Gates } from './gates.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { installWitness } from './lease-witness.ts'
import { type Parts, startParts } from './parts.ts'
import type { ProofContext } from './proof.ts'
import { addApp } from './sales.ts'
import { addService, readUserId } from './store.ts'

/** How long a balancer may still send requests to a gateway that is frozen. Milliseconds. */
const UNNOTICED = 20_000
const CALLERS = 2
/** Milliseconds that each of them rests at most, and between two sales and two deposits. */
const REST = 3_000
const BETWEEN_SALES = 4_000
const BETWEEN_DEPOSITS = 7_000

export interface FrozenScene {
  name: string
  context: ProofContext
  parts: Parts
  gateways: Gateway[]
  /** One before each gateway. */
  proxies: ChainProxy[]
  gates: Gates
  acknowledged: Acknowledged
  sink: Receiver
  /** Called for the next call of a webhook, with the port that it comes from, before it is answered. */
  onCall: ((call: ReceivedCall, port: number) => Promise<void>) | undefined
  coins: Coins
  orderIds: string[]
  /** Who is frozen, and since when by `performance.now()`. */
  frozen: { gateway: Gateway; since: number } | undefined
  /** A gateway that is not frozen. */
  awake(): Gateway
  /** Updates, sells and deposits once through those that are awake. Milliseconds until each of the three is done to its end. */
  useAll(milliseconds: number): Promise<Record<'commit' | 'webhook' | 'deposit', number>>
  openLeaver(): Promise<Account>
  /** Ends the load. */
  rest(): Promise<void>
}

const findCommit = statement(
  'proof_commit_status',
  { parameters: { message: text }, columns: { status: text } },
  `select r.status::text from commit_relays r join commits c on c.id = r.commit_id where c.message = $message`,
)

export async function openFrozenScene(
  outer: ProofContext,
  index: number,
  gates: readonly Gate[],
): Promise<FrozenScene> {
  const name = `scene-${index}`
  const dir = join(outer.dir, name)
  await mkdir(dir)
  const random = outer.random.fork(name)
  const context = { ...outer, dir, random }
  const parts = await startParts(context)
  // Keys lie in files, so that they can be rotated under the gateways.
  const { KEY_ENCRYPTION_KEY: _, ...env } = parts.env
  parts.env = { ...env, ALLOW_INSECURE_WEBHOOKS: 'true' }
  const proxies: ChainProxy[] = []
  const gateways: Gateway[] = []
  for (const gatewayName of ['gateway-0', 'gateway-1', 'gateway-2']) {
    const proxy = await startChainProxy(context.afterwards, parts.rpcUrl)
    const own = { CHAIN_RPC_URL: proxy.url, DATABASE_URL: await parts.urlAs(gatewayName) }
    const gateway = await createGateway(context, gatewayName, { ...parts.env, ...own })
    // One after the other: the first one writes what all need.
    await gateway.start()
    proxies.push(proxy)
    gateways.push(gateway)
  }
  await installWitness(parts.database)

  const acknowledged = nothingAcknowledged()
  const open = (username: string) => openAccount(gateways[0]!.url, username, acknowledged)
  const idOf = ({ username }: Account) => readUserId(parts.database, username)
  const accounts = [await open('alice'), await open('bob')]
  const [watcher, buyer, saver, seller] = [
    await open('watcher'),
    await open('buyer'),
    await open('saver'),
    await open('seller'),
  ]
  const apiKey = await addService(parts)

  const sink = await startReceiver(context.afterwards, async (response, call) => {
    const { remotePort = 0 } = response.socket ?? {}
    const { onCall } = scene
    scene.onCall = undefined
    await onCall?.(call, remotePort)
    response.writeHead(204).end()
  })
  const app = await addApp(parts, { seller: { ...seller, id: await idOf(seller) } }, sink.url)

  const choice = random.fork('choice')
  const choose = () => {
    const { frozen } = scene
    const isUnnoticed = frozen && performance.now() - frozen.since < UNNOTICED
    return choice.pick(gateways.filter((gateway) => isUnnoticed || gateway !== frozen?.gateway)).url
  }
  /** Until it is answered with what is expected. */
  const ask = async (call: Call, expected: number, at = choose) => {
    const { answer, tries } = await persist(at, { key: randomUUID(), ...call })
    acknowledged.retries += tries - 1
    if (answer.status !== expected) {
      acknowledged.surprises.push(`${call.method} ${call.path}: ${JSON.stringify(answer)}`)
      return undefined
    }
    return answer.body as { id: string }
  }
  const sell = async (at = choose) => {
    const json = { network_app: toId('app', app.id), action_args: { nid: buyer.nid } }
    const common = { method: 'POST' as const, token: buyer.token, apiKey }
    const order = await ask({ ...common, path: '/api/v3/store/network-app-orders/', json }, 201, at)
    if (!order) return undefined
    const path = `/api/v3/store/network-app-orders/${order.id}/confirm/`
    if (await ask({ ...common, path, json: {} }, 200, at)) scene.orderIds.push(order.id)
    return order.id
  }

  let isOver = false
  const every = async (milliseconds: number, work: () => Promise<unknown>) => {
    while (!isOver) {
      await delay(milliseconds)
      await work()
    }
  }
  let serial = 0
  const scene: FrozenScene = {
    name,
    context,
    parts,
    gateways,
    proxies,
    gates: await createGates(context, parts.databaseUrl, gates),
    acknowledged,
    sink,
    onCall: undefined,
    coins: await openCoins(parts, await idOf(saver)),
    orderIds: [],
    frozen: undefined,
    awake: () => choice.pick(gateways.filter((gateway) => gateway !== scene.frozen?.gateway)),
    async useAll(milliseconds) {
      const began = performance.now()
      const took = async (work: () => Promise<unknown>) => {
        await work()
        return performance.now() - began
      }
      const at = () => scene.awake().url
      const message = `watched ${serial++}`
      const [commit, webhook, deposit] = await Promise.all([
        took(async () => {
          if (await ask({ ...updateCall(watcher, message), key: message }, 200, at)) {
            acknowledged.commits.push(message)
            acknowledged.byAccount.get(watcher.username)!.push(message)
          }
          const look = async () => {
            const [row] = await parts.database.query(findCommit, { message })
            return row?.status === 'INCLUDED' || row?.status === 'FINAL'
          }
          await until(`${name}: the commit "${message}" is on the chain`, look, milliseconds, 50)
        }),
        took(async () => {
          const id = await sell(at)
          const look = async () => (await readDeliveries(parts.database, [id!]))[0]?.status === 'DELIVERED'
          await until(`${name}: the webhook of ${id} is delivered`, look, milliseconds, 50)
        }),
        took(async () => scene.coins.credited(await scene.coins.send(), milliseconds)),
      ])
      return { commit, webhook, deposit }
    },
    openLeaver: () => openAccount(scene.awake().url, `leaver${serial++}`, acknowledged),
    async rest() {
      isOver = true
      await working
    },
  }
  const load = { accounts, random: random.fork('callers'), choose, watchOf: () => ({}), acknowledged, rest: REST }
  const working = Promise.all([
    runCallers(CALLERS, () => isOver, load),
    every(BETWEEN_SALES, sell),
    every(BETWEEN_DEPOSITS, () => scene.coins.send()),
  ])
  // Whoever fails is told of at the end, not while nobody looks.
  working.catch(() => undefined)
  return scene
}
