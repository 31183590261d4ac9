/** Versions of assets: reading, comparing and reverting. */
import { beforeAll, describe, expect, it } from 'vitest'
import { readPricing } from '../../../src/modules/wallet/quote.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const [user, stranger] = await Promise.all([app.newUser({ num: '100' }), app.newUser()])

const at = (minute: number) => `2021-01-01T00:0${minute}:00.500Z`
const seconds = (minute: number) => String(Math.floor(Date.parse(at(minute)) / 1_000))

const FIELDS = 'caption headline altText nitCommitCustom commit { id sequence }'
const VERSION = `query ($id: ID!, $commitId: ID!) { asset(id: $id) { version(commitId: $commitId) { ${FIELDS} } } }`
const VERSIONS = `query ($id: ID!, $limit: Int, $before: Int) { asset(id: $id) { versions(limit: $limit, before: $before) { ${FIELDS} } } }`
const COMMIT_AT = 'query ($id: ID!, $at: String) { asset(id: $id) { commitAt(at: $at) { id } } }'
const DIFF =
  'query ($id: ID!, $from: String, $to: String) { asset(id: $id) { diff(from: $from, to: $to) { from { commit { sequence } } to { caption commit { sequence } } changes } } }'

const asked = async (document: string, variables: object, actor: Pick<SignedIn, 'graphql'> = user) =>
  expectOk(await actor.graphql(document, { id, ...variables })).asset

let id: string
let commits: string[]

/** One commit a minute: registered, headline set, made public, custom keys removed and replaced, caption set to its first value. */
beforeAll(async () => {
  const patch = async (json: object) => expectOk(await user.rest('PATCH', `assets/${id}/`, { json }))
  id = (await user.register({ caption: 'One', nit_commit_custom: '{"a":1,"usedBy":"Us","b":{"x":[1,"ä"]}}' })).id
  await patch({ caption: 'Two', headline: 'Head', commit_message: 'Named' })
  await patch({ tag: 'found', public_access: true, alt_text: 'A head' })
  await patch({ nit_commit_custom: { a: null, b: { y: 2 } } })
  await patch({ caption: 'One', tag: '' })
  await app.sql('alter table commits disable trigger commits_erase_only')
  await app.sql(`update commits set created_at = $1::timestamptz + (sequence - 1) * interval '1 minute'`, [at(1)])
  await app.sql('alter table commits enable trigger commits_erase_only')
  const { history } = await asked('query ($id: ID!) { asset(id: $id) { history { id } } }', {})
  commits = history.map((commit: { id: string }) => commit.id)
})

const custom = { a: 1, usedBy: 'Us', b: { x: [1, 'ä'] } }
const later = { usedBy: 'Us', b: { y: 2 } }
const versions = [
  { caption: 'One', headline: '', altText: '', nitCommitCustom: custom },
  { caption: 'Two', headline: 'Head', altText: '', nitCommitCustom: custom },
  { caption: 'Two', headline: 'Head', altText: 'A head', nitCommitCustom: custom },
  { caption: 'Two', headline: 'Head', altText: 'A head', nitCommitCustom: later },
  { caption: 'One', headline: 'Head', altText: 'A head', nitCommitCustom: later },
]
const expected = () =>
  versions.map((version, index) => ({ ...version, commit: { id: commits[index], sequence: index + 1 } }))

