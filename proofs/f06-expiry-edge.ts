/**
 * F06: orders are confirmed just before, at and just after their 15-minute deadline. Confirms compete with the expiry job, and wait for row
 * locks until after the deadline. The clocks of the gateways are wrong by 10 minutes. No order is paid at or after its deadline.
 */
import pg from 'pg'
import { int, statement, text } from '../src/db/sql.ts'
import { expireOrdersStatement } from '../src/modules/store/expire-orders.ts'
import { payOrder } from '../src/modules/store/orders.sql.ts'
import { until } from '../test/support/eventually.ts'
import { createCarelessConfirm } from './harness/careless-confirm.ts'
import {
  confirmOnce,
  countVerdicts,
  judgeStandings,
  type Outcome,
  readStandings,
  unexpected,
} from './harness/confirms.ts'
import { callWitness, judgeEdges, moveDeadline, readClockShift, readEdges, sleepUntil } from './harness/edge.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { judgeStatements } from './harness/statements.ts'
import { closeStore, openStore, orderUuid, type Store } from './harness/store.ts'

/** Clock errors of the two gateways, in milliseconds. */
const shifts = [600_000, -600_000]
/** Times of the confirms relative to the deadline, in seconds: 14:59.9, 15:00.0 and 15:00.1. */
const moments = [-0.1, 0, 0.1]
const racing = 200

interface Scene {
  context: ProofContext
  parts: Parts
  store: Store
}

export async function proveExpiryEdge(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 5)
  const parts = await startParts(context)
  const preload = new URL('./harness/shifted-clock.ts', import.meta.url)
  const gateways = shifts.map((shift) => ({
    NODE_OPTIONS: `--import=${preload}`,
    CLOCK_SHIFT: String(shift),
    LOG_LEVEL: 'info',
  }))
  const store = await openStore(context, parts, { price: '2.5', gateways })
  await callWitness(parts.database)
  const scene = { context, parts, store }

  const ids: string[] = []
  const reasons: string[] = []
  let faults = 0
  for (const moment of moments) {
    const tried = await tryMoment(scene, moment, rounds)
    ids.push(...tried.ids)
    faults += tried.ids.length
    reasons.push(...tried.reasons)
  }
  for (const row of ['orders', 'wallets'] as const) {
    const held = await store.order(8)
    const outcomes = await holdOver(scene, row, held, (id, index) => confirm(store, id, index))
    context.say(`held over the end by ${row}: ${JSON.stringify(countVerdicts(outcomes))}`)
    ids.push(...held)
    faults += held.length
    reasons.push(...unexpected(outcomes, ['order_expired']).map((text) => `Held by ${row}: ${text}`))
  }
  const race = await raceSweeper(scene)
  ids.push(...race.ids)
  faults += race.ids.length
  reasons.push(...race.reasons)

  const controls = [await store.order(8), await store.order(8), await store.order(8)]
  reasons.push(...(await judge(parts, ids)), ...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await judgeStatements(parts.database)))
  for (const [index, shift] of shifts.entries()) {
    const found = await readClockShift(context.dir, `gateway-${index}`)
    if (found === undefined || Math.abs(found - shift) > 60_000) {
      reasons.push(`The clock of gateway-${index} is ahead by ${found} ms, not ${shift}: the run is invalid.`)
    }
  }
  reasons.push(...(await catchClocks(scene, controls)))

  const edges = await readEdges(parts.database, ids)
  const late = edges.filter(({ isPaid, inTime, beganInTime }) => isPaid && !(inTime && beganInTime)).length
  const paid = edges.filter(({ isPaid }) => isPaid)
  const lag = Math.max(...paid.map((edge) => edge.lag))
  context.say(`${paid.length} paid, written at most ${lag.toFixed(1)} ms after the moment they tell`)
  return conclude({ figure: `${late} of ${ids.length} paid late`, n: ids.length, faultsInjected: faults, reasons })
}

/** Confirms an order. The index alternates between the two gateways and between REST and GraphQL. */
const confirm = (store: Store, id: string, index: number) =>
  confirmOnce(store, index % 2 ? 'REST' : 'GraphQL', (index >> 1) % 2, id)

const judge = async ({ database }: Parts, ids: readonly string[]) => [
  ...judgeEdges(await readEdges(database, ids)),
  ...judgeStandings(await readStandings(database, ids), 0),
]

/** Confirms several orders at the same time relative to their deadlines. */
async function tryMoment({ context, parts, store }: Scene, moment: number, rounds: number) {
  const ids: string[] = []
  const outcomes: Outcome[] = []
  for (let round = 0; round < rounds; round += 1) {
    const each = await store.order(8)
    const deadline = await moveDeadline(parts.database, each, 1)
    await sleepUntil(parts.database, deadline, moment)
    outcomes.push(...(await Promise.all(each.map((id, index) => confirm(store, id, index)))))
    ids.push(...each)
  }
  const counts = countVerdicts(outcomes)
  context.say(`15:00${moment < 0 ? ' - ' : ' + '}${Math.abs(moment)} s: ${JSON.stringify(counts)}`)
  const reasons = unexpected(outcomes, moment < 0 ? ['paid', 'order_expired'] : ['order_expired'])
  // If the machine stalls for a tenth of a second, some confirms are late, but not most of them.
  if (moment < 0 && (counts.paid ?? 0) < ids.length / 2) {
    reasons.push(`Only ${counts.paid ?? 0} of ${ids.length} were paid before the end: the run is invalid.`)
  }
  return { ids, reasons }
}

