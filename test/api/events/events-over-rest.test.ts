import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { failCommit } from '../../../src/modules/commits/commits.sql.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { type EventReader, readEvents } from '../../support/event-stream.ts'
import { eventually, poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { waiting, whileHeld } from '../../support/held-rows.ts'
import { createRest } from '../../support/rest-client.ts'
import { startAnother } from '../../support/start-another.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, registerWith, type SignedIn } from '../../support/test-app.ts'
import type { TestActor } from '../../support/user.ts'

const app = await createTestApp()

const readers: EventReader[] = []
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})

const listen = async (actor: TestActor | undefined, lastEventId?: string) => {
  const reader = await readEvents(`${app.url}/api/v3/events/stream`, {
    ...(actor && { actor }),
    ...(lastEventId !== undefined && { headers: { 'Last-Event-ID': lastEventId } }),
  })
  readers.push(reader)
  return reader
}

const sequences = (reader: EventReader) => reader.events.map(({ data }) => data.sequence)
const soon = (reader: EventReader, expected: number[]) =>
  poll(() => sequences(reader)).until((found) => String(found) === String(expected))

const tell = (user: SignedIn, type = 'points.granted') =>
  app.sql(
    `with fed as (
       update wallets set event_sequence = event_sequence + 1 where user_id = $1::uuid returning user_id, event_sequence
     )
     insert into events (owner_id, sequence, type) select user_id, event_sequence, $2 from fed`,
    [user.id, type],
  )

describe('GET events', () => {
  it('the REST event feed lists events page by page, oldest first', async () => {
    const user = await app.newUser()
    await user.rest('PATCH', `assets/${(await user.register()).id}/`, { json: { caption: 'New' } })
    const all = await user.rest('GET', 'events/')
    expect(all.status).toBe(200)
    expect(all.body).toEqual({
      count: 2,
      next: null,
      previous: null,
      results: [1, 2].map((sequence) => ({
        id: expect.stringMatching(/^event_/),
        sequence,
        type: 'commit.accepted',
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        order_id: null,
        commit_id: expect.stringMatching(/^commit_/),
        delivery_id: null,
        transfer_id: expect.stringMatching(/^transfer_/),
        data: null,
      })),
    })
    const [first, second] = all.body.results
    const page = await user.rest('GET', 'events?limit=1')
    expect(page.body.results).toEqual([first])
    expect((await user.rest('GET', page.body.next.slice(app.url.length))).body.results).toEqual([second])
    expect((await user.rest('GET', `events?after=${first.id}`)).body.results).toEqual([second])
    const [transfer] = await app.sql('select reference from transfers where id = $1::uuid', [
      fromId(second.transfer_id)!.uuid,
    ])
    expect(transfer).toEqual({ reference: `commit:${fromId(second.commit_id)!.uuid}` })
  })

  it('the REST event feed does not return events of other users', async () => {
    const [user, other] = await Promise.all([app.newUser(), app.newUser()])
    await user.register()
    expect((await other.rest('GET', 'events')).body.results).toEqual([])
    const [{ id }] = (await user.rest('GET', 'events')).body.results
    expectError(await other.rest('GET', `events?after=${id}`), 'VALIDATION_FAILED')
    expectError(await app.rest('GET', 'events'), 'NOT_AUTHENTICATED')
  })

  it('the REST event feed rejects an invalid position', async () => {
    const user = await app.newUser()
    for (const after of ['-1', 'x', 'event_x', 'user_01h2xcejqtf2nbrexx3vqjhp41', '1e3', '99999999999']) {
      expectError(await user.rest('GET', `events?after=${after}`), 'VALIDATION_FAILED')
    }
  })

  it('the event feed numbers events without gaps during fifty concurrent updates', async () => {
    const user = await app.newUser({ num: '100' })
    const { id } = await user.register()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        user.rest('PATCH', `assets/${id}/`, { json: { nit_commit_custom: { [`field${n}`]: n } } }),
      ),
    )
    const done = answers.filter(({ status }) => status === 200).length
    expect(done).toBeGreaterThan(0)
    const events = (await user.rest('GET', 'events')).body.results as { sequence: number }[]
    expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: done + 1 }, (_, n) => n + 1))
  })
})

