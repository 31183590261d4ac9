/** What an asset said before, by both doors. */
import { beforeAll, describe, expect, it } from 'vitest'
import { findPlaceAt } from '../../src/domain/asset/version-statements.ts'
import { checkInvariants } from '../../src/domain/invariants/check-invariants.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const [user, stranger] = await Promise.all([app.newUser({ num: '100' }), app.newUser()])

const at = (minute: number) => `2021-01-01T00:0${minute}:00.500Z`
const seconds = (minute: number) => String(Math.floor(Date.parse(at(minute)) / 1_000))

const ASSET =
  'query ($id: ID!, $asOf: String) { asset(id: $id, asOf: $asOf) { caption headline altText tag publicAccess nitCommitCustom signedMetadata headId updatedAt commitCount assetFileUrl } }'
const DIFF =
  'query ($id: ID!, $from: String, $to: String) { asset(id: $id) { diff(from: $from, to: $to) { from { sequence } to { sequence } changes } } }'
const BLAME =
  'query ($id: ID!, $asOf: String, $limit: Int, $offset: Int) { asset(id: $id) { blame(asOf: $asOf, limit: $limit, offset: $offset) { field key commit { sequence createdAt user { username } } } } }'

const asked = async (document: string, variables: object, actor: Pick<SignedIn, 'graphql'> = user) =>
  expectOk(await actor.graphql(document, { id, ...variables })).asset

let id: string
let commits: string[]

/** One commit a minute: registered, named, tagged and shown, a key removed and another replaced, the caption as it was. */
beforeAll(async () => {
  const patch = async (json: object) => expectOk(await user.rest('PATCH', `assets/${id}/`, { json }))
  id = (await user.register({ caption: 'One', nit_commit_custom: '{"a":1,"abstract":"Own","b":{"x":[1,"ä"]}}' })).id
  await patch({ caption: 'Two', headline: 'Head', commit_message: 'Named' })
  await patch({ tag: 'found', public_access: true, signed_metadata: '{ "kept":  1 }' })
  await patch({ nit_commit_custom: { a: null, b: { y: 2 } } })
  await patch({ caption: 'One', tag: '' })
  await app.sql('alter table commits disable trigger commits_erase_only')
  await app.sql(`update commits set created_at = $1::timestamptz + (sequence - 1) * interval '1 minute'`, [at(1)])
  await app.sql('alter table commits enable trigger commits_erase_only')
  await app.sql('update assets set updated_at = $1::timestamptz', [at(5)])
  const { history } = await asked('query ($id: ID!) { asset(id: $id) { history { id } } }', {})
  commits = history.map((commit: { id: string }) => commit.id)
})

const custom = { a: 1, abstract: 'Own', b: { x: [1, 'ä'] } }
const versions = [
  { caption: 'One', headline: '', tag: '', publicAccess: false, signedMetadata: null, nitCommitCustom: custom },
  { caption: 'Two', headline: 'Head', tag: '', publicAccess: false, signedMetadata: null, nitCommitCustom: custom },
  { caption: 'Two', headline: 'Head', tag: 'found', publicAccess: true, signedMetadata: '{ "kept":  1 }' },
  { caption: 'Two', tag: 'found', nitCommitCustom: { abstract: 'Own', b: { y: 2 } } },
  { caption: 'One', headline: 'Head', tag: '', nitCommitCustom: { abstract: 'Own', b: { y: 2 } } },
]

