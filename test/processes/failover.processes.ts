/**
 * What callers see when PostgreSQL's primary fails: the service on a primary and its standby, real servers both. The tests go on with what the
 * ones before left: each is another act of one story.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toId } from '../../src/domain/ids.ts'
import { DatabaseClient } from '../../src/platform/database/database-client.ts'
import { prepareDatabase } from '../../src/platform/database/prepare-database.ts'
import { findFreePort } from '../../src/platform/embedded/child-process.ts'
import { annalHere } from '../support/annal-command.ts'
import { eventually, until } from '../support/eventually.ts'
import { following, type PostgresServer, startPostgresServer, urlOfSeveral } from '../support/postgres-server.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-failover-'))
const servers: PostgresServer[] = []
const removeAll = async () => {
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
// The standby stands first: it is not enough to take whoever answers.
const url = urlOfSeveral([second, first])
const app = await createTestApp({ database: { url, drop: removeAll } })
const alice = await app.newUser()

/** Names of those of our sessions on a server that could write. */
const sessionsOn = async (server: PostgresServer) =>
  (
    await server.sql<{ name: string }>(
      `select distinct application_name as name from pg_stat_activity
       where datname = 'annal' and backend_type = 'client backend' and application_name not in ('operator', 'annal watch')`,
    )
  ).map(({ name }) => name)

const send = (key: string, file: File) =>
  alice.rest('POST', 'assets/', { multipart: { asset_file: file }, headers: { 'idempotency-key': key } })

/** As callers do: the same request with the same key, until it is answered. */
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

const assetsOn = async (server: PostgresServer) =>
  (await server.sql<{ n: number }>('select count(*)::int as n from assets'))[0]!.n

/** Cancels whatever waits for standbys, and names the statements. */
const cancelWaits = async (server: PostgresServer) =>
  (
    await server.sql<{ name: string }>(
      `select case when query like '%idempotency_keys,%' then 'idempotency_find' when query like 'with author %'
         then 'asset_insert' when query like 'select pg_logical_emit_message%' then 'order_await' else left(query, 40) end as name, pg_cancel_backend(pid)
       from pg_stat_activity where wait_event = 'SyncRep'`,
    )
  ).map(({ name }) => name)

/** The standby that took the place of `first`. */
let heir: PostgresServer

const linesOf = async (check: string) => {
  const { stdout } = await annalHere(app.env, ['doctor', '--json', '--only', check])
  return (JSON.parse(stdout) as { state: string; finding: string; fix: string | null }[]).map(
    ({ state, finding }) => `${state}: ${finding}`,
  )
}

describe('with several servers', () => {
  it('all connections lead to the one that takes writes', async () => {
    expect(await register('one')).toEqual([201])
    expect(await sessionsOn(second)).toEqual([])
    expect(await assetsOn(first)).toBe(1)
  })

  it('a primary that turns read-only is left, and callers are told to come back', async () => {
    await first.configure({ default_transaction_read_only: 'on' })
    await until('the server has read its settings', async () => {
      const [row] = await first.sql<{ isOn: boolean }>(
        `select current_setting('default_transaction_read_only')::boolean as "isOn"`,
      )
      return row!.isOn
    })
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
    await until('nobody is connected', async () => (await sessionsOn(first)).length === 0)
    expect(await assetsOn(first)).toBe(1)
    await first.configure({ default_transaction_read_only: null })
    expect((await register('two')).slice(0, -1).every((status) => status === 503)).toBe(true)
    expect(await assetsOn(first)).toBe(2)
  })

  it('a primary that died is replaced by the standby that was promoted, in the same process', async () => {
    await until('the standby has everything', async () => (await assetsOn(second)) === 2)
    await first.kill()
    const file = newFile('three')
    const { status } = await send('three', file)
    expect(status).toBe(503)
    await second.promote()
    expect((await register('three')).slice(0, -1).every((each) => each === 503)).toBe(true)
    expect(await assetsOn(second)).toBe(3)
    expect((await alice.rest('GET', 'auth/users/me/')).status).toBe(200)
  })

  it('a primary of the past is left alone, although it takes writes again', async () => {
    await first.start(fast)
    await first.sql('create table still_writes ()')
    expect(await register('four')).toEqual([201])
    expect(await assetsOn(second)).toBe(4)
    expect(await assetsOn(first)).toBe(2)
    expect(await sessionsOn(first)).toEqual([])
    // Nor by who has never seen it otherwise.
    const client = new DatabaseClient({
      connectionString: urlOfSeveral([first, second]),
      connectionTimeoutMillis: 5_000,
    })
    await client.connect()
    expect(client.server?.name).toBe(second.name)
    await client.end()
  })

  it('commands find the primary, too', async () => {
    const { code, stdout } = await annalHere(app.env, ['migrate', 'status'])
    expect(stdout).toMatch(/\d/)
    expect(code).toBe(0)
  })

  it('servers of which nothing tells which one is right are not written to', async () => {
    const third = await first.makeStandby(await placeOf('third'))
    servers.push(third)
    await third.start({ ...fast, ...following(first, 'third') })
    await third.kill()
    // As somebody promotes who does not know how: nothing tells a copy from its original.
    await rm(join(third.place.dir, 'postgres', 'standby.signal'))
    await third.start()
    const client = new DatabaseClient({
      connectionString: urlOfSeveral([first, third]),
      connectionTimeoutMillis: 5_000,
    })
    await expect(client.connect()).rejects.toThrow(
      /Several servers of DATABASE_URL take writes.*timeline 1; .*timeline 1/,
    )
    await third.kill()
  })
  it('a wait for a standby that is cancelled is not told as success, also not to a retry', async () => {
    await second.configure({ synchronous_standby_names: 'nobody' })
    await second.settleStandbys()
    const file = newFile('five')
    for (const statement of ['asset_insert', 'idempotency_find']) {
      let answer: Awaited<ReturnType<typeof send>> | undefined
      const sending = send('five', file).then((given) => {
        answer = given
      })
      const cancelled = new Set<string>()
      await until(`whatever waits is cancelled, ${statement} among it`, async () => {
        for (const name of await cancelWaits(second)) cancelled.add(name)
        return answer !== undefined && cancelled.has(statement)
      })
      await sending
      expect(answer!.status).toBe(503)
    }
    // It stands there all the same, and nobody was told.
    expect(await assetsOn(second)).toBe(5)
    await second.configure({ synchronous_standby_names: null })
    expect((await send('five', file)).status).toBe(201)
    expect(await assetsOn(second)).toBe(5)
  })
})

