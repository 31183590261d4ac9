/**
 * `npm run bench -- sign-ins [--at-once 50] [--rounds 8] [--dir …]`: how long others wait while many sign in at once, beside how long they wait while nobody does, in
 * turn. Goal: the 99th percentile is three times that of the idle gateway at most. Reads come at a fixed pace, and count from when they were due.
 */
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { type Account, signIn, signUp, withGateway } from './one-gateway.ts'

const MOST = 3
/** Milliseconds between two reads, and of a round without sign-ins. */
const PACE = 10
const IDLE = 3_000

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)))

const percentile = (all: readonly number[], part: number): number => {
  const sorted = all.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Milliseconds until each read was answered, from when it was due, until `ended`. */
async function readUntil(ended: Promise<unknown>, read: () => Promise<void>): Promise<number[]> {
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  const took: number[] = []
  const under: Promise<void>[] = []
  for (let due = performance.now(); !isOver; due += PACE) {
    await pause(due - performance.now())
    under.push(read().then(() => void took.push(performance.now() - due)))
  }
  await Promise.all(under)
  return took
}

const tell = (name: string, all: readonly number[]) =>
  `${name}: ${all.length} reads, p50 ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms`

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
  await withGateway(values.dir, {}, async ({ url }) => {
    const accounts: Account[] = []
    for (let count = 0; count < Number(values['at-once']); count += 1) accounts.push(await signUp(url))
    const Authorization = `token ${await signIn(url, accounts[0]!)}`
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
    const took = { idle: [] as number[], busy: [] as number[] }
    const signedIn: number[] = []
    const refusals: string[] = []
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      const idle = await readUntil(pause(IDLE), read)
      const started = performance.now()
      const all = Promise.allSettled(accounts.map((account) => signIn(url, account)))
      const busy = await readUntil(all, read)
      const refused = (await all).filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
      // The first one warms everything up.
      if (round === 0) continue
      signedIn.push((performance.now() - started) / 1_000)
      for (const { reason } of refused) refusals.push(String((reason as Error).message))
      took.idle.push(...idle)
      took.busy.push(...busy)
    }
    agent.destroy()
    const ratio = percentile(took.busy, 0.99) / percentile(took.idle, 0.99)
    process.stdout.write(`${tell('idle', took.idle)}\n${tell(`${accounts.length} sign-ins at once`, took.busy)}\n`)
    process.stdout.write(
      `All are answered after ${percentile(signedIn, 0.5).toFixed(1)} s; p99 ${ratio.toFixed(2)} × idle (at most ${MOST})\n`,
    )
    if (refusals.length) process.stdout.write(`${refusals.length} sign-ins were refused, the first: ${refusals[0]}\n`)
    if (ratio > MOST || refusals.length) process.exitCode = 1
  })
}
