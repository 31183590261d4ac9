/**
 * F14: the base fee rises tenfold after transactions were sent. They are replaced at the same nonces with both fees raised by at least 10
 * %, and are mined soon. No fee exceeds the operator's cap.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { quantity } from '../src/chain/rpc.ts'
import { int, numeric, orNull, statement } from '../src/db/sql.ts'
import { until } from '../test/support/eventually.ts'
import { type ChainScene, openChainScene } from './harness/chain-scene.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { judgeReplacements, readSent } from './harness/sent-transactions.ts'

const GWEI = 1_000_000_000n
const CAP = 100n
/** Maximum time from the rise of the base fee to the inclusion of earlier transactions, in milliseconds. */
const BACK = 60_000
/** Maximum time to send enough transactions, even on a busy machine, in milliseconds. */
const SENDING = 300_000

/** Counts the sent transactions. A transaction may carry several commits. */
const countSent = statement(
  'proof_sent',
  { columns: { count: int } },
  `select count(distinct (lane, nonce))::int as count from commit_relays where status = 'BROADCAST'`,
)
const highestOffer = statement(
  'proof_offer',
  { columns: { fee: orNull(numeric) } },
  `select max(t.max_fee_per_gas) as fee from chain_transactions t join commit_relays r using (commit_id)
   where r.status = 'BROADCAST'`,
)

/** Mines one block per second with this base fee, until `stop`. */
function holdBaseFee({ rpc }: ChainScene, fee: bigint) {
  let isOver = false
  const holding = (async () => {
    while (!isOver) {
      await rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(fee))
      await rpc.call('evm_mine')
      await delay(1_000)
    }
  })()
  return async () => {
    isOver = true
    await holding
  }
}

/** Control: replacements that raise the fee by only 5 %, or above the cap, must be detected. */
function isControlCaught([first]: Awaited<ReturnType<typeof readSent>>): boolean {
  const { maxFee, tip } = first!
  const careless = [first!, { ...first!, hash: '0x', maxFee: (maxFee * 105n) / 100n, tip: (tip * 105n) / 100n }]
  return (
    judgeReplacements(careless, CAP * GWEI).reasons.length > 0 && judgeReplacements([first!], 1n).reasons.length > 0
  )
}

export async function proveStuckFee(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 5)
  const scene = await openChainScene(context, { env: { CHAIN_MAX_FEE_GWEI: String(CAP) } })
  const { rpc, parts } = scene
  const reasons: string[] = []
  const backs: number[] = []
  // Sends as fast as the callers can. Nothing is checked yet.
  const untilEnough = () =>
    until('enough is sent and waits', async () => (await parts.database.query(countSent))[0]!.count >= 30, SENDING)
  const mine = (seconds: number) => parts.blocks.every(seconds * 1_000)
  const calm = async () => {
    await rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(GWEI))
    await rpc.call('evm_mine')
  }

  for (let round = 0; round < rounds; round += 1) {
    await mine(0)
    await untilEnough()
    const offer = BigInt((await parts.database.query(highestOffer))[0]!.fee!)
    // Ten times the previous base fee, because an offer is twice the base fee plus a tip.
    const fee = offer * 5n
    const stop = holdBaseFee(scene, fee)
    const took = await scene.untilIncluded(2 * BACK)
    await stop()
    backs.push(took)
    context.say(
      `round ${round + 1}: ${fee} wei for what was offered ${offer}; all included after ${took.toFixed(0)} ms`,
    )
    if (took > BACK) reasons.push(`It took ${took.toFixed(0)} ms until all was included.`)
    await calm()
    await mine(1)
    await scene.untilIncluded(BACK)
  }

  // Above the cap: sent transactions wait, and nothing is sent above the cap. Sending resumes when the fee falls.
  await mine(0)
  await untilEnough()
  const stop = holdBaseFee(scene, 2n * CAP * GWEI)
  await delay(15_000)
  const waiting = (await parts.database.query(countSent))[0]!.count
  await stop()
  if (waiting < 30) reasons.push('Something was included although the base fee was above the cap: the run is invalid.')
  await calm()
  await mine(1)
  backs.push(await scene.untilIncluded(BACK))

  const judged = await scene.judgeAll()
  const sent = await readSent(scene.sent)
  const { count, highest, reasons: found } = judgeReplacements(sent, CAP * GWEI)
  reasons.push(...judged.reasons, ...found)
  if (count < 30 * rounds) reasons.push(`Only ${count} transactions were offered anew: the run is invalid.`)
  if (!isControlCaught(sent)) reasons.push('The control was not caught: offers that hardly rise.')
  return conclude({
    figure: `${count} replaced at their nonces, at most ${highest / GWEI} of ${CAP} gwei, mined at most ${(Math.max(...backs) / 1_000).toFixed(1)} s after; ${judged.lines} lines logged`,
    n: scene.acknowledged.commits.length,
    faultsInjected: rounds + 1,
    reasons,
  })
}