describe('a server whose standby may have taken its place', () => {
  it('does not tell that an order is missing before it has heard from its standbys', async () => {
    const store = await createStore(app)
    const missing = toId('order', crypto.randomUUID())
    await second.configure({ synchronous_standby_names: 'nobody' })
    await second.settleStandbys()
    let answer: Awaited<ReturnType<typeof store.confirm>> | undefined
    const asking = store.confirm(alice, missing).then((given) => {
      answer = given
    })
    const cancelled = new Set<string>()
    await until('the question is cancelled', async () => {
      for (const name of await cancelWaits(second)) cancelled.add(name)
      return answer !== undefined
    })
    await asking
    expect([answer!.status, cancelled.has('order_await')]).toEqual([503, true])
    await second.configure({ synchronous_standby_names: null })
    expect((await store.confirm(alice, missing)).status).toBe(404)
  })
})

describe('annal doctor', () => {
  it('tells which server takes writes, and whether what is acknowledged outlives it', async () => {
    expect(await linesOf('replication')).toEqual([
      `right: ${second.name} takes writes on timeline 2.`,
      `wrong: ${first.name} takes writes on timeline 1, which ended when another server was promoted.`,
      'warning: Replication is asynchronous: when the primary fails, what was acknowledged last is lost.',
    ])
    await second.configure({ synchronous_standby_names: 'nobody' })
    await second.settleStandbys()
    expect(await linesOf('replication')).toContain(
      'wrong: No synchronous standby is connected: whatever is written waits for one.',
    )
    await first.kill()
    heir = await second.makeStandby(first.place)
    servers.push(heir)
    await heir.start({ ...fast, ...following(second, 'nobody') })
    await until('the standby follows', async () => {
      const [row] = await second.sql<{ n: number }>(
        `select count(*)::int as n from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`,
      )
      return row!.n === 1
    })
    expect(await linesOf('replication')).toEqual([
      `right: ${second.name} takes writes on timeline 2.`,
      `right: ${heir.name} is a standby.`,
      'right: What is acknowledged is on a synchronous standby, too (synchronous_commit is on).',
    ])
    await second.configure({ synchronous_commit: 'local' })
    expect(await linesOf('replication')).toContain(
      'warning: synchronous_commit is local: what is acknowledged may not have reached a standby.',
    )
    await second.configure({ synchronous_commit: null })
    await heir.kill()
    expect(await linesOf('replication')).toContainEqual(
      expect.stringMatching(`warning: ${heir.name} does not answer \\(connect ECONNREFUSED`),
    )
    await second.configure({ synchronous_standby_names: null })
  })
})

describe('a primary that lives on while another one is promoted', () => {
  it('is left by every connection, also by those that only read or wait', async () => {
    await heir.start({ ...fast, ...following(second, 'nobody') })
    expect(await register('six')).toEqual([201])
    await until('the standby has everything', async () => (await assetsOn(heir)) === 6)
    expect(await sessionsOn(second)).not.toEqual([])
    await heir.promote()
    await until('nobody is connected', async () => (await sessionsOn(second)).length === 0)
    expect((await register('seven')).slice(0, -1).every((status) => status === 503)).toBe(true)
    expect([await assetsOn(second), await assetsOn(heir)]).toEqual([6, 7])
  })
})
