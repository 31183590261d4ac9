/** Measures the export of the account with the longest history and of an ordinary account, per exported line. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createGateway } from '../../proofs/harness/gateway.ts'
import { developmentKey } from '../../src/embedded/embedded-anvil.ts'
import { createClock, median } from './clock.ts'
import type { Place } from './place.ts'
import { seededToken } from './seed-statements.ts'

/** Numbers of the seeded users. */
const people = { longest: 1, ordinary: 7 }
const TIMES = 5

const linesOf = (document: object) =>
  Object.values(document).reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0)

async function exportAll(url: string, user: number): Promise<number> {
  const token = seededToken(user)
  const answer = await fetch(`${url}/api/v3/auth/users/me/export`, { headers: { Authorization: `token ${token}` } })
  if (answer.status !== 200) throw new Error(`The export was answered with ${answer.status}: ${await answer.text()}`)
  return linesOf((await answer.json()) as object)
}

/** A sentence for each of the two people at one size. */
export async function measureWallets(
  place: Place,
  commits: number,
  afterwards: (work: () => Promise<unknown>) => void,
): Promise<string[]> {
  const url = await place.databaseOf(commits)
  const client = new pg.Client({ connectionString: url, application_name: 'growth' })
  await client.connect()
  afterwards(() => client.end())
  const gateway = await createGateway({ dir: place.dir, afterwards }, `wallet-${commits}`, {
    ...place.env(url),
    ROLES: 'http',
    CHAIN_RPC_URL: 'http://127.0.0.1:1',
    CHAIN_RELAY_KEYS: developmentKey,
    CHAIN_DEPLOY_REGISTRY: 'true',
    LOG_LEVEL: 'warn',
  })
  await gateway.start()
  const clock = createClock({ pid: gateway.pid()!, client })
  const told: string[] = []
  for (const [name, number] of Object.entries(people)) {
    const { rows } = await client.query<{ transfers: number }>(
      `select (select count(distinct transfer_id)::int from entries where wallet_id = u.id) as transfers
       from users u join access_tokens t on t.user_id = u.id where t.hash = sha256($1::bytea)`,
      [seededToken(number)],
    )
    const { transfers } = rows[0]!
    const took = []
    let lines = 0
    for (let time = 0; time < TIMES; time += 1) {
      await clock.look()
      const { answer, sample } = await clock.measure(() => exportAll(gateway.url, number))
      lines = answer
      took.push(((sample.gateway + sample.database) * 1_000) / lines)
      // An account's exports come one after the other.
      await delay(10)
    }
    told.push(
      `${commits} commits, ${name} wallet, ${transfers} transfers: of an export of ${lines} lines each thousand takes ${median(took).toFixed(1)} ms of processors`,
    )
  }
  return told
}
