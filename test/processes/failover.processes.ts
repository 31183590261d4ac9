/** The service behind an endpoint that leads to the primary of two servers, like HAProxy. Each test continues the previous one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prepareDatabase } from '../../src/db/migrations.ts'
import { toId } from '../../src/shared/ids.ts'
import { annalHere } from '../support/annal-command.ts'
import { startDatabaseEndpoint } from '../support/database-endpoint.ts'
import { eventually, until } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { following, type PostgresServer, startPostgresServer } from '../support/postgres-server.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-failover-'))
const servers: PostgresServer[] = []
const removeAll = async () => {
  endpoint.close()
  await Promise.all(servers.map((server) => server.kill()))
  await rm(dir, { recursive: true, force: true })
}

const placeOf = async (name: string) => ({ dir: join(dir, name), hosts: ['127.0.0.1'], port: await findFreePort() })
const fast = { fsync: 'off' }

const first = await startPostgresServer(await placeOf('first'))
servers.push(first)
await prepareDatabase(first.url)
const second = await first.makeStandby(await placeOf('second'))
servers.push(second)
await second.start({ ...fast, ...following(first, 'second') })
const endpoint = await startDatabaseEndpoint(first)
const { url } = endpoint
const app = await createTestApp({ database: { url, drop: removeAll } })
const alice = await app.newUser()

const sessionsOn = async (server: PostgresServer) =>
  (
    await server.sql<{ name: string }>(
      `select distinct application_name as name from pg_stat_activity
       where datname = 'annal' and backend_type = 'client backend' and application_name <> 'operator'`,
    )
  ).map(({ name }) => name)

const send = (key: string, file: File) =>
  alice.rest('POST', 'assets/', { multipart: { asset_file: file }, headers: { 'idempotency-key': key } })

async function register(key: string): Promise<number[]> {
  const file = newFile(key)
  const answers: number[] = []
  await until(`${key} is registered`, async () => {
    const { status } = await send(key, file)
    answers.push(status)
    return status === 201
  })
  return answers
}

const returnsRow = (server: PostgresServer, query: string) =>
  until(query, async () => (await server.sql(query)).length === 1)

const assetsOn = async (server: PostgresServer) =>
  (await server.sql<{ n: number }>('select count(*)::int as n from assets'))[0]!.n

/** Cancels the statements that wait for standbys, and returns their names. */
const cancelWaits = async (server: PostgresServer) =>
  (
    await server.sql<{ name: string }>(
      `select case when query like '%idempotency_keys,%' then 'idempotency_find' when query like 'with author %'
         then 'asset_insert' when query like 'select pg_logical_emit_message%' then 'order_wait_for_standbys' else left(query, 40) end as name, pg_cancel_backend(pid)
       from pg_stat_activity where wait_event = 'SyncRep'`,
    )
  ).map(({ name }) => name)

/** Sends a request and cancels every wait for a standby, including that of this statement. Returns the status of the response. */
async function statusWhileCancelled(statement: string, request: () => Promise<{ status: number }>) {
  let status: number | undefined
  const sending = request().then((answer) => {
    status = answer.status
  })
  const cancelled = new Set<string>()
  await until(`a response after ${statement} was cancelled`, async () => {
    for (const name of await cancelWaits(second)) cancelled.add(name)
    return status !== undefined && cancelled.has(statement)
  })
  await sending
  return status
}

let third: PostgresServer

const linesOf = async (check: string) => {
  const { stdout } = await annalHere(app.env, ['doctor', '--json', '--only', check])
  return (JSON.parse(stdout) as { state: string; finding: string; fix: string | null }[]).map(
    ({ state, finding }) => `${state}: ${finding}`,
  )
}

