/**
 * `npm run bench -- year [days]`: a year of the service in minutes. Each day people do the same through the doors of one process; then the database's
 * clock goes on to the next day, the sweeps come as their hours would have them, and the size of every table is noted. At the end what
 * should have stopped growing has, what is kept for ever has grown as its rows have, and no invariant is broken. An interrupt ends it with the
 * figures of the days until then.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { createApp, loadModules, openChain } from '../src/app.ts'
import { startLoops } from '../src/background.ts'
import { readConfig } from '../src/config.ts'
import { checkInvariants } from '../src/db/invariants/check-invariants.ts'
import { prepareDatabase } from '../src/db/migrations.ts'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { createRoutes } from '../src/http/create-routes.ts'
import { createHttpServer } from '../src/http/http-server.ts'
import { openInfrastructure } from '../src/infrastructure.ts'
import { cleanUpDeletedAccounts } from '../src/modules/accounts/delete-account.ts'
import { eraseOrderArguments, expireOrders } from '../src/modules/store/expire-orders.ts'
import { roles } from '../src/shared/process.ts'
import { createLog } from '../src/telemetry/log.ts'
import { openTelemetry } from '../src/telemetry/telemetry.ts'
import { installClock, passSql, queueClockSql } from './virtual-clock.ts'
import { judge, judgeJobs, type Sample, sizesSql, type TableSize } from './year-figures.ts'
import { createYearLoad, dayLoad, FAILS_EVERY } from './year-load.ts'

const DAYS = Number(process.argv.at(-1)) || 365
const SAMPLED_EVERY = 5
const POLL_MS = 20
/** Commits that may be under way when a day ends. */
const MAX_IN_TRANSIT = 100

const dir = await mkdtemp(join(tmpdir(), 'annal-year-'))
const log = createLog('error')
const postgres = await startEmbeddedPostgres({ dir, log })
await prepareDatabase(postgres.url)
await installClock(postgres.url)
const pool = new pg.Pool({ connectionString: postgres.url, max: 2 })
const sql = async <Row>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as Row[]

