/**
 * F36: coins come in by transactions and from contracts, are gathered, taken out, taken back and left behind by people who delete their
 * accounts, while gateways are killed, answers of the chain are lost, and up to 20 blocks are. After each round the coins on the chain are the
 * coins in the books, to the wei.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { fromUnits } from '../src/domain/money.ts'
import { runAnnal } from '../test/support/annal-command.ts'
import { losesReplies } from '../test/support/chain-faults.ts'
import { type ChainProxy, startChainProxy } from '../test/support/chain-proxy.ts'
import { until } from '../test/support/eventually.ts'
import { creditAtOnce } from './harness/careless-credit.ts'
import { type Done, findUnsettled, judgeCoins, readDone } from './harness/coin-books.ts'
import { accountOf, COIN, type CoinChain, DEEPEST, openCoinChain } from './harness/coin-chain.ts'
import { DEPOSITS, live, type Promises } from './harness/coin-people.ts'
import { chooseReady, createGateway, type Gateway } from './harness/gateway.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { stopGateways } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'

/** Wei that the treasury has beside what comes in: for the gas of gathering, and for what reorganisations take. */
const FUNDS = 1_000n * COIN
const REPLIES_LOST = 0.2
/** Blocks after which a withdrawal that failed is given back. */
const LONG = 140
/** Milliseconds: until the next kill at most, and for coins to be where a reorganisation takes them. */
const REST = 3_000
const PATIENCE = 20_000

interface Scene {
  context: ProofContext
  parts: Parts
  chain: CoinChain
  gateways: Gateway[]
  proxies: ChainProxy[]
  promises: Promises
  treasury: string
  faults: { kills: number; depths: number[]; dropped: number; lost: number }
}

export async function proveCoins(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 12)
  const people = context.setting('PEOPLE', 16)
  const scene = await openScene(context, rounds * people)
  const { parts, chain, promises, faults } = scene
  const reasons: string[] = []
  const depths = depthsOf(context.random.fork('depths'), rounds)
  for (let round = 0; round < rounds; round += 1) {
    await storm(scene, round, people, depths[round]!)
    reasons.push(...(await settle(scene)).map((reason) => `Round ${round}: ${reason}`))
    context.say(
      `${round + 1} of ${rounds} rounds; ${chain.sent.length} sent, ${promises.asked.length} asked back, ${JSON.stringify(faults)}`,
    )
    if (reasons.length > 0) break
  }
  const done = await readDone(parts.database)
  context.say(JSON.stringify(done))
  reasons.push(...promises.surprises.slice(0, 5), ...(await judgeCheck(scene)), ...(await stopGateways(scene.gateways)))
  const { inBooks } = await judgeCoins(parts.database, chain, { ...scene, funds: FUNDS })
  if (reasons.length === 0) reasons.push(...judgeChances(scene, done, rounds), ...(await catchCareless(scene)))
  return conclude({
    figure: `${fromUnits(inBooks)} coins on the chain and in the books; ${done.gathered} gathered, ${done.paid} paid out, ${promises.gone.length} left; ${done.frozen} deposits frozen, ${done.displaced} settled moves displaced`,
    n: chain.sent.length + promises.asked.length + done.gathered + promises.gone.length,
    faultsInjected: faults.kills + faults.depths.length + faults.lost,
    reasons,
  })
}

/** Two for each round, and each depth once before any comes again. */
function depthsOf(random: Random, rounds: number): number[][] {
  const all: number[] = []
  while (all.length < 2 * rounds) all.push(...random.shuffle(Array.from({ length: DEEPEST }, (_, index) => index + 1)))
  return Array.from({ length: rounds }, (_, round) => all.slice(2 * round, 2 * round + 2))
}

