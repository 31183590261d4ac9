import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bothApis, graphqlApi, type Input } from '../../support/api.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const other = await app.newUser()

describe.each(bothApis)('asset update over $name', (api) => {
  const update = (id: string, fields: Input, caller: SignedIn = user) =>
    api.updateAssetMetadata(caller, { id, ...fields })
  const historyOf = async (id: string) => (await api.readHistory(user, { id })).ok()

  it('an update changes only the fields that are sent, and can set an empty caption', async () => {
    const { id } = await user.register({ caption: 'Old', headline: 'Stays', tag: 'stays', public_access: 'true' })
    const asset = (await update(id, { caption: '' })).ok()
    expect(asset).toMatchObject({ caption: '', headline: 'Stays', tag: 'stays', publicAccess: true })
    expect((await historyOf(id)).at(-1).changes).toEqual({ caption: ['Old', ''] })
  })

  it('an update merges custom fields by top-level key, and removes the keys sent as null', async () => {
    const custom = { keep: 1, nested: { a: 1, b: 2 }, gone: true }
    const { id } = await user.register({ nit_commit_custom: JSON.stringify(custom) })
    const asset = (await update(id, { nitCommitCustom: { nested: { c: 3 }, gone: null, added: 'x' } })).ok()
    expect(asset.nitCommitCustom).toEqual({ keep: 1, nested: { c: 3 }, added: 'x' })
    expect((await historyOf(id)).at(-1).changes).toEqual({
      nit_commit_custom: [
        { nested: { a: 1, b: 2 }, gone: true },
        { nested: { c: 3 }, added: 'x' },
      ],
    })
    const empty = (await update(id, { nitCommitCustom: { keep: null, nested: null, added: null } })).ok()
    expect(empty.nitCommitCustom ?? {}).toEqual({})
  })

  it('an update charges 0.179 and writes one commit, or does nothing if nothing changes', async () => {
    const buyer = await app.newUser()
    const { id } = await buyer.register({ caption: 'Same', nit_commit_custom: '{"a":{"b":1,"c":2}}' })
    for (const fields of [
      {},
      { caption: 'Same' },
      { nitCommitCustom: { a: { c: 2, b: 1 } } },
      { nitCommitCustom: { none: null } },
      { commitMessage: 'only words' },
    ]) {
      expect((await update(id, fields, buyer)).ok().caption).toBe('Same')
    }
    expect([await app.commitCount(id), await app.wallet(buyer)]).toEqual([1, { num: '0', points: '11.821' }])
    ;(await update(id, { caption: 'New' }, buyer)).ok()
    expect([await app.commitCount(id), await app.wallet(buyer)]).toEqual([2, { num: '0', points: '11.642' }])
  })

  it.each<Input>([{ publicAccess: true }, { signedMetadata: '{"x":1}', signature: '{"y":2}' }])(
    'an update accepts %j alone',
    async (fields) => {
      const { id } = await user.register()
      ;(await update(id, fields)).ok()
      const names = Object.keys(fields).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      expect(Object.keys((await historyOf(id)).at(-1).changes).sort()).toEqual(names.sort())
    },
  )

  it('an update accepts a headline of 25 characters, and keeps a longer headline that is not sent', async () => {
    const long = '🙂'.repeat(100)
    const { id } = await user.register({ headline: long })
    expect((await update(id, { caption: 'Changed' })).ok()).toMatchObject({ headline: long, caption: 'Changed' })
    const limit = ['Ensure this field has no more than 25 characters.']
    for (const headline of [long, '🙂'.repeat(26)]) {
      expect((await update(id, { headline })).fails('VALIDATION_FAILED')).toEqual({ headline: limit })
    }
    expect((await update(id, { headline: '🙂'.repeat(25) })).ok().headline).toBe('🙂'.repeat(25))
  })

  it('an update limits all custom fields of an asset to 10 KB and 16 levels', async () => {
    const { id } = await user.register()
    const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
    const set = (nitCommitCustom: object) => update(id, { nitCommitCustom })
    ;(await set(deep(16))).ok()
    ;(await set(deep(17))).fails('VALIDATION_FAILED')
    ;(await set({ big: 'x'.repeat(10 * 1024) })).fails('VALIDATION_FAILED')
    ;(await set({ a: null })).ok()
    ;(await set({ big: 'x'.repeat(10 * 1024 - '{"big":""}'.length) })).ok()
    ;(await set({ more: 'x' })).fails('VALIDATION_FAILED')
  })

  it('custom fields of an update can replace every key of the tree except the keys that identify the file', async () => {
    const custom = {
      ...{ assetCreator: 'A. Photographer', creatorWallet: 'elsewhere', license: { name: 'CC-BY-4.0' } },
      ...{ usedBy: 'https://example.org', digitalSourceType: 'digitalCapture' },
      ...{ parentAssetCid: `bafkrei${'a'.repeat(52)}`, abstract: 'Theirs' },
      headline: 'A headline of more than 25 characters',
    }
    const { id, proof_hash } = await user.register({ caption: 'Ours', nit_commit_custom: JSON.stringify(custom) })
    const treeOf = async () => {
      const [row] = await app.sql<{ tree: string }>(
        'select tree from commits c join assets a on a.id = c.asset_id where nid = $1 order by sequence desc limit 1',
        [id],
      )
      return JSON.parse(row!.tree)
    }
    expect(await treeOf()).toMatchObject({ ...custom, assetCid: id, assetSha256: proof_hash })
    ;(await update(id, { nitCommitCustom: { assetCreator: 'Somebody', abstract: null } })).ok()
    expect(await treeOf()).toMatchObject({ ...custom, assetCreator: 'Somebody', abstract: 'Ours' })
    for (const key of ['assetCid', 'assetSha256', 'encodingFormat', 'assetTimestampCreated']) {
      const details = (await update(id, { nitCommitCustom: { [key]: 'x' } })).fails('VALIDATION_FAILED')
      expect(Object.keys(details)).toEqual(['nitCommitCustom'])
    }
  })

  // Go's encoding/json matches keys in any case, and `ſ` as `s`.
  it.each(['AssetCid', 'assetsha256', 'ENCODINGFORMAT', 'a\u017f\u017fetCid'])(
    'an update rejects the custom field %s, which some JSON parsers confuse with an identifying key',
    async (key) => {
      const { id } = await user.register()
      ;(await update(id, { nitCommitCustom: { [key]: 'x' } })).fails('VALIDATION_FAILED')
      await app.sql('update assets set custom = $2 where nid = $1', [id, JSON.stringify({ [key]: 'before' })])
      expect((await update(id, { nitCommitCustom: { [key]: null } })).ok().nitCommitCustom ?? {}).toEqual({})
    },
  )

  it('an update is applied once for one idempotency key', async () => {
    const { id } = await user.register()
    const options = { headers: { 'Idempotency-Key': randomUUID() } }
    const send = (caption: string) => api.updateAssetMetadata(user, { id, caption }, options)
    const [first, again] = [await send('Once'), await send('Once')]
    expect(again.ok()).toEqual(first.ok())
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    ;(await send('Twice')).fails('IDEMPOTENCY_KEY_REUSED')
    expect(await app.commitCount(id)).toBe(2)
  })
})

