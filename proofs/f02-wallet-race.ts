/**
 * F02: a wallet that can pay for 100 orders receives 200 concurrent confirms, over REST and GraphQL of two gateways. Exactly 100 orders are
 * paid and the wallet is empty. If asset updates compete for the same money, every unit is accounted for.
 */
import { add, fromUnits, toUnits } from '../src/shared/money.ts'
import { trySend } from '../test/support/http-client.ts'
import { registerCall, updateCall } from './harness/callers.ts'
import { createCarelessConfirm } from './harness/careless-confirm.ts'
import { ask } from './harness/client.ts'
import { countVerdicts, judgeStandings, type Outcome, readStandings, storm, unexpected } from './harness/confirms.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { closeStore, fillWallet, openStore, readWallet, type Store } from './harness/store.ts'

/** Maximum response time, in milliseconds. */
const LIMIT = 3_000
const orders = 200
const payable = 100
const updates = 20
/** An odd price, so that any rounding error is visible. */
const price = '2.500000000000000001'
const updateCost = '0.179'

const times = (amount: string, count: number) => fromUnits(toUnits(amount) * BigInt(count))

/** Returns balances whose points end within one price, so that one order is paid with both currencies. */
const funds = (total: string) => ({ points: '101.3', num: fromUnits(toUnits(total) - toUnits('101.3')) })

export async function proveWalletRace(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  const store = await openStore(context, parts, { price })
  const random = context.random.fork('race')
  const nids = await registerAssets(store)
  const [pureIds, mixedIds, controlIds] = [
    await store.order(orders),
    await store.order(orders),
    await store.order(orders),
  ]

  await fillWallet(parts.database, store.buyer.id, funds(times(price, payable)))
  const pure = await storm(store, random, pureIds)
  const reasons = await judgePure(parts, store, pureIds, pure.outcomes)
  if (pure.duration > LIMIT)
    reasons.push(`${orders} confirms took ${Math.round(pure.duration)} ms, ${LIMIT} are allowed.`)
  if (pure.atOnce < orders / 2) reasons.push(`Only ${pure.atOnce} confirms were under way at once: the run is invalid.`)
  context.say(`verdicts: ${JSON.stringify(countVerdicts(pure.outcomes))} in ${Math.round(pure.duration)} ms`)

  const start = add(times(price, payable), times(updateCost, updates))
  await fillWallet(parts.database, store.buyer.id, funds(start))
  const racing = storm(store, random, mixedIds)
  const updating = Promise.all(nids.map((nid, index) => update(store, nid, index)))
  const [mixed, updated] = [await racing, await updating]
  reasons.push(...(await judgeMixed(parts, store, start, mixedIds, mixed.outcomes, updated)))
  context.say(`mixed: ${JSON.stringify({ orders: countVerdicts(mixed.outcomes), updates: count(updated) })}`)

  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchCareless(context, parts, store, controlIds)))
  const paid = countVerdicts(pure.outcomes).paid ?? 0
  return conclude({
    figure: `${paid} of ${orders} paid in ${Math.round(pure.duration)} ms`,
    n: orders * 2 + updates,
    faultsInjected: pure.atOnce + mixed.atOnce + updates,
    reasons,
  })
}

/** Registers one asset of the buyer per update, because updates of the same asset would wait for each other. */
async function registerAssets({ gateways, buyer }: Store): Promise<string[]> {
  const nids: string[] = []
  for (let index = 0; index < updates; index += 1) {
    const call = registerCall(buyer.token, `raced ${index}`)
    nids.push((await ask<{ id: string }>(gateways[index % 2]!.url, call, 201)).id)
  }
  return nids
}

/** Updates an asset. Returns `done`, or the error type. */
async function update({ gateways, buyer }: Store, nid: string, index: number): Promise<string> {
  const call = updateCall({ token: buyer.token, nid }, `race ${index}`)
  const { status, body } = await trySend(gateways[index % 2]!.url, call)
  if (status === 200) return 'done'
  return (body as { error?: { type: string } } | undefined)?.error?.type ?? `status ${status}`
}

const count = (all: readonly string[]) => countVerdicts(all.map((verdict) => ({ verdict }) as Outcome))

/** Checks both variants: the number of paid orders and their cost match the responses. */
async function judgeOrders(parts: Parts, orderIds: readonly string[], outcomes: readonly Outcome[]) {
  const standings = await readStandings(parts.database, orderIds)
  const paid = new Set(outcomes.filter(({ verdict }) => verdict === 'paid').map(({ orderId }) => orderId)).size
  const charged = add(...standings.map((standing) => standing.charged))
  const found = standings.filter(({ charges }) => charges > 0).length
  const reasons = [...unexpected(outcomes, ['paid', 'insufficient_fund']), ...judgeStandings(standings, 0)]
  if (found !== paid) reasons.push(`${paid} orders were told to be paid, ${found} are.`)
  return { reasons, paid, charged }
}

async function judgePure(parts: Parts, { buyer }: Store, orderIds: readonly string[], outcomes: readonly Outcome[]) {
  const { reasons, paid, charged } = await judgeOrders(parts, orderIds, outcomes)
  const { points, num } = await readWallet(parts.database, buyer.id)
  if (paid !== payable) reasons.push(`${paid} orders were paid, the wallet pays for ${payable}.`)
  if (toUnits(charged) !== toUnits(times(price, payable))) reasons.push(`${charged} was charged.`)
  if (toUnits(points) !== 0n || toUnits(num) !== 0n) reasons.push(`${points} points and ${num} are left.`)
  return reasons
}

async function judgeMixed(
  parts: Parts,
  { buyer }: Store,
  start: string,
  orderIds: readonly string[],
  outcomes: readonly Outcome[],
  updated: readonly string[],
) {
  const { reasons, paid, charged } = await judgeOrders(parts, orderIds, outcomes)
  const { points, num } = await readWallet(parts.database, buyer.id)
  const left = toUnits(add(points, num))
  const done = updated.filter((verdict) => verdict === 'done').length
  const strange = updated.filter((verdict) => !['done', 'asset_commit_insufficient_fund'].includes(verdict))
  if (strange.length) reasons.push(`${strange.length} updates were answered with "${strange[0]}".`)
  const spent = add(charged, times(updateCost, done))
  if (toUnits(start) - left !== toUnits(spent))
    reasons.push(`${spent} was charged, ${fromUnits(toUnits(start) - left)} left.`)
  if (toUnits(points) < 0n || toUnits(num) < 0n) reasons.push('A balance is below zero.')
  // The balance only decreases here. So the remaining balance must be too low for any rejected order.
  if (paid < orders && left >= toUnits(price)) reasons.push(`An order was refused though ${fromUnits(left)} is left.`)
  if (done < updates && left >= toUnits(updateCost))
    reasons.push(`An update was refused though ${fromUnits(left)} is left.`)
  return reasons
}

/** Control: a confirm that reads, checks and writes in separate steps must be detected as paying for too many orders. */
async function catchCareless({ say }: ProofContext, parts: Parts, store: Store, orderIds: readonly string[]) {
  await fillWallet(parts.database, store.buyer.id, funds(times(price, payable)))
  const careless = await createCarelessConfirm(parts.databaseUrl)
  const outcomes = await Promise.all(orderIds.map((id) => careless.confirm(id)))
  await careless.close()
  const found = await judgePure(parts, store, orderIds, outcomes)
  say(`control: reading, checking and writing paid ${countVerdicts(outcomes).paid} orders of ${payable}`)
  return found.some((reason) => reason.includes('were paid'))
    ? []
    : ['The control was not caught: it paid for as many as there is money.']
}
