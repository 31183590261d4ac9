/**
 * What the wallet with the longest history takes, beside an ordinary one: the expiry of one of its grants, which must not look at what was before, and
 * an export of all that is its owner's, line by line.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createGateway } from '../../proofs/harness/gateway.ts'
import { valuesOf } from '../../src/domain/sql.ts'
import { closeDueGrants } from '../../src/domain/wallet/grant-sweep-statements.ts'
import { developmentKey } from '../../src/platform/embedded/embedded-anvil.ts'
import { createClock, median } from './clock.ts'
import type { Place } from './place.ts'
import { seededToken } from './seed-statements.ts'

/** Numbers of the seeded users. */
const people = { longest: 1, ordinary: 7 }
const TIMES = 5

interface Explained {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
  'Execution Time': number
}

/** The expiry of a grant, which is taken back afterwards. */
async function expire(client: pg.Client, user: string) {
  await client.query('begin')
  try {
    const { rowCount } = await client.query(
      `with ended as (
         update point_grants set expires_at = now() - interval '1 second'
         where id = (select id from point_grants where wallet_id = $1 and expired_at is null and expires_at is not null limit 1) returning expires_at
       ) update wallets set points_expire_at = ended.expires_at from ended where user_id = $1`,
      [user],
    )
    if (rowCount !== 1) throw new Error('The wallet has no grant that ends.')
    const { rows } = await client.query<{ 'QUERY PLAN': [Explained] }>(
      `explain (analyze, buffers, format json) ${closeDueGrants.text}`,
      valuesOf(closeDueGrants, { user, limit: 100 }),
    )
    const [{ Plan: plan, 'Execution Time': milliseconds }] = rows[0]!['QUERY PLAN']
    return { milliseconds, pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] }
  } finally {
    await client.query('rollback')
  }
}

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
    const { rows } = await client.query<{ id: string; transfers: number }>(
      `select u.id, (select count(distinct transfer_id)::int from entries where wallet_id = u.id) as transfers
       from users u join access_tokens t on t.user_id = u.id where t.hash = sha256($1::bytea)`,
      [seededToken(number)],
    )
    const { id, transfers } = rows[0]!
    const expiries = []
    for (let time = 0; time < TIMES; time += 1) expiries.push(await expire(client, id))
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
      `${commits} commits, ${name} wallet, ${transfers} transfers: a grant expires in ${median(expiries.map(({ milliseconds }) => milliseconds)).toFixed(2)} ms ` +
        `with ${median(expiries.map(({ pages }) => pages))} pages of PostgreSQL; of an export of ${lines} lines each thousand takes ${median(took).toFixed(1)} ms of processors`,
    )
  }
  return told
}