describe('an asset as it was', () => {
  it('is told by the time and by the commit, field by field', async () => {
    for (const [index, version] of versions.entries()) {
      const then = { ...version, headId: commits[index], updatedAt: at(index + 1), commitCount: index + 1 }
      const moments = [at(index + 1), seconds(index + 1), commits[index], `2021-01-01T01:0${index + 1}:59+01:00`]
      for (const asOf of moments) expect(await asked(ASSET, { asOf }), asOf).toMatchObject(then)
    }
    expect(await asked(ASSET, { asOf: '2999-01-01T00:00:00Z' })).toEqual(await asked(ASSET, {}))
    // Reads of one moment may be one read.
    const both = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        asked(
          'query ($id: ID!, $asOf: String) { asset(id: $id, asOf: $asOf) { caption commitCount registration { sequence } } }',
          n % 2 ? { asOf: at(2) } : {},
        ),
      ),
    )
    expect(both.map(({ commitCount }) => commitCount)).toEqual(both.map((_, n) => (n % 2 ? 2 : 5)))
    // A link must work now, whoever could see the file then.
    expect((await asked(ASSET, { asOf: at(1) })).assetFileUrl).toBe((await asked(ASSET, {})).assetFileUrl)
  })

  it('is not there before it was registered, nor by a commit of another asset', async () => {
    const before = '2021-01-01T00:01:00.499Z'
    expectError(await user.graphql(ASSET, { id, asOf: before }), 'NOT_FOUND')
    expectError(await user.rest('GET', `assets/${id}/tree/?at=${before}`), 'NOT_FOUND')
    const other = await user.register()
    const { headId } = expectOk(await user.graphql(ASSET, { id: other.id })).asset
    for (const asOf of [headId, 'commit_00000000000000000000000000']) {
      expectError(await user.graphql(ASSET, { id, asOf }), 'NOT_FOUND')
      expectError(await user.rest('GET', `assets/${id}/tree/?at=${asOf}`), 'NOT_FOUND')
    }
    for (const asOf of ['', 'yesterday', '2021-01-01', '2021-01-01T00:00:00', '-1', other.id]) {
      expectError(await user.graphql(ASSET, { id, asOf }), 'VALIDATION_FAILED')
    }
  })

  it('is there from the time on at which it says that it was uploaded, which is before its first commit', async () => {
    const asset = await user.register({ caption: 'Uploaded' })
    const uploaded = Date.parse(asset.uploaded_at)
    await app.sql('alter table commits disable trigger commits_erase_only')
    await app.sql(
      `update commits set created_at = $2::timestamptz + interval '1500 ms'
       where asset_id = (select id from assets where nid = $1)`,
      [asset.id, asset.uploaded_at],
    )
    await app.sql('alter table commits enable trigger commits_erase_only')
    const { assetTree } = expectOk(await user.rest('GET', `assets/${asset.id}/tree/`))
    for (const asOf of [asset.uploaded_at, asset.updated_at, String(assetTree.assetTimestampCreated)]) {
      expect(expectOk(await user.graphql(ASSET, { id: asset.id, asOf })).asset).toMatchObject({ caption: 'Uploaded' })
      expect(expectOk(await user.rest('GET', `assets/${asset.id}/tree/?at=${asOf}`)).assetTree).toEqual(assetTree)
    }
    const before = new Date(uploaded - 1).toISOString()
    expectError(await user.graphql(ASSET, { id: asset.id, asOf: before }), 'NOT_FOUND')
  })

  it('is for those alone who see the asset now', async () => {
    expect(await asked(ASSET, { asOf: at(1) }, stranger)).toMatchObject(versions[0]!)
    const hidden = await user.register()
    for (const document of [ASSET, DIFF, BLAME]) {
      expectError(await stranger.graphql(document, { id: hidden.id, asOf: at(1), from: at(1) }), 'NOT_FOUND')
    }
    expectError(await app.rest('GET', `assets/${hidden.id}/tree/`), 'NOT_FOUND')
  })

  it('is gone with the asset, and a file that is registered anew starts anew', async () => {
    const file = new File(['of two lives'], 'file.txt')
    const register = async () => expectOk(await user.rest('POST', 'assets/', { multipart: { asset_file: file } }))
    const first = await register()
    const { headId } = expectOk(await user.graphql(ASSET, { id: first.id })).asset
    expectOk(await user.rest('PATCH', `assets/${first.id}/`, { json: { nit_commit_custom: { secret: 'x' } } }))
    expectOk(await user.rest('DELETE', `assets/${first.id}/`))
    expectError(await user.graphql(ASSET, { id: first.id, asOf: headId }), 'NOT_FOUND')
    await register()
    for (const asOf of [headId, '2000-01-01T00:00:00Z']) {
      expectError(await user.graphql(ASSET, { id: first.id, asOf }), 'NOT_FOUND')
    }
  })
})

