/**
 * F37: of each queue, lane, sweep and list one item in a hundred can never succeed. All others go on as in peace, the log says
 * little, and an operator sees the bad ones.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../src/domain/ports/log.ts'
import { type SweepName, sweepNames } from '../src/domain/sweep/sweep.ts'
import { runAnnal, type Said } from '../test/support/annal-command.ts'
import {
  deleteLong,
  makeLong,
  openHolder,
  readBeside,
  type SweepOfHistories,
  sweepNamesOfHistories,
} from './harness/long-histories.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { type Lane, openLanes } from './harness/poisoned-lanes.ts'
import { openSweeps, type SweepsUnderTest, sweepScenes } from './harness/poisoned-sweeps.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { closeStore, type Store } from './harness/store.ts'

/** How much slower the others may be. */
const SLOWER = 1.5
/** Milliseconds that count as nothing: a look of a queue, and what a busy machine adds. */
const NOISE = 100
/** Milliseconds within which the others must be done in the control. */
const CONTROL = 3_000
const DEADLINE = 120_000

interface Pair {
  peace: number
  poison: number
}

const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)]!
/** Of rounds that alternate, so that what the machine does meanwhile meets both. */
const ratioOf = (pairs: readonly Pair[]) => median(pairs.map(({ peace, poison }) => (poison + NOISE) / (peace + NOISE)))

export async function provePoisonedItem(context: ProofContext): Promise<ProofResult> {
  const items = context.setting('ITEMS', 1_000)
  const rounds = context.setting('ROUNDS', 5)
  const poisoned = Math.max(1, Math.round(items / 100))
  const reasons: string[] = []
  const parts = await startParts(context)

  const lines: { items: string[]; sweep: string }[] = []
  const note = (fields: object) => {
    if ('items' in fields) lines.push(fields as (typeof lines)[0])
  }
  const log: Log = { debug() {}, info() {}, warn: note, error: note, child: () => log }
  const sweeps = await openSweeps(context, parts, log)
  const swept = await inSweeps(context, sweeps, { items, rounds, poisoned })
  for (const { name, pairs, bad } of swept) {
    const { every } = sweepScenes[name]
    // What somebody waits for: the next run, and then the run. The run alone is reported.
    const whole = pairs.map(({ peace, poison }) => ({ peace: peace + every, poison: poison + every }))
    const ratio = ratioOf(whole)
    const middle = Math.round(median(pairs.map(({ peace }) => peace)))
    context.say(
      `${name}: run × ${ratioOf(pairs).toFixed(2)} (p99 in peace ${middle} ms), with its pause × ${ratio.toFixed(2)}`,
    )
    if (!(ratio <= SLOWER)) reasons.push(`${name}: the others took ${ratio.toFixed(2)} × as long as in peace.`)
    const told = new Map<string, number>()
    for (const line of lines) for (const item of line.items) told.set(item, (told.get(item) ?? 0) + 1)
    if (bad.some((item) => (told.get(item) ?? 0) > 1)) reasons.push(`${name}: the log told of an item twice.`)
    if (!lines.some(({ sweep }) => sweep === name)) reasons.push(`${name}: the log told of no item.`)
  }
  reasons.push(...(await seenSweeps(context, sweeps, swept)))

  const lanes = await openLanes(context, parts)
  const measured = await inLanes(lanes.all, { items, rounds, poisoned })
  for (const { lane, pairs } of measured) {
    const ratio = ratioOf(pairs)
    const middle = median(pairs.map(({ peace }) => peace))
    context.say(`${lane.name}: × ${ratio.toFixed(2)} (p99 in peace ${Math.round(middle)} ms)`)
    if (!(ratio <= SLOWER)) reasons.push(`${lane.name}: the others took ${ratio.toFixed(2)} × as long as in peace.`)
  }
  reasons.push(...(await tellsLittle(context, lanes.all)))
  const command = askedOnce((...args) => runIn(parts.env, args))
  for (const { lane } of measured) reasons.push(...(await lane.missing(command)).map((text) => `${lane.name}: ${text}`))
  await lanes.heal()
  reasons.push(...(await brokenInvariants(parts.database)))
  const beside = await besideLongHistories(context, sweeps, lanes.store, parts, { items, rounds })
  reasons.push(...beside.reasons, ...(await closeStore(lanes.store)))
  reasons.push(...(await catchOldestFirst(sweeps, items, poisoned)))

  const ratios = [...swept, ...measured, ...beside.measured].map(({ pairs }) => ratioOf(pairs))
  const injected = poisoned * rounds * (swept.length + measured.length)
  return conclude({
    figure: `${swept.length} sweeps, ${measured.length} queues, lanes and lists; slowest × ${Math.max(...ratios).toFixed(2)}, median × ${median(ratios).toFixed(2)}`,
    n: items * rounds * 2 * ratios.length,
    faultsInjected: injected,
    reasons,
  })
}

