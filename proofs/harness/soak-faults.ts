/**
 * Faults of the soak test. A fault is counted by its observed effects, such as cut connections or rejected requests, not by its schedule.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createRpc } from '../../src/chain/rpc.ts'
import { losesReplies } from '../../test/support/chain-faults.ts'
import type { ChainProxy } from '../../test/support/chain-proxy.ts'
import type { MailMood, MailServer } from '../../test/support/mail-server.ts'
import type { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Backend, Balancer } from './balancer.ts'
import { type Gateway, startWithRetries } from './gateway.ts'
import type { Parts } from './parts.ts'
import type { PostgresProxy } from './postgres-proxy.ts'
import type { ProofContext } from './proof.ts'
import type { SmallDisk } from './small-disk.ts'

/** Interval between two faults, and duration of a fault, in milliseconds. */
export const EVERY = 10_000
const LASTS = 6_000
/** Initial size of the content store's disk, in MiB. */
export const DISK = 1_024
/** Time within which a write must occur that a fault can affect, in milliseconds. */
const NEXT_WRITE = 60_000

/** A fault. It resolves when it is over, with the number of its effects. 0 means that it had no effect. */
export interface SoakFault {
  name: string
  happen(): Promise<number>
}

/** The services that the faults affect. */
export interface SoakScene {
  context: ProofContext
  parts: Parts
  proxies: PostgresProxy[]
  chains: ChainProxy[]
  victim: Gateway
  /** Backend of the gateway that is killed. */
  backend: Backend
  mailServer: MailServer
  sink: { mood: number; failures: number }
  /** Disk of the content store. */
  disk: SmallDisk
  postgres: PostgresServer
  /** Sends a file that is larger than the free space. Returns the HTTP status. */
  sendLarge(): Promise<number>
  balancer: Balancer
}

export function soakFaults({
  context,
  parts,
  proxies,
  chains,
  victim,
  backend,
  mailServer,
  sink,
  disk,
  postgres,
  sendLarge,
  balancer,
}: SoakScene): SoakFault[] {
  const random = context.random.fork('faults')
  const rpc = createRpc({ url: parts.rpcUrl })
  /** Applies a fault for some time. Returns the increase of `count`. */
  const during = async (begin: () => unknown, end: () => unknown, count: () => number, milliseconds = LASTS) => {
    const before = count()
    await begin()
    try {
      await delay(milliseconds)
    } finally {
      await end()
    }
    return count() - before
  }
  const disturbed = () => chains.reduce((sum, { faults: count }) => sum + count, 0)
  const heldUp = (some: readonly PostgresProxy[]) => () => some.reduce((sum, { faults: count }) => sum + count, 0)
  const disturb = (fault: ChainProxy['fault']) => () => {
    for (const chain of chains) chain.fault = fault
  }
  const fillDisk: SoakFault = {
    name: 'disk full',
    async happen() {
      let refused = 0
      const fill = async () => disk.resize(Math.max(Math.ceil((await disk.used()) / 2 ** 20), 1))
      await fill()
      try {
        for (const end = performance.now() + LASTS; performance.now() < end; await delay(500))
          if ((await sendLarge()) === 507) refused += 1
      } finally {
        await disk.resize(DISK)
      }
      return refused
    },
  }
  const dropsSeen = async () => {
    const seen = await rpc.call<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false)
    await rpc.call('anvil_reorg', 1 + random.below(4), [])
    const now = await rpc.call<{ hash: string } | null>('eth_getBlockByNumber', seen.number, false)
    return now?.hash !== seen.hash
  }
  const moods = ['refuse', 'hang', '451'] satisfies MailMood[]
  return [
    {
      name: 'gateway killed',
      async happen() {
        if (!victim.kill()) return 0
        await startWithRetries(victim)
        await balancer.isUsed(backend)
        return 1
      },
    },
    {
      name: 'gateway frozen',
      async happen() {
        await victim.freeze()
        await delay(LASTS + random.below(LASTS))
        await victim.thaw()
        return 1
      },
    },
    {
      name: 'PostgreSQL killed',
      async happen() {
        const wasThere = await postgres.kill()
        await postgres.start()
        return wasThere ? 1 : 0
      },
    },
    {
      name: 'PostgreSQL hung',
      happen: () =>
        during(
          () => proxies.map((proxy) => proxy.freeze()),
          () => proxies.map((proxy) => proxy.thaw()),
          heldUp(proxies),
        ),
    },
    {
      name: 'PostgreSQL away from one gateway',
      happen: () => {
        const proxy = random.pick(proxies)
        return during(
          () => proxy.close(),
          () => proxy.open(),
          heldUp([proxy]),
        )
      },
    },
    {
      name: 'answer to a write lost',
      async happen() {
        const proxy = random.pick(proxies)
        const struck = proxy.strike(random.pick(['reset', 'reply lost']))
        return Promise.race([struck.then(() => 1), delay(NEXT_WRITE, 0)])
      },
    },
    {
      name: 'chain hangs',
      happen: () =>
        during(
          disturb(() => 'hang'),
          disturb(undefined),
          disturbed,
        ),
    },
    {
      name: 'chain away',
      happen: () =>
        during(
          disturb(() => 'cut'),
          disturb(undefined),
          disturbed,
        ),
    },
    {
      name: 'replies of the chain lost',
      happen: () => during(disturb(losesReplies(random, 0.5, () => {})), disturb(undefined), disturbed, EVERY),
    },
    {
      name: 'reorganisation',
      happen: async () => ((await parts.blocks.change(dropsSeen)) ? 1 : 0),
    },
    {
      name: 'receiver of webhooks fails',
      happen: () =>
        during(
          () => {
            sink.mood = random.pick([500, 429, 0])
          },
          () => {
            sink.mood = 204
          },
          () => sink.failures,
          EVERY,
        ),
    },
    {
      name: 'mail server fails',
      happen: () =>
        during(
          () => {
            mailServer.mood = random.pick(moods)
          },
          () => {
            mailServer.mood = 'accept'
          },
          () => mailServer.visits,
          EVERY,
        ),
    },
    fillDisk,
    { name: 'balancer reloaded', happen: () => balancer.reload().then(() => 1) },
  ]
}