describe('the tree of a commit', () => {
  it('is the one that was hashed, from acceptance on, by both doors', async () => {
    const tree = async (query = '') => expectOk(await user.rest('GET', `assets/${id}/tree/${query}`))
    const second = await tree(`?at=${commits[1]}`)
    expect(second).toMatchObject({
      ...{ nid: id, commit: commits[1], commitMessage: 'Named', timestampCreated: Number(seconds(2)) },
      assetTree: { assetCid: id, abstract: 'Own', headline: 'Head', a: 1, b: { x: [1, 'ä'] } },
    })
    expect(await tree(`?at=${seconds(2)}`)).toEqual(second)
    expect(await tree(`?at=${encodeURIComponent(at(2))}`)).toEqual(second)
    expect(await tree()).toMatchObject({ commit: commits[4], assetTree: { b: { y: 2 } } })
    const trees = await asked('query ($id: ID!) { asset(id: $id) { history { id treeCid treeSha256 tree } } }', {})
    expect(trees.history[1].tree).toEqual(second.assetTree)
    const merged = { trees: [{ assetTreeCid: second.assetTreeCid, createdAt: at(2) }] }
    const { mergedAssetTree } = expectOk(
      await user.graphql(
        'query ($trees: [AssetTreeInput!]!) { mergedAssetTree(trees: $trees) { mergedAssetTree } }',
        merged,
      ),
    )
    expect(mergedAssetTree.mergedAssetTree).toEqual(second.assetTree)
  })
})

describe('a difference', () => {
  it('of two moments is what differs between them, either way round', async () => {
    expect((await asked(DIFF, { from: commits[0], to: commits[3] })).diff).toEqual({
      from: { sequence: 1 },
      to: { sequence: 4 },
      changes: {
        ...{ caption: ['One', 'Two'], headline: ['', 'Head'], tag: ['', 'found'], public_access: [false, true] },
        signed_metadata: [null, '{ "kept":  1 }'],
        nit_commit_custom: [{ a: 1, b: custom.b }, { b: { y: 2 } }],
      },
    })
    expect((await asked(DIFF, { from: at(5), to: at(4) })).diff.changes).toEqual({
      ...{ caption: ['One', 'Two'], tag: ['', 'found'] },
    })
    expect((await asked(DIFF, {})).diff).toMatchObject({ from: { sequence: 1 }, to: { sequence: 5 } })
    expect((await asked(DIFF, { from: at(2), to: commits[1] })).diff.changes).toEqual({})
  })

  it('of one commit is what the commit says', async () => {
    const { history } = await asked('query ($id: ID!) { asset(id: $id) { history { changes } } }', {})
    for (const [index, { changes }] of history.slice(1).entries()) {
      expect((await asked(DIFF, { from: commits[index], to: commits[index + 1] })).diff.changes).toEqual(changes)
    }
  })
})