describe.each(bothApis)('asset deletion over $name', (api) => {
  it('the deletion of an asset removes it from every list, erases its texts and keeps its commits', async () => {
    const { id } = await user.register({ public_access: 'true', tag: 'doomed', caption: 'Secret' })
    ;(await api.deleteAsset(user, { id })).ok()
    for (const path of [`assets/${id}/`, `assets/${id}/history/`, `history/?nid=${id}`, `/ipfs/${id}`]) {
      expectError(await user.rest('GET', path), 'NOT_FOUND')
    }
    for (const caller of [user, other, app]) (await api.readAsset(caller, { id })).fails('NOT_FOUND')
    expect(expectOk(await app.rest('GET', 'assets/?tag=doomed')).count).toBe(0)
    ;(await api.deleteAsset(user, { id })).fails('NOT_FOUND')
    const [row] = await app.sql(
      'select caption, tag, custom::text, meta, (deleted_at is not null)::text as gone from assets where nid = $1',
      [id],
    )
    expect(row).toEqual({ caption: '', tag: '', custom: '{}', meta: null, gone: 'true' })
    expect(await app.sql('select from pins p join assets a on a.id = p.asset_id where a.nid = $1', [id])).toEqual([])
    expect(await app.commitCount(id)).toBe(1)
  })
})

it('GraphQL rejects an update based on an outdated head, and returns the current head', async () => {
  const { id } = await user.register()
  const update = (fields: Input) => graphqlApi.updateAssetMetadata(user, { id, ...fields })
  const { headId } = (await graphqlApi.readAsset(user, { id })).ok()
  const first = (await update({ caption: 'First', expectedHead: headId })).ok()
  expect(first.headId).not.toBe(headId)
  expect((await update({ caption: 'Second', expectedHead: headId })).fails('CONFLICT')).toBe(first.headId)
  ;(await update({ caption: 'Third', expectedHead: 'nonsense' })).fails('CONFLICT')
  expect(await app.commitCount(id)).toBe(2)
})

it.each([
  ['in a variable', (photo: File) => ({ nitCommitCustom: { photo } })],
  ['in place of a JSON object', (photo: File) => ({ nitCommitCustom: photo })],
])('GraphQL rejects a file %s and changes nothing', async (_, fields) => {
  const { id } = await user.register()
  const wallet = await app.wallet(user)
  const result = await graphqlApi.updateAssetMetadata(user, { id, ...fields(newFile()) })
  result.fails('VALIDATION_FAILED')
  expect(result.body.errors[0].message).toContain('A file is not allowed here.')
  expect([await app.commitCount(id), await app.wallet(user)]).toEqual([1, wallet])
})