describe('event feed of a store', () => {
  it("the event feed reports a payment to the app's owner with the webhook payload, and to the buyer", async () => {
    const store = await createStore(app)
    const buyer = await app.newUser()
    const reader = await listen(store.owner)
    const order = await store.order(buyer, { action_args: { nid: 'bafy' } })
    expectOk(await store.confirm(buyer, order.id))
    const reported = (await buyer.rest('GET', 'events')).body.results
    expect(reported).toMatchObject([
      { sequence: 1, type: 'order.created', order_id: order.id, data: null },
      { sequence: 2, type: 'order.paid', order_id: order.id, data: null },
    ])
    const [sale] = (await store.owner.rest('GET', 'events')).body.results
    expect(sale).toMatchObject({
      type: 'order.paid',
      order_id: order.id,
      transfer_id: reported[1].transfer_id,
      data: {
        type: 'order.paid',
        data: { order: { id: order.id, status: 'pending', price: '2.5' }, action_args: { nid: 'bafy' } },
      },
    })
    await soon(reader, [1])
    expect(reader.events).toEqual([{ id: sale.id, event: 'order.paid', data: sale }])
  })
})

describe('event of a failed commit', () => {
  it('the event of a failed commit includes the refund', async () => {
    const user = await app.newUser()
    const before = await app.wallet(user)
    await user.register()
    const [accepted] = (await user.rest('GET', 'events')).body.results
    await app.installation.database.query(failCommit, {
      commit: fromId(accepted.commit_id)!.uuid,
      reason: 'for a reason',
    })
    const [failed] = (await user.rest('GET', 'events?after=1')).body.results
    expect(failed).toMatchObject({ sequence: 2, type: 'commit.failed', commit_id: accepted.commit_id })
    const [transfer] = await app.sql('select reference from transfers where id = $1::uuid', [
      fromId(failed.transfer_id)!.uuid,
    ])
    expect(transfer).toEqual({ reference: `refund:${fromId(accepted.commit_id)!.uuid}` })
    expect(await app.wallet(user)).toEqual(before)
  })
})