describe('a revert', () => {
  const REVERT =
    'mutation ($input: RevertAssetInput!) { revertAsset(input: $input) { asset { caption headline tag publicAccess nitCommitCustom signedMetadata commitCount headId } quote { total problems { code field } } } }'
  const cost = app.services.pricing().total
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

  it('is tried first: a dry run tells its cost and every refusal, and changes nothing', async () => {
    const before = [await history(), await app.wallet(user)]
    const dry = expectOk(await send({ revertTo: first, dryRun: true })).revertAsset
    expect(dry).toMatchObject({ asset: { caption: 'Two', commitCount: 2 }, quote: { total: cost, problems: [] } })
    const QUOTE = 'query ($input: QuoteInput!) { quote(input: $input) { total problems { code field } } }'
    const quoted = async (input: object) =>
      expectOk(await user.graphql(QUOTE, { input: { revertAsset: { id: reverted, ...input } } })).quote
    expect(await quoted({ revertTo: first })).toEqual(dry.quote)
    expect(await quoted({ revertTo: at(9) })).toEqual({ total: cost, problems: [{ code: 'NOT_FOUND', field: null }] })
    expect((await quoted({ revertTo: 'x', maxCost: '0' })).problems).toEqual([
      { code: 'VALIDATION_FAILED', field: 'revertTo' },
      { code: 'PRICE_EXCEEDS_MAX_COST', field: null },
    ])
    const head = (await history())[1].id
    expect(await quoted({ revertTo: head })).toEqual({ total: '0', problems: [] })
    const rest = await user.rest('POST', `assets/${reverted}/revert/?dry_run=true`, { json: { revert_to: first } })
    expect(rest.body).toMatchObject({ total_cost: cost, errors: [] })
    expect([await history(), await app.wallet(user)]).toEqual(before)
  })

  it('is refused as an update is', async () => {
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
    const { headId } = expectOk(await poor.graphql(ASSET, { id: own.id })).asset
    expectOk(await poor.rest('POST', `assets/${own.id}/revert/`, { json: { revert_to: headId } }))
    await app.sql(`update assets set caption = 'since' where nid = $1`, [own.id])
    expectError(await send({ id: own.id, revertTo: headId }, poor), 'ASSET_COMMIT_INSUFFICIENT_FUND')
    await app.sql(`update assets set caption = '' where nid = $1`, [own.id])
    expect((await history()).length).toBe(2)
  })

  it('has the asset say all of it again in one new commit, but for who may see it', async () => {
    const before = await app.wallet(user)
    const headers = { 'Idempotency-Key': 'back' }
    const { asset, quote } = expectOk(await send({ revertTo: first }, user, headers)).revertAsset
    expect(asset).toMatchObject({
      ...{ caption: 'One', headline: '', tag: 'kept', publicAccess: true, commitCount: 3 },
      nitCommitCustom: { a: 1, b: { x: 1 } },
    })
    expect(quote.total).toBe(cost)
    expect(await app.wallet(user)).not.toEqual(before)
    const [, , added] = await history()
    expect(added).toEqual({
      id: asset.headId,
      message: `Revert to ${first}`,
      changes: {
        ...{ caption: ['Two', 'One'], headline: ['Head', ''], signature: ['[2]', '[1]'] },
        nit_commit_custom: [
          { b: { x: 2 }, c: 3 },
          { a: 1, b: { x: 1 } },
        ],
      },
    })
    const after = await app.wallet(user)
    expect(expectOk(await send({ revertTo: first }, user, headers)).revertAsset).toEqual({ asset, quote: null })
    expectError(await send({ revertTo: asset.headId }, user, headers), 'IDEMPOTENCY_KEY_REUSED')
    expect(expectOk(await send({ revertTo: first, maxCost: '0' })).revertAsset.quote.total).toBe('0')
    expect([(await history()).length, await app.wallet(user)]).toEqual([3, after])
  })

  it('is taken back by another one, by REST too', async () => {
    const [, second] = await history()
    const json = { revert_to: second.id, commit_message: 'Back again' }
    const answer = expectOk(await user.rest('POST', `assets/${reverted}/revert/`, { json }))
    expect(answer).toMatchObject({ caption: 'Two', headline: 'Head', nit_commit_custom: { b: { x: 2 }, c: 3 } })
    expect((await history())[3]).toMatchObject({ message: 'Back again' })
  })

  it('of many at once goes through once', async () => {
    const [, , third, head] = await history()
    const all = await Promise.all([1, 2, 3, 4].map(() => send({ revertTo: third.id, expectedHead: head.id })))
    expect(all.filter(({ body }) => !body.errors)).toHaveLength(1)
    expect(await history()).toHaveLength(5)
  })
})

