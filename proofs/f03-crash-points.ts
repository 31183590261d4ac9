/** The crash points of F03, at which a gateway is killed. Each is detected from outside, because the service has no hooks for this. */
import type { ChainProxy } from '../test/support/chain-proxy.ts'
import { until } from '../test/support/eventually.ts'
import type { Poller } from './harness/client.ts'
import type { Gate, Gates } from './harness/gates.ts'
import type { Gateway } from './harness/gateway.ts'
import type { Random } from './harness/random.ts'

/** Gates: points at which a database trigger of the proof blocks the gateway's statement. */
export const gates: Gate[] = [
  { name: 'in sign-up', trigger: 'after insert on users for each row' },
  { name: 'in update', trigger: 'after insert on commits for each row' },
  {
    name: 'effect done, answer not kept',
    trigger: 'before update of answer on idempotency_keys for each row',
  },
  {
    name: 'tree signed, not stored',
    trigger: `before update on commit_relays for each row when (new.tree_signature is distinct from old.tree_signature)`,
  },
  { name: 'transaction signed, not stored', trigger: 'before insert on chain_transactions for each row' },
  {
    name: 'broadcast, not noted',
    trigger: `before update on commit_relays for each row when (old.status = 'PENDING' and new.status = 'BROADCAST')`,
  },
  {
    name: 'included, not noted',
    trigger: `before update on commit_relays for each row when (old.status <> 'INCLUDED' and new.status = 'INCLUDED')`,
  },
  {
    name: 'final, not noted',
    trigger: `before update on commit_relays for each row when (old.status <> 'FINAL' and new.status = 'FINAL')`,
  },
]

const others = [
  'request sent',
  'first byte of the answer',
  'transaction stored, not broadcast',
  'transaction broadcast, reply lost',
] as const

/** Crash points at which PostgreSQL may still finish the blocked statement, or roll it back. */
const halves = ['in sign-up', 'in update', 'tree signed, not stored', 'transaction signed, not stored']

export const namedPoints: readonly string[] = [...gates.map(({ name }) => name), ...others]

export interface Scene {
  gateways: readonly Gateway[]
  proxies: readonly ChainProxy[]
  gates: Gates
  random: Random
  /** Kills the next gateway whose request reaches this stage. Undefined if no kill is pending. */
  ambush: { moment: keyof Poller; spring: (base: string) => void } | undefined
}

const patience = 30_000

/** Kills one gateway at the crash point and returns it. Throws if no gateway reaches the point. */
export async function killAt(point: string, scene: Scene): Promise<Gateway> {
  if (point === 'random') {
    const victim = scene.random.pick(scene.gateways)
    const moment = performance.now() + scene.random.below(400)
    return until(
      'a gateway to kill',
      () => (performance.now() >= moment && victim.kill() ? victim : undefined),
      patience,
      1,
    )
  }
  if (point === 'request sent' || point === 'first byte of the answer') return killAtRequest(point, scene)
  if (point.startsWith('transaction stored') || point.startsWith('transaction broadcast'))
    return killAtChain(point, scene)
  return killAtGate(point, scene)
}

async function killAtRequest(point: string, scene: Scene): Promise<Gateway> {
  let victim: Gateway | undefined
  const moment = point === 'request sent' ? 'onSent' : 'onFirstByte'
  const spring = (base: string) => {
    const found = scene.gateways.find(({ url }) => url === base)
    if (!found?.kill()) return
    victim = found
    scene.ambush = undefined
  }
  scene.ambush = { moment, spring }
  return until(`a request comes to "${point}"`, () => victim, patience)
}

export async function killAtChain(
  point: string,
  { proxies, gateways }: Pick<Scene, 'proxies' | 'gateways'>,
): Promise<Gateway> {
  let victim: Gateway | undefined
  const wanted = point.startsWith('transaction stored') ? 'before' : 'after'
  for (const [index, proxy] of proxies.entries()) {
    proxy.ambush = (moment) => {
      if (victim || moment !== wanted || !gateways[index]!.kill()) return false
      victim = gateways[index]
      return true
    }
  }
  try {
    return await until(`a transaction comes to "${point}"`, () => victim, patience)
  } finally {
    for (const proxy of proxies) proxy.ambush = undefined
  }
}

async function killAtGate(point: string, { gates, gateways, random }: Scene): Promise<Gateway> {
  await gates.close(point)
  try {
    return await until(
      `a gateway comes to "${point}"`,
      async () => {
        const waiting = await gates.findWaiting(point)
        const victim = gateways.find(({ name }) => name === waiting?.gateway)
        if (!waiting || !victim?.kill()) return undefined
        if (halves.includes(point) && random.next() < 0.5) await gates.terminate(waiting.backend)
        return victim
      },
      patience,
    )
  } finally {
    await gates.open(point)
  }
}