describe('versions of assets', () => {
  it('a version of an asset contains the metadata from the tree of its commit', async () => {
    for (const version of expected()) {
      expect((await asked(VERSION, { commitId: version.commit.id })).version).toEqual(version)
    }
  })

  it('lists the versions of an asset, newest first', async () => {
    const all = expected().toReversed()
    expect((await asked(VERSIONS, {})).versions).toEqual(all)
    expect((await asked(VERSIONS, { limit: 2 })).versions).toEqual(all.slice(0, 2))
    expect((await asked(VERSIONS, { limit: 2, before: 4 })).versions).toEqual(all.slice(2, 4))
    expectError(await user.graphql(VERSIONS, { id, limit: 101 }), 'VALIDATION_FAILED')
  })

  it('a version shows a custom field that replaces a tree key under that key', async () => {
    const nit_commit_custom = JSON.stringify({ abstract: 'Own', headline: { not: 'text' }, assetCreator: 'Somebody' })
    const asset = await user.register({ caption: 'One', headline: 'Head', nit_commit_custom })
    const { versions } = expectOk(await user.graphql(VERSIONS, { id: asset.id })).asset
    expect(versions).toMatchObject([{ caption: 'Own', headline: '', nitCommitCustom: { headline: { not: 'text' } } }])
  })

  it('a version is found only by the ID of a commit of the same asset', async () => {
    const other = await user.register()
    const { commitAt } = expectOk(await user.graphql(COMMIT_AT, { id: other.id })).asset
    for (const commitId of [commitAt.id, 'commit_00000000000000000000000000', 'nonsense', other.id]) {
      expectError(await user.graphql(VERSION, { id, commitId }), 'NOT_FOUND')
    }
  })

  it('a version is visible only to callers who can currently see the asset', async () => {
    expect((await asked(VERSION, { commitId: commits[0] }, stranger)).version).toMatchObject(versions[0]!)
    expect((await asked(VERSIONS, {}, app)).versions).toHaveLength(5)
    const hidden = await user.register()
    const { commitAt } = expectOk(await user.graphql(COMMIT_AT, { id: hidden.id })).asset
    for (const document of [VERSION, VERSIONS, COMMIT_AT, DIFF]) {
      for (const actor of [stranger, app]) {
        expectError(await actor.graphql(document, { id: hidden.id, commitId: commitAt.id }), 'NOT_FOUND')
      }
    }
    expectError(await app.rest('GET', `assets/${hidden.id}/tree/`), 'NOT_FOUND')
    expectError(await user.graphql(VERSION, { id, commitId: commitAt.id }), 'NOT_FOUND')
  })

  it('the deletion of an asset erases its versions', async () => {
    const file = new File(['registered twice'], 'file.txt')
    const register = async () => expectOk(await user.rest('POST', 'assets/', { multipart: { asset_file: file } }))
    const first = await register()
    const commitId = expectOk(await user.graphql(COMMIT_AT, { id: first.id })).asset.commitAt.id
    expectOk(await user.rest('PATCH', `assets/${first.id}/`, { json: { nit_commit_custom: { secret: 'x' } } }))
    expectOk(await user.rest('DELETE', `assets/${first.id}/`))
    expectError(await user.graphql(VERSION, { id: first.id, commitId }), 'NOT_FOUND')
    await register()
    expectError(await user.graphql(VERSION, { id: first.id, commitId }), 'NOT_FOUND')
    expect(expectOk(await user.graphql(VERSIONS, { id: first.id })).asset.versions).toHaveLength(1)
    expectError(await user.graphql(COMMIT_AT, { id: first.id, at: '2000-01-01T00:00:00Z' }), 'NOT_FOUND')
  })
})

describe('commits at a given time', () => {
  it('finds the commit of an asset by the exact time, the second, and its ID', async () => {
    for (const [index, commit] of commits.entries()) {
      for (const moment of [at(index + 1), seconds(index + 1), commit, `2021-01-01T01:0${index + 1}:59+01:00`])
        expect((await asked(COMMIT_AT, { at: moment })).commitAt, moment).toEqual({ id: commit })
    }
    expect((await asked(COMMIT_AT, { at: '2999-01-01T00:00:00Z' })).commitAt.id).toBe(commits[4])
    expect((await asked(COMMIT_AT, {})).commitAt.id).toBe(commits[4])
  })

  it('finds no commit of an asset before the registration', async () => {
    const before = '2021-01-01T00:01:00.499Z'
    expectError(await user.graphql(COMMIT_AT, { id, at: before }), 'NOT_FOUND')
    expectError(await user.rest('GET', `assets/${id}/tree/?at=${before}`), 'NOT_FOUND')
    expectError(await user.rest('GET', `assets/${id}/tree/?at=commit_00000000000000000000000000`), 'NOT_FOUND')
    for (const moment of ['', 'yesterday', '2021-01-01', '2021-01-01T00:00:00', '-1', id]) {
      expectError(await user.graphql(COMMIT_AT, { id, at: moment }), 'VALIDATION_FAILED')
    }
  })

  it('finds the first commit of an asset from the upload time on', async () => {
    const asset = await user.register({ caption: 'Uploaded' })
    const uploaded = Date.parse(asset.uploaded_at)
    await app.sql('alter table commits disable trigger commits_erase_only')
    await app.sql(
      `update commits set created_at = $2::timestamptz + interval '1500 ms'
       where asset_id = (select id from assets where nid = $1)`,
      [asset.id, asset.uploaded_at],
    )
    await app.sql('alter table commits enable trigger commits_erase_only')
    const tree = expectOk(await user.rest('GET', `assets/${asset.id}/tree/`))
    for (const moment of [asset.uploaded_at, asset.updated_at, String(tree.assetTree.assetTimestampCreated)]) {
      expect(expectOk(await user.rest('GET', `assets/${asset.id}/tree/?at=${moment}`))).toEqual(tree)
    }
    expectError(await user.graphql(COMMIT_AT, { id: asset.id, at: new Date(uploaded - 1).toISOString() }), 'NOT_FOUND')
  })
})

