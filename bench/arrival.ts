/**
 * `npm run bench -- arrival [--rate 150] [--seconds 60] [--dir …]`: how long it takes from an update's acceptance until its commit is final on the
 * chain, while so many updates a second come to one process that does everything. Goal: 10 s at the 99th percentile at 150 a second. Final is
 * two blocks of a second after the block that holds it.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { until } from '../test/support/eventually.ts'
import { signIn, signUp, withGateway } from './one-gateway.ts'

const MOST_SECONDS = 10
const PEOPLE = 10
const ASSETS_OF_EACH = 20
/** Milliseconds until the last commits are given up. */
const PATIENCE = 120_000
const LOOK_EVERY = 500

/** Sends with a token; raises unless it was let in. */
async function send(url: string, method: string, token: string, body: FormData): Promise<{ id: string }> {
  const answer = await fetch(url, { method, headers: { Authorization: `token ${token}` }, body })
  if (!answer.ok) throw new Error(`${method} ${url} was answered with ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { id: string }
}

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

const unfinished = `select count(*)::int as n from commit_relays r join commits c on c.id = r.commit_id where r.status <> 'FINAL' and c.created_at >= $1`
const waits = `select count(*)::int as n, percentile_cont(array[.5, .99, 1]) within group (order by extract(epoch from r.updated_at - c.created_at)) as seconds
  from commit_relays r join commits c on c.id = r.commit_id where c.created_at >= $1 and c.sequence > 1`

/** Measures and prints; exits with 1 when the goal is missed. */
export async function measureArrival(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rate: { type: 'string', default: '150' },
      seconds: { type: 'string', default: '60' },
      dir: { type: 'string', default: '/tmp/annal-growth' },
    },
  })
  const rate = Number(values.rate)
  const everything = { ROLES: 'http,relay,jobs,deliveries' }
  await withGateway(values.dir, everything, async ({ url }, afterwards, databaseUrl) => {
    const client = new pg.Client(databaseUrl)
    await client.connect()
    afterwards(() => client.end())
    const assets: { path: string; token: string }[] = []
    for (let person = 0; person < PEOPLE; person += 1) {
      const token = await signIn(url, await signUp(url))
      for (let asset = 0; asset < ASSETS_OF_EACH; asset += 1) {
        const file = new File([randomBytes(32)], 'a.bin', { type: 'application/octet-stream' })
        const { id } = await send(`${url}/api/v3/assets/`, 'POST', token, formOf({ asset_file: file }))
        assets.push({ path: `${url}/api/v3/assets/${id}/`, token })
      }
    }
    const settled = async (since: Date) => (await client.query(unfinished, [since])).rows[0].n === 0
    await until('the first commits are final', () => settled(new Date(0)), PATIENCE, LOOK_EVERY)
    const since = (await client.query('select now()')).rows[0].now as Date
    const began = performance.now()
    const sent: Promise<unknown>[] = []
    for (let count = 0; count < rate * Number(values.seconds); count += 1) {
      const due = (count / rate) * 1_000 - (performance.now() - began)
      if (due > 1) await pause(due)
      const { path, token } = assets[count % assets.length]!
      sent.push(send(path, 'PATCH', token, formOf({ caption: `${count}` })))
    }
    const refused = (await Promise.allSettled(sent)).filter((each) => each.status === 'rejected')
    const took = (performance.now() - began) / 1_000
    await until('every commit is final', () => settled(since), PATIENCE, LOOK_EVERY)
    const [{ n, seconds }] = (await client.query(waits, [since])).rows as [{ n: number; seconds: number[] }]
    const [p50, p99, most] = seconds.map((each) => each.toFixed(1))
    process.stdout.write(
      `${n} updates in ${took.toFixed(1)} s (${(n / took).toFixed(0)} a second), ${refused.length} refused; final after ${p50} s (p50), ${p99} s (p99), ${most} s at most; goal ${MOST_SECONDS} s at p99\n`,
    )
    if (refused.length) process.stdout.write(`The first refusal: ${refused[0]!.reason}\n`)
    if (Number(p99) > MOST_SECONDS || refused.length) process.exitCode = 1
  })
}
