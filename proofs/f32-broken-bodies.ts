/** F32: bodies that break off, dribble, lie or overflow leave nothing behind, and nobody else notices them. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findFreePort } from '../src/platform/embedded/child-process.ts'
import { until } from '../test/support/eventually.ts'
import { formType, partHead } from '../test/support/form-parts.ts'
import { callRaw } from '../test/support/raw-http.ts'
import { brokenBodies } from './harness/broken-body.ts'
import { countReach, isPage, nameOf, type Target, targets } from './harness/broken-body-targets.ts'
import { startCarelessUploads } from './harness/careless-uploads.ts'
import { shareOfTurns, turnsOf } from './harness/cpu.ts'
import { createGateway } from './harness/gateway.ts'
import { watchHealth } from './harness/health.ts'
import { type Holdings, holdingsOf } from './harness/holdings.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { openSenders } from './harness/signed-in-senders.ts'

/** Milliseconds. */
const MOST_HEALTH = 200
/** In which nothing else is asked: it tells what the machine makes of `/healthz` by itself. */
const PEACE = 5_000
/** MiB above what a warm gateway holds. */
const MOST_MEMORY = 64
/** Thousands until a gateway holds what it goes on holding: it opens connections to its database when they are wanted. */
const MOST_WARMING = 10
/** The control of the counts: nothing stands there. */
const NOWHERE: Target = { method: 'POST', path: '/api/v3/nowhere/' }

/** Whether a closed target refuses a stranger who sends the head of a request and never its body. */
async function asksFirst(url: string, target: Target): Promise<string | undefined> {
  const { method, path, refusal } = target
  const type = isPage(target) ? 'application/x-www-form-urlencoded' : formType
  const headers = { 'content-type': type, 'content-length': 100_000 }
  const answer = await callRaw({ url, method, path, headers, pieces: [], end: 'wait' })
  return answer.status === refusal ? undefined : `${nameOf(target)} answers a stranger's head with ${answer.status}.`
}

/** The control: what aborted uploads leave of a reader that forgets their files. */
async function leftByCareless(context: ProofContext): Promise<number> {
  const folder = join(context.dir, 'careless')
  const url = await startCarelessUploads(context, folder)
  for (let i = 0; i < 50; i += 1) {
    const headers = { 'content-type': formType, 'content-length': 5_000 }
    const pieces = [Buffer.from(`${partHead('asset_file', 'a.png')}${'x'.repeat(200)}`)]
    await callRaw({ url, method: 'POST', path: '/', headers, pieces, end: 'break' })
  }
  // The same patience as for the gateway.
  await until(
    'nothing is left',
    async () => (await holdingsOf(process.pid, folder)).files.length === 0,
    3_000,
    100,
  ).catch(() => undefined)
  return (await holdingsOf(process.pid, folder)).files.length
}

const tell = ({ descriptors, memory, connections }: Holdings) =>
  `${descriptors} descriptors, ${memory.toFixed(0)} MiB, ${connections} connections`

