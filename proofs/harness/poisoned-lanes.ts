/** The queues, the relay and the lists of a gateway that runs, each with items that can never succeed. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { fromId, toId } from '../../src/domain/ids.ts'
import { arrayOf, float, int, statement, text, uuid } from '../../src/domain/sql.ts'
import type { QueueName } from '../../src/platform/jobs/jobs.ts'
import type { Said } from '../../test/support/annal-command.ts'
import { until } from '../../test/support/eventually.ts'
import { type Account, nothingAcknowledged, openAccount, updateCall } from './callers.ts'
import { ask, type Call } from './client.ts'
import type { Parts } from './parts.ts'
import { percentile } from './percentile.ts'
import type { ProofContext } from './proof.ts'
import { openStore, orderUuid, readUserId, type Store } from './store.ts'

export interface Lane {
  name: string
  /** Items of a round. */
  most: number
  /** What can never succeed, as the log names it. */
  bad: string[]
  /** Puts items in, the bad ones first; returns the p99 of the good ones, in milliseconds. */
  measure(count: number, poisoned: number): Promise<number>
  /** Has the bad ones tried so many times more, without waiting for their pauses. */
  tryAgain(times: number): Promise<void>
  /** A sentence for each bad one that the operator's commands do not show. */
  missing(command: (...args: string[]) => Promise<Said>): Promise<string[]>
}

const PATIENCE = 180_000
const uuidsOf = (ids: readonly string[]) => ids.map((id) => fromId(id)!.uuid)

const put = statement(
  'proof_put_all',
  { parameters: { queue: text, jobs: arrayOf(text) }, columns: { id: text } },
  'select enqueue($queue, job::jsonb)::text as id from unnest($jobs) with ordinality as jobs (job, n) order by n',
)
const waitsOf = statement(
  'proof_job_waits',
  { parameters: { queue: text, jobs: arrayOf(uuid) }, columns: { milliseconds: float } },
  `select extract(epoch from completed_on - created_on)::float8 * 1000 as milliseconds from jobs.job
   where name = $queue and id = any ($jobs) and state = 'completed'`,
)
const makeJobsDue = statement(
  'proof_jobs_due',
  { parameters: { queue: text, jobs: arrayOf(uuid) }, columns: { id: text, tries: int } },
  `update jobs.job set start_after = now() where name = $queue and id = any ($jobs) and state = 'retry'
   returning id::text, retry_count as tries`,
)
const countTried = statement(
  'proof_jobs_tried',
  { parameters: { queue: text, jobs: arrayOf(uuid), tries: arrayOf(int) }, columns: { count: int } },
  `select count(*)::int as count from jobs.job j join unnest($jobs, $tries) as before (id, tries) on j.id = before.id
   where j.name = $queue and j.retry_count > before.tries and j.state <> 'active'`,
)

interface ShownJobs {
  waiting: { queue: string; count: number; last_error: string | null }[]
  failed: { queue: string; count: number; last_error: string | null }[]
}

/** For each queue a job that is done at once, and one that always raises. */
const queues: Record<Exclude<QueueName, 'dead-letter'>, { good(): object; bad: object; most?: number }> = {
  mail: { good: () => ({ template: 'receipt', orderId: randomUUID() }), bad: { template: 'receipt', orderId: 'none' } },
  'account-mail': {
    good: () => ({
      ...{ template: 'password-changed', userId: randomUUID(), requestId: randomUUIDv7() },
      at: new Date().toISOString(),
    }),
    bad: { template: 'no-such-mail' },
  },
  'webhook-delivery': { good: () => ({ deliveryId: randomUUID() }), bad: { deliveryId: 'none' } },
  'abandoned-delivery': { good: () => ({ deliveryId: randomUUID() }), bad: { deliveryId: 'none' } },
  'forget-key': { good: () => ({ userId: randomUUID() }), bad: { userId: '../nobody' }, most: 200 },
  manifest: { good: () => ({ assetId: randomUUID() }), bad: { assetId: 'none' } },
  thumbnail: { good: () => ({ assetId: randomUUID() }), bad: { assetId: 'none' } },
}

