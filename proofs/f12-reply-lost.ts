/**
 * F12: the node accepts transactions but its responses are lost, gateways are killed in between, and nodes hide the status of sent
 * transactions. Every accepted commit is on the chain once, in the order of its asset.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { registrySetting } from '../src/chain/registry/registry.ts'
import { findSetting } from '../src/db/key-value-store.ts'
import { losesReplies, withoutReceipts, withoutTraces } from '../test/support/chain-faults.ts'
import { startChainProxy } from '../test/support/chain-proxy.ts'
import { until } from '../test/support/eventually.ts'
import { killAtChain } from './f03-crash-points.ts'
import { openCarelessAccount, sendCarelessly } from './harness/careless-relay.ts'
import { type ChainScene, openChainScene, readStatuses } from './harness/chain-scene.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { judgeNonces, readSent } from './harness/sent-transactions.ts'

/** Control: a relay that uses a new nonce after an error must be detected as sending commits twice. */
async function catchCareless(context: ProofContext, { parts, rpc }: ChainScene): Promise<string[]> {
  const [registry] = await parts.database.query(findSetting, { key: registrySetting(31337) })
  const sent: string[] = []
  const proxy = await startChainProxy(context.afterwards, parts.rpcUrl, sent)
  proxy.fault = losesReplies(context.random.fork('control'), 0.4, () => undefined)
  const wallet = await openCarelessAccount(rpc)
  const messages = Array.from({ length: 20 }, (_, index) => `careless ${index}`)
  await sendCarelessly(proxy.url, wallet, registry!.value, messages)
  const count = async () => Number(await rpc.call<string>('eth_getTransactionCount', wallet.address, 'latest'))
  const events = await until('the careless relay is through', async () => {
    const found = await count()
    return found > messages.length ? found : undefined
  })
  context.say(`control: a new nonce on error put ${events} events there for ${messages.length} commits`)
  return judgeNonces(await readSent(sent)).length > 0 ? [] : ['The control was not caught: nothing was signed twice.']
}

export async function proveReplyLost(context: ProofContext): Promise<ProofResult> {
  const commits = context.setting('COMMITS', 500)
  const replies = Math.floor(commits * 0.4)
  const seconds = context.setting('SECONDS', 75)
  const kills = context.setting('KILLS', 100)
  const scene = await openChainScene(context, { rest: 200 })
  const { parts, acknowledged, gateways, proxies } = scene
  const reasons: string[] = []

  let lost = 0
  scene.disturb(losesReplies(context.random.fork('replies'), 0.5, (count) => (lost += count)))
  await until('enough replies are lost', () => lost >= replies && acknowledged.commits.length >= commits, 600_000, 100)
  scene.disturb(undefined)
  const afterReplies = await scene.untilIncluded(120_000)
  context.say(
    `${lost} replies lost of ${acknowledged.commits.length} commits; all included ${afterReplies.toFixed(0)} ms after`,
  )

  for (const [name, fault] of [
    ['no receipts', withoutReceipts],
    ['no receipts and no events', withoutTraces],
  ] as const) {
    scene.disturb(fault)
    await delay(seconds * 1_000)
    const statuses = await readStatuses(parts)
    if (statuses.FAILED) reasons.push(`${statuses.FAILED} commits were given up with "${name}".`)
    scene.disturb(undefined)
    const took = await scene.untilIncluded(120_000)
    context.say(`${name} for ${seconds} s: ${JSON.stringify(statuses)}; all included ${took.toFixed(0)} ms after`)
  }

  for (let kill = 0; kill < kills; kill += 1) {
    const victim = await killAtChain('transaction broadcast, reply lost', { proxies, gateways })
    const restart = victim.start()
    // At least one gateway must be running before the next kill.
    if (gateways.every((gateway) => !gateway.isReady())) await restart
    else restart.catch(() => undefined)
    if ((kill + 1) % 10 === 0) context.say(`${kill + 1} of ${kills} kills`)
  }
  await until('both gateways are up', () => gateways.every((gateway) => gateway.isReady()), 60_000)

  // Requests to a gateway that is killed get no response (status 0).
  const judged = await scene.judgeAll([200, 0])
  reasons.push(...judged.reasons, ...judgeNonces(await readSent(scene.sent)))
  reasons.push(...(await catchCareless(context, scene)))
  return conclude({
    figure: `${judged.lost} lost, ${judged.double} double; ${lost} replies lost, ${kills} kills; ${judged.lines} lines logged`,
    n: acknowledged.commits.length,
    faultsInjected: lost + kills + 2,
    reasons,
  })
}
