/**
 * Gateways behind PgBouncer in transaction mode: statements of requests share sessions of the server, what needs one of its own has it,
 * and a pooler that dies costs nothing. What does not fit is told at the start.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createLease } from '../src/chain/lease.ts'
import { arrayOf, statement, text } from '../src/domain/sql.ts'
import { createDatabase } from '../src/platform/database/database.ts'
import { createEventNotifications } from '../src/platform/database/event-notifications.ts'
import { lookAtWays, connectQuery as needed } from '../src/platform/database/pooler.ts'
import { readEvents } from '../test/support/event-stream.ts'
import { until } from '../test/support/eventually.ts'
import { type Account, openAccount, updateCall } from './harness/callers.ts'
import { ask } from './harness/client.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { brokenInvariants, type Parts, silent, startParts } from './harness/parts.ts'
import {
  connectQuery,
  keepsStatements,
  type PgBouncer,
  startPgBouncer,
  versionOfPgBouncer,
} from './harness/pgbouncer.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { findRemains } from './harness/session-remains.ts'
import { startWork, type Work } from './harness/work.ts'

/** Sessions of the server: fewer than one gateway has connections. */
const SESSIONS = 4
/** From the moment PgBouncer lets somebody in to the first success. Milliseconds. */
const BACK = 5_000

const ignored = { ignore_startup_parameters: 'extra_float_digits,statement_timeout,lock_timeout' }

/** What a start with these ways says; empty when it is content. */
const refusal = (url: string, directUrl: string) =>
  lookAtWays({ url, directUrl }).then(
    () => '',
    (error: Error) => error.message,
  )

/** Every way that a start refuses is the control of one that it takes. */
async function tryWays(
  context: ProofContext,
  parts: Parts,
  shared: PgBouncer,
): Promise<[reasons: string[], n: number]> {
  const { databaseUrl: direct } = parts
  const other = parts.urlOf('postgres')
  const urlOf = async (settings: Parameters<typeof startPgBouncer>[2]) =>
    (await startPgBouncer(context, direct, settings)).url
  const turns = await urlOf({ server_round_robin: 1, ...ignored })
  const stacked = await urlOf(ignored)
  const dropping = await urlOf({ pool_mode: 'session', ...ignored })
  const plain = await urlOf({ pool_mode: 'session' })
  const silentOne = await urlOf({ saying: '' })
  const elsewhere = await urlOf({ saying: `${connectQuery}; set search_path = pg_catalog` })
  const hasty = await urlOf({ saying: `${connectQuery}; set synchronous_commit = off` })
  const single = await urlOf({ pool_mode: 'statement' })
  const ways: [name: string, url: string, directUrl: string, expected: RegExp][] = [
    ['PostgreSQL itself', direct, direct, /^$/],
    ['PostgreSQL itself, named twice', direct, parts.urlOf('annal'), /^$/],
    ['transaction mode, with a direct way', shared.url, direct, /^$/],
    ['session mode, with a direct way', plain, direct, /^$/],
    ['transaction mode alone, sessions in turn', turns, turns, /^DATABASE_URL leads.*shares sessions/],
    ['transaction mode alone, the last session first', stacked, stacked, /^DATABASE_URL leads.*shares sessions/],
    ['session mode that drops settings, alone', dropping, dropping, /drops the settings/],
    ['a pooler that takes no settings, alone', plain, plain, /takes no settings/],
    ['a direct way that is none', shared.url, turns, /^DATABASE_DIRECT_URL leads.*shares sessions/],
    ['a direct way to another database', shared.url, other, /different databases/],
    ['no limits of time', silentOne, direct, /lack limits of time.*connect_query/],
    ['another search path', elsewhere, direct, /other settings.*search_path/],
    ['commits that are not waited for', hasty, direct, /other settings.*synchronous_commit/],
    ['statement mode', single, direct, /transaction/i],
  ]
  const reasons: string[] = []
  for (const [name, url, directUrl, expected] of ways) {
    const said = await refusal(url, directUrl)
    context.say(`${name}: ${said || 'starts'}`)
    if (!expected.test(said)) reasons.push(`${name}: said ${JSON.stringify(said)}`)
  }
  const gateway = await createGateway(context, 'refused', { ...parts.env, DATABASE_URL: turns })
  const started = await gateway.start().then(
    () => true,
    () => false,
  )
  if (started) reasons.push('A gateway started on shared sessions.')
  return [reasons, ways.length + 1]
}

const leases = statement(
  'proof_pooler_leases',
  { columns: { held: arrayOf(text) } },
  `select array_agg(name || ' ' || epoch order by name) as held from leases`,
)

/** An account that updates by one gateway and follows its feed at the other. */
async function followFeed(account: Account, [one, other]: readonly Gateway[], { acknowledged }: Work) {
  const reader = await readEvents(`${other!.url}/api/v3/events/stream`, { token: account.token })
  let told = 0
  return {
    async hears(message: string) {
      await ask(one!.url, updateCall(account, message), 200)
      acknowledged.commits.push(message)
      acknowledged.byAccount.get(account.username)!.push(message)
      told += 1
      const heard = () => reader.events.filter(({ event }) => event === 'commit.accepted').length >= told
      await until(`the feed tells of ${message}`, heard, 20_000, 20)
    },
    close: () => reader.close(),
  }
}

