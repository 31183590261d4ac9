import { connect, createServer } from 'node:net'
import { createClient } from 'graphql-sse'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { type EventReader, readEvents } from '../../support/event-stream.ts'
import { eventually, poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { listen } from '../../support/listen.ts'
import { startAnother } from '../../support/start-another.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import type { TestActor } from '../../support/user.ts'

const app = await createTestApp({ withChain: true })

const readers: EventReader[] = []
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})

const subscribe = async (actor: TestActor | undefined, query: string, variables: object) => {
  const reader = await readEvents(`${app.url}/graphql`, { ...(actor && { actor }), body: { query, variables } })
  readers.push(reader)
  return reader
}

const EVENTS = `query ($first: Int, $last: Int, $after: String, $before: String) {
  events(first: $first, last: $last, after: $after, before: $before) {
    edges { cursor node { id sequence type createdAt orderId commitId deliveryId transferId } }
    pageInfo { hasNextPage hasPreviousPage }
  }
}`

const COMMIT_UPDATED =
  'subscription ($nid: ID!) { commitUpdated(nid: $nid) { id sequence status transactionHash committer } }'

describe('events of a user', () => {
  it('the events of a user report a commit from acceptance to finality, in order', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const { body } = await poll(() => user.graphql(EVENTS)).until(({ body }) => body.data.events.edges.length === 2)
    const nodes = body.data.events.edges.map(({ node }: { node: object }) => node)
    expect(nodes).toMatchObject([
      { sequence: 1, type: 'commit.accepted', transferId: expect.stringMatching(/^transfer_/), orderId: null },
      { sequence: 2, type: 'commit.final', transferId: null, deliveryId: null },
    ])
    const history = expectOk(await user.graphql(`{ asset(id: "${id}") { history { id status } } }`))
    expect(history.asset.history).toEqual([{ id: nodes[0].commitId, status: 'FINAL' }])
    expect(nodes[1].commitId).toBe(nodes[0].commitId)
  })

  it('the cursors of the event connection are sequence numbers', async () => {
    const user = await app.newUser()
    await app.sql(
      `with fed as (update wallets set event_sequence = 5 where user_id = $1::uuid returning user_id)
       insert into events (owner_id, sequence, type) select user_id, n, 'points.granted' from fed, generate_series(1, 5) n`,
      [user.id],
    )
    const page = async (variables: object) => {
      const { events } = expectOk(await user.graphql(EVENTS, variables))
      return [events.edges.map(({ cursor }: { cursor: string }) => cursor).join(), events.pageInfo]
    }
    expect(await page({ first: 2 })).toEqual(['1,2', { hasNextPage: true, hasPreviousPage: false }])
    expect(await page({ first: 2, after: '3' })).toEqual(['4,5', { hasNextPage: false, hasPreviousPage: true }])
    expect(await page({ last: 2 })).toEqual(['4,5', { hasNextPage: false, hasPreviousPage: true }])
    expect(await page({ last: 2, before: '4' })).toEqual(['2,3', { hasNextPage: true, hasPreviousPage: true }])
    const { events } = expectOk(await user.graphql(EVENTS, { first: 2 }))
    expect((await page({ after: events.edges[1].node.id }))[0]).toBe('3,4,5')
    const node = '{ node(id: "ID") { id ... on Event { sequence } } }'.replace('ID', events.edges[1].node.id)
    expect(expectOk(await user.graphql(node)).node).toEqual({ id: events.edges[1].node.id, sequence: 2 })
    expect(expectOk(await (await app.newUser()).graphql(node)).node).toBeNull()
    expectError(await user.graphql(EVENTS, { after: 'x' }), 'VALIDATION_FAILED')
    expectError(await app.graphql(EVENTS), 'NOT_AUTHENTICATED')
  })

  it('the events of users have no gaps when commits of several users become final together', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => app.newUser({ num: '100' })))
    await Promise.all(users.flatMap((user) => Array.from({ length: 4 }, () => user.register())))
    const rows = await poll(() =>
      app.sql<{ owner_id: string; n: number; top: number; types: number }>(
        `select owner_id, count(*)::int as n, max(sequence) as top, count(distinct (type, commit_id))::int as types
           from events where owner_id = any ($1::uuid[]) group by owner_id`,
        [users.map(({ id }) => id)],
      ),
    ).until((found) => found.length === 4 && found.every(({ n }) => n === 8))
    expect(rows.map(({ n, top, types }) => [n, top, types])).toEqual(users.map(() => [8, 8, 8]))
  })
})

