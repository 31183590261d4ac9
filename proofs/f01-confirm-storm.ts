/**
 * F01: one order is confirmed 200 times concurrently, over REST and GraphQL of two gateways on one database. This is repeated for many
 * orders. Each order is charged once, its seller is notified once, and every caller gets the same response.
 */
import { until } from '../test/support/eventually.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { createCarelessConfirm } from './harness/careless-confirm.ts'
import {
  countVerdicts,
  differingBodies,
  judgeStandings,
  type Outcome,
  readStandings,
  storm,
  unexpected,
} from './harness/confirms.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { closeStore, openStore } from './harness/store.ts'

/** Maximum 99th percentile of the response time, in milliseconds. */
const P99 = 1_000

export async function proveConfirmStorm(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 20)
  const confirms = context.setting('CONFIRMS', 200)
  const parts = await startParts(context)
  const receiver = await startReceiver(context.afterwards)
  const insecure = { ALLOW_INSECURE_WEBHOOKS: 'true' }
  const store = await openStore(context, parts, {
    price: '2.5',
    webhookUrl: receiver.url,
    gateways: [insecure, insecure],
  })

  const reasons: string[] = []
  const outcomes: Outcome[] = []
  const random = context.random.fork('storm')
  const orderIds = await store.order(rounds)
  const controlIds = await store.order(1)
  let rivals = 0
  for (const [round, id] of orderIds.entries()) {
    const all = await storm(store, random, Array<string>(confirms).fill(id))
    outcomes.push(...all.outcomes)
    rivals += all.atOnce - 1
    if (all.atOnce < confirms / 2)
      reasons.push(`Round ${round} had only ${all.atOnce} confirms at once: it is invalid.`)
  }
  await until('every order is delivered', async () =>
    (await readStandings(parts.database, orderIds)).every(({ status }) => status === 'SUCCESS'),
  )
  reasons.push(...(await judge(parts, orderIds, outcomes)))
  const heard = new Set(receiver.calls.map(({ id }) => id)).size
  if (heard !== rounds) reasons.push(`${heard} different webhooks were heard, not ${rounds}.`)
  const p99 = percentile(outcomes, 0.99)
  if (p99 > P99) reasons.push(`The slowest hundredth took ${Math.round(p99)} ms, ${P99} are allowed.`)
  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  context.say(`verdicts: ${JSON.stringify(countVerdicts(outcomes))}; ${heard} webhooks were heard`)

  const standings = await readStandings(parts.database, orderIds)
  const charges = standings.reduce((sum, standing) => sum + standing.charges, 0)
  reasons.push(...(await catchCareless(context, parts, controlIds, confirms)))
  return conclude({
    figure: `${charges} charges for ${rounds} orders, p99 ${Math.round(p99)} ms`,
    n: outcomes.length,
    faultsInjected: rivals,
    reasons,
  })
}

/** Checks that every order is paid once, and that no caller got an unexpected response. */
async function judge(parts: Parts, orderIds: readonly string[], outcomes: readonly Outcome[]): Promise<string[]> {
  const standings = await readStandings(parts.database, orderIds)
  const unpaid = standings.filter(({ charges }) => charges === 0)
  return [
    ...unexpected(outcomes, ['paid', 'conflict']),
    ...differingBodies(outcomes),
    ...judgeStandings(standings, 1),
    ...(unpaid.length ? [`${unpaid.length} orders were not paid at all.`] : []),
  ]
}

/** Control: a confirm that reads, checks and writes in separate steps must be detected as charging more than once. */
async function catchCareless(
  { say }: ProofContext,
  parts: Parts,
  orderIds: readonly string[],
  confirms: number,
): Promise<string[]> {
  const careless = await createCarelessConfirm(parts.databaseUrl)
  // No caller writes before two have read. Otherwise a fast machine could finish the first confirm before the second begins.
  const { promise: twoHaveRead, resolve } = Promise.withResolvers<void>()
  let writers = 0
  const turn = async (statement: string) => {
    if (!statement.includes(': update wallets')) return
    writers += 1
    if (writers === 2) resolve()
    await twoHaveRead
  }
  const outcomes = await Promise.all(Array.from({ length: confirms }, () => careless.confirm(orderIds[0]!, turn)))
  await careless.close()
  const [standing] = await readStandings(parts.database, orderIds)
  const found = await judge(parts, orderIds, outcomes)
  say(`control: reading, checking and writing gave ${standing?.charges} charges for one order`)
  return standing!.charges > 1 && found.length > 0
    ? []
    : ['The control was not caught: a careless confirm charged once.']
}