async function untilSuccess({ probes }: Work): Promise<number> {
  const begin = performance.now()
  const success = () => probes.find(({ at, took, status }) => at - took > begin && status === 200)
  return (await until('a probe succeeds again', success, 30_000)).at - begin
}

/** Whoever takes the wrong way: what parts of ours and everybody's mistakes leave in a shared session must be seen. */
async function proveRemainsAreSeen(context: ProofContext, databaseUrl: string): Promise<string[]> {
  // One that does not even tell who opens a connection with settings.
  const { url } = await startPgBouncer(context, databaseUrl, { default_pool_size: SESSIONS, ...ignored })
  const expected: [what: RegExp, leave: () => Promise<unknown>][] = []
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  for (const [what, sql] of [
    [/holds an advisory lock/, 'select pg_advisory_lock(4711)'],
    [/has a temporary table/, 'create temp table left_behind (id int)'],
    [/has set work_mem/, `set work_mem = '5MB'`],
    [/holds a cursor open/, 'declare kept cursor with hold for select 1'],
    [/has prepared by_hand/, 'prepare by_hand as select 1'],
  ] as const) {
    expected.push([what, () => client.query(sql)])
  }
  const lease = createLease({ databaseUrl: url, log: silent })
  expected.push([
    /has set tcp_keepalives_idle/,
    async () => {
      await lease.acquire('proof-of-the-pooler')
      await lease.close()
    },
  ])
  const database = createDatabase({ url, pool: 1, pooler: { keepsStatements: false }, log: silent })
  const notifications = createEventNotifications({ url, database, log: silent })
  expected.push([
    /listens to annal_events/,
    () => new Promise<void>((resolve) => notifications.listen({ onGap: resolve, onEvents() {}, onRevoked() {} })),
  ])
  for (const [, leave] of expected) await leave()
  await notifications.close()
  await database.close()
  await client.end()
  const { remains } = await findRemains(url, SESSIONS, connectQuery)
  return expected
    .filter(([what]) => !remains.some((each) => what.test(each)))
    .map(([what]) => `The control was not caught: ${what} in a shared session.`)
}

export async function provePooler(context: ProofContext): Promise<ProofResult> {
  const kills = context.setting('KILLS', 10)
  const version = versionOfPgBouncer()
  const random = context.random.fork('kills')
  const reasons: string[] = []
  if (needed !== connectQuery) reasons.push('deploy/pgbouncer/pgbouncer.ini does not say what a start asks for.')

  const parts = await startParts(context)
  const shared = await startPgBouncer(context, parts.databaseUrl, { default_pool_size: SESSIONS })
  const [refusals, ways] = await tryWays(context, parts, shared)
  reasons.push(...refusals)

  const found = await lookAtWays({ url: shared.url, directUrl: parts.databaseUrl })
  if (found?.keepsStatements !== keepsStatements(version))
    reasons.push(`PgBouncer ${version} was taken for one that keeps ${found?.keepsStatements ? '' : 'no '}statements.`)

  const env = { ...parts.env, DATABASE_URL: shared.url, DATABASE_DIRECT_URL: parts.databaseUrl }
  const gateways = [await createGateway(context, 'gateway-0', env), await createGateway(context, 'gateway-1', env)]
  for (const gateway of gateways) await gateway.start()
  const work = await startWork(context, parts, gateways)
  const follower = await openAccount(gateways[0]!.url, 'follower', work.acknowledged)
  const feed = await followFeed(follower, gateways, work)
  const [before] = await parts.database.query(leases)

  const pauses: number[] = []
  let refused = 0
  for (let kill = 0; kill < kills; kill += 1) {
    await delay(500 + random.below(1_500))
    const begin = performance.now()
    await shared.kill()
    await delay(random.below(2_000))
    await shared.start()
    pauses.push(await untilSuccess(work))
    refused += work.probes.filter(({ at, status }) => at > begin && status === 503).length
    await feed.hears(`after kill ${kill}`)
  }
  feed.close()
  context.say(`${kills} kills: ${refused} probes were told 503`)
  if (kills > 0 && refused === 0) reasons.push('Nobody was told 503 while PgBouncer was away: the run is invalid.')
  const slowest = Math.max(0, ...pauses)
  if (slowest > BACK) reasons.push(`It took ${slowest.toFixed(0)} ms to the first success.`)
  const [after] = await parts.database.query(leases)
  if (String(before?.held) !== String(after?.held)) reasons.push(`Leases moved: ${before?.held} became ${after?.held}.`)

  const judged = await work.judge([200, 409, 503])
  reasons.push(...judged.reasons)
  // Nobody else is there any more: what is found was left.
  const left = await findRemains(shared.url, SESSIONS, connectQuery)
  if (left.sessions !== SESSIONS) reasons.push(`Only ${left.sessions} shared sessions were looked at.`)
  for (const what of new Set(left.remains)) reasons.push(`A shared session ${what}.`)
  reasons.push(...(await proveRemainsAreSeen(context, parts.databaseUrl)), ...(await brokenInvariants(parts.database)))

  return conclude({
    figure: `PgBouncer ${version}: ${judged.lost} lost, ${judged.double} double; first success at most ${slowest.toFixed(0)} ms after it was back; ${left.remains.length} remains in ${left.sessions} shared sessions; ${ways} ways to the database`,
    n: work.acknowledged.commits.length + work.acknowledged.signUps.length,
    faultsInjected: kills + ways,
    reasons,
  })
}