it('the tree of a commit is available from the acceptance of the commit, in REST and GraphQL', async () => {
  const tree = async (query = '') => expectOk(await user.rest('GET', `assets/${id}/tree/${query}`))
  const second = await tree(`?at=${commits[1]}`)
  expect(second).toMatchObject({
    ...{ nid: id, commit: commits[1], commitMessage: 'Named', timestampCreated: Number(seconds(2)) },
    assetTree: { assetCid: id, abstract: 'Two', headline: 'Head', a: 1, b: { x: [1, 'ä'] } },
  })
  expect(await tree(`?at=${seconds(2)}`)).toEqual(second)
  expect(await tree(`?at=${encodeURIComponent(at(2))}`)).toEqual(second)
  expect(await tree()).toMatchObject({ commit: commits[4], assetTree: { b: { y: 2 } } })
  const trees = await asked('query ($id: ID!) { asset(id: $id) { history { id treeCid treeSha256 tree } } }', {})
  expect(trees.history[1].tree).toEqual(second.assetTree)
  const { mergedAssetTree } = expectOk(
    await user.graphql('query ($trees: [AssetTreeInput!]!) { mergedAssetTree(trees: $trees) { mergedAssetTree } }', {
      trees: [{ assetTreeCid: second.assetTreeCid, createdAt: at(2) }],
    }),
  )
  expect(mergedAssetTree.mergedAssetTree).toEqual(second.assetTree)
})

describe('diffs of versions', () => {
  it('a diff contains the differences between two versions, in either order', async () => {
    expect((await asked(DIFF, { from: commits[0], to: commits[3] })).diff).toEqual({
      from: { commit: { sequence: 1 } },
      to: { caption: 'Two', commit: { sequence: 4 } },
      changes: {
        ...{ caption: ['One', 'Two'], headline: ['', 'Head'], alt_text: ['', 'A head'] },
        nit_commit_custom: [{ a: 1, b: custom.b }, { b: { y: 2 } }],
      },
    })
    expect((await asked(DIFF, { from: at(5), to: at(4) })).diff.changes).toEqual({ caption: ['One', 'Two'] })
    expect((await asked(DIFF, {})).diff).toMatchObject({
      from: { commit: { sequence: 1 } },
      to: { commit: { sequence: 5 } },
    })
    expect((await asked(DIFF, { from: at(2), to: commits[1] })).diff.changes).toEqual({})
  })
})

