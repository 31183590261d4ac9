import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { send } from '../support/http-client.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const other = await app.newUser()

const registerAsset =
  'mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { id caption nitCommitCustom assetFileName assetFileSize } } }'
const updateAsset =
  'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id caption headline tag publicAccess nitCommitCustom headId } } }'
const deleteAsset = 'mutation ($input: DeleteAssetInput!) { deleteAsset(input: $input) { id } }'

describe('registerAsset', () => {
  it('takes a file by the multipart request specification', async () => {
    const buyer = await app.newUser()
    const input = { caption: 'Uploaded', nitCommitCustom: { a: 1 }, publicAccess: true }
    const file = newFile('own name.png')
    const { asset } = expectOk(
      await buyer.graphql(registerAsset, { input: { ...input, assetFile: file } }),
    ).registerAsset
    expect(asset).toEqual({
      id: expect.stringMatching(/^baf/),
      caption: 'Uploaded',
      nitCommitCustom: { a: 1 },
      assetFileName: 'own name.png',
      assetFileSize: String(file.size),
    })
    const bytes = await app.rest('GET', `/ipfs/${asset.id}`)
    expect(bytes.text).toBe(await file.text())
    expect([await app.wallet(buyer), await app.commitCount(asset.id)]).toEqual([{ num: '0', points: '11.821' }, 1])
    const again = await buyer.graphql(registerAsset, { input: { ...input, assetFile: file } })
    expectError(again, 'DUPLICATE_ASSET')
  })

  it('needs a user, a file and the money', async () => {
    const input = () => ({ assetFile: newFile() })
    expectError(await app.graphql(registerAsset, { input: input() }), 'NOT_AUTHENTICATED')
    expectError(await user.graphql(registerAsset, { input: { caption: 'x' } }), 'VALIDATION_FAILED')
    expectError(await user.graphql(registerAsset, { input: { assetFile: 'text' } }), 'VALIDATION_FAILED')
    const poor = await app.newUser({ points: '0.1', num: '0.078' })
    const { body } = expectError(
      await poor.graphql(registerAsset, { input: input() }),
      'ASSET_COMMIT_INSUFFICIENT_FUND',
    )
    expect(body.errors[0].extensions).toMatchObject({ required: '0.179', available: '0.178', missing: '0.001' })
  })

  it.each([
    ['{', '{}'],
    ['{"query":"{ pricing { total } }"}', '{'],
    ['{"query":"{ pricing { total } }"}', '{"0":["variables.nothing.here"]}'],
  ])('refuses the malformed operations %s with the map %s, and shows no internals', async (operations, map) => {
    const form = new FormData()
    form.set('operations', operations)
    form.set('map', map)
    form.set('0', newFile())
    const headers = { 'GraphQL-Require-Preflight': 'true' }
    const { text, body } = await send(`${app.url}/graphql`, { multipart: form, token: user.token, headers })
    expect(text).not.toMatch(/node_modules|at .*:\d+:\d+|INTERNAL/)
    expect(body.errors[0].extensions.code).toMatch(/^(PARSE_ERROR|VALIDATION_FAILED)$/)
  })
})