const runIn = (env: Record<string, string>, args: readonly string[]) => runAnnal(env.ANNAL_DIR!, args, { env })

type Command = (...args: string[]) => Promise<Said>

/** What an operator reads once is enough for all lanes. */
function askedOnce(command: Command): Command {
  const said = new Map<string, ReturnType<Command>>()
  return (...args) => {
    const key = args.join(' ')
    const saying = said.get(key) ?? command(...args)
    said.set(key, saying)
    return saying
  }
}

interface Sizes {
  items: number
  rounds: number
  poisoned: number
}

interface Swept {
  name: SweepName
  pairs: Pair[]
  bad: string[]
}

async function inSweeps({ random }: ProofContext, sweeps: SweepsUnderTest, { items, rounds, poisoned }: Sizes) {
  const swept: Swept[] = []
  const choice = random.fork('sweeps')
  for (const name of sweepNames) {
    const run = () => sweepScenes[name].run(sweeps.app, sweeps.installation)
    const measure = async (bad: number) => {
      const made = await sweeps.make(name, items, bad)
      return { p99: await sweeps.measure(run, made.good, DEADLINE), bad: made.bad }
    }
    // What only the first run pays is not measured.
    await measure(0)
    const pairs: Pair[] = []
    const bad: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      const pair: Partial<Pair> = {}
      for (const kind of choice.shuffle(['peace', 'poison'] as const)) {
        const one = await measure(kind === 'poison' ? poisoned : 0)
        pair[kind] = one.p99
        bad.push(...one.bad)
      }
      pairs.push(pair as Pair)
    }
    swept.push({ name, pairs, bad })
  }
  return swept
}

/** Every bad item stands where an operator looks, and is tried again when it is told to be. */
async function seenSweeps({ say }: ProofContext, { env, app, installation }: SweepsUnderTest, swept: readonly Swept[]) {
  const reasons: string[] = []
  const jobs = JSON.parse((await runIn(env, ['jobs', '--json'])).stdout) as { setbacks: { item: string }[] }
  const rows = (await installation.database.prisma.$queryRawUnsafe('select sweep, item, attempts from setbacks')) as {
    sweep: string
    item: string
    attempts: number
  }[]
  for (const { name, bad } of swept) {
    const kept = new Set(rows.filter(({ sweep }) => sweep === name).map(({ item }) => item))
    const lost = bad.filter((item) => !kept.has(item))
    if (lost.length) reasons.push(`${name}: ${lost.length} bad items are shown to nobody.`)
    if (kept.size > bad.length) reasons.push(`${name}: ${kept.size - bad.length} good items are shown as bad.`)
  }
  if (jobs.setbacks.length < Math.min(rows.length, 100)) reasons.push('annal jobs does not show what sweeps put off.')
  const check = await runIn(env, ['check'])
  if (check.code !== 1 || !/^W3 /m.test(check.stdout)) reasons.push('annal check says nothing of what sweeps put off.')
  // They are mended: all of them are dealt with once an operator says so.
  await installation.database.prisma.$queryRawUnsafe('delete from proof_poison')
  await runIn(env, ['jobs', '--retry'])
  for (const { name } of swept) for (let run = 0; run < 20; run += 1) await sweepScenes[name].run(app, installation)
  const left = (await installation.database.prisma.$queryRawUnsafe('select sweep from setbacks')) as object[]
  if (left.length) reasons.push(`${left.length} items are not dealt with though nothing is wrong with them any more.`)
  say(`${rows.length} bad items of sweeps were seen, mended and dealt with`)
  return reasons
}

async function inLanes(all: readonly Lane[], { items, rounds, poisoned }: Sizes) {
  const measured = []
  for (const lane of all) {
    const size = Math.min(items, lane.most)
    await lane.measure(size, 0)
    const pairs: Pair[] = []
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? (['peace', 'poison'] as const) : (['poison', 'peace'] as const)
      const pair: Partial<Pair> = {}
      for (const kind of order)
        pair[kind] = await lane.measure(
          size,
          kind === 'poison' ? Math.max(1, Math.min(poisoned, Math.round(size / 100))) : 0,
        )
      pairs.push(pair as Pair)
    }
    measured.push({ lane, pairs })
  }
  return measured
}

