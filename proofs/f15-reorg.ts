/**
 * F15: the chain loses blocks and drops their transactions, some nodes behind one address lag, and finally the chain is reset. All commits
 * are included again. No commit is final too early or twice, and a lagging node causes no rollback.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { quantity, resultOf } from '../src/chain/rpc.ts'
import { readBlockHashes } from '../src/chain/view.ts'
import { lagging } from '../test/support/chain-faults.ts'
import { until } from '../test/support/eventually.ts'
import { type ChainScene, openChainScene, readStatuses } from './harness/chain-scene.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { judgeNonces, readSent } from './harness/sent-transactions.ts'
import { createStatusWatch, watchStatuses } from './harness/status-watch.ts'

const CONFIRMATIONS = 12
const DEPTHS = [1, 2, 4, 11]
/** Maximum time from the loss of blocks to the inclusion of their commits, in milliseconds. */
const BACK = 30_000

interface Block {
  number: string
  hash: string
  transactions: string[]
}

/**
 * Drops the newest blocks as soon as they contain commits. Returns the number of dropped transactions. After the registry is deployed, only
 * the gateways send transactions. The block of the registry is kept.
 */
async function loseBlocks({ rpc, parts }: ChainScene, depth: number): Promise<number> {
  let seen: object = {}
  const attempt = async () => {
    const newest = Number(await rpc.call<string>('eth_blockNumber'))
    if (newest < depth + 5) return undefined
    const outcomes = await rpc.batch(
      Array.from({ length: depth }, (_, index) => ({
        method: 'eth_getBlockByNumber',
        params: [quantity(newest - index), false],
      })),
    )
    const held = outcomes
      .map((outcome) => resultOf<Block>(outcome))
      .filter(({ transactions }) => transactions.length > 0)
    seen = { newest, held: held.length, statuses: await readStatuses(parts) }
    if (held.length === 0) return undefined
    await rpc.call('anvil_reorg', depth, [])
    const now = await readBlockHashes(
      rpc,
      held.map(({ number }) => Number(number)),
    )
    const gone = held.filter(({ number, hash }) => now.get(Number(number)) !== hash)
    return gone.flatMap(({ transactions }) => transactions).length || undefined
  }
  return until(
    () => `the newest ${depth} blocks hold commits; last seen: ${JSON.stringify(seen)}`,
    () => parts.blocks.change(attempt),
  )
}

/** Control: a watcher that treats the first receipt as final must be detected. */
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
    const before = watch.displaced
    const transactions = await loseBlocks(scene, depth)
    const took = await scene.untilIncluded(4 * BACK)
    backs.push(took)
    context.say(
      `${depth} blocks lost: ${transactions} transactions, ${watch.displaced - before} commits displaced, ${took.toFixed(0)} ms`,
    )
    if (took > BACK) reasons.push(`After ${depth} blocks were lost it took ${took.toFixed(0)} ms.`)
  }
  if (watch.displaced === 0) reasons.push('No commit was displaced: the run is invalid.')
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