describe('blame', () => {
  const table = (set: { field: string; key: string | null; commit: { sequence: number } }[]) =>
    Object.fromEntries(set.map(({ field, key, commit }) => [key === null ? field : `${field}.${key}`, commit.sequence]))

  it('names the commit that set each field, with its author and time, as of any moment', async () => {
    const { blame } = await asked(BLAME, {})
    expect(table(blame)).toEqual({
      ...{ caption: 5, headline: 2, tag: 5, public_access: 3, signed_metadata: 3 },
      ...{ 'nit_commit_custom.abstract': 1, 'nit_commit_custom.b': 4 },
    })
    expect(blame[0]).toEqual({
      ...{ field: 'caption', key: null },
      commit: { sequence: 5, createdAt: at(5), user: { username: user.username } },
    })
    expect(table((await asked(BLAME, { asOf: at(2) })).blame)).toEqual({
      ...{ caption: 2, headline: 2 },
      ...{ 'nit_commit_custom.a': 1, 'nit_commit_custom.abstract': 1, 'nit_commit_custom.b': 1 },
    })
  })

  it('is read page by page, and costs what its page costs', async () => {
    const whole = (await asked(BLAME, {})).blame
    const parts = [0, 3, 6].map(async (offset) => (await asked(BLAME, { limit: 3, offset })).blame)
    expect((await Promise.all(parts)).flat()).toEqual(whole)
    expect((await asked(BLAME, { limit: 500 })).blame).toEqual(whole)
    expectError(await user.graphql(BLAME, { id, limit: 501 }), 'VALIDATION_FAILED')
  })

  it.each([
    ['a commit that is not there', 5, `jsonb_set(blame, '{caption}', '99')`, 2],
    ['a later commit', 2, `jsonb_set(blame, '{caption}', '5')`, 1],
    ['an earlier commit than the last that set it', 5, `jsonb_set(blame, '{caption}', '2')`, 1],
    ['a commit that did not set it', 5, `jsonb_set(blame, '{nit_commit_custom,b}', '3')`, 2],
    ['a commit for what the asset does not say', 5, `jsonb_set(blame, '{alt_text}', '2')`, 1],
    ['no commit for what the asset says', 5, `blame - 'headline'`, 1],
    ['no commit for a custom field', 5, `blame #- '{nit_commit_custom,abstract}'`, 1],
  ])('is found out when it names %s', async (_, sequence, blame, problems) => {
    const [{ commit, truth }] = (await app.sql(
      `select c.id as commit, c.blame::text as truth from assets a join commits c on c.asset_id = a.id where a.nid = $1 and c.sequence = $2`,
      [id, sequence],
    )) as [{ commit: string; truth: string }]
    const tell = async (sql: string) => {
      await app.sql('alter table commits disable trigger commits_erase_only')
      await app.sql(`update commits set blame = ${sql} where id = '${commit}'`)
      await app.sql('alter table commits enable trigger commits_erase_only')
    }
    await tell(blame)
    const broken = (await checkInvariants(app.installation.database)).filter(({ rows }) => rows.length > 0)
    await tell(`'${truth}'`)
    expect(broken.map(({ invariant, rows }) => [invariant.id, rows.length])).toEqual([['I11', problems]])
    expect(broken[0]!.rows).toEqual(broken[0]!.rows.map(() => expect.objectContaining({ subject: id })))
  })

  it('takes a few steps in a history of any length', async () => {
    const long = await user.register({ headline: 'Never changed' })
    await app.sql(
      `with asset as (select a.*, c.tree, c.tree_cid, c.tree_sha256 from assets a join commits c on c.id = a.head_commit_id where a.nid = $1),
         added as (
           insert into commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256, created_at)
           select id, n, owner_id, jsonb_build_object('caption', jsonb_build_array((n - 1)::text, n::text)), tree, tree_cid, tree_sha256,
             uploaded_at + n * interval '1 s'
           from asset, generate_series(2, 3000) n returning id, sequence
         ),
         relays as (insert into commit_relays (commit_id, status, failure) select id, 'FAILED', 'test' from added)
       update assets a set head_sequence = 3000, head_commit_id = added.id from added, asset
       where a.id = asset.id and added.sequence = 3000`,
      [long.id],
    )
    const { blame } = expectOk(await user.graphql(BLAME, { id: long.id })).asset
    expect(table(blame)).toEqual({ caption: 3000, headline: 1 })
    const [{ asset, middle }] = (await app.sql(
      `select a.id as asset, c.created_at as middle from assets a join commits c on c.asset_id = a.id where a.nid = $1 and c.sequence = 1717`,
      [long.id],
    )) as [{ asset: string; middle: string }]
    expect(await app.sql(findPlaceAt.text, [middle, asset])).toEqual([{ sequence: 1717 }])
    const [plan] = await app.sql(`explain (analyze, format json) ${findPlaceAt.text}`, [middle, asset])
    const looks = JSON.stringify(plan).match(/"Index Name":"commits_asset_id_sequence_key".*?"Actual Loops":(\d+)/)
    expect(Number(looks?.[1])).toBeLessThan(15)

    await app.sql('alter table commits disable trigger user')
    await app.sql(
      'update assets set head_sequence = 1, head_commit_id = c.id from commits c where c.asset_id = assets.id and c.sequence = 1 and nid = $1',
      [long.id],
    )
    await app.sql(
      'delete from commit_relays r using commits c where c.id = r.commit_id and c.asset_id = $1 and c.sequence > 1',
      [asset],
    )
    await app.sql('delete from commits where asset_id = $1 and sequence > 1', [asset])
    await app.sql('alter table commits enable trigger user')
  })
})