async function listenBefore(url: () => string): Promise<string> {
  const proxy = createServer((client) => {
    const server = connect(Number(new URL(url()).port), '127.0.0.1')
    for (const [from, to] of [[client, server] as const, [server, client] as const])
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to)
  })
  return `http://127.0.0.1:${await listen(proxy, onTestFinished)}`
}

describe('GraphQL subscriptions', () => {
  it('a GraphQL subscription reconnects to another process when its process stops', async () => {
    const other = await startAnother(app)
    const user = await app.newUser()
    const { id } = await user.register()
    let behind = other.url
    const url = `${await listenBefore(() => behind)}/graphql`
    const reported: unknown[] = []
    const connections: unknown[] = []
    const headers = { authorization: `token ${user.token}` }
    const client = createClient({ url, headers, on: { connected: () => void connections.push('connected') } })
    onTestFinished(() => client.dispose())
    const endings: unknown[] = []
    const end = (why: unknown) => void endings.push(why)
    client.subscribe(
      { query: COMMIT_UPDATED, variables: { nid: id } },
      { next: ({ data }) => void reported.push(data), error: end, complete: () => end('complete') },
    )
    await poll(() => connections).until(({ length }) => length === 1)
    behind = app.url
    await other.stop()
    await poll(() => [...connections, ...endings]).until(({ length }) => length === 2)
    expect(endings).toEqual([])
    await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    await poll(() => reported).until(({ length }) => length > 0)
  })
})

describe('subscription commitUpdated', () => {
  it('the subscription commitUpdated reports each change of a commit of the asset', async () => {
    const user = await app.newUser()
    const [{ id }, other] = [await user.register(), await user.register()]
    await poll(() => app.sql('select 1 from events where owner_id = $1::uuid', [user.id])).until(
      (rows) => rows.length === 4,
    )
    const reader = await subscribe(user, COMMIT_UPDATED, { nid: id })
    await user.rest('PATCH', `assets/${other.id}/`, { json: { caption: 'Other' } })
    await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    await poll(() => reader.events).until((events) =>
      events.some(({ data }) => data.data.commitUpdated.status === 'FINAL'),
    )
    for (const { event, data } of reader.events) {
      expect([event, data.errors]).toEqual(['next', undefined])
      expect(data.data.commitUpdated).toMatchObject({ sequence: 2, committer: user.address })
    }
  })

  it('commitUpdated delivers hundreds of concurrent changes, and disconnects a subscriber with a thousand pending changes', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const count = () => app.sql('select 1 from events where owner_id = $1::uuid', [user.id])
    await eventually(count, (rows) => rows.length === 2)
    const settle = (n: number) =>
      app.sql(
        `with fed as (
           update wallets set event_sequence = event_sequence + $2::int where user_id = $1::uuid
           returning user_id, old.event_sequence as before
         )
         insert into events (owner_id, sequence, type, commit_id)
         select user_id, before + n, 'commit.final', (select max(commit_id::text)::uuid from events where owner_id = user_id)
         from fed, generate_series(1, $2::int) n`,
        [user.id, n],
      )
    const reader = await subscribe(user, COMMIT_UPDATED, { nid: id })
    await settle(450)
    await poll(() => reader.events).until(({ length }) => length === 450)
    expect(reader.hasEnded).toBe(false)
    await settle(2_000)
    await reader.ended
  })

  it('the subscription commitUpdated is open to everyone with access to the asset, and ends with the access', async () => {
    const [user, other] = await Promise.all([app.newUser({ num: '10' }), app.newUser()])
    const { id } = await user.register({ public_access: 'true' })
    const [known, anonymous] = await Promise.all([
      subscribe(other, COMMIT_UPDATED, { nid: id }),
      subscribe(undefined, COMMIT_UPDATED, { nid: id }),
    ])
    await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    for (const { events } of [known, anonymous]) {
      await poll(() => events).until((found) => found.some(({ data }) => data.data.commitUpdated.sequence === 2))
    }
    await user.rest('PATCH', `assets/${id}/`, { json: { public_access: false } })
    await Promise.all([known.ended, anonymous.ended])
    for (const { events } of [known, anonymous]) {
      expect(events.some(({ data }) => data.data.commitUpdated.sequence === 3)).toBe(false)
    }
  })

  it('commitUpdated rejects an asset that the caller cannot access before it sends an event', async () => {
    const [user, other] = await Promise.all([app.newUser(), app.newUser()])
    for (const nid of [(await user.register()).id, 'bafkreinothing']) {
      const reader = await subscribe(other, COMMIT_UPDATED, { nid })
      await reader.ended
      expect(reader.events).toHaveLength(1)
      expect(reader.events[0]!.data.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }])
    }
  })

  it('commitUpdated rejects an expensive selection, because each change is sent to all subscribers', async () => {
    const user = await app.newUser({ num: '10' })
    const { id } = await user.register({ public_access: 'true' })
    const telling = (commits: number) =>
      `subscription ($nid: ID!) { commitUpdated(nid: $nid) { sequence user { assets(first: 1) { nodes { commits(first: ${commits}) { nodes { changes } } } } } } }`
    const refused = await subscribe(undefined, telling(3), { nid: id })
    await poll(() => refused.events).until((found) => found.length > 0)
    expect(refused.events[0]!.data.errors).toMatchObject([
      {
        message: expect.stringMatching(/The maximum is 1000000\b/),
        extensions: { code: 'VALIDATION_FAILED' },
      },
    ])
    const reader = await subscribe(undefined, telling(2), { nid: id })
    await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } })
    await poll(() => reader.events).until((found) => found.some(({ data }) => data.data?.commitUpdated.sequence === 2))
  })
})