describe('reverts of assets', () => {
  const REVERT =
    'mutation ($input: RevertAssetInput!) { revertAsset(input: $input) { asset { caption headline tag publicAccess nitCommitCustom signature commitCount headId } } }'
  const cost = readPricing(app.context).total
  const send = (input: object, actor: Pick<SignedIn, 'graphql'> = user, headers = {}) =>
    actor.graphql(REVERT, { input: { id: reverted, ...input } }, { headers })
  const history = async () =>
    expectOk(
      await user.graphql('query ($id: ID!) { asset(id: $id) { history { id message changes } } }', { id: reverted }),
    ).asset.history
  let reverted: string
  let first: string

  beforeAll(async () => {
    const fields = { caption: 'One', tag: 'kept', nit_commit_custom: '{"a":1,"b":{"x":1}}', signature: '[1]' }
    reverted = (await user.register(fields)).id
    const json = { caption: 'Two', headline: 'Head', public_access: true, signature: '[2]' }
    const patched = await user.rest('PATCH', `assets/${reverted}/`, {
      json: { ...json, nit_commit_custom: { a: null, b: { x: 2 }, c: 3 } },
    })
    expectOk(patched)
    first = (await history())[0].id
  })

  it('the quote of a revert contains the cost and all problems', async () => {
    const before = [await history(), await app.wallet(user)]
    const QUOTE = 'query ($input: QuoteInput!) { quote(input: $input) { total problems { code field } } }'
    const quoted = async (input: object) =>
      expectOk(await user.graphql(QUOTE, { input: { revertAsset: { id: reverted, ...input } } })).quote
    expect(await quoted({ revertTo: first })).toEqual({ total: cost, problems: [] })
    expect(await quoted({ revertTo: at(9) })).toEqual({ total: cost, problems: [{ code: 'NOT_FOUND', field: null }] })
    expect((await quoted({ revertTo: 'x', maxCost: '0' })).problems).toEqual([
      { code: 'VALIDATION_FAILED', field: 'revertTo' },
      { code: 'PRICE_EXCEEDS_MAX_COST', field: null },
    ])
    expect(await quoted({ revertTo: (await history())[1].id })).toEqual({ total: '0', problems: [] })
    const rest = await user.rest('POST', `assets/${reverted}/revert/?dry_run=true`, { json: { revert_to: first } })
    expect(rest.body).toMatchObject({ total_cost: cost, errors: [] })
    expect([await history(), await app.wallet(user)]).toEqual(before)
  })

  it('a revert is rejected in the same cases as an update', async () => {
    expectError(await send({ revertTo: first }, app), 'NOT_AUTHENTICATED')
    expectError(await send({ revertTo: first }, stranger), 'ASSET_WRITE_PERMISSION_DENIED')
    expectError(await send({ revertTo: first, expectedHead: first }), 'CONFLICT')
    expectError(await send({ revertTo: first, maxCost: '0.1' }), 'PRICE_EXCEEDS_MAX_COST')
    expectError(await send({ revertTo: '' }), 'VALIDATION_FAILED')
    expectError(await send({ revertTo: commits[0] }), 'NOT_FOUND')
    expectError(await user.rest('POST', `assets/${reverted}/revert/`, { json: {} }), 'VALIDATION_FAILED')
    const headers = { 'If-Match': `"${first}"` }
    expectError(
      await user.rest('POST', `assets/${reverted}/revert/`, { json: { revert_to: first }, headers }),
      'CONFLICT',
    )
    const poor = await app.newUser({ points: cost })
    const own = await poor.register()
    const headId = expectOk(await poor.graphql(COMMIT_AT, { id: own.id })).asset.commitAt.id
    expectOk(await poor.rest('POST', `assets/${own.id}/revert/`, { json: { revert_to: headId } }))
    await app.sql(`update assets set caption = 'since' where nid = $1`, [own.id])
    expectError(await send({ id: own.id, revertTo: headId }, poor), 'ASSET_COMMIT_INSUFFICIENT_FUND')
    await app.sql(`update assets set caption = '' where nid = $1`, [own.id])
    expect((await history()).length).toBe(2)
  })

  it('a revert restores exactly the fields of the tree, in one new commit', async () => {
    const before = await app.wallet(user)
    const headers = { 'Idempotency-Key': 'back' }
    const { asset } = expectOk(await send({ revertTo: first }, user, headers)).revertAsset
    expect(asset).toMatchObject({
      ...{ caption: 'One', headline: '', tag: 'kept', publicAccess: true, signature: '[2]', commitCount: 3 },
      nitCommitCustom: { a: 1, b: { x: 1 } },
    })
    expect(await app.wallet(user)).not.toEqual(before)
    const [, , added] = await history()
    expect(added).toEqual({
      id: asset.headId,
      message: `Revert to ${first}`,
      changes: {
        ...{ caption: ['Two', 'One'], headline: ['Head', ''] },
        nit_commit_custom: [
          { b: { x: 2 }, c: 3 },
          { a: 1, b: { x: 1 } },
        ],
      },
    })
    const after = await app.wallet(user)
    expect(expectOk(await send({ revertTo: first }, user, headers)).revertAsset).toEqual({ asset })
    expectError(await send({ revertTo: asset.headId }, user, headers), 'IDEMPOTENCY_KEY_REUSED')
    expectOk(await send({ revertTo: first, maxCost: '0' }))
    expect([(await history()).length, await app.wallet(user)]).toEqual([3, after])
  })

  it('a revert can be undone by another revert, also over REST', async () => {
    const [, second] = await history()
    const json = { revert_to: second.id, commit_message: 'Back again' }
    const answer = expectOk(await user.rest('POST', `assets/${reverted}/revert/`, { json }))
    expect(answer).toMatchObject({ caption: 'Two', headline: 'Head', nit_commit_custom: { b: { x: 2 }, c: 3 } })
    expect((await history())[3]).toMatchObject({ message: 'Back again' })
  })

  it('a revert succeeds once if several requests expect the same head', async () => {
    const [, , third, head] = await history()
    const all = await Promise.all([1, 2, 3, 4].map(() => send({ revertTo: third.id, expectedHead: head.id })))
    expect(all.filter(({ body }) => !body.errors)).toHaveLength(1)
    expect(await history()).toHaveLength(5)
  })

  it('a revert keeps custom fields that replace keys of the tree', async () => {
    const asset = await user.register({
      caption: 'One',
      nit_commit_custom: '{"abstract":"Own","assetCreator":"Somebody"}',
    })
    const patch = async (json: object) => expectOk(await user.rest('PATCH', `assets/${asset.id}/`, { json }))
    await patch({ caption: 'Two', nit_commit_custom: { abstract: 'Changed', assetCreator: 'Nobody' } })
    const { versions } = expectOk(await user.graphql(VERSIONS, { id: asset.id })).asset
    const sent = await send({ id: asset.id, revertTo: versions[1].commit.id })
    expect(expectOk(sent).revertAsset.asset).toMatchObject({
      ...{ caption: 'Two', commitCount: 3, nitCommitCustom: { abstract: 'Own', assetCreator: 'Somebody' } },
    })
    const { headId } = expectOk(sent).revertAsset.asset
    expect(expectOk(await send({ id: asset.id, revertTo: headId, maxCost: '0' })).revertAsset.asset.commitCount).toBe(3)
  })
})