async function openScene(context: ProofContext, people: number): Promise<Scene> {
  const { seed, random, afterwards } = context
  const parts = await startParts(context, 0)
  const treasury = accountOf(`${seed}/treasury`)
  const faults = { kills: 0, depths: [], dropped: 0, lost: 0 }
  const chain = await openCoinChain(parts, random.fork('fates'), {
    ...{ seed, senders: people * DEPOSITS + 1, treasury: treasury.address, funds: FUNDS },
  })
  afterwards(() => chain.rest())
  const [gateways, proxies]: [Gateway[], ChainProxy[]] = [[], []]
  for (const name of ['gateway-0', 'gateway-1']) {
    const proxy = await startChainProxy(afterwards, parts.rpcUrl)
    proxy.fault = losesReplies(random.fork(`replies ${name}`), REPLIES_LOST, (count) => {
      faults.lost += count
    })
    const env = {
      ...{ CHAIN_RPC_URL: proxy.url, CHAIN_TREASURY_KEY: Buffer.from(treasury.privateKey).toString('hex') },
      ...{ CHAIN_DEPOSIT_CONFIRMATIONS: '4', CHAIN_CONFIRMATIONS: '2' },
      ...{ WITHDRAWAL_HOLD_SECONDS: '1', WITHDRAWALS_PER_DAY: '1000', SIGN_UP_POINTS: '0' },
      ...{ LIMIT_REQUESTS_PER_IP: '100000000', LIMIT_REQUESTS_PER_TOKEN: '100000000' },
    }
    proxies.push(proxy)
    gateways.push(await createGateway(context, name, { ...parts.env, ...env }))
  }
  // One after the other: the first one writes what both need.
  for (const gateway of gateways) await gateway.start()
  const promises: Promises = { asked: [], cancelled: [], gone: [], surprises: [] }
  return { context, parts, chain, gateways, proxies, promises, treasury: treasury.address, faults }
}

async function storm(scene: Scene, round: number, people: number, depths: readonly number[]): Promise<void> {
  const { context, parts, chain, gateways, promises, faults } = scene
  const random = context.random.fork(`round ${round}`)
  const choose = chooseReady(gateways, random.fork('ways'))
  const options = { parts, chain, choose, promises, seed: context.seed }
  const moments = [random.pick(['before', 'after'] as const), 'any'] as const
  const kill = async () => {
    for (const moment of moments) {
      await delay(random.below(REST))
      await killOne(scene, random, moment)
    }
  }
  const reorganise = async () => {
    for (const depth of depths) {
      // Where everybody is done already, there is nothing to lose.
      await until('there is something to lose', () => chain.holds(depth), PATIENCE, 100).catch(() => undefined)
      const dropped = await chain.reorganise(depth)
      faults.dropped += dropped
      faults.depths.push(depth)
      context.say(`${depth} blocks lost with ${dropped} that came in`)
    }
  }
  const names = Array.from({ length: people }, (_, index) => `p${round}x${index}`)
  await Promise.all([kill(), reorganise(), ...names.map((name) => live(options, name, random.fork(name)))])
}

/** At any moment, or where a gateway is about to send a transaction, or has sent one and does not know it. */
async function killOne({ gateways, proxies, faults }: Scene, random: Random, moment: 'any' | 'before' | 'after') {
  let victim = random.below(gateways.length)
  if (moment !== 'any') {
    const met = Promise.withResolvers<number>()
    for (const [index, proxy] of proxies.entries()) {
      proxy.ambush = (reached) => {
        if (reached !== moment) return false
        for (const each of proxies) each.ambush = undefined
        gateways[index]!.kill()
        met.resolve(index)
        return true
      }
    }
    victim = await Promise.race([met.promise, delay(10_000, victim)])
    for (const each of proxies) each.ambush = undefined
  }
  gateways[victim]!.kill()
  faults.kills += 1
  await gateways[victim]!.start()
}

