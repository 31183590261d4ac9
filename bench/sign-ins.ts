/**
 * `npm run bench -- sign-ins [--at-once 50] [--rounds 8] [--dir …]`: how long others wait while many sign in at once, beside how long they wait while nobody does, in
 * turn. Goal: the 99th percentile is three times that of the idle gateway at most. Reads come at a fixed pace from a process of their own, which goes before all
 * others where it may, and count from when they were due.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Account, signIn, signUp, withGateway } from './one-gateway.ts'

const MOST = 3
/** Milliseconds between two reads, and of a round without sign-ins. */
const PACE = 5
const IDLE = 3_000

const percentile = (all: readonly number[], part: number): number => {
  const sorted = all.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const tell = (name: string, all: readonly number[]) =>
  `${name}: ${all.length} reads, p50 ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms, longest ${Math.max(...all).toFixed(0)} ms`

/** Reads again and again, and tells each time that it is asked how many milliseconds each read took since, from when it was due. */
async function readOn(url: string, Authorization: string): Promise<never> {
  try {
    setPriority(-15)
  } catch {
    // Then its own waits for a processor count as the gateway's.
  }
  const agent = new Agent({ keepAlive: true })
  const read = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`${url}/api/v3/auth/users/me/`, { agent, headers: { Authorization } }, (answer) => {
        answer
          .resume()
          .on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))))
      })
      sent.on('error', reject).end()
    })
  let took: number[] = []
  process.on('message', () => {
    process.send!(took)
    took = []
  })
  process.on('disconnect', () => process.exit())
  for (let due = performance.now(); ; due += PACE) {
    const wait = due - performance.now()
    if (wait > 0) await pause(wait)
    const since = due
    void read().then(() => took.push(performance.now() - since))
  }
}

/** What the reader measured since it was last asked. */
async function ask(reader: ChildProcess): Promise<number[]> {
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
    afterwards(async () => reader.kill())
    const took = { idle: [] as number[], busy: [] as number[] }
    const signedIn: number[] = []
    const refusals: string[] = []
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      await ask(reader)
      await pause(IDLE)
      const idle = await ask(reader)
      const started = performance.now()
      const all = await Promise.allSettled(accounts.map((account) => signIn(url, account)))
      const busy = await ask(reader)
      // The first one warms everything up.
      if (round === 0) continue
      signedIn.push((performance.now() - started) / 1_000)
      for (const each of all) if (each.status === 'rejected') refusals.push(String((each.reason as Error).message))
      took.idle.push(...idle)
      took.busy.push(...busy)
    }
    const ratio = percentile(took.busy, 0.99) / percentile(took.idle, 0.99)
    process.stdout.write(`${tell('idle', took.idle)}\n${tell(`${accounts.length} sign-ins at once`, took.busy)}\n`)
    process.stdout.write(
      `All are answered after ${percentile(signedIn, 0.5).toFixed(1)} s; p99 ${ratio.toFixed(2)} × idle (at most ${MOST})\n`,
    )
    if (refusals.length) process.stdout.write(`${refusals.length} sign-ins were refused, the first: ${refusals[0]}\n`)
    if (ratio > MOST || refusals.length) process.exitCode = 1
  })
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'read')
  await readOn(process.argv[3]!, process.argv[4]!)
