/** Two gateways, each with its own faulty proxy to the chain, and callers under load. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRpc, type Rpc } from '../../src/chain/rpc.ts'
import { int, orNull, statement, text } from '../../src/db/sql.ts'
import { developmentKey } from '../../src/embedded/embedded-anvil.ts'
import { type ChainProxy, type Fault, startChainProxy } from '../../test/support/chain-proxy.ts'
import { until } from '../../test/support/eventually.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { type Parts, startParts } from './parts.ts'
import type { ProofContext } from './proof.ts'
import { startWork, type Work, type WorkOptions } from './work.ts'

/** Private key of Anvil's second account. It is publicly known. */
export const secondKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

export interface ChainScene extends Work {
  parts: Parts
  /** Direct connection to the node. */
  rpc: Rpc
  gateways: Gateway[]
  proxies: ChainProxy[]
  /** All transactions that the gateways sent, in order. */
  sent: readonly string[]
  /** Applies a fault to the proxies of both gateways. Undefined ends the fault. */
  disturb(fault: Fault | undefined): void
  /** Waits until all commits accepted so far are included, and returns the time in milliseconds. Throws after `longest` milliseconds. */
  untilIncluded(longest: number): Promise<number>
  /** Checks the final state and the logs. `allowed`: allowed statuses of probes. Defaults to 200 only. */
  judgeAll(allowed?: readonly number[]): Promise<{ reasons: string[]; lost: number; double: number; lines: number }>
}

export interface ChainSceneOptions extends WorkOptions {
  env?: Record<string, string>
}

const findNewest = statement(
  'proof_newest',
  { columns: { id: orNull(text) } },
  'select max(commit_id::text) as id from commit_relays',
)
const countWaiting = statement(
  'proof_waiting_until',
  { parameters: { newest: orNull(text) }, columns: { count: int } },
  `select count(*)::int as count from commit_relays where status in ('PENDING', 'BROADCAST') and commit_id::text <= $newest`,
)
const countByStatus = statement(
  'proof_by_status',
  { columns: { status: text, count: int } },
  'select status::text, count(*)::int as count from commit_relays group by 1',
)

export const readStatuses = async ({ database }: Parts): Promise<Record<string, number>> =>
  Object.fromEntries((await database.query(countByStatus)).map(({ status, count }) => [status, count]))

export async function openChainScene(context: ProofContext, options: ChainSceneOptions = {}): Promise<ChainScene> {
  const parts = await startParts(context)
  const proxies: ChainProxy[] = []
  const sent: string[] = []
  const gateways: Gateway[] = []
  for (const name of ['gateway-0', 'gateway-1']) {
    const proxy = await startChainProxy(context.afterwards, parts.rpcUrl, sent)
    const env = {
      ...parts.env,
      CHAIN_RELAY_KEYS: `${developmentKey},${secondKey}`,
      CHAIN_RPC_URL: proxy.url,
      ...options.env,
    }
    proxies.push(proxy)
    gateways.push(await createGateway(context, name, env))
  }
  // Start one after the other, because the first gateway writes data that both need.
  for (const gateway of gateways) await gateway.start()
  const work = await startWork(context, parts, gateways, { callers: 3, rest: 300, ...options })

  const untilIncluded = async (longest: number) => {
    const begin = performance.now()
    const [newest] = await parts.database.query(findNewest)
    await until(
      'everything that was accepted is included',
      async () => (await parts.database.query(countWaiting, { newest: newest!.id }))[0]!.count === 0,
      longest,
      50,
    )
    return performance.now() - begin
  }

  return {
    ...work,
    parts,
    rpc: createRpc({ url: parts.rpcUrl }),
    gateways,
    proxies,
    sent,
    disturb(fault) {
      for (const proxy of proxies) proxy.fault = fault
    },
    untilIncluded,
    async judgeAll(allowed = [200]) {
      const judged = await work.judge(allowed)
      const refunded = (await readStatuses(parts)).FAILED ?? 0
      if (refunded > 0) judged.reasons.push(`${refunded} commits were given up.`)
      const log = await readLog(context, gateways)
      const commits = work.acknowledged.commits.length
      for (const [message, count] of [...log].slice(0, 8)) context.say(`log: ${count} × ${message}`)
      const lines = [...log.values()].reduce((sum, count) => sum + count, 0)
      if (lines > commits) judged.reasons.push(`${lines} lines were logged for ${commits} commits.`)
      return { ...judged, lines }
    },
  }
}

/** Counts the log lines per message, the most frequent first. Request lines are not counted. */
async function readLog({ dir }: ProofContext, gateways: readonly Gateway[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { name } of gateways) {
    for (const line of (await readFile(join(dir, `${name}.log`), 'utf8')).split('\n')) {
      // Lines that are not JSON belong to the start-up banner.
      if (!line.startsWith('{')) continue
      const { msg: message } = JSON.parse(line) as { msg: string }
      if (message === 'Request completed') continue
      counts.set(message, (counts.get(message) ?? 0) + 1)
    }
  }
  return new Map([...counts].sort(([, a], [, b]) => b - a))
}