function queueLane({ database }: Parts, queue: keyof typeof queues): Lane {
  const { good, bad, most = Number.POSITIVE_INFINITY } = queues[queue]
  const lane: Lane = {
    name: `queue ${queue}`,
    most,
    bad: [],
    async measure(count, poisoned) {
      const jobs = Array.from({ length: count }, (_, index) => JSON.stringify(index < poisoned ? bad : good()))
      const ids = (await database.query(put, { queue, jobs })).map(({ id }) => id)
      lane.bad.push(...ids.slice(0, poisoned).map((id) => toId('job', id)))
      const others = ids.slice(poisoned)
      const look = async () => {
        const waits = await database.query(waitsOf, { queue, jobs: others })
        return waits.length === others.length ? waits : undefined
      }
      return percentile(await until(`${queue} is done`, look, PATIENCE, 50), 0.99)
    },
    async tryAgain(times) {
      for (let time = 0; time < times; time += 1) {
        const due = await database.query(makeJobsDue, { queue, jobs: uuidsOf(lane.bad) })
        const before = { jobs: due.map(({ id }) => id), tries: due.map(({ tries }) => tries) }
        const look = async () => {
          const [tried] = await database.query(countTried, { queue, ...before })
          return tried!.count >= due.length
        }
        await until(`the bad jobs of ${queue} are tried again`, look, PATIENCE, 50)
      }
    },
    async missing(command) {
      const { waiting, failed } = JSON.parse((await command('jobs', '--json')).stdout) as ShownJobs
      const shown = [...waiting, ...failed].filter((row) => row.queue === queue && row.last_error)
      const count = shown.reduce((sum, row) => sum + row.count, 0)
      return count >= lane.bad.length ? [] : [`annal jobs shows ${count} of ${lane.bad.length} bad jobs.`]
    },
  }
  return lane
}

const flip = (table: string, column: string, key: string) =>
  statement(
    `proof_flip_${column}`,
    { parameters: { rows: arrayOf(uuid) } },
    `update ${table} set ${column} = set_byte(${column}, octet_length(${column}) - 1, get_byte(${column}, octet_length(${column}) - 1) # 1)
     where ${key} = any ($rows)`,
  )
const flipKeys = flip('user_keys', 'wrapped_data_key', 'user_id')
const flipArguments = flip('orders', 'action_args', 'id')
const commitWaits = statement(
  'proof_commit_waits',
  { parameters: { messages: arrayOf(text) }, columns: { milliseconds: float } },
  `select extract(epoch from r.updated_at - c.created_at)::float8 * 1000 as milliseconds
   from commits c join commit_relays r on r.commit_id = c.id where c.message = any ($messages) and r.status = 'FINAL'`,
)
const findCommit = statement(
  'proof_commit_by_message',
  { parameters: { message: text }, columns: { id: text, attempts: int } },
  'select c.id::text, r.attempts from commits c join commit_relays r on r.commit_id = c.id where c.message = $message',
)
const makeCommitsDue = statement(
  'proof_commits_due',
  { parameters: { commits: arrayOf(uuid) } },
  'update commit_relays set next_attempt_at = now() where commit_id = any ($commits)',
)
const countAttempts = statement(
  'proof_commit_attempts',
  { parameters: { commits: arrayOf(uuid) }, columns: { attempts: int } },
  'select coalesce(min(attempts), 0)::int as attempts from commit_relays where commit_id = any ($commits)',
)

const AUTHORS = 10