export async function proveBrokenBodies(context: ProofContext): Promise<ProofResult> {
  const { random, setting, say } = context
  const count = setting('BODIES', 10_000)
  const atOnce = setting('AT_ONCE', 200)
  const parts = await startParts(context)
  const many = {
    LIMIT_REQUESTS_PER_IP: '100000000',
    LIMIT_REQUESTS_PER_TOKEN: '100000000',
    LIMIT_UPLOADS_PER_USER: '100000000',
    LIMIT_SIGN_INS_PER_IP: '100000000',
    LIMIT_SIGN_UPS_PER_IP: '100000000',
  }
  const healthPort = await findFreePort()
  const ownPort = `http://127.0.0.1:${healthPort}`
  const gateway = await createGateway(context, 'gateway', { ...parts.env, ...many, HEALTH_PORT: String(healthPort) })
  await gateway.start()
  const folder = join(context.dir, 'uploads')
  const senders = await openSenders(gateway, parts.database)
  const reach = countReach([...targets, NOWHERE])
  const reasons: string[] = []
  const statuses = new Map<string, number>()
  const perKind = new Map<string, number>()
  const kinds = Object.keys(brokenBodies)
  let serial = 0
  let turn: Target[] = []

  async function sendOne() {
    const kind = kinds[serial % kinds.length]!
    // Each target once before any comes again.
    if (turn.length === 0) turn = random.shuffle([...targets, NOWHERE])
    const target = turn.pop()!
    const { method, path } = target
    const own = random.next() < 0.5 ? senders.headers(path) : undefined
    serial += 1
    const body = brokenBodies[kind]!(path, random)
    const headers = {
      'graphql-require-preflight': '1',
      accept: 'application/json',
      ...(isPage(target) && { 'sec-fetch-site': 'same-origin' }),
      ...own,
      ...body.headers,
    }
    const answer = await callRaw({ url: gateway.url, method, path, ...body, headers })
    reach.count(target, answer, own !== undefined)
    perKind.set(kind, (perKind.get(kind) ?? 0) + 1)
    const isFault = answer.status >= 500 || answer.body.includes('"INTERNAL"')
    const status = isFault ? `${answer.status} of ${kind} at ${nameOf(target)}` : String(answer.status)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (isFault) reasons.push(`${status}: ${answer.body.slice(0, 200)}`)
    if (body.end === 'wait' && answer.status === 0) reasons.push(`${kind} at ${nameOf(target)} was never answered.`)
  }

  const sendMany = async (number: number) => {
    let left = number
    const hand = async () => {
      while (left > 0) {
        left -= 1
        await sendOne()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, hand))
  }

  const look = () => holdingsOf(gateway.pid()!, folder, parts.database)
  const rest = () =>
    until(
      'the gateway rests',
      async () => {
        const holdings = await look()
        return holdings.files.length === 0 ? holdings : undefined
      },
      30_000,
      250,
    )
  // Until it is warm: two thousand in a row ask for no connection more.
  let base = await rest()
  for (let same = 0, round = 0; same < 2; round += 1) {
    if (round === MOST_WARMING) reasons.push('The gateway goes on opening connections to its database.')
    if (round >= MOST_WARMING) break
    await sendMany(Math.min(1_000, count))
    const { connections } = base
    base = await rest()
    same = base.connections > connections ? 0 : same + 1
  }
  await delay(1_000)
  const before = await look()
  say(`before: ${tell(before)}`)

  const inPeace = watchHealth(ownPort)
  await delay(PEACE)
  const peace = percentile(await inPeace(), 0.99)
  const stopWatching = watchHealth(ownPort)
  const stopQueueing = watchHealth(gateway.url)
  const turns = turnsOf(gateway.pid()!)
  let share = 1
  let most: Holdings = before
  for (let done = 0; done < count; done += 1_000) {
    await sendMany(Math.min(1_000, count - done))
    share = shareOfTurns(turns, turnsOf(gateway.pid()!))
    const after = await until(
      'everything is let go',
      async () => {
        const now = await look()
        // The prober has a connection of its own open now and then.
        const isAsBefore =
          now.files.length === 0 && now.descriptors <= Math.max(before.descriptors, base.descriptors) + 2
        return isAsBefore && now.connections <= before.connections + 1 ? now : undefined
      },
      15_000,
      100,
    ).catch(async () => {
      const now = await look()
      reasons.push(
        `After ${done + 1_000}: ${tell(now)}, ${now.files.length} files, such as ${now.files[0]}; before: ${tell(before)}.`,
      )
      return now
    })
    if (after.memory > most.memory) most = after
    say(`after ${Math.min(done + 1_000, count)}: ${tell(after)}`)
  }
  const looks = await stopWatching()
  const queued = await stopQueueing()
  const p99 = percentile(looks, 0.99)
  // Beside other work the gateway waits for a processor, and every answer with it. Told, and not forgiven: the goal is that of a quiet machine.
  const ours = p99 * share
  if (p99 > MOST_HEALTH)
    reasons.push(`/healthz had a p99 of ${p99.toFixed(0)} ms, ${ours.toFixed(0)} with a processor of its own.`)
  if ([...looks, ...queued].some(({ status }) => status !== 200)) reasons.push('/healthz failed.')
  const grown = most.memory - before.memory
  if (grown > MOST_MEMORY) reasons.push(`The gateway took ${grown.toFixed(0)} MiB more.`)
  for (const kind of kinds) if (!perKind.get(kind)) reasons.push(`There was no ${kind}.`)
  if (!gateway.isReady()) reasons.push('The gateway ended.')

  reasons.push(...(await senders.forgotten()))
  const unreached = reach.unreached()
  const found = unreached.filter((sentence) => sentence.startsWith(nameOf(NOWHERE)))
  if (found.length === 0)
    reasons.push('The control was not caught: an address at which nothing stands counts as reached.')
  reasons.push(...unreached.filter((sentence) => !found.includes(sentence)))

  const closed = targets.filter(({ refusal }) => refusal !== undefined)
  const late = (await Promise.all(closed.map((target) => asksFirst(gateway.url, target)))).filter(
    (text) => text !== undefined,
  )
  reasons.push(...late)

  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)

  const left = await leftByCareless(context)
  if (left === 0) reasons.push('The control was not caught: the careless reader leaves nothing.')
  say(
    `answers: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}; control: ${left} files and descriptors left by 50`,
  )
  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `nothing left after each thousand of ${count}, ${grown.toFixed(0)} MiB more, /healthz p99 ${p99.toFixed(0)} ms of ${looks.length} on its own port, ${ours.toFixed(0)} ms with a processor of its own (${peace.toFixed(0)} ms in peace), ${percentile(queued, 0.99).toFixed(0)} ms on everybody's; ${closed.length - late.length} of ${closed.length} closed targets refuse the head; each of ${targets.length} targets got ${reach.least()} or more; ${left} left by the control`,
    n: serial + closed.length,
    faultsInjected: serial,
    reasons: [...new Set(reasons)].slice(0, 20),
  })
}
