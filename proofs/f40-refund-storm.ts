/**
 * F40: one order is given back whole and in parts by many administrators at once, through both interfaces of two gateways, which are
 * killed; beside it its buyer confirms it again, pays for others, lets some expire and leaves, and its webhook is replayed. Never more
 * comes back than was paid, and each refund is told once.
 */
import { toId } from '../src/domain/ids.ts'
import { fromUnits, toUnits } from '../src/domain/money.ts'
import { until } from '../test/support/eventually.ts'
import { type MailServer, startMailServer } from '../test/support/mail-server.ts'
import { type Receiver, startReceiver } from '../test/support/receiver.ts'
import { type Account, nothingAcknowledged, openAccount } from './harness/callers.ts'
import { createCarelessRefund } from './harness/careless-refund.ts'
import { type Call, countCrowd } from './harness/client.ts'
import { readDeliveries } from './harness/deliveries.ts'
import { moveDeadline } from './harness/edge.ts'
import { chooseReady } from './harness/gateway.ts'
import { countTold } from './harness/leavers.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { mailsAway } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import {
  type Given,
  giveBack,
  judgeCalls,
  judgeMails,
  judgeRefunds,
  persistently,
  type RefundedOrder,
  type RefundWish,
  readRefunded,
} from './harness/refunds.ts'
import { runSql } from './harness/run-sql.ts'
import { closeStore, fillWallet, openStore, readUserId, type Store } from './harness/store.ts'

/** Odd, so that rounding anywhere would show; paid from points and currency units. */
const PRICE = '2.500000000000000001'
const FUNDS = { points: '1.3', num: '100' }
const ADMINISTRATORS = 4
const OTHERS = 6
const LATE = 4
const AGAIN = 10
const REPLAYS = 4
/** Seconds until the late ones are late. */
const SOON = 0.2

/** What happens in the middle of a round, in turn. */
const events = ['nothing', 'a gateway dies', 'the buyer leaves'] as const
type Event = (typeof events)[number]

const gone = ['authentication_failed', 'resource_not_found']
/** Whatever else anybody is told is a fault. */
const allowed: Record<string, string[]> = {
  refund: ['done', 'validation_error', 'unable_to_refund_order'],
  'confirm again': ['done', 'unable_to_confirm_order', ...gone],
  'confirm another': ['done', 'unable_to_confirm_order', ...gone],
  'confirm late': ['done', 'order_expired', 'unable_to_confirm_order', ...gone],
  replay: ['done', 'validation_error'],
  leave: ['done', ...gone],
}

interface Scene {
  context: ProofContext
  parts: Parts
  store: Store
  receiver: Receiver
  mailServer: MailServer
  /** Tokens. */
  administrators: string[]
  random: Random
}

interface Round {
  event: Event
  orderId: string
  given: Given[]
  told: { wish: string; verdict: string }[]
  atOnce: number
}

export async function proveRefundStorm(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 12)
  const asks = context.setting('ASKS', 60)
  const scene = await openScene(context)
  const { parts, store } = scene
  const all: Round[] = []
  for (let index = 0; index < rounds; index += 1) {
    all.push(await storm(scene, index, asks))
    context.say(`${index + 1} of ${rounds} rounds; ${JSON.stringify(countTold(all.at(-1)!.told))}`)
  }
  const orderIds = all.map(({ orderId }) => orderId)
  await settled(parts)
  const orders = await readRefunded(parts.database, orderIds)
  const given = all.flatMap((round) => round.given)
  const reasons = [...judgeRefunds(orders, given), ...judgeTold(all, asks), ...judgeChances(all, orders)]
  let doubles = 0
  for (const event of events) {
    const ours = all.filter((round) => round.event === event).map(({ orderId }) => orderId)
    const theirs = orders.filter(({ id }) => ours.includes(toId('order', id)))
    const mayDouble = event === 'a gateway dies'
    // Who has left gets no mail any more.
    const mailed = event === 'the buyer leaves' ? [] : theirs
    for (const heard of [
      judgeCalls(theirs, scene.receiver.calls, mayDouble),
      judgeMails(mailed, scene.mailServer.mails, mayDouble),
    ]) {
      reasons.push(...heard.reasons)
      doubles += heard.doubles
    }
  }
  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchCareless(scene, asks)))
  const made = orders.reduce((sum, { refunds }) => sum + refunds.length, 0)
  const over = orders.filter(({ refunded, paid }) => toUnits(refunded) > toUnits(paid)).length
  return conclude({
    figure: `${over} of ${rounds} orders given back beyond their price; ${made} refunds of ${given.length} asked for, ${doubles} calls and mails came again`,
    n: given.length,
    faultsInjected: all.filter(({ event }) => event !== 'nothing').length + given.length - made,
    reasons,
  })
}