let calls = 0
const receiver = createServer((request, response) => {
  calls += 1
  request.resume().on('end', () => response.writeHead(calls % FAILS_EVERY === 0 ? 500 : 204).end())
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

/** Shorter retention than by default, so that deletions happen many times in the year. */
const config = {
  ...readConfig({
    ...{ ANNAL_DIR: dir, ALLOW_INSECURE_WEBHOOKS: 'true' },
    ...{
      LIMITS: 'sign-up=100000,sign-in=100000,requests-per-address=999999999,reset=100000,verification=100000',
    },
  }),
  retention: { eventDays: 30, idempotencyKeyDays: 7, sessionIdleDays: 30 },
}
const telemetry = await openTelemetry({ hasMetrics: false, tracing: config.tracing, version: 'bench' })
const server = createHttpServer({ log, telemetry: telemetry.requests(log) })
const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
const installation = await openInfrastructure(config, log, { isService: true })
await sql(queueClockSql)
const modules = await loadModules()
const chain = await openChain(installation, url, modules)
const app = createApp({
  ...installation,
  relay: chain.relay,
  coins: chain.coins,
  histories: chain.histories,
  publicUrl: url,
  modules,
})
await app.prepare()
await server.serve((await createRoutes(app, { ...installation, missing: async () => [] })).addRoutes)
const loops = await startLoops({ infrastructure: installation, chain, layer: app }, new Set(roles))
const boss = new PgBoss({
  connectionString: installation.databaseUrl,
  schema: 'jobs',
  max: 1,
  supervise: false,
  schedule: false,
  migrate: false,
})
boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
await boss.start()
const load = await createYearLoad({ url, receiverUrl, sql })

async function until(isSo: () => Promise<boolean>) {
  while (!(await isSo())) await delay(POLL_MS)
}
const count = async (text: string) => (await sql<{ n: number }>(`select count(*)::int as n from ${text}`))[0]!.n
const inTransit = () => count(`commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED')`)
const noJobInHand = async () =>
  (await count(`jobs.job where state = 'active' or (state < 'active' and start_after <= clock.now())`)) === 0

async function sweep(): Promise<{ ms: number; removed: number }> {
  const deleted = async () =>
    (
      await sql<{ n: number }>(
        `select sum(n_tup_del)::float8 as n from pg_stat_user_tables where schemaname = 'public'`,
      )
    )[0]!.n
  await sql('select pg_stat_clear_snapshot()')
  const before = await deleted()
  const start = performance.now()
  await expireOrders(app.context)
  await cleanUpDeletedAccounts(app.context)
  await eraseOrderArguments(app.context)
  await app.maintenance.run()
  const ms = performance.now() - start
  await boss.supervise()
  await app.maintenance.collectGarbage()
  await sql('select pg_stat_clear_snapshot()')
  return { ms, removed: (await deleted()) - before }
}

/** As autovacuum would have done on that day, by its own rule. It goes by the real time, in which a day takes a second. */
async function vacuum() {
  await sql('select pg_stat_clear_snapshot()')
  const due = await sql<{ name: string }>(
    `select relid::regclass::text as name from pg_stat_user_tables
     where n_dead_tup > 50 + 0.2 * n_live_tup or n_ins_since_vacuum > 1000 + 0.2 * n_live_tup or n_mod_since_analyze > 50 + 0.1 * n_live_tup`,
  )
  for (const { name } of due) await sql(`vacuum (analyze) ${name}`)
}

async function sizes(): Promise<Map<string, TableSize>> {
  return new Map((await sql<TableSize>(sizesSql)).map((size) => [size.name, size]))
}

const samples: Sample[] = []
let requests = 0
let isOver = false
process.once('SIGINT', () => {
  isOver = true
})
let day = 0
while (day < DAYS && !isOver) {
  day += 1

  requests += await load.day(day)
  await app.context.credentials.recordTokenUse()
  await until(async () => (await inTransit()) < MAX_IN_TRANSIT)
  // A job in hand would be taken for one that was left behind, and a mail that waits for one that comes too late.
  await until(noJobInHand)
  await sql(passSql('1 day'))
  const { ms, removed } = await sweep()
  await vacuum()
  if (day % SAMPLED_EVERY === 0)
    samples.push({ day, sweepMs: ms, removed, tables: await sizes(), commits: await count('commits') })
  if (day % 30 === 0)
    process.stderr.write(
      `day ${day}: ${requests} requests, ${load.people()} people, sweeps ${ms.toFixed(0)} ms for ${removed} rows\n`,
    )
}
await until(async () => (await inTransit()) === 0)
const broken = (await checkInvariants(installation.database)).filter(({ rows }) => rows.length > 0)

const verdicts = judge(samples)
const sweeps = judgeJobs(samples)
const cell = (value: number, digits = 0) => value.toFixed(digits).padStart(10)
process.stdout.write(
  `${JSON.stringify({ days: day, requests, dayLoad, webhookCalls: calls, commits: samples.at(-1)!.commits, sweeps, broken: broken.map(({ invariant }) => invariant.id) })}\n`,
)
process.stdout.write(`${'table'.padEnd(28)}       rows         kB    B a row  B a day\n`)
for (const { name, rows, bytes, each, growth, hasEnd, isRight } of verdicts)
  process.stdout.write(
    `${name.padEnd(28)} ${cell(rows)} ${cell(bytes / 1024)} ${cell(each)} ${cell(growth)} ${hasEnd ? 'has an end' : ''}${isRight ? '' : '  WRONG'}\n`,
  )

await loops.stop(5_000)
await boss.stop({ graceful: false })
await chain.close()
await server.drain(1_000)
receiver.close()
await installation.close()
await telemetry.close()
await pool.end()
await postgres.stop()
await rm(dir, { recursive: true, force: true })
process.exitCode = broken.length > 0 || verdicts.some(({ isRight }) => !isRight) ? 1 : 0
