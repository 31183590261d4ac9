/** Clients that always retry, at gateways with faulty services, and a prober that measures response times. */
import { setTimeout as delay } from 'node:timers/promises'
import { trySend } from '../../test/support/http-client.ts'
import { type Account, type Acknowledged, nothingAcknowledged, openAccount, runCallers, updateCall } from './callers.ts'
import { type Call, soonGivingUp } from './client.ts'
import { chooseReady, type Gateway } from './gateway.ts'
import { countDatabase, judgeChain, judgeDatabase, quiesce } from './judgement.ts'
import { brokenInvariants, type Parts } from './parts.ts'
import type { ProofContext } from './proof.ts'

/** Maximum response time under any fault, in milliseconds. */
const LONGEST = 10_000

/** One probe: its time as a value of `performance.now()`, its duration, and its status. */
export interface Probe {
  at: number
  took: number
  /** HTTP status. 0 if there was no complete response. */
  status: number
}

export interface WorkOptions {
  callers?: number
  /** Maximum pause between two requests of a client, in milliseconds. */
  rest?: number
  /** Users whose balances also change for other reasons. */
  others?: readonly string[]
}

export interface Work {
  acknowledged: Acknowledged
  probes: Probe[]
  /** Stops the clients, waits until everything is settled, and checks the result. `allowed`: allowed statuses of probes. */
  judge(allowed: readonly number[]): Promise<{ reasons: string[]; lost: number; double: number }>
}

export async function startWork(
  context: ProofContext,
  parts: Parts,
  gateways: readonly Gateway[],
  { callers = 6, rest, others }: WorkOptions = {},
): Promise<Work> {
  const acknowledged = nothingAcknowledged()
  const accounts: Account[] = []
  for (const name of ['alice', 'bob', 'carol']) accounts.push(await openAccount(gateways[0]!.url, name, acknowledged))
  const choose = chooseReady(gateways, context.random.fork('choice'))
  let isOver = false
  const working = runCallers(callers, () => isOver, {
    accounts,
    random: context.random.fork('callers'),
    choose,
    watchOf: () => ({}),
    acknowledged,
    rest,
  })

  const probes: Probe[] = []
  const prober = await openAccount(gateways[0]!.url, 'prober', acknowledged)
  const probe = async (call: Call) => {
    while (!isOver) {
      const begin = performance.now()
      const base = choose()
      if (base) {
        const { status } = await trySend(base, call, soonGivingUp)
        probes.push({ at: performance.now(), took: performance.now() - begin, status })
      }
      await delay(20)
    }
  }
  // Sends an update without changes, which is accepted without a commit.
  const unchanged = updateCall(prober, 'prober first')
  const probing = [
    probe({ method: 'GET', path: '/api/v3/auth/users/me/', token: prober.token }),
    probe({ ...unchanged, json: {}, key: '' }),
  ]

  context.afterwards(async () => {
    isOver = true
    await Promise.allSettled([working, ...probing])
  })

  return {
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
      reasons.push(...(await judgeDatabase(parts, acknowledged, others)), ...(await brokenInvariants(parts.database)))
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