describe('GET events/stream', () => {
  it('the REST event stream sends events that occur after the connection opens', async () => {
    const user = await app.newUser()
    await user.register()
    const reader = await listen(user)
    expect([reader.status, reader.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const { id } = await user.register()
    await soon(reader, [2])
    const [event] = (await user.rest('GET', 'events?after=1')).body.results
    expect(reader.events).toEqual([{ id: event.id, event: 'commit.accepted', data: event }])
    await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    await soon(reader, [2, 3])
  })

  it('the event stream sends the events missed since Last-Event-ID, and then new events', async () => {
    const user = await app.newUser({ num: '100' })
    for (let n = 0; n < 3; n += 1) await user.register()
    const [first] = (await user.rest('GET', 'events')).body.results
    const reader = await listen(user, first.id)
    await soon(reader, [2, 3])
    await user.register()
    await soon(reader, [2, 3, 4])
    await soon(await listen(user, '0'), [1, 2, 3, 4])
    const asked = await readEvents(`${app.url}/api/v3/events/stream?last_event_id=3`, { actor: user })
    readers.push(asked)
    await soon(asked, [4])
  })

  it('the event stream rejects a position after the newest event', async () => {
    const user = await app.newUser()
    await user.register()
    for (const position of ['2', '7', '999999999', '2147483647']) {
      const answer = expectError(
        await user.rest('GET', 'events/stream', { headers: { 'Last-Event-ID': position } }),
        'VALIDATION_FAILED',
      )
      expect(answer.body.error.details).toEqual({ last_event_id: ['There is no such event in your feed.'] })
    }
    const reader = await listen(user, '1')
    await user.register()
    await soon(reader, [2])
  })

  it('the event stream sends a thousand missed events completely and in order', async () => {
    const user = await app.newUser()
    await app.sql(
      `with fed as (update wallets set event_sequence = 1000 where user_id = $1::uuid returning user_id)
       insert into events (owner_id, sequence, type) select user_id, n, 'points.granted' from fed, generate_series(1, 1000) n`,
      [user.id],
    )
    await soon(
      await listen(user, '0'),
      Array.from({ length: 1000 }, (_, n) => n + 1),
    )
  })

  it('the event stream sends no events of other users', async () => {
    const [user, other] = await Promise.all([app.newUser(), app.newUser()])
    const [reader, stranger] = await Promise.all([listen(user), listen(other)])
    await user.register()
    await soon(reader, [1])
    await other.register()
    await soon(stranger, [1])
    expect(stranger.events[0]!.id).not.toBe(reader.events[0]!.id)
    expect((await listen(undefined)).status).toBe(401)
    expect((await listen(other, reader.events[0]!.id)).status).toBe(400)
    expect((await listen(other, `event_${randomUUID()}`)).status).toBe(400)
  })

  it('the event stream sends an event without a database notification', async () => {
    const user = await app.newUser()
    const reader = await listen(user)
    await tell(user)
    await soon(reader, [1])
  })

  it('the event stream immediately sends events of another process', async () => {
    const other = await startAnother(app)
    // Disables the poll every two seconds, which would also find the event.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const user = await app.newUser({ num: '100' })
    const elsewhere = createRest(other.url, { actor: user })
    const reader = await listen(user)
    const { body } = await registerWith(elsewhere, {})
    const expected = [1]
    for (let n = 2; n <= 8; n += 1) {
      await elsewhere('PATCH', `assets/${body.id}/`, { json: { caption: `Caption ${n}` } })
      await soon(reader, [...expected, n])
      expected.push(n)
    }
    vi.useRealTimers()
    await other.stop()
  })

  it('the event stream ends when the process shuts down, without delaying the shutdown', async () => {
    const other = await startAnother(app)
    const user = await app.newUser()
    const { id } = await user.register({ public_access: 'true' })
    const streams = await Promise.all([
      readEvents(`${other.url}/api/v3/events/stream`, { actor: user }),
      readEvents(`${other.url}/graphql`, { body: { query: `subscription { commitUpdated(nid: "${id}") { id } }` } }),
    ])
    readers.push(...streams)
    const endings = Promise.allSettled(streams.map(({ ended }) => ended))
    await other.stop()
    expect(
      (await endings).map(({ status }) => status),
      'a subscription is not reported to be complete',
    ).toEqual(['fulfilled', 'rejected'])
    expect(streams[1]!.text).not.toContain('complete')
  })

  const listeners = () =>
    app.sql<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'annal-events' and datname = current_database()
         and query ilike 'listen%' and state = 'idle'`,
    )

  it('the event stream continues after the LISTEN connection is lost', async () => {
    const user = await app.newUser()
    const reader = await listen(user)
    const [before] = await eventually(listeners, (rows) => rows.length === 1)
    await app.sql('select pg_terminate_backend($1::int)', [before!.pid])
    await tell(user)
    await soon(reader, [1])
    await eventually(listeners, (rows) => rows.length === 1 && rows[0]!.pid !== before!.pid)
    await user.register()
    await soon(reader, [1, 2])
  })

  it('closes the LISTEN connection when the last event stream disconnects', async () => {
    const reader = await listen(await app.newUser())
    const count = () =>
      app.sql<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where application_name = 'annal-events' and datname = current_database()`,
      )
    await eventually(count, ([row]) => row!.n === 1)
    reader.close()
    await eventually(count, ([row]) => row!.n === 0)
  })

  it('the event stream ends with its session even without a notification, and sends no later event', async () => {
    const user = await app.newUser()
    const reader = await listen(user)
    const [listener] = await eventually(listeners, (rows) => rows.length === 1)
    await whileHeld(app, 'lock table api_keys in access exclusive mode', async () => {
      await app.sql('select pg_terminate_backend($1::int)', [listener!.pid])
      await app.sql('delete from access_tokens where user_id = $1::uuid', [user.id])
      await tell(user)
      await eventually(listeners, (rows) => rows.length === 1 && rows[0]!.pid !== listener!.pid)
      // The session check is blocked, but the feed is not.
      await waiting(app, 1)
      await app.sql(`select from pg_notify('annal_events', $1)`, [user.id])
      // Reading the feed takes one database query. Fifty queries give it enough time.
      for (let answers = 0; answers < 50; answers += 1) await app.sql('select')
      return {}
    })
    await reader.ended
    expect(reader.events).toEqual([])
  })
})
