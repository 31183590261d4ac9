import { request } from 'node:http'
import { afterAll, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const EVENTS = 230
const app = await createTestApp()
const user = await app.newUser()
for (let i = 0; i < 6; i++) await user.register({ public_access: 'true' })
// Longer than the current limit, so that one operation returns a single asset.
await app.sql(`update assets set meta = to_jsonb(repeat('x', 1100000))::text`)
const newestFirst = (await app.sql('select nid from assets order by id desc')).map(({ nid }) => nid)

const withoutTriggers = (statement: string) =>
  app.sql(`do $do$ begin set local session_replication_role = replica; ${statement}; end $do$`)

interface Page {
  count: number
  next: string | null
  previous: string | null
  results: { id: string; sequence: number }[]
}
const get = async (path: string): Promise<Page> => expectOk(await user.rest('GET', path.replace(app.url, '')))
const idsOf = ({ results }: Page) => results.map(({ id }) => id)

it.each([
  ['', newestFirst],
  ['&ordering=created_at', newestFirst.toReversed()],
])('returns the requested number of large assets with the query "%s"', async (query, expected) => {
  const first = await get(`/api/v3/assets/?limit=4${query}`)
  expect([idsOf(first), first.count, first.previous]).toEqual([expected.slice(0, 4), 6, null])
  const second = await get(first.next!)
  expect([idsOf(second), second.count, second.next]).toEqual([expected.slice(4), 6, null])
  expect(idsOf(await get(second.previous!))).toEqual(idsOf(first))
})

it('returns a complete history of large commits, in both orders', async () => {
  const { id } = await user.register()
  for (const caption of ['one', 'two', 'three']) {
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption } }))
  }
  const changes = `jsonb_build_object('caption', jsonb_build_array('', repeat('x', 1100000)))`
  const [{ uuid, kept }] = (await app.sql(
    `select a.id as uuid, jsonb_agg(c.changes order by sequence)::text as kept from commits c join assets a on a.id = c.asset_id
     where a.nid = '${id}' group by a.id`,
  )) as [{ uuid: string; kept: string }]
  await withoutTriggers(`update commits set changes = ${changes} where asset_id = '${uuid}'`)
  const messages = async (query: string) => {
    const { commits, ...page } = expectOk(await user.rest('GET', `assets/${id}/history/${query}`))
    return { ...page, sequences: commits.map(({ id }: { id: string }) => id) }
  }
  const all = await messages('')
  expect(all).toMatchObject({ nid: id, count: 4, next: null, previous: null })
  expect(all.sequences).toHaveLength(4)
  expect((await messages('?ordering=-created_at')).sequences).toEqual(all.sequences.toReversed())
  expect((await messages('?limit=3&offset=1')).sequences).toEqual(all.sequences.slice(1))
  expect((await messages('?limit=3&offset=1&ordering=-created_at')).sequences).toEqual(
    all.sequences.toReversed().slice(1),
  )
  await withoutTriggers(
    `update commits set changes = ('${kept.replaceAll("'", "''")}'::jsonb) -> (sequence - 1) where asset_id = '${uuid}'`,
  )
})

it('returns more events than one database read contains', async () => {
  const [{ owner, last }] = (await app.sql(
    'select owner_id as owner, max(sequence) as last from events group by owner_id order by 2 desc limit 1',
  )) as [{ owner: string; last: number }]
  await withoutTriggers(
    `insert into events select copy.* from events e, generate_series(1, ${EVENTS - last}) n,
       jsonb_populate_record(e, jsonb_build_object('id', uuidv7(), 'sequence', ${last} + n)) copy
     where e.owner_id = '${owner}' and e.sequence = ${last}`,
  )
  const sequences = ({ results }: Page) => results.map(({ sequence }) => sequence)
  const from = (first: number, length: number) => Array.from({ length }, (_, i) => first + i)
  const page = await get('/api/v3/events/?limit=200')
  expect([page.count, page.previous, sequences(page)]).toEqual([EVENTS, null, from(1, 200)])
  const rest = await get(page.next!)
  expect([rest.next, sequences(rest)]).toEqual([null, from(201, EVENTS - 200)])
  expect(sequences(await get('/api/v3/events/?limit=150&offset=50'))).toEqual(from(51, 150))
  expect(sequences(await get('/api/v3/events/?page=last&page_size=150'))).toEqual(from(151, EVENTS - 150))
  expect(sequences(await get('/api/v3/events/?limit=120&ordering=-created_at'))).toEqual(
    from(EVENTS - 119, 120).reverse(),
  )
  const after = await get('/api/v3/events/?after=20&limit=110')
  expect([after.count, sequences(after)]).toEqual([EVENTS - 20, from(21, 110)])
  await withoutTriggers(`delete from events where owner_id = '${owner}' and sequence > ${last}`)
})

it('aborts the connection when an error occurs after the response has started', async () => {
  const registration = `asset_id = (select id from assets where nid = '${newestFirst[5]}')`
  await withoutTriggers(`update commits set sequence = 100 where ${registration}`)
  await expect(user.rest('GET', 'assets/?limit=7')).rejects.toThrow('aborted')
  expect(app.log.lines.splice(0)).toMatchObject([{ level: 'error' }])
  await withoutTriggers(`update commits set sequence = 1 where ${registration}`)
  expect((await get('/api/v3/assets/?limit=7')).results).toHaveLength(7)
})

it('logs no error when the caller disconnects during a response', async () => {
  await new Promise<void>((resolve, reject) => {
    const headers = { authorization: `token ${user.token}` }
    const asked = request(`${app.url}/api/v3/assets/?limit=6`, { headers, agent: false })
    asked.on('error', reject).on('response', (response) => {
      response.on('error', () => undefined).once('data', () => response.destroy())
      response.once('close', resolve)
    })
    asked.end()
  })
  expect((await get('/api/v3/assets/?limit=1')).results).toHaveLength(1)
  expect(app.log.lines).toEqual([])
})

it('limits the size of JSON texts that are stored unchanged', async () => {
  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
  expectError(await user.rest('POST', 'assets/', { json: { meta: text(65_537) } }), 'VALIDATION_FAILED')
  const { id } = await user.register({ meta: text(65_536) })
  for (const field of ['signature', 'signed_metadata']) {
    const refused = await user.rest('PATCH', `assets/${id}/`, { json: { [field]: text(32_769) } })
    expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toEqual({
      [field]: ['Ensure this field has no more than 32 KB.'],
    })
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { [field]: text(32_768) } }))
  }
})

it('limits the offset into a list for other users, but not for its owner', async () => {
  const refused = expectError(await app.rest('GET', 'assets/?offset=10001'), 'VALIDATION_FAILED')
  expect(refused.body.error.details.offset[0]).toMatch(/10000 or less/)
  expectError(await user.rest('GET', `assets/?owner=${user.email.replace('u', 'v')}&offset=10001`), 'VALIDATION_FAILED')
  expectOk(await app.rest('GET', 'assets/?offset=10000'))
  expectOk(await user.rest('GET', 'assets/?offset=99000'))
  expectOk(await user.rest('GET', `assets/?owner=${user.email}&offset=99000`))
  expectError(await app.graphql('{ assets(offset: 10001) { nodes { id } } }'), 'VALIDATION_FAILED')
})

afterAll(() => app.sql(`update assets set meta = null where length(meta) > 65536`))