async function relayLane({ database }: Parts, base: string) {
  const open = async (name: string) => {
    const account = await openAccount(base, name, nothingAcknowledged())
    return { ...account, id: await readUserId(database, name) }
  }
  const authors: Account[] = []
  while (authors.length < AUTHORS) authors.push(await open(`author${authors.length}`))
  const broken: string[] = []
  let written = 0

  const write = async (account: Account) => {
    written += 1
    const message = `commit ${written}`
    await ask(base, updateCall(account, message), 200)
    return message
  }
  const lane: Lane = {
    name: 'relay',
    most: 100,
    bad: [],
    async measure(count, poisoned) {
      for (let index = 0; index < poisoned; index += 1) {
        const account = await open(`lost${broken.length}`)
        await until('its registration is signed', async () => {
          const [waiting] = await database.query(unsigned, { author: account.id })
          return waiting!.count === 0
        })
        await database.query(flipKeys, { rows: [account.id] })
        broken.push(account.id)
        const [commit] = await database.query(findCommit, { message: await write(account) })
        lane.bad.push(toId('commit', commit!.id))
      }
      const messages: string[] = []
      // Each author writes one after the other, for an asset is changed by one at a time.
      await Promise.all(
        authors.map(async (author, index) => {
          for (let n = index; n < count; n += AUTHORS) messages.push(await write(author))
        }),
      )
      const look = async () => {
        const waits = await database.query(commitWaits, { messages })
        return waits.length === messages.length ? waits : undefined
      }
      return percentile(await until('all commits are final', look, PATIENCE, 100), 0.99)
    },
    async tryAgain(times) {
      const attempts = async () => (await database.query(countAttempts, { commits: uuidsOf(lane.bad) }))[0]!.attempts
      for (let time = 0; time < times; time += 1) {
        const before = await attempts()
        await database.query(makeCommitsDue, { commits: uuidsOf(lane.bad) })
        await until('the bad commits are tried again', async () => (await attempts()) > before, PATIENCE, 100)
      }
    },
    async missing(command) {
      const { waiting } = JSON.parse((await command('relay', '--json')).stdout) as { waiting: { commit_id: string }[] }
      const shown = new Set(waiting.map(({ commit_id }) => commit_id))
      const check = (await command('check')).stdout
      return [
        ...lane.bad.filter((commit) => !shown.has(commit)).map((commit) => `annal relay does not show ${commit}.`),
        ...(/^W1 +\d+ wrong/m.test(check) ? [] : ['annal check says nothing of commits that wait.']),
      ]
    },
  }
  /** Gives the keys back, so that everything accepted gets onto the chain. */
  const heal = async () => {
    await database.query(flipKeys, { rows: broken })
    const done = async () => {
      await database.query(makeCommitsDue, { commits: uuidsOf(lane.bad) })
      return (await database.query(openCommits))[0]!.count === 0
    }
    await until('every commit is final', done, PATIENCE, 500)
  }
  return { lane, heal }
}

const unsigned = statement(
  'proof_unsigned',
  { parameters: { author: uuid }, columns: { count: int } },
  `select count(*)::int as count from commits c join commit_relays r on r.commit_id = c.id
   where c.author_id = $author and r.tree_signature is null`,
)
const openCommits = statement(
  'proof_lane_commits',
  { columns: { count: int } },
  `select count(*)::int as count from commit_relays where status not in ('FINAL', 'FAILED')`,
)

/** Orders of a page. */
const LISTED = 100

async function listLanes({ database }: Parts, store: Store): Promise<Lane[]> {
  const base = store.gateways[0]!.url
  const healthy = store.buyer
  await store.order(LISTED)
  const damaged = await openAccount(base, 'damaged', nothingAcknowledged())
  const orders = await store.order(LISTED, damaged)
  const bad = orders.slice(0, Math.max(1, LISTED / 100))
  await database.query(flipArguments, { rows: bad.map(orderUuid) })
  const document = `{ orders(first: ${LISTED}) { nodes { id actionArgs } } }`
  const calls: Record<string, Call> = {
    'list of orders, REST': { method: 'GET', path: `/api/v3/store/network-app-orders/?limit=${LISTED}` },
    'list of orders, GraphQL': { method: 'POST', path: '/graphql', json: { query: document } },
    'export of an account': { method: 'GET', path: '/api/v3/auth/users/me/export/' },
  }
  return Object.entries(calls).map(([name, call]): Lane => {
    const read = async ({ token }: Account) => {
      const begin = performance.now()
      await ask(base, { ...call, token }, 200)
      return { milliseconds: performance.now() - begin }
    }
    return {
      name,
      most: 100,
      bad,
      async measure(count, poisoned) {
        const reads: { milliseconds: number }[] = []
        while (reads.length < count) reads.push(await read(poisoned ? damaged : healthy))
        return percentile(reads, 0.99)
      },
      async tryAgain(times) {
        for (let time = 0; time < times; time += 1) await read(damaged)
      },
      async missing(command) {
        const { stdout } = await command('check')
        return bad.filter((order) => !stdout.includes(order)).map((order) => `annal check does not name ${order}.`)
      },
    }
  })
}

export async function openLanes(context: ProofContext, parts: Parts) {
  const store = await openStore(context, parts, { price: '1', gateways: [{ LOG_LEVEL: 'info' }] })
  const relay = await relayLane(parts, store.gateways[0]!.url)
  const lists = await listLanes(parts, store)
  const all = [...(Object.keys(queues) as (keyof typeof queues)[]).map((queue) => queueLane(parts, queue)), relay.lane]
  return { store, all: [...all, ...lists], heal: relay.heal }
}