async function openScene(context: ProofContext): Promise<Scene> {
  const parts = await startParts(context)
  const [receiver, mailServer] = [await startReceiver(context.afterwards), await startMailServer(context.afterwards)]
  const env = {
    ...{ ALLOW_INSECURE_WEBHOOKS: 'true', SMTP_URL: mailServer.url },
    ...{ LIMIT_REQUESTS_PER_IP: '100000000', LIMIT_REQUESTS_PER_TOKEN: '100000000' },
  }
  const store = await openStore(context, parts, { price: PRICE, webhookUrl: receiver.url, gateways: [env, env] })
  const administrators: string[] = []
  for (let index = 0; index < ADMINISTRATORS; index += 1) {
    const { token } = await openAccount(store.gateways[0]!.url, `administrator${index}`, nothingAcknowledged())
    administrators.push(token)
  }
  await runSql(parts.database, `update users set role = 'ADMIN' where username like 'administrator%'`)
  return { context, parts, store, receiver, mailServer, administrators, random: context.random.fork('storm') }
}

/** A new buyer with enough of both, and orders of theirs. */
async function openBuyer({ parts, store }: Scene, username: string) {
  const account = await openAccount(store.gateways[0]!.url, username, nothingAcknowledged())
  await fillWallet(parts.database, await readUserId(parts.database, username), FUNDS)
  const [orderId = '', ...others] = await store.order(1 + OTHERS + LATE, account)
  return { account, orderId, others: others.slice(0, OTHERS), late: others.slice(OTHERS) }
}

const confirmCall = ({ apiKey }: Store, { token }: Account, orderId: string): Call => ({
  ...{ method: 'POST', path: `/api/v3/store/network-app-orders/${orderId}/confirm/`, token, apiKey, json: {} },
})

/** Odd amounts, in one round of two more than the price together, with all that is left now and then; in the other ones less. */
function amountOf(random: Random, index: number): Pick<RefundWish, 'amount'> {
  const isMuch = index % 2 === 0
  if (isMuch && random.next() < 0.04) return {}
  return { amount: fromUnits((toUnits(PRICE) * BigInt(1 + random.below(9_999))) / (isMuch ? 100_000n : 1_000_000n)) }
}

async function storm(scene: Scene, index: number, asks: number): Promise<Round> {
  const { store, parts, random, administrators } = scene
  const { gateways } = store
  const event = events[index % events.length]!
  const choose = chooseReady(gateways, random.fork(`ways ${index}`))
  const { account, orderId, others, late } = await openBuyer(scene, `buyer${index}`)
  await persistently(choose, confirmCall(store, account, orderId))
  const deliveries = await until('the order is delivered', async () => {
    const found = await readDeliveries(parts.database, [orderId])
    return found.length > 0 && found.every(({ status }) => status === 'DELIVERED') && found
  })

  const crowd = countCrowd()
  const told: Round['told'] = []
  const given: Given[] = []
  const say = async (wish: string, call: Call) => {
    const { verdict } = await persistently(choose, call, crowd.watch)
    told.push({ wish, verdict })
  }
  let happens: Promise<unknown> | undefined
  const refund = async (serial: number) => {
    const wish: RefundWish = {
      ...{ orderId, key: `refund ${index}-${serial}`, door: serial % 2 ? 'REST' : 'GraphQL' },
      ...{ token: administrators[serial % administrators.length]!, ...amountOf(random, index) },
    }
    const answer = await giveBack(choose, wish, crowd.watch)
    given.push(answer)
    told.push({ wish: 'refund', verdict: answer.verdict })
    // In the middle of the others.
    if (answer.refund) happens ??= happen(scene, event, account, say)
  }
  const replay = (token: string): Call => ({
    ...{
      method: 'POST',
      path: `/api/v3/store/webhook-deliveries/${toId('delivery', deliveries[0]!.id)}/replay/`,
      token,
    },
  })
  const wishes = [
    ...Array.from({ length: asks }, (_, serial) => () => refund(serial)),
    ...Array.from({ length: AGAIN }, () => () => say('confirm again', confirmCall(store, account, orderId))),
    ...others.map((id) => () => say('confirm another', confirmCall(store, account, id))),
    ...late.map((id) => () => say('confirm late', confirmCall(store, account, id))),
    ...administrators.slice(0, REPLAYS).map((token) => () => say('replay', replay(token))),
  ]
  const shuffled = random.shuffle(wishes)
  await moveDeadline(parts.database, late, SOON)
  await Promise.all(shuffled.map((carryOut) => carryOut()))
  await happens
  await until('both gateways are up', () => gateways.every((gateway) => gateway.isReady()), 60_000)
  return { event, orderId, given, told, atOnce: crowd.size() }
}

