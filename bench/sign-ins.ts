/**
 * `npm run bench -- sign-ins [--at-once 50] [--rounds 8] [--dir …]`: how long others wait while many sign in at once, beside how long they wait while nobody does, in
 * turn. Goal: the 99th percentile is three times that of the idle gateway at most, in the median of the rounds. Reads come at a fixed pace from a process of their own, which goes before all
 * others where it may, and count from when they were due; who signs in, from this process, comes after all others, as if from elsewhere.
 *
 * A round in which the machine stood still is repeated: then even the reader, whom nobody goes before, was late.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Account, signIn, signUp, withGateway } from './one-gateway.ts'

const MOST = 3
/** Milliseconds between two reads, and of a round without sign-ins. */
const PACE = 5
const IDLE = 3_000
/** Of the reader. */
const CONNECTIONS = 16
/** Milliseconds by which a read is sent late at most, unless the machine stood still. */
const LATE = 20
const MOST_REPEATED = 20

/** What a reader measured: milliseconds. */
interface Measured {
  took: number[]
  /** By how much the latest was sent after it was due. */
  late: number
}

const percentile = (all: readonly number[], part: number): number => {
  const sorted = all.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const tell = (name: string, all: readonly number[]) =>
  `${name}: ${all.length} reads, p50 ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms, longest ${Math.max(...all).toFixed(0)} ms`

/** Sends reads on one connection one after the other and tells of each answer; raises for any but 200. */
function connectReader({ hostname, port }: URL, Authorization: string) {
  const head = `GET /api/v3/auth/users/me/ HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${Authorization}\r\n\r\n`
  const socket = connect(Number(port), hostname).setNoDelay()
  const waiting: (() => void)[] = []
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      const length = end + 4 + Number(/^content-length: (\d+)/im.exec(text)?.[1])
      if (!text.startsWith('HTTP/1.1 200') || !(length > 0)) throw new Error(text.slice(0, end))
      if (text.length < length) return
      text = text.slice(length)
      waiting.shift()!()
    }
  })
  return (done: () => void) => {
    waiting.push(done)
    socket.write(head)
  }
}

/**
 * Reads again and again, and tells each time that it is asked how many milliseconds each read took since, from when it was due. It makes
 * hardly any garbage: while it collects that, the gateway would wait for a processor.
 */
async function readOn(url: string, Authorization: string): Promise<never> {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    // Then its own waits for a processor count as the gateway's.
  }
  const readers = Array.from({ length: CONNECTIONS }, () => connectReader(new URL(url), Authorization))
  let measured: Measured = { took: [], late: 0 }
  process.on('message', () => {
    process.send!(measured)
    measured = { took: [], late: 0 }
  })
  process.on('disconnect', () => process.exit())
  for (let due = performance.now(), count = 0; ; due += PACE, count += 1) {
    const wait = due - performance.now()
    if (wait > 0) await pause(wait)
    const since = due
    measured.late = Math.max(measured.late, performance.now() - since)
    readers[count % CONNECTIONS]!(() => measured.took.push(performance.now() - since))
  }
}

/** What the reader measured since it was last asked. */
async function ask(reader: ChildProcess): Promise<Measured> {
  reader.send('tell')
  return (await once(reader, 'message'))[0]
}

/** Measures and prints; exits with 1 when the goal is missed. */
export async function measureSignIns(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      'at-once': { type: 'string', default: '50' },
      rounds: { type: 'string', default: '8' },
      dir: { type: 'string', default: '/tmp/annal-growth' },
    },
  })
  await withGateway(values.dir, {}, async ({ url }, afterwards) => {
    const accounts: Account[] = []
    for (let count = 0; count < Number(values['at-once']); count += 1) accounts.push(await signUp(url))
    const token = `token ${await signIn(url, accounts[0]!)}`
    const reader = fork(import.meta.filename, ['read', url, token])
    setPriority(constants.priority.PRIORITY_LOW)
    afterwards(async () => reader.kill())
    const took = { idle: [] as number[], busy: [] as number[] }
    const ratios: number[] = []
    const signedIn: number[] = []
    const refusals: string[] = []
    let stoodStill = 0
    // The first one warms everything up.
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      await ask(reader)
      await pause(IDLE)
      const idle = await ask(reader)
      const started = performance.now()
      const all = await Promise.allSettled(accounts.map((account) => signIn(url, account)))
      const busy = await ask(reader)
      if (round === 0) continue
      if (Math.max(idle.late, busy.late) > LATE && stoodStill < MOST_REPEATED) {
        stoodStill += 1
        round -= 1
        continue
      }
      signedIn.push((performance.now() - started) / 1_000)
      for (const each of all) if (each.status === 'rejected') refusals.push(String((each.reason as Error).message))
      took.idle.push(...idle.took)
      took.busy.push(...busy.took)
      ratios.push(percentile(busy.took, 0.99) / percentile(idle.took, 0.99))
    }
    const ratio = percentile(ratios, 0.5)
    process.stdout.write(`${tell('idle', took.idle)}\n${tell(`${accounts.length} sign-ins at once`, took.busy)}\n`)
    process.stdout.write(
      `All are answered after ${percentile(signedIn, 0.5).toFixed(1)} s; p99 ${ratio.toFixed(2)} × idle in the median of the rounds (at most ${MOST}; ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})\n`,
    )
    if (stoodStill) process.stdout.write(`${stoodStill} rounds were repeated, because the machine stood still\n`)
    if (refusals.length) process.stdout.write(`${refusals.length} sign-ins were refused, the first: ${refusals[0]}\n`)
    if (ratio > MOST || refusals.length) process.exitCode = 1
  })
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'read')
  await readOn(process.argv[3]!, process.argv[4]!)
