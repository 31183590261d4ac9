import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const PATH = 'assets/merge-trees/'
const MERGE = 'query ($trees: [AssetTreeInput!]!) { mergedAssetTree(trees: $trees) { mergedAssetTree assetTrees } }'

async function grownAsset(fields: Record<string, string> = {}) {
  const asset = await user.register({ caption: 'One', nit_commit_custom: '{"a":1,"b":{"x":1}}', ...fields })
  const patch = (json: object) => user.rest('PATCH', `assets/${asset.id}/`, { json })
  expectOk(await patch({ caption: 'Two', nit_commit_custom: { b: { y: 2 } } }))
  expectOk(await patch({ nit_commit_custom: { a: null, c: 3 } }))
  const { commits } = expectOk(await user.rest('GET', `assets/${asset.id}/history/`))
  const trees = commits.map(({ assetTreeCid }: { assetTreeCid: string }, n: number) => ({
    assetTreeCid,
    timestampCreated: 100 + n,
  }))
  return { ...asset, trees }
}

const asGraphQL = (trees: { assetTreeCid: string; timestampCreated: number }[]) =>
  trees.map(({ assetTreeCid, timestampCreated }) => ({
    assetTreeCid,
    createdAt: new Date(timestampCreated * 1000).toISOString(),
  }))

const asset = await grownAsset()
const merged = { assetCid: asset.id, abstract: 'Two', a: 1, b: { y: 2 }, c: 3 }

describe('merge of asset trees', () => {
  it('the tree merge returns the newest value of each top-level key and the trees, in both APIs', async () => {
    const answer = expectOk(await user.rest('POST', PATH, { json: asset.trees }))
    expect(answer.mergedAssetTree).toMatchObject(merged)
    expect(answer.assetTrees.map(({ abstract }: { abstract: string }) => abstract)).toEqual(['One', 'Two', 'Two'])
    expect(expectOk(await user.graphql(MERGE, { trees: asGraphQL(asset.trees) })).mergedAssetTree).toEqual(answer)
  })

  it('the tree merge orders trees by their timestamps, and by their position if timestamps are equal', async () => {
    const backwards = expectOk(await user.rest('POST', PATH, { json: asset.trees.toReversed() }))
    expect(backwards.mergedAssetTree).toMatchObject(merged)
    expect(backwards.assetTrees[0]).toMatchObject({ c: 3 })
    const atOnce = asset.trees.map((tree: object) => ({ ...tree, timestampCreated: 7 }))
    expect(expectOk(await user.rest('POST', PATH, { json: atOnce })).mergedAssetTree).toMatchObject(merged)
  })

  it('the tree merge counts a repeated tree each time towards the size limit', async () => {
    const large = await grownAsset({
      caption: 'x'.repeat(4_000),
      nit_commit_custom: JSON.stringify({ a: 'x'.repeat(9_000) }),
    })
    const often = Array(1_000).fill(large.trees[1])
    expectError(await user.rest('POST', PATH, { json: often }), 'VALIDATION_FAILED')
    expectOk(await user.rest('POST', PATH, { json: often.slice(0, 100) }))
  })

  it.each([
    ['JSON without a Content-Type', { raw: JSON.stringify(asset.trees) }],
    [
      'JSON that is labelled urlencoded',
      { raw: JSON.stringify(asset.trees), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    ],
    ['a form', { multipart: { trees: JSON.stringify(asset.trees) } }],
    [
      'milliseconds',
      { json: asset.trees.map((tree: object, n: number) => ({ ...tree, timestampCreated: 1.7e12 + n })) },
    ],
    [
      'timestamps as strings',
      { json: asset.trees.map((tree: object, n: number) => ({ ...tree, timestampCreated: `${n}` })) },
    ],
  ])('the tree merge accepts %s', async (_, body) => {
    expect(expectOk(await user.rest('POST', PATH, body as object)).mergedAssetTree).toMatchObject(merged)
  })

  it('the merge of an empty list returns an empty tree', async () => {
    expect(expectOk(await app.rest('POST', PATH, { json: [] }))).toEqual({ mergedAssetTree: {}, assetTrees: [] })
  })

  it("any caller can merge trees of public assets, but no trees of other users' private assets", async () => {
    const shown = await grownAsset({ public_access: 'true' })
    expect(expectOk(await app.rest('POST', PATH, { json: shown.trees })).mergedAssetTree.assetCid).toBe(shown.id)
    const stranger = await app.newUser()
    const missing = [{ assetTreeCid: `bafkrei${'a'.repeat(52)}`, timestampCreated: 1 }]
    for (const door of [stranger, app]) {
      const answers = await Promise.all([asset.trees, missing].map((json) => door.rest('POST', PATH, { json })))
      for (const answer of answers) expectError(answer, 'NOT_FOUND')
      expect(answers[0]!.body).toEqual(answers[1]!.body)
      expectError(await door.graphql(MERGE, { trees: asGraphQL(asset.trees) }), 'NOT_FOUND')
    }
  })

  it('the tree merge returns 404 for a tree of a deleted asset', async () => {
    const { id, trees } = await grownAsset({ public_access: 'true' })
    await user.rest('DELETE', `assets/${id}/`)
    expectError(await user.rest('POST', PATH, { json: trees }), 'NOT_FOUND')
  })

  it('the tree merge finds trees before and after the relay stores the trees', async () => {
    const { id, trees } = await grownAsset()
    const [first] = trees
    await app.sql(
      `with stored as (
         select c.id, c.asset_id, c.tree_cid from commits c join assets a on a.id = c.asset_id where nid = $1 and sequence = 1
       ),
       settled as (update commit_relays r set status = 'FINAL' from stored where r.commit_id = stored.id)
       insert into pins (cid, asset_id, kind) select tree_cid, asset_id, 'TREE' from stored`,
      [id],
    )
    expect(expectOk(await user.rest('POST', PATH, { json: [first] })).mergedAssetTree).toMatchObject({
      abstract: 'One',
    })
    expect(expectOk(await user.rest('POST', PATH, { json: trees })).mergedAssetTree).toMatchObject({ abstract: 'Two' })
    expectError(await app.rest('POST', PATH, { json: [first] }), 'NOT_FOUND')
  })

  it.each([
    ['too many trees', Array.from({ length: 1001 }, () => asset.trees[0])],
    ['an invalid CID', [{ assetTreeCid: 'x', timestampCreated: 1 }]],
    ['a tree without a timestamp', [{ assetTreeCid: asset.trees[0].assetTreeCid }]],
    ['entries that are not trees', [1, null, 'x']],
  ])('the tree merge rejects %s', async (_, json) => {
    expectError(await user.rest('POST', PATH, { json }), 'VALIDATION_FAILED')
  })

  it('the tree merge accepts only a list or an object as the body, and other routes reject lists', async () => {
    expectError(await user.rest('POST', PATH, { json: 1 }), 'PARSE_ERROR')
    expectError(await user.rest('PATCH', `assets/${asset.id}/`, { json: [{ caption: 'x' }] }), 'PARSE_ERROR')
  })
})
