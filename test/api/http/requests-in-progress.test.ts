/** Many concurrent requests of one caller wait in a queue. Other callers are served meanwhile, in both APIs. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { eventually, poll } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const MOST = 3
const LINE = 200
const app = await createTestApp({ env: { LIMITS: `concurrent-operations=${MOST}` } })
const UPDATE = 'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id } } }'
const LOOKUP = (fields: number) =>
  `query ($sha256: String!) { ${Array.from({ length: fields }, (_, at) => `f${at}: lookup(sha256: $sha256) { totalCount }`).join(' ')} }`
const sha256 = 'ab'.repeat(32)

async function waiting(): Promise<number> {
  const [row] = await app.sql<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'annal' and wait_event_type = 'Lock'`,
  )
  return row!.count
}

async function whileLocked<T>(mode: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: app.installation.databaseUrl })
  await client.connect()
  try {
    await client.query(`begin; lock table assets in ${mode} mode`)
    return await work()
  } finally {
    await client.end()
  }
}

const settled = async (requests: Promise<unknown>[]) => {
  await Promise.all(requests)
}

it.each(['REST', 'GraphQL'])(
  'limits concurrent changes of one user over %s, and serves other users meanwhile',
  async (door) => {
    const [busy, other] = [await app.newUser(), await app.newUser()]
    const { id } = await busy.register()
    const change = (caption: string) =>
      door === 'REST'
        ? busy.rest('PATCH', `assets/${id}/`, { json: { caption } })
        : busy.graphql(UPDATE, { input: { id, caption } })
    const changes = await whileLocked('share', async () => {
      const sent = Array.from({ length: 12 }, (_, at) => change(`${at}`))
      await eventually(waiting, (count) => count === MOST)
      expectOk(await other.rest('GET', 'auth/users/me/'))
      expect((await other.graphql('{ me { id } }')).body).toMatchObject({ data: { me: { id: expect.anything() } } })
      expect(await waiting()).toBe(MOST)
      return sent
    })
    await settled(changes)
    expect(await waiting()).toBe(0)
  },
)

it('anonymous callers at one address share a limit of concurrent requests, separate from signed-in users', async () => {
  const user = await app.newUser()
  const sent = await whileLocked('access exclusive', async () => {
    const strangers = Array.from({ length: MOST + 2 }, () => app.graphql(LOOKUP(1), { sha256 }))
    await eventually(waiting, (count) => count === MOST)
    const signedIn = user.graphql(LOOKUP(1), { sha256 })
    await eventually(waiting, (count) => count === MOST + 1)
    return [...strangers, signedIn]
  })
  await settled(sent)
})

it('counts a GraphQL document once for each root field in the limit of concurrent requests', async () => {
  const user = await app.newUser()
  const sent = await whileLocked('access exclusive', async () => {
    const whole = user.graphql(LOOKUP(MOST), { sha256 })
    await eventually(waiting, (count) => count === MOST)
    const next = user.graphql(LOOKUP(1), { sha256 })
    const other = await app.newUser()
    expect(await waiting()).toBe(MOST)
    const others = other.graphql(LOOKUP(1), { sha256 })
    await eventually(waiting, (count) => count === MOST + 1)
    return [whole, next, others]
  })
  await settled(sent)
})

it.each(['REST', 'GraphQL'])('rejects requests of a user with a full queue over %s with Retry-After', async (door) => {
  const [busy, other] = [await app.newUser(), await app.newUser()]
  const { id } = await busy.register()
  const change = () =>
    door === 'REST'
      ? busy.rest('PATCH', `assets/${id}/`, { json: { caption: 'x' } })
      : busy.graphql(UPDATE, { input: { id, caption: 'x' } })
  const refused: Awaited<ReturnType<typeof change>>[] = []
  const note = (answer: Awaited<ReturnType<typeof change>>) => {
    if (JSON.stringify(answer.body).match(/THROTTLED|throttled/)) refused.push(answer)
  }
  const changes = await whileLocked('share', async () => {
    const sent = Array.from({ length: MOST + LINE + 2 }, () => change().then(note))
    await poll(() => refused.length).until((count) => count >= 2)
    expectOk(await other.rest('GET', 'auth/users/me/'))
    return sent
  })
  await settled(changes)
  for (const { status, body, headers } of refused) {
    expect(headers.get('retry-after')).toBe('1')
    if (door === 'REST') expect([status, body.error.type]).toEqual([429, 'throttled'])
    else expect(body.errors[0].extensions).toMatchObject({ code: 'THROTTLED', retryAfter: 1 })
  }
})