/**
 * Lets the bad ones be tried some more times at once, and counts what the gateway's log says of each: within an hour it may be
 * told of once; and again, once, when the hour is over.
 */
async function tellsLittle({ dir, say }: ProofContext, all: readonly Lane[]): Promise<string[]> {
  const reasons: string[] = []
  const linesOf = async () => (await readFile(join(dir, 'gateway-0.log'), 'utf8')).split('\n')
  for (const lane of all) {
    await lane.tryAgain(3)
    const lines = await linesOf()
    const counts = lane.bad.map((item) => lines.filter((line) => line.includes(item)).length)
    const most = Math.max(0, ...counts)
    say(
      `${lane.name}: at most ${most} ${most === 1 ? 'line' : 'lines'} of the log for one of ${counts.length} bad items`,
    )
    if (most > 1) reasons.push(`${lane.name}: the log told of one item ${most} times within an hour.`)
  }
  return reasons
}

/** Reads of an account, each of some kinds. */
const READS = 100
/** Rows that somebody has in peace. */
const FEW_ROWS = 200

/**
 * Histories of so many rows (`HISTORY`, a million): the oldest item of two sweeps, and then a neighbour who reads their own and
 * deletes it. What others do meanwhile is as quick as in peace.
 */
async function besideLongHistories(
  { setting, say }: ProofContext,
  sweeps: SweepsUnderTest,
  { gateways }: Store,
  parts: Parts,
  { items, rounds }: Pick<Sizes, 'items' | 'rounds'>,
) {
  const rows = setting('HISTORY', 1_000_000)
  const reasons: string[] = []
  const judge = (name: string, pairs: Pair[]) => {
    const ratio = ratioOf(pairs)
    say(`${name}: × ${ratio.toFixed(2)} (p99 in peace ${Math.round(median(pairs.map(({ peace }) => peace)))} ms)`)
    if (!(ratio <= SLOWER)) reasons.push(`${name}: the others took ${ratio.toFixed(2)} × as long as in peace.`)
    return { pairs }
  }

  const sweep = async (name: SweepOfHistories, size: number) => {
    const { others, isOver } = await makeLong(sweeps, name, items, size)
    const begin = performance.now()
    const p99 = await sweeps.measure(() => sweepScenes[name].run(sweeps.app, sweeps.installation), others, DEADLINE)
    say(
      `${name}, ${size} rows: the run took ${Math.round(performance.now() - begin)} ms, the others' p99 is ${Math.round(p99)} ms`,
    )
    if (!(await isOver())) reasons.push(`${name}: a history of ${size} rows was not dealt with.`)
    return sweepScenes[name].every + p99
  }
  const measured = []
  for (const name of sweepNamesOfHistories) {
    const pair = { peace: await sweep(name, FEW_ROWS), poison: await sweep(name, rows) }
    measured.push(judge(`${name}, beside a history of ${rows} rows`, [pair]))
  }

  const base = gateways[0]!.url
  const [reader, neighbour] = [
    await openHolder(parts, base, 'reader', FEW_ROWS),
    await openHolder(parts, base, 'few', FEW_ROWS),
  ]
  const long = await openHolder(parts, base, 'long', rows)
  await readBeside(base, reader, neighbour, READS)
  const pairs: Pair[] = []
  while (pairs.length < rounds) {
    const peace = await readBeside(base, reader, neighbour, READS)
    pairs.push({ peace, poison: await readBeside(base, reader, long, READS) })
  }
  measured.push(judge(`reads, beside somebody with ${rows} rows`, pairs))
  reasons.push(...(await deleteLong(parts, base, long)))
  return { measured, reasons }
}

/** The control: whoever takes the oldest first, and goes on when it is done, must be seen to deal with none of the others. */
async function catchOldestFirst(sweeps: SweepsUnderTest, items: number, poisoned: number): Promise<string[]> {
  const { prisma } = sweeps.installation.database
  const { good, bad } = await sweeps.make('forget-tokens', items, poisoned)
  const careless = async () => {
    for (const id of [...bad, ...good])
      await prisma.$queryRawUnsafe('delete from access_tokens where id = $1::uuid', id)
  }
  const p99 = await sweeps.measure(careless, good, CONTROL)
  return Number.isFinite(p99) ? ['The control was not caught: the oldest first.'] : []
}