describe('subscription orderUpdated', () => {
  const ORDER_UPDATED = 'subscription ($id: ID!) { orderUpdated(id: $id) { id status pointsPaid } }'

  it('the subscription orderUpdated reports each change of the order to the buyer', async () => {
    const store = await createStore(app)
    const buyer = await app.newUser()
    const [order, another] = [await store.order(buyer), await store.order(buyer)]
    const reader = await subscribe(buyer, ORDER_UPDATED, { id: order.id })
    // Proxies must not buffer the stream.
    expect(reader.headers.get('x-accel-buffering')).toBe('no')
    expectOk(await store.confirm(buyer, another.id))
    expectOk(await store.confirm(buyer, order.id))
    await poll(() => reader.events).until((events) => events.length > 0)
    expect(reader.events.map(({ data }) => data.data.orderUpdated)).toEqual([
      { id: order.id, status: 'SUCCESS', pointsPaid: '2.5' },
    ])
  })

  it('the subscription orderUpdated rejects other callers before it sends an event', async () => {
    const store = await createStore(app)
    const order = await store.order(await app.newUser())
    for (const [actor, code] of [
      [await app.newUser(), 'NOT_FOUND'],
      [undefined, 'NOT_AUTHENTICATED'],
    ] as const) {
      const reader = await subscribe(actor, ORDER_UPDATED, { id: order.id })
      await reader.ended
      expect(reader.events.map(({ data }) => data.errors[0].extensions.code)).toEqual([code])
    }
  })
})

describe('failing subscriptions', () => {
  it('a subscription that fails exposes no internals, and is logged', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    await poll(() => app.sql('select 1 from events where owner_id = $1::uuid', [user.id])).until(
      (rows) => rows.length === 2,
    )
    const reader = await subscribe(user, COMMIT_UPDATED, { nid: id })
    app.log.lines.length = 0
    await app.sql('alter table commits rename column message to hidden_message')
    try {
      await app.sql(
        `with fed as (update wallets set event_sequence = 3 where user_id = $1::uuid returning user_id)
         insert into events (owner_id, sequence, type, commit_id)
         select user_id, 3, 'commit.final', (select commit_id from events where owner_id = user_id limit 1) from fed`,
        [user.id],
      )
      await reader.ended
    } finally {
      await app.sql('alter table commits rename column hidden_message to message')
    }
    const reported = JSON.stringify(reader.events)
    expect(reported).toContain('INTERNAL')
    expect(reported).not.toMatch(/hidden_|select |prisma|node_modules|\.ts/i)
    expect(app.log.lines.some(({ level }) => level === 'error')).toBe(true)
  })
})
