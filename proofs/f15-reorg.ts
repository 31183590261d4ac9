/**
 * F15: the chain loses blocks and drops their transactions, nodes behind the same address are behind the others, and at last the chain
 * is thrown away. Everything is included again, nothing is final too early or twice, and a node that is behind takes nothing back.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { int, statement } from '../src/domain/sql.ts'
import { lagging } from '../test/support/chain-faults.ts'
import { until } from '../test/support/eventually.ts'
import { openChainScene } from './harness/chain-scene.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { judgeNonces, readSent } from './harness/sent-transactions.ts'
import { createStatusWatch, watchStatuses } from './harness/status-watch.ts'

const CONFIRMATIONS = 12
const DEPTHS = [1, 2, 4, 11]
/** Milliseconds from the loss of blocks to the inclusion of what they held. */
const BACK = 30_000

const countAbove = statement(
  'proof_above',
  { parameters: { block: int }, columns: { count: int } },
  `select count(*)::int as count from commit_relays where status = 'INCLUDED' and block_number > $block`,
)

/** The control: who calls the first receipt final must be seen to call so what is gone. */
function isControlCaught(): boolean {
  const careless = createStatusWatch(CONFIRMATIONS)
  careless.see([{ id: 'control', status: 'FINAL', block: 100 }], 100)
  careless.see([{ id: 'control', status: 'BROADCAST', block: null }], 100)
  return careless.early === 1 && careless.withdrawn === 1
}

export async function proveReorg(context: ProofContext): Promise<ProofResult> {
  const commits = context.setting('COMMITS', 100)
  const rounds = context.setting('ROUNDS', 2)
  const seconds = context.setting('SECONDS', 60)
  const scene = await openChainScene(context, { rest: 200, env: { CHAIN_CONFIRMATIONS: String(CONFIRMATIONS) } })
  const { parts, rpc, acknowledged } = scene
  const watch = createStatusWatch(CONFIRMATIONS)
  const stopWatching = watchStatuses(context, parts, rpc, watch)
  const reasons: string[] = []
  const backs: number[] = []

  const depths = Array.from({ length: rounds }, () => DEPTHS).flat()
  for (const depth of context.random.fork('depths').shuffle(depths)) {
    const goal = acknowledged.commits.length + Math.ceil(commits / DEPTHS.length)
    await until('callers work', () => acknowledged.commits.length >= goal, 120_000)
    // The registry's own block stays, and something is lost.
    await until('the newest blocks hold commits', async () => {
      const newest = Number(await rpc.call<string>('eth_blockNumber'))
      if (newest < depth + 5) return undefined
      return (await parts.database.query(countAbove, { block: newest - depth }))[0]!.count > 0
    })
    const before = watch.displaced
    await rpc.call('anvil_reorg', depth, [])
    const took = await scene.untilIncluded(4 * BACK)
    backs.push(took)
    context.say(`${depth} blocks lost: ${watch.displaced - before} commits displaced, ${took.toFixed(0)} ms`)
    if (watch.displaced === before) reasons.push(`Nothing was lost with ${depth} blocks: the run is invalid.`)
    if (took > BACK) reasons.push(`After ${depth} blocks were lost it took ${took.toFixed(0)} ms.`)
  }
  if (watch.withdrawn > 0) reasons.push(`${watch.withdrawn} final commits were taken back.`)

  const random = context.random.fork('lag')
  const whole = () => CONFIRMATIONS + 8
  for (const [name, behind, share] of [
    ['one node of two is up to 20 blocks behind', () => 1 + random.below(whole()), 0.5],
    ['the node is 20 blocks behind', whole, 1],
  ] as const) {
    const before = { displaced: watch.displaced, withdrawn: watch.withdrawn }
    scene.disturb(lagging(random, behind, share))
    await delay(seconds * 1_000)
    scene.disturb(undefined)
    const took = await scene.untilIncluded(4 * BACK)
    backs.push(took)
    const displaced = watch.displaced - before.displaced
    const withdrawn = watch.withdrawn - before.withdrawn
    context.say(`${name}: ${displaced} displaced, ${withdrawn} withdrawn; all included ${took.toFixed(0)} ms after`)
    if (displaced + withdrawn > 0) reasons.push(`${displaced + withdrawn} commits were taken back while ${name}.`)
    if (took > BACK) reasons.push(`After ${name} it took ${took.toFixed(0)} ms.`)
  }
  if (watch.early > 0) reasons.push(`${watch.early} commits were final before ${CONFIRMATIONS} blocks lay on top.`)
  await stopWatching()

  const lost = acknowledged.commits.length
  await parts.resetChain()
  const took = await scene.untilIncluded(8 * BACK)
  context.say(`the chain was thrown away with ${lost} commits; the newest were there ${took.toFixed(0)} ms after`)

  const judged = await scene.judgeAll()
  reasons.push(...judged.reasons, ...judgeNonces(await readSent(scene.sent)))
  if (!isControlCaught()) reasons.push('The control was not caught: final at the first receipt.')
  return conclude({
    figure: `${watch.displaced} displaced, included again at most ${(Math.max(...backs) / 1_000).toFixed(1)} s after; ${watch.early} final too early, ${watch.withdrawn} taken back; ${judged.lines} lines logged`,
    n: acknowledged.commits.length,
    faultsInjected: depths.length + 3,
    reasons,
  })
}