describe('updateAssetMetadata', () => {
  const update = (input: object, actor = user) => actor.graphql(updateAsset, { input })

  it('changes only what is given, merges custom fields by key, and removes those given as null', async () => {
    const { id } = await user.register({
      caption: 'Old',
      headline: 'Stays',
      nit_commit_custom: '{"keep":1,"nested":{"a":1},"gone":1}',
    })
    const { asset } = expectOk(
      await update({ id, caption: 'New', nitCommitCustom: { nested: { b: 2 }, gone: null } }),
    ).updateAssetMetadata
    expect(asset).toMatchObject({
      caption: 'New',
      headline: 'Stays',
      publicAccess: false,
      nitCommitCustom: { keep: 1, nested: { b: 2 } },
    })
    const { commits } = expectOk(
      await user.graphql(`{ asset(id: "${id}") { commits(first: 1) { nodes { changes } } } }`),
    ).asset
    expect(commits.nodes[0].changes).toEqual({
      caption: ['Old', 'New'],
      nit_commit_custom: [{ nested: { a: 1 }, gone: 1 }, { nested: { b: 2 } }],
    })
  })

  it('writes no commit and charges nothing when nothing changes', async () => {
    const buyer = await app.newUser()
    const { id } = await buyer.register({ caption: 'Same' })
    for (const input of [{ id }, { id, caption: 'Same' }, { id, caption: null }, { id, commitMessage: 'words' }])
      expectOk(await update(input, buyer))
    expect([await app.wallet(buyer), await app.commitCount(id)]).toEqual([{ num: '0', points: '11.821' }, 1])
  })

  it('refuses a writer who saw an older head', async () => {
    const { id } = await user.register()
    const { asset } = expectOk(await user.graphql(`{ asset(id: "${id}") { headId } }`))
    const first = expectOk(await update({ id, caption: 'First', expectedHead: asset.headId })).updateAssetMetadata.asset
    expect(first.headId).not.toBe(asset.headId)
    const { body } = expectError(await update({ id, caption: 'Second', expectedHead: asset.headId }), 'CONFLICT')
    expect(body.errors[0].extensions.details).toBe(first.headId)
    expectError(await update({ id, caption: 'Third', expectedHead: 'nonsense' }), 'CONFLICT')
    expect(await app.commitCount(id)).toBe(2)
  })

  it('is refused to others, in the words that their view of the asset allows', async () => {
    const shown = (await user.register({ public_access: 'true' })).id
    const hidden = (await user.register()).id
    expectError(await update({ id: shown, caption: 'x' }, other), 'ASSET_WRITE_PERMISSION_DENIED')
    expectError(await update({ id: hidden, caption: 'x' }, other), 'NOT_FOUND')
    expectError(await app.graphql(updateAsset, { input: { id: shown, caption: 'x' } }), 'NOT_AUTHENTICATED')
    expect(await app.commitCount(shown)).toBe(1)
  })

  it('carried out once for one Idempotency-Key, and refused for another payload', async () => {
    const { id } = await user.register()
    const headers = { 'Idempotency-Key': randomUUID() }
    const send = (caption: string) => user.graphql(updateAsset, { input: { id, caption } }, { headers })
    const [first, again] = [await send('Once'), await send('Once')]
    expect([expectOk(first), again.body.data]).toEqual([first.body.data, first.body.data])
    expect([first, again].map((answer) => answer.headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    expectError(await send('Twice'), 'IDEMPOTENCY_KEY_REUSED')
    expect(await app.commitCount(id)).toBe(2)
    expectOk(await user.graphql(deleteAsset, { input: { id } }))
    const late = await send('Once')
    expectError(late, 'IDEMPOTENCY_KEY_REUSED')
    expect(late.headers.get('idempotency-replayed')).toBeNull()
  })
})

describe('deleteAsset', () => {
  it('takes the asset away for everybody', async () => {
    const { id } = await user.register({ public_access: 'true' })
    expectError(await other.graphql(deleteAsset, { input: { id } }), 'ASSET_WRITE_PERMISSION_DENIED')
    expectError(await app.graphql(deleteAsset, { input: { id } }), 'NOT_AUTHENTICATED')
    expect(expectOk(await user.graphql(deleteAsset, { input: { id } }))).toEqual({ deleteAsset: { id } })
    for (const { graphql } of [user, other, app]) {
      expectError(await graphql(`{ asset(id: "${id}") { id } }`), 'NOT_FOUND')
    }
    expectError(await user.graphql(deleteAsset, { input: { id } }), 'NOT_FOUND')
  })
})

describe('a file in JSON', () => {
  const custom = (value: string) =>
    `mutation ($id: ID!, $photo: Upload!) { updateAssetMetadata(input: { id: $id, nitCommitCustom: ${value} }) { asset { id } } }`

  it.each([
    ['of a variable', updateAsset, (photo: File, id: string) => ({ input: { id, nitCommitCustom: { photo } } })],
    [
      'of a variable, as the object itself',
      updateAsset,
      (photo: File, id: string) => ({ input: { id, nitCommitCustom: photo } }),
    ],
    ['of the document', custom('{ a: [{ photo: $photo }] }'), (photo: File, id: string) => ({ id, photo })],
  ])('%s is refused, for it would be lost', async (_, document, variablesOf) => {
    const { id } = await user.register()
    const wallet = await app.wallet(user)
    const answer = expectError(await user.graphql(document, variablesOf(newFile(), id)), 'VALIDATION_FAILED')
    expect(answer.body.errors[0].message).toContain('A file cannot stand here.')
    expect([await app.commitCount(id), await app.wallet(user)]).toEqual([1, wallet])
  })
})