/** Waits until everything is over. Returns a sentence for all that is wrong then. */
async function settle({ context, parts, chain, treasury, promises }: Scene): Promise<string[]> {
  let open = ''
  const isQuiet = async () => {
    open = await findUnsettled(parts.database, chain)
    return open === ''
  }
  // Blocks that nobody has to wait for.
  const hurry = setInterval(() => void chain.mine(LONG / 4).catch(() => undefined), 5_000)
  const found = await until(() => open, isQuiet, 180_000, 250).catch((error: Error) => error)
  clearInterval(hurry)
  if (found instanceof Error) return [`It did not come to an end: ${open}.`]
  const judged = await judgeCoins(parts.database, chain, { treasury, funds: FUNDS, promises })
  context.say(`${fromUnits(judged.onChain)} coins on the chain, ${fromUnits(judged.inBooks)} in the books`)
  return [...judged.reasons, ...(await brokenInvariants(parts.database))]
}

/** `annal check` must find nothing wrong. */
async function judgeCheck({ context, parts }: Scene): Promise<string[]> {
  const { code, stdout, stderr } = await runAnnal(context.dir, ['check', '--json'], { env: parts.env })
  if (stdout === '') return [`annal check said nothing: ${stderr}`]
  const findings = JSON.parse(stdout) as { id: string; holds: boolean; isNote: boolean; rows: object[] }[]
  const wrong = findings.filter(({ holds, isNote }) => !holds && !isNote)
  return [
    ...wrong.map(({ id, rows }) => `annal check: ${id} does not hold, such as ${JSON.stringify(rows[0])}`),
    ...(code === 0 || wrong.length > 0 ? [] : [`annal check ended with ${code}.`]),
  ]
}

/** Without these nothing was tried; a short run may lack the rarer ones. */
function judgeChances({ faults, promises }: Scene, done: Done, rounds: number): string[] {
  const chances: Record<string, number> = {
    ...{ kills: faults.kills, 'lost replies': faults.lost, 'deposits that the chain dropped': faults.dropped },
    ...{ 'coins that were gathered': done.gathered, 'withdrawals that were paid': done.paid },
    ...{ 'people who left': promises.gone.length },
    ...(rounds >= 5 && {
      ...{ 'deposits that were frozen': done.frozen, 'deposits that were released': done.released },
      ...{ 'settled moves that were displaced': done.displaced, 'withdrawals that failed': done.failed },
      ...{ 'withdrawals that were cancelled': promises.cancelled.length, 'coins signed for by a deletion': done.last },
    }),
  }
  return Object.entries(chances)
    .filter(([, times]) => times === 0)
    .map(([what]) => `There were no ${what}: the run is invalid.`)
}

/** The control: what is credited at first sight and dropped by the chain must be seen to be in the books alone. */
async function catchCareless({ context, parts, chain, treasury, promises }: Scene): Promise<string[]> {
  const [keeper] = await parts.database.prisma.wallet.findMany({ where: { closedAt: null }, take: 1 })
  const sent = await chain.send('PLAIN', keeper!.address, COIN + 1n)
  await until('the careless deposit is in a block', async () => (await chain.standing()).has(sent))
  await creditAtOnce(parts.database, sent)
  // Never again, whatever chance would have done; and so deep that it is gone, however many blocks came since.
  sent.isLost = true
  await chain.rest()
  const { blockNumber } = await chain.rpc.call<{ blockNumber: string }>('eth_getTransactionReceipt', sent.hash)
  await chain.reorganise(Number(await chain.rpc.call<string>('eth_blockNumber')) - Number(blockNumber) + 1)
  if ((await chain.standing()).has(sent)) return ['The deposit of the control is still there: the run is invalid.']
  const { reasons } = await judgeCoins(parts.database, chain, { treasury, funds: FUNDS, promises })
  context.say(`control: ${reasons.join(' ')}`)
  return reasons.some((reason) => reason.includes('coins are on the chain and'))
    ? []
    : ['The control was not caught: coins that were credited at first sight are in the books alone.']
}