/** What the round has besides. */
async function happen(
  { store, random }: Scene,
  event: Event,
  { token }: Account,
  say: (wish: string, call: Call) => Promise<void>,
): Promise<void> {
  if (event === 'the buyer leaves') await say('leave', { method: 'DELETE', path: '/api/v3/auth/users/me/', token })
  if (event !== 'a gateway dies') return
  const victim = random.pick(store.gateways)
  victim.kill()
  await victim.start()
}

/** Until every call and every mail is away. */
async function settled({ database }: Parts): Promise<void> {
  const open = () =>
    runSql<{ id: string }>(database, `select id::text as id from webhook_deliveries where status = 'PENDING' limit 1`)
  await until('every webhook was called', async () => (await open()).length === 0, 120_000, 100)
  await mailsAway(database, 120_000)
}

function judgeTold(rounds: readonly Round[], asks: number): string[] {
  return rounds.flatMap(({ event, told, atOnce }, index) => {
    const strange = told.filter(({ wish, verdict }) => !allowed[wish]!.includes(verdict))
    return [
      ...(strange.length ? [`Round ${index} (${event}): ${JSON.stringify(countTold(strange))}`] : []),
      ...(atOnce < asks / 2 ? [`Round ${index} had only ${atOnce} requests at once: it is invalid.`] : []),
    ]
  })
}

/** Without these nothing was tried. */
function judgeChances(rounds: readonly Round[], orders: readonly RefundedOrder[]): string[] {
  const count = (wish: string, verdict: string) =>
    rounds.flatMap(({ told }) => told).filter((each) => each.wish === wish && each.verdict === verdict).length
  const chances: Record<string, number> = {
    'orders given back whole': orders.filter(({ status }) => status === 'REFUNDED').length,
    'orders given back in part': orders.filter(({ status }) => status !== 'REFUNDED').length,
    'refunds of too much': count('refund', 'validation_error') + count('refund', 'unable_to_refund_order'),
    'orders paid beside them': count('confirm another', 'done'),
    'orders that came too late': count('confirm late', 'order_expired'),
    'replays of the webhook': count('replay', 'done'),
    ...(rounds.length >= events.length && { 'buyers who left': count('leave', 'done') }),
  }
  return Object.entries(chances)
    .filter(([, times]) => times === 0)
    .map(([what]) => `There were no ${what}: the run is invalid.`)
}

/** The control: a refund that reads, checks and writes must be seen to give back too much. */
async function catchCareless(scene: Scene, asks: number): Promise<string[]> {
  const { parts, store, context } = scene
  for (const gateway of store.gateways) await gateway.start()
  const { account, orderId } = await openBuyer(scene, 'careless')
  await persistently(() => store.gateways[0]!.url, confirmCall(store, account, orderId))
  for (const gateway of store.gateways) await gateway.stop()
  const careless = await createCarelessRefund(parts.databaseUrl)
  const given = await Promise.all(Array.from({ length: asks }, () => careless.refund(orderId, '0.4')))
  await careless.close()
  const orders = await readRefunded(parts.database, [orderId])
  const found = judgeRefunds(orders, given)
  const broken = await brokenInvariants(parts.database)
  context.say(`control: ${orders[0]!.refunded} was given back of ${orders[0]!.paid}; ${broken.join(' ').slice(0, 200)}`)
  return found.some((reason) => reason.includes('was given back of')) && broken.some((text) => text.startsWith('I10 '))
    ? []
    : ['The control was not caught: a careless refund gave back no more than was paid.']
}
