/** What others committed to a file, as readers of the asset get it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const script = '<script>fetch("https://evil.example")</script>'
let owner: SignedIn
let id: string

/** As the reading of the chain takes them down. */
const note = (place: number, text: string) =>
  app.sql(
    `insert into foreign_commits (nid, block_number, log_index, block_hash, transaction_hash, recorder, data, data_bytes, recorded_at)
     values ($1, 9 + $2::int / 2, $2::int % 2, '0x', '0x' || repeat('7b', 32), '0x90F79bf6EB2c4f870365E785982E1f101E93b906', $3, 9000, now())`,
    [id, place, text],
  )
beforeAll(async () => {
  owner = await app.newUser()
  id = (await owner.register()).id
  await app.sql('insert into watched_assets (nid) values ($1) on conflict do nothing', [id])
  for (const [place, text] of [script, 'b', 'c', 'd', 'e'].entries()) await note(place, text)
})

const read = async (args: string, who = owner) => {
  const connection = `foreignCommits${args} { totalCount isCut nodes { text size } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
  return expectOk(await who.graphql(`{ asset(id: "${id}") { commitCount ${connection} } }`)).asset
}
const textsOf = ({ foreignCommits }: { foreignCommits: { nodes: { text: string }[] } }) =>
  foreignCommits.nodes.map(({ text }) => text)

describe('commits by others', () => {
  it('are listed newest first by both interfaces, as what they are, and the history knows nothing of them', async () => {
    const seen = await read('')
    expect(textsOf(seen)).toEqual(['e', 'd', 'c', 'b', script])
    expect(seen).toMatchObject({ commitCount: 1, foreignCommits: { totalCount: 5, isCut: false } })
    const page = expectOk(await owner.rest('GET', `assets/${id}/foreign-commits/?limit=2&offset=3`))
    expect(page).toMatchObject({ count: 5, next: null, previous: expect.stringContaining('limit=2') })
    expect(page.results).toMatchObject([
      { text: 'b', size: 9_000, block_number: 9, log_index: 1 },
      { text: script, block_number: 9, log_index: 0 },
    ])
    const history = expectOk(await owner.rest('GET', `assets/${id}/history/`))
    expect([history.count, JSON.stringify(history).includes('evil')]).toEqual([1, false])
  })

  it('are paged forwards and backwards, and by no cursor that no page gave out', async () => {
    const first = await read('(first: 2)')
    expect([textsOf(first), first.foreignCommits.pageInfo.hasNextPage]).toEqual([['e', 'd'], true])
    const next = await read(`(first: 2, after: "${first.foreignCommits.pageInfo.endCursor}")`)
    expect(textsOf(next)).toEqual(['c', 'b'])
    const before = await read(`(last: 1, before: "${next.foreignCommits.pageInfo.startCursor}")`)
    expect(textsOf(before)).toEqual(['d'])
    const refused = await owner.graphql(`{ asset(id: "${id}") { foreignCommits(after: "bm9uZQ") { totalCount } } }`)
    expect(refused.body.errors[0].extensions.code).toBe('VALIDATION_FAILED')
  })

  it('are paged where blocks have ten digits', async () => {
    await app.sql('update foreign_commits set block_number = block_number + 2000000000 where nid = $1', [id])
    const first = await read('(first: 2)')
    const next = await read(`(first: 2, after: "${first.foreignCommits.pageInfo.endCursor}")`)
    expect([textsOf(first), textsOf(next)]).toEqual([
      ['e', 'd'],
      ['c', 'b'],
    ])
    const beyond = Buffer.from('2147483648:0').toString('base64')
    const refused = await owner.graphql(`{ asset(id: "${id}") { foreignCommits(after: "${beyond}") { totalCount } } }`)
    expect(refused.body.errors[0].extensions.code).toBe('VALIDATION_FAILED')
    await app.sql('update foreign_commits set block_number = block_number - 2000000000 where nid = $1', [id])
  })

  it('are seen by whoever sees the asset, and by nobody else', async () => {
    const stranger = await app.newUser()
    expect((await stranger.rest('GET', `assets/${id}/foreign-commits/`)).status).toBe(404)
    expectOk(await owner.rest('PATCH', `assets/${id}/`, { json: { public_access: true } }))
    expect(textsOf(await read('(first: 1)', stranger))).toEqual(['e'])
  })

  it('are told to be more than are kept, where that is so', async () => {
    await app.sql('update watched_assets set cut_at = 12 where nid = $1', [id])
    expect((await read('')).foreignCommits).toMatchObject({ totalCount: 5, isCut: true })
  })
})
