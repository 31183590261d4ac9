/** Reads from a replica (decision 44): a real standby, whose replay is held to show who sees what. */
import { afterAll, expect, it } from 'vitest'
import { int, statement, text } from '../../src/domain/sql.ts'
import { createDatabase } from '../../src/platform/database/database.ts'
import { readEvents } from '../support/event-stream.ts'
import { eventually, until } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { createGraphQL } from '../support/graphql-client.ts'
import { createReplicatedApp } from '../support/replicated.ts'
import { createRest } from '../support/rest-client.ts'
import { startAnother } from '../support/start-another.ts'
import type { SignedIn } from '../support/test-app.ts'

const { app, standby, count, fromReplica, whilePaused } = await createReplicatedApp()
const another = await startAnother(app)
afterAll(another.stop)

const { database } = app.installation
const doors = [app.url, another.url] as const
const owner = await app.newUser({ num: '100' })
const stranger = await app.newUser()

const captionBy = 'query ($id: ID!) { asset(id: $id) { caption headId commits(first: 1) { nodes { message } } } }'

/** What both doors of both processes say of an asset's caption to somebody; undefined where there is no such asset. */
async function captionsOf(nid: string, actor?: SignedIn, headers: Record<string, string> = {}) {
  const seen: (string | undefined)[] = []
  for (const url of doors) {
    const rest = await createRest(url, { actor })('GET', `assets/${nid}/`, { headers })
    const graphql = await createGraphQL(url, { actor })(captionBy, { id: nid }, { headers })
    seen.push(rest.status === 404 ? undefined : rest.body.caption, graphql.body.data?.asset?.caption)
  }
  return seen
}

/** An asset that the replica shows, with both processes reading there. */
async function shownAsset(caption = 'before') {
  const { id } = await owner.register({ public_access: 'true', caption })
  await standby.catchUp()
  await fromReplica(() => app.rest('GET', `assets/${id}/`))
  return id as string
}

it('public reads of everybody come from the replica', async () => {
  const nid = await shownAsset()
  for (const actor of [undefined, stranger, owner]) {
    expect(await fromReplica(() => captionsOf(nid, actor))).toEqual(Array(4).fill('before'))
  }
  const read = async (path: string) => expectOk(await fromReplica(() => app.rest('GET', path)))
  expect((await read(`assets/${nid}/tree/`)).nid).toBe(nid)
  expect((await read(`lookup/?cid=${nid}`)).results).toHaveLength(1)
  await fromReplica(() => app.rest('GET', `/ipfs/${nid}`))
})

it('who has written is shown it at both doors and by other processes; a stranger sees the older state at most', async () => {
  const nid = await shownAsset()
  await whilePaused(async () => {
    const answer = await owner.rest('PATCH', `assets/${nid}/`, { json: { caption: 'after' } })
    expect(await captionsOf(nid, owner)).toEqual(Array(4).fill('after'))
    expect(await fromReplica(() => captionsOf(nid))).toContain('before')
    expect(await fromReplica(() => captionsOf(nid, stranger))).toContain('before')

    const position = answer.headers.get('annal-read-after')!
    expect(position).toMatch(/^\d+-[0-9A-F]+$/)
    const told = { 'Annal-Read-After': position }
    expect(await captionsOf(nid, undefined, told)).toEqual(Array(4).fill('after'))
    expect(await captionsOf(nid, stranger, told)).toEqual(Array(4).fill('after'))
  })
  await standby.catchUp()
  await eventually(
    () => captionsOf(nid),
    (seen) => seen.every((caption) => caption === 'after'),
  )
})

it('a mutation of the other door tells the position, too', async () => {
  const nid = await shownAsset()
  const answer = await owner.graphql(
    'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { caption } } }',
    {
      input: { id: nid, caption: 'told' },
    },
  )
  expect(answer.headers.get('annal-read-after')).toMatch(/^\d+-[0-9A-F]+$/)
})