/** Finds confirms that wait for a lock. Expiry jobs may wait for the same rows. `paying`: name of the payment statement. */
const findWaiting = statement(
  'proof_waiting',
  { parameters: { paying: text }, columns: { count: int } },
  `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and (
     application_name ~ '^careless' or application_name ~ '^gateway-' and query <> '' and starts_with($paying, query))`,
)

type Confirm = (id: string, index: number) => Promise<Outcome>

/** Sends confirms before the deadline that must wait for a row lock until after the deadline. */
async function holdOver(
  { parts, store }: Scene,
  table: 'orders' | 'wallets',
  ids: readonly string[],
  confirm: Confirm,
) {
  const holder = new pg.Client({ connectionString: parts.databaseUrl, application_name: 'proof holder' })
  holder.on('error', () => undefined)
  await holder.connect()
  try {
    const deadline = await moveDeadline(parts.database, ids, 2)
    await holder.query('begin')
    if (table === 'orders') await holder.query('select from orders where id = any($1) for update', [ids.map(orderUuid)])
    else await holder.query('select from wallets where user_id = $1 for update', [store.buyer.id])
    const confirms = Promise.all(ids.map(confirm))
    await until(`${ids.length} confirms wait for ${table}`, async () => {
      const [row] = await parts.database.query(findWaiting, { paying: payOrder.text })
      return row?.count === ids.length
    })
    await sleepUntil(parts.database, deadline, 0.05)
    await holder.query('rollback')
    return await confirms
  } finally {
    await holder.end()
  }
}

/** Sends confirms around the deadline while two expiry jobs run. */
async function raceSweeper({ context, parts, store }: Scene) {
  const random = context.random.fork('race')
  const ids = await store.order(racing)
  const deadline = await moveDeadline(parts.database, ids, 2)
  let isOver = false
  const sweeper = async () => {
    while (!isOver) await parts.database.query(expireOrdersStatement, { orders: ids.map(orderUuid) })
  }
  const sweepers = [sweeper(), sweeper()]
  await sleepUntil(parts.database, deadline, -1)
  const outcomes = await Promise.all(
    ids.map(async (id, index) => {
      await new Promise((resolve) => setTimeout(resolve, random.below(1_200)))
      return confirm(store, id, index)
    }),
  )
  await until('every order that was not paid is ended', async () =>
    (await readStandings(parts.database, ids)).every(({ status }) => status !== 'CREATED'),
  )
  isOver = true
  await Promise.all(sweepers)
  const counts = countVerdicts(outcomes)
  context.say(`against the sweeper: ${JSON.stringify(counts)}`)

  const reasons = unexpected(outcomes, ['paid', 'order_expired'])
  const told = new Map(outcomes.map(({ orderId, verdict }) => [orderUuid(orderId), verdict]))
  const lies = (await readStandings(parts.database, ids)).filter(
    ({ id, status }) => told.get(id) !== (status === 'EXPIRED' ? 'order_expired' : 'paid'),
  )
  if (lies.length) reasons.push(`${lies.length} callers were told something else than what became of their order.`)
  if ((counts.paid ?? 0) < 10 || (counts.order_expired ?? 0) < 10) {
    reasons.push(`The end was not straddled, ${JSON.stringify(counts)}: the run is invalid.`)
  }
  return { ids, reasons }
}

/** Control: confirms that use the gateway's clock must be detected as late payments or wrong timestamps. */
async function catchClocks(scene: Scene, controls: readonly string[][]): Promise<string[]> {
  const { context, parts } = scene
  const reasons: string[] = []
  for (const [index, shift] of shifts.entries()) {
    const ids = controls[index]!
    const deadline = await moveDeadline(parts.database, ids, 1)
    const now = () => new Date(Date.now() + shift)
    const careless = await createCarelessConfirm(parts.databaseUrl, { now })
    // A slow clock accepts late payments. A fast clock rejects confirms that are in time.
    if (shift < 0) await sleepUntil(parts.database, deadline, 0.1)
    const outcomes: Outcome[] = []
    for (const id of ids) outcomes.push(await careless.confirm(id))
    await careless.close()
    const found = [...(await judge(parts, ids)), ...(shift > 0 ? unexpected(outcomes, ['paid']) : [])]
    context.say(`control, clock ${shift / 60_000} min: ${JSON.stringify(countVerdicts(outcomes))}`)
    if (found.length === 0) reasons.push(`The control was not caught: a clock ${shift / 60_000} min wrong.`)
    const isMisplaced = (await judgeStatements(parts.database)).length > 0
    // Payments dated by a slow clock are misplaced in the statement. With a fast clock, only later transfers would be misplaced.
    if (shift < 0 && !isMisplaced)
      reasons.push('The control was not caught: lines that a clock which is behind has named.')
  }
  const held = controls[shifts.length]!
  const careless = await createCarelessConfirm(parts.databaseUrl)
  const outcomes = await holdOver(scene, 'wallets', held, (orderId) => careless.confirm(orderId))
  await careless.close()
  context.say(`control, clock before the wait: ${JSON.stringify(countVerdicts(outcomes))}`)
  const found = judgeEdges(await readEdges(parts.database, held))
  return found.length ? reasons : [...reasons, 'The control was not caught: a clock that is read before the wait.']
}
