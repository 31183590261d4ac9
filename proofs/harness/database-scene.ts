/** Two gateways whose way to the database can be disturbed, callers who never give up, and one who looks at a clock. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Account, type Acknowledged, nothingAcknowledged, openAccount, runCallers, updateCall } from './callers.ts'
import { tryOnce } from './client.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { countDatabase, judgeChain, judgeDatabase, quiesce } from './judgement.ts'
import { brokenInvariants, type Parts, startParts } from './parts.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import type { ProofContext } from './proof.ts'

const CALLERS = 6
/** Nobody waits longer for an answer, whatever the database does. Milliseconds. */
const LONGEST = 10_000

/** One try of a caller who looks at a clock: when it was answered, by `performance.now()`, after how long, and how. */
export interface Probe {
  at: number
  took: number
  /** 0: no whole answer. */
  status: number
}

export interface DatabaseScene {
  parts: Parts
  proxy: PostgresProxy
  gateways: Gateway[]
  acknowledged: Acknowledged
  probes: Probe[]
  /** Ends the callers, waits until all is settled, and judges. `allowed`: what a probe may be answered with. */
  judge(allowed: readonly number[]): Promise<{ reasons: string[]; lost: number; double: number }>
}

export async function openDatabaseScene(context: ProofContext): Promise<DatabaseScene> {
  const parts = await startParts(context)
  const proxy = await startPostgresProxy(context, parts.databaseUrl)
  const names = ['gateway-0', 'gateway-1']
  const gateways: Gateway[] = []
  for (const name of names) {
    gateways.push(await createGateway(context, name, { ...parts.env, DATABASE_URL: proxy.urlFor(name) }))
  }
  // One after the other: the first one writes what both need.
  for (const gateway of gateways) await gateway.start()
  const acknowledged = nothingAcknowledged()
  const accounts: Account[] = []
  for (const name of ['alice', 'bob', 'carol']) accounts.push(await openAccount(gateways[0]!.url, name, acknowledged))
  const choice = context.random.fork('choice')
  let isOver = false
  const working = runCallers(CALLERS, () => isOver, {
    accounts,
    random: context.random.fork('callers'),
    choose: () => choice.pick(gateways).url,
    watchOf: () => ({}),
    acknowledged,
  })

  const probes: Probe[] = []
  const prober = await openAccount(gateways[0]!.url, 'prober', acknowledged)
  const probe = async (make: (serial: number) => Parameters<typeof tryOnce>[1]) => {
    for (let serial = 0; !isOver; serial += 1) {
      const begin = performance.now()
      const answer = await tryOnce(choice.pick(gateways).url, make(serial))
      probes.push({ at: performance.now(), took: performance.now() - begin, status: answer?.status ?? 0 })
      await delay(20)
    }
  }
  // Its update changes nothing, so it is answered without a commit.
  const unchanged = updateCall(prober, 'prober first')
  const probing = [
    probe(() => ({ method: 'GET', path: '/api/v3/auth/users/me/', token: prober.token })),
    probe(() => ({ ...unchanged, body: { type: 'application/json', bytes: Buffer.from('{}') }, key: '' })),
  ]

  return {
    parts,
    proxy,
    gateways,
    acknowledged,
    probes,
    async judge(allowed) {
      isOver = true
      await Promise.all([working, ...probing])
      const reasons = acknowledged.surprises.slice(0, 5)
      await quiesce(parts)
      const strange = probes.filter(({ status }) => !allowed.includes(status))
      if (strange.length > 0) {
        reasons.push(
          `${strange.length} probes were answered with ${[...new Set(strange.map(({ status }) => status))]}.`,
        )
      }
      const slow = probes.filter(({ took }) => took > LONGEST)
      if (slow.length > 0) {
        reasons.push(`${slow.length} probes took up to ${Math.max(...slow.map(({ took }) => took)).toFixed(0)} ms.`)
      }
      reasons.push(...(await judgeDatabase(parts, acknowledged)), ...(await brokenInvariants(parts.database)))
      reasons.push(...(await judgeChain(parts)))
      const counts = await countDatabase(parts.database, acknowledged)
      for (const gateway of gateways) {
        if (!gateway.isReady()) reasons.push(`${gateway.name} ended by itself.`)
        const code = await gateway.stop()
        if (code !== 0) reasons.push(`${gateway.name} ended with ${code} on SIGTERM.`)
      }
      return { reasons, ...counts }
    },
  }
}