it('what is no position is refused at both doors', async () => {
  const headers = { 'Annal-Read-After': 'yesterday' }
  const rest = await app.rest('GET', 'assets/', { headers })
  expect(rest).toMatchObject({ status: 400 })
  const graphql = await app.graphql('{ assets(first: 1) { nodes { id } } }', {}, { headers })
  expect(graphql.body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_FAILED' })
})

it('an asset that was made private is shown to nobody else any more, however far behind the replica is', async () => {
  const nid = await shownAsset('to be hidden')
  await whilePaused(async () => {
    await owner.rest('PATCH', `assets/${nid}/`, { json: { public_access: false } })
    expect(await standby.sql(`select public_access from assets where nid = '${nid}'`)).toEqual([
      { public_access: true },
    ])
    for (const actor of [undefined, stranger]) {
      expect(await captionsOf(nid, actor)).toEqual(Array(4).fill(undefined))
      for (const url of doors) {
        const rest = createRest(url, { actor })
        expect(await rest('GET', `/ipfs/${nid}`)).toMatchObject({ status: 404 })
        expect((await rest('GET', `lookup/?cid=${nid}`)).body.results).toEqual([])
        expect((await rest('GET', `assets/?owner=${owner.email}&limit=100`)).text).not.toContain(nid)
        const { body } = await createGraphQL(url, { actor })('query ($id: ID!) { node(id: $id) { id } }', { id: nid })
        expect(body.data).toEqual({ node: null })
      }
    }
    expect(await captionsOf(nid, owner)).toEqual(Array(4).fill('to be hidden'))
  })
})

const setPublic = (nid: string, isPublic: boolean) =>
  app.sql('update assets set public_access = $2 where nid = $1', [nid, isPublic])

it.each([
  ['made private by hand', (nid: string) => setPublic(nid, false), (nid: string) => setPublic(nid, true)],
  ['deleted', (nid: string) => owner.rest('DELETE', `assets/${nid}/`), async () => {}],
])('an asset that was %s is shown to nobody else any more', async (_how, withdraw, undo) => {
  const nid = await shownAsset()
  await whilePaused(async () => {
    await withdraw(nid)
    expect(await captionsOf(nid)).toEqual(Array(4).fill(undefined))
    expect(await captionsOf(nid, stranger)).toEqual(Array(4).fill(undefined))
  })
  await undo(nid)
})

it('what a replica does not have yet is looked for at the primary', async () => {
  await shownAsset()
  await whilePaused(async () => {
    const { id } = await owner.register({ public_access: 'true', caption: 'new' })
    expect(await captionsOf(id)).toEqual(Array(4).fill('new'))
    const lookup = expectOk(await app.rest('GET', `lookup/?cid=${id}`))
    expect(lookup.results).toHaveLength(1)
  })
})

it('money is as it is now, for whoever asks', async () => {
  const nid = await shownAsset()
  const { body } = await stranger.graphql('{ me { wallet { points num } } }')
  expect(body.data.me.wallet).toEqual({ points: '12', num: '0' })
  await whilePaused(async () => {
    await fromReplica(() => captionsOf(nid, stranger))
    await app.sql('update wallets set points = 0 where user_id = $1::uuid', [stranger.id])
    try {
      for (const url of doors) {
        const graphql = createGraphQL(url, { actor: stranger })
        const own = await graphql('{ me { username wallet { points num } assets(first: 1) { totalCount } } }')
        expect(own.body.data.me.wallet).toEqual({ points: '0', num: '0' })
        const me = expectOk(await createRest(url, { actor: stranger })('GET', 'auth/users/me/'))
        expect(Number(me.points)).toBe(0)
      }
    } finally {
      await app.sql('update wallets set points = 12 where user_id = $1::uuid', [stranger.id])
    }
  })
})
it('whoever is told of something by their feed is shown it when they ask', async () => {
  const [admin, user] = [await app.admin(), await app.newUser()]
  const noted = () => app.sql('select position from read_positions where user_id = $1::uuid', [user.id])
  const reader = await readEvents(`${another.url}/api/v3/events/stream`, { actor: user })
  const gift = { user_id: user.publicId, amount: '5', reason: 'A present' }
  expectOk(await admin.rest('POST', 'store/point-grants/', { json: gift }))
  await eventually(
    () => reader.events.length,
    (events) => events > 0,
  )
  expect(await noted()).toHaveLength(1)
  reader.close()
  await reader.ended.catch(() => undefined)
})

it('a history is held against the chain as it is now', async () => {
  const nid = await shownAsset()
  const verify = 'query ($id: ID!) { asset(id: $id) { verification { verdict } } }'
  // The asset that was asked for, once compiled and once by the executor, which tells what is wrong; and nothing that is judged. A replica
  // that is slow for a moment is not asked.
  await until('the replica is asked twice', async () => {
    const before = count('replica')
    // No history is on the chain here, which is said after the asset was looked up once more.
    expect((await app.graphql(verify, { id: nid })).body.data.asset).toEqual({ verification: null })
    return count('replica') === before + 2
  })
})

it('who was known to have written is shown it also after the table of positions was lost', async () => {
  const nid = await shownAsset()
  await whilePaused(async () => {
    await owner.rest('PATCH', `assets/${nid}/`, { json: { caption: 'after' } })
    // As a server does that was killed.
    await app.sql('truncate read_positions')
    expect(await captionsOf(nid, owner)).toEqual(Array(4).fill('after'))
    expect(await captionsOf(nid)).toEqual(Array(4).fill('after'))
  })
})

it('a replica that follows another timeline is not read from', async () => {
  const nid = await shownAsset()
  await app.sql('insert into timelines (timeline) values (99)')
  await standby.catchUp()
  await eventually(
    () => database.replicas.states(),
    ([state]) => state!.trouble === 'it follows another timeline than the primary',
  )
  const before = count('replica')
  expect(await captionsOf(nid)).toEqual(Array(4).fill('before'))
  expect(count('replica')).toBe(before)
  await app.sql('delete from timelines where timeline = 99')
  await standby.catchUp()
  await fromReplica(() => captionsOf(nid))
})

it('a replica that is too far behind is not read from', async () => {
  const nid = await shownAsset()
  const near = createDatabase({
    url: app.installation.databaseUrl,
    pool: 2,
    replicas: { urls: [standby.url], maxLag: 1 },
    log: app.log,
  })
  const reader = { key: '', user: undefined, after: undefined }
  const read = () =>
    near.replicas.lagging(reader, () => near.read.asset.findFirst({ select: { caption: true }, where: { nid } }))
  try {
    await eventually(
      () => read().catch(() => undefined),
      () => (near.replicas.outcomes.get('replica') ?? 0) > 0,
    )
    await whilePaused(async () => {
      await app.sql(`update assets set caption = 'later' where nid = $1`, [nid])
      await eventually(
        // Its few connections may take long on a busy machine.
        () => read().catch(() => undefined),
        (asset) => asset?.caption === 'later',
      )
      await eventually(
        () => near.replicas.states(),
        ([state]) => state!.trouble === 'it is more than 1 seconds behind',
      )
    })
    await app.sql(`update assets set caption = 'before' where nid = $1`, [nid])
  } finally {
    await near.close()
  }
})

/** Stays on a replica until it is cancelled. */
const waitThere = statement(
  'test_wait_on_replica',
  { parameters: { caption: text }, columns: { n: int }, mayLag: true },
  `select count(*)::int as n from assets where caption = $caption and
     case when pg_is_in_recovery() then pg_sleep(600) is not null else true end`,
)

const lockAssets = statement('test_lock_assets', {}, 'lock table assets in access exclusive mode')

it('a read that the replica cancels for what it has to replay is answered by the primary', async () => {
  await shownAsset('cancelled')
  const before = count('failed')
  const reader = { key: '', user: undefined, after: undefined }
  const answer = database.replicas.lagging(reader, () => database.query(waitThere, { caption: 'cancelled' }))
  const waits = `select count(*)::int as n from pg_stat_activity where query like '%pg_sleep(600)%' and wait_event = 'PgSleep'`
  await eventually(
    () => standby.sql<{ n: number }>(waits),
    ([row]) => row!.n === 1,
  )
  await database.transaction((query) => query(lockAssets, {}))
  expect(await answer).toEqual([{ n: 1 }])
  expect(count('failed')).toBe(before + 1)
})
it('a replica that hangs, and then one that is away, holds up nobody and raises nothing', async () => {
  const nid = await shownAsset()
  await standby.freeze()
  try {
    expect(await captionsOf(nid)).toEqual(Array(4).fill('before'))
  } finally {
    await standby.thaw()
  }
  await fromReplica(() => captionsOf(nid))
  await standby.kill()
  expect(await captionsOf(nid, stranger)).toEqual(Array(4).fill('before'))
  await eventually(
    () => database.replicas.states(),
    ([state]) => state!.trouble !== undefined && state!.lag === undefined,
  )
})