describe('failover', () => {
  it('a failover ends connections to a server that became read-only, and asks callers to retry', async () => {
    await first.configure({ default_transaction_read_only: 'on' })
    await returnsRow(first, `select where current_setting('default_transaction_read_only')::boolean`)
    const statuses: number[] = []
    const refused = await eventually(
      async () => {
        const answer = await send('two', newFile('two'))
        statuses.push(answer.status)
        return answer
      },
      ({ status }) => status === 503,
    )
    expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([])
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(refused.body).toMatchObject({ error: { type: 'service_unavailable' } })
    expect(await assetsOn(first)).toBe(0)
    await first.configure({ default_transaction_read_only: null })
    expect((await register('two')).slice(0, -1).every((status) => status === 503)).toBe(true)
    expect(await assetsOn(first)).toBe(1)
  })

  it('the service continues on the promoted standby without a restart', async () => {
    await until('the standby has everything', async () => (await assetsOn(second)) === 1)
    await first.kill()
    const file = newFile('three')
    const { status } = await send('three', file)
    expect(status).toBe(503)
    await second.promote()
    endpoint.leadTo(second)
    expect((await register('three')).slice(0, -1).every((each) => each === 503)).toBe(true)
    expect(await assetsOn(second)).toBe(2)
    expect((await alice.rest('GET', 'auth/users/me/')).status).toBe(200)
  })

  it('commands continue after a failover', async () => {
    const { code, stdout } = await annalHere(app.env, ['migrate', 'status'])
    expect(stdout).toMatch(/\d/)
    expect(code).toBe(0)
  })

  it('never reports success for a commit whose wait for a standby was cancelled', async () => {
    await second.configure({ synchronous_standby_names: 'nobody' })
    await second.settleStandbys()
    const file = newFile('five')
    for (const statement of ['asset_insert', 'idempotency_find'])
      expect(await statusWhileCancelled(statement, () => send('five', file))).toBe(503)
    // The row exists, although no answer reported it.
    expect(await assetsOn(second)).toBe(3)
    await second.configure({ synchronous_standby_names: null })
    expect((await send('five', file)).status).toBe(201)
    expect(await assetsOn(second)).toBe(3)
  })
})

describe('primary whose standby may have been promoted', () => {
  it('reports a missing order only after the standbys of the primary confirm', async () => {
    const store = await createStore(app)
    const missing = toId('order', crypto.randomUUID())
    await second.configure({ synchronous_standby_names: 'nobody' })
    await second.settleStandbys()
    expect(await statusWhileCancelled('order_wait_for_standbys', () => store.confirm(alice, missing))).toBe(503)
    await second.configure({ synchronous_standby_names: null })
    expect((await store.confirm(alice, missing)).status).toBe(404)
  })
})

describe('annal doctor', () => {
  it('`annal doctor` reports whether acknowledged writes survive a failover', async () => {
    const asynchronous = 'warning: Replication is asynchronous: a failover loses the latest acknowledged writes.'
    expect(await linesOf('replication')).toEqual([expect.stringContaining('The database has no standby server.')])
    third = await second.makeStandby(first.place)
    servers.push(third)
    await third.start({ ...fast, ...following(second, 'third') })
    await returnsRow(second, 'select from pg_stat_replication')
    expect(await linesOf('replication')).toEqual([asynchronous])
    await second.configure({ synchronous_standby_names: 'nobody' })
    await second.settleStandbys()
    expect(await linesOf('replication')).toEqual([
      'error: No synchronous standby is connected: every write waits for one.',
    ])
    await second.configure({ synchronous_standby_names: 'third' })
    await returnsRow(second, `select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`)
    expect(await linesOf('replication')).toEqual([
      'ok: Acknowledged writes are on a synchronous standby (synchronous_commit is on).',
    ])
    await second.configure({ synchronous_commit: 'local' })
    expect(await linesOf('replication')).toEqual([
      'warning: synchronous_commit is local: a failover may lose acknowledged writes.',
    ])
    await second.configure({ synchronous_commit: null, synchronous_standby_names: null })
  })
})

describe('planned switchover', () => {
  it('a planned switchover ends every session on the old primary, including sessions that only listen', async () => {
    expect(await register('six')).toEqual([201])
    await until('the standby has everything', async () => (await assetsOn(third)) === 4)
    expect(await sessionsOn(second)).not.toEqual([])
    await third.promote()
    endpoint.leadTo(third)
    await until('nobody is connected', async () => (await sessionsOn(second)).length === 0)
    expect((await register('seven')).slice(0, -1).every((status) => status === 503)).toBe(true)
    expect([await assetsOn(second), await assetsOn(third)]).toEqual([4, 5])
  })
})
