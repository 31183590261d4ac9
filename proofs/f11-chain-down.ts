/**
 * F11: the chain node refuses connections, hangs, limits requests, returns HTML, or is on another chain. Updates are still accepted. All
 * commits are included soon after recovery, and nothing is signed for the wrong chain.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createRpc } from '../src/chain/rpc.ts'
import { hangs, html, onChain, tooMany } from '../test/support/chain-faults.ts'
import type { Fault } from '../test/support/chain-proxy.ts'
import { type ChainScene, openChainScene } from './harness/chain-scene.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Maximum time from recovery to the inclusion of the last commit, in milliseconds. */
const BACK = 60_000
/** Time for requests in flight to notice the fault, in milliseconds. */
const NOTICE = 5_000

const outages: [name: string, fault: Fault | 'refused'][] = [
  ['refused', 'refused'],
  ['hangs', hangs],
  ['429', tooMany],
  ['HTML', html],
  ['another chain', onChain(1)],
]

/** Control: a server that calls the chain before it responds must be detected as unavailable. */
async function askFirst(url: string): Promise<boolean> {
  return createRpc({ url, timeout: 2_000 })
    .call<string>('eth_chainId')
    .then(
      (id) => Number(id) === 31337,
      () => false,
    )
}

async function sufferOutage(
  { proxies, sent, acknowledged, disturb, untilIncluded }: ChainScene,
  fault: Fault | 'refused',
  seconds: number,
) {
  const faults = proxies.reduce((sum, proxy) => sum + proxy.faults, 0)
  if (fault === 'refused') await Promise.all(proxies.map((proxy) => proxy.close()))
  else disturb(fault)
  await delay(NOTICE)
  const before = { accepted: acknowledged.commits.length, sent: sent.length }
  const isControlCaught = !(await askFirst(proxies[0]!.url))
  await delay(seconds * 1_000 - NOTICE)
  const during = { accepted: acknowledged.commits.length - before.accepted, sent: sent.length - before.sent }
  if (fault === 'refused') await Promise.all(proxies.map((proxy) => proxy.open()))
  else disturb(undefined)
  const struck = fault === 'refused' ? 1 : proxies.reduce((sum, proxy) => sum + proxy.faults, 0) - faults
  return { ...during, isControlCaught, struck, back: await untilIncluded(2 * BACK) }
}

export async function proveChainDown(context: ProofContext): Promise<ProofResult> {
  const seconds = Math.max(context.setting('SECONDS', 60), 10)
  const scene = await openChainScene(context)
  const reasons: string[] = []
  const backs: number[] = []
  for (const [name, fault] of context.random.fork('outages').shuffle(outages)) {
    await delay(3_000)
    const { accepted, sent, isControlCaught, struck, back } = await sufferOutage(scene, fault, seconds)
    context.say(
      `${name}: ${accepted} commits accepted, ${struck} requests struck, ${(back / 1_000).toFixed(1)} s after`,
    )
    backs.push(back)
    if (struck === 0) reasons.push(`Nobody met "${name}": the run is invalid.`)
    if (accepted < seconds / 2) reasons.push(`While the chain "${name}" only ${accepted} commits were accepted.`)
    if (sent > 0) reasons.push(`While the chain "${name}" ${sent} transactions were sent.`)
    if (back > BACK) reasons.push(`After "${name}" it took ${back.toFixed(0)} ms until all was included.`)
    if (!isControlCaught) reasons.push(`The control was not caught: a door that asks the chain first, with "${name}".`)
  }
  const { probes, acknowledged } = scene
  const longest = Math.max(...probes.map(({ took }) => took))
  const judged = await scene.judgeAll()
  reasons.push(...judged.reasons)
  return conclude({
    figure: `all included at most ${(Math.max(...backs) / 1_000).toFixed(1)} s after the return; longest answer ${longest.toFixed(0)} ms; ${judged.lines} lines logged`,
    n: acknowledged.commits.length,
    faultsInjected: outages.length,
    reasons,
  })
}
