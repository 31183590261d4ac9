import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { emptyTexts } from '../support/metadata.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const other = await app.newUser()

const notOurs = {
  post_creation_workflow_id: '',
  mint_workflow_id: null,
  nft_token_id: null,
  nft_token_uri: '',
  nft_chain_id: null,
  nft_blockchain_name: '',
  nft_contract_address: null,
  source_type: 'original',
  source_transaction: null,
  supporting_file: null,
}
const isUuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('registering', () => {
  it('answers the record with exactly the fields of the contract', async () => {
    const file = newFile('dir/été.png')
    const bytes = Buffer.from(await file.arrayBuffer())
    const record = await user.register({
      asset_file: file,
      asset_file_mime_type: 'image/x-own',
      caption: 'Caption',
      headline: 'Headline',
      tag: 'holiday',
      public_access: 'true',
      nit_commit_custom: JSON.stringify({ license: { name: 'CC0', document: null }, own: 1 }),
      meta: '{"information":[{"name":"a"}]}',
      signed_metadata: '{"proof":1}',
      signature: '[{"signature":"0x"}]',
      commit_message: 'First',
    })
    expect(record).toEqual({
      ...emptyTexts,
      id: record.cid,
      cid: expect.stringMatching(/^bafkrei[a-z2-7]{52}$/),
      uuid: isUuid,
      type: 'image',
      asset_file_name: 'été.png',
      asset_file_mime_type: 'image/x-own',
      asset_file_size: bytes.length,
      asset_file: `${app.url}/ipfs/${record.cid}`,
      asset_file_thumbnail: `${app.url}/ipfs/${record.cid}`,
      sharable_copy: `${app.url}/ipfs/${record.cid}`,
      proof_hash: createHash('sha256').update(bytes).digest('hex'),
      caption: 'Caption',
      headline: 'Headline',
      tag: 'holiday',
      public_access: true,
      uploaded_at: time,
      updated_at: record.uploaded_at,
      owner: user.email,
      owner_name: user.username,
      owner_profile_display_name: user.username,
      owner_addresses: { asset_wallet_address: user.address },
      creator_name: user.username,
      creator_profile_display_name: user.username,
      creator_addresses: { asset_wallet_address: user.address },
      is_original_owner: true,
      information: { information: [{ name: 'a' }] },
      parsed_meta: { information: [{ name: 'a' }] },
      signature: [{ signature: '0x' }],
      digital_source_type: null,
      parent_asset_cid: null,
      signed_metadata: '{"proof":1}',
      nit_commit_custom: { license: { name: 'CC0', document: null }, own: 1 },
      integrity_info: [],
      ...notOurs,
    })
    const { owner, ...shown } = record
    expect(expectOk(await app.rest('GET', `assets/${record.cid}/`))).toEqual(shown)
    expect(expectOk(await user.rest('GET', `assets/${record.cid}/`))).toEqual({ owner, ...shown })
  })

  it('takes the facts that old readers look for from its custom fields', async () => {
    const custom = { digitalSourceType: 'digitalCapture', parentAssetCid: `bafkrei${'b'.repeat(52)}` }
    expect(await user.register({ nit_commit_custom: JSON.stringify(custom) })).toMatchObject({
      digital_source_type: custom.digitalSourceType,
      parent_asset_cid: custom.parentAssetCid,
    })
    const other = { digitalSourceType: { not: 'a text' } }
    expect(await user.register({ nit_commit_custom: JSON.stringify(other) })).toMatchObject({
      digital_source_type: null,
      parent_asset_cid: null,
    })
  })

  it('comes back with the numbers of its metadata to the digit', async () => {
    const meta = '{"t":1683286764123456789,"n":[1e400,1.0,-0]}'
    const { id } = await user.register({ meta, signature: '[{"n":0.1000000000000000055511}]' })
    const { text } = await user.rest('GET', `assets/${id}/`)
    for (const name of ['information', 'parsed_meta']) expect(text).toContain(`"${name}":${meta}`)
    expect(text).toContain('"signature":[{"n":0.1000000000000000055511}]')
  })

  it.each([
    ['nothing', {}, {}, []],
    ['an empty object and an empty list', { meta: '{}', signature: '[]' }, {}, []],
    ['no list of signatures', { meta: '{"a":1}', signature: '{"signature":"0x"}' }, { a: 1 }, []],
    ['null', { meta: 'null', signature: 'null' }, {}, []],
  ])(
    'sent with %s, shows information and signatures that readers can walk through',
    async (_, sent, information, signature) => {
      expect(await user.register(sent as Record<string, string>)).toMatchObject({ information, signature })
    },
  )

  it('tells by GraphQL, too, which registration it is and whose it was at first', async () => {
    const { id, uuid } = await user.register()
    const answer = await user.graphql(`{ asset(id: "${id}") { uuid isOriginalOwner } }`)
    expect(expectOk(answer).asset).toEqual({ uuid, isOriginalOwner: true })
  })

  it('needs only the file, and is private then', async () => {
    const record = await user.register()
    expect(record).toMatchObject({
      caption: '',
      headline: '',
      tag: '',
      public_access: false,
      asset_file_mime_type: 'image/png',
    })
    expect(record).not.toHaveProperty('nit_commit_custom')
    expectError(await app.rest('GET', `assets/${record.id}/`), 'NOT_FOUND')
  })

  it('costs as much as an update, from the points', async () => {
    const buyer = await app.newUser()
    await buyer.register()
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '11.821' })
  })

  it('without a file, or with an empty one, is refused by the field', async () => {
    const missing = expectError(
      await user.rest('POST', 'assets/', { multipart: { caption: 'x' } }),
      'VALIDATION_FAILED',
    )
    expect(missing.body.error.details).toEqual({ asset_file: [expect.any(String)] })
    const json = expectError(await user.rest('POST', 'assets/', { json: { asset_file: 'text' } }), 'VALIDATION_FAILED')
    expect(json.body.error.details).toEqual({ asset_file: [expect.any(String)] })
    const empty = await user.rest('POST', 'assets/', { multipart: { asset_file: new File([], 'empty.png') } })
    expect(expectError(empty, 'VALIDATION_FAILED').body.error.details).toEqual({ asset_file: [expect.any(String)] })
  })

  it('the same bytes again is refused with the asset they are, by anybody, and charges nothing', async () => {
    const file = newFile()
    const { id } = await user.register({ asset_file: file })
    for (const again of [user, other]) {
      const before = await app.wallet(again)
      const answer = await again.rest('POST', 'assets/', { multipart: { asset_file: file, caption: 'Mine' } })
      expect(expectError(answer, 'DUPLICATE_ASSET').body.error.details).toEqual([{ id, cid: id }])
      expect(await app.wallet(again)).toEqual(before)
    }
  })

  it('one file ten times at once makes one asset and one charge', async () => {
    const buyer = await app.newUser()
    const multipart = { asset_file: newFile() }
    const answers = await Promise.all(Array.from({ length: 10 }, () => buyer.rest('POST', 'assets/', { multipart })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) expectError(answer, 'DUPLICATE_ASSET')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '11.821' })
  })

  it('is refused for a poor wallet in the words that callers look for', async () => {
    const poor = await app.newUser({ points: '0.178' })
    const answer = await poor.rest('POST', 'assets/', { multipart: { asset_file: newFile() } })
    const { body } = expectError(answer, 'ASSET_COMMIT_INSUFFICIENT_FUND')
    expect(body.error.details).toMatch(/: 0\.179$/)
    expect(body.detail.toLowerCase()).toContain('insufficient')
    expect(expectOk(await poor.rest('GET', 'assets/')).count).toBe(0)
    expect(await app.wallet(poor)).toEqual({ num: '0', points: '0.178' })
  })
})

describe('updating', () => {
  it('changes only what is sent; an empty caption is a value', async () => {
    const { id } = await user.register({ caption: 'Old', headline: 'Stays', tag: 'stays', public_access: 'true' })
    const record = expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: '' } }))
    expect(record).toMatchObject({ caption: '', headline: 'Stays', tag: 'stays', public_access: true })
    expect(expectOk(await user.rest('GET', `assets/${id}/history/`)).commits.at(-1).changes).toEqual({
      caption: ['Old', ''],
    })
  })

  it('merges custom fields by their top-level keys, and removes those sent as null', async () => {
    const { id } = await user.register({
      nit_commit_custom: JSON.stringify({ keep: 1, nested: { a: 1, b: 2 }, gone: true }),
    })
    const json = { nit_commit_custom: { nested: { c: 3 }, gone: null, added: 'x' } }
    const record = expectOk(await user.rest('PATCH', `assets/${id}/`, { json }))
    expect(record.nit_commit_custom).toEqual({ keep: 1, nested: { c: 3 }, added: 'x' })
    const all = { nit_commit_custom: { keep: null, nested: null, added: null } }
    expect(expectOk(await user.rest('PATCH', `assets/${id}/`, { json: all }))).not.toHaveProperty('nit_commit_custom')
  })

  it('charges 0.179 and writes one commit; nothing to change writes none and is free', async () => {
    const buyer = await app.newUser()
    const { id } = await buyer.register({ caption: 'Same', nit_commit_custom: '{"a":{"b":1,"c":2}}' })
    const free = [
      {},
      { caption: 'Same' },
      { nit_commit_custom: { a: { c: 2, b: 1 } } },
      { nit_commit_custom: { none: null } },
      { commit_message: 'only words' },
    ]
    for (const json of free) expect(expectOk(await buyer.rest('PATCH', `assets/${id}/`, { json })).caption).toBe('Same')
    expect([await app.commitCount(id), await app.wallet(buyer)]).toEqual([1, { num: '0', points: '11.821' }])
    expectOk(await buyer.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } }))
    expect([await app.commitCount(id), await app.wallet(buyer)]).toEqual([2, { num: '0', points: '11.642' }])
  })

  it.each([
    ['public_access alone', { public_access: 'true' }, { public_access: ['', ''] }],
    [
      'signed_metadata with its signature',
      { signed_metadata: '{"x":1}', signature: '{"y":2}' },
      { signed_metadata: [], signature: [] },
    ],
  ])('takes %s', async (_, urlencoded, changed) => {
    const { id } = await user.register()
    expectOk(await user.rest('PATCH', `assets/${id}/`, { urlencoded }))
    const { commits } = expectOk(await user.rest('GET', `assets/${id}/history/`))
    expect(Object.keys(commits[1].changes).sort()).toEqual(Object.keys(changed).sort())
  })

  it('takes a headline of 25 characters of any script, and no more', async () => {
    const { id } = await user.register()
    const record = expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { headline: '🙂'.repeat(25) } }))
    expect(record.headline).toBe('🙂'.repeat(25))
    expectError(await user.rest('PATCH', `assets/${id}/`, { json: { headline: '🙂'.repeat(26) } }), 'VALIDATION_FAILED')
  })

  describe('a headline of more than 25 characters', () => {
    const long = '🙂'.repeat(100)

    it('is accepted in a registration, up to 100 characters', async () => {
      expect((await user.register({ headline: long })).headline).toBe(long)
      const multipart = { asset_file: newFile(), headline: `${long}x` }
      const { body } = expectError(await user.rest('POST', 'assets/', { multipart }), 'VALIDATION_FAILED')
      expect(body.error.details).toEqual({ headline: ['Ensure this field has no more than 100 characters.'] })
    })

    it('stays when an update does not send it', async () => {
      const { id } = await user.register({ headline: long })
      const record = expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Changed' } }))
      expect(record).toMatchObject({ headline: long, caption: 'Changed' })
    })

    it('is rejected in an update, also when the asset has it', async () => {
      const { id } = await user.register({ headline: long })
      const { body } = expectError(
        await user.rest('PATCH', `assets/${id}/`, { json: { headline: long } }),
        'VALIDATION_FAILED',
      )
      expect(body.error.details).toEqual({ headline: ['Ensure this field has no more than 25 characters.'] })
    })

    it('comes back when the asset is reverted to a version with it', async () => {
      const { id } = await user.register({ headline: long })
      expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { headline: 'Short' } }))
      const { commits } = expectOk(await user.rest('GET', `assets/${id}/history/`))
      const json = { revert_to: commits[0].id }
      const dryRun = await user.rest('POST', `assets/${id}/revert/?dry_run=true`, { json })
      expect(dryRun.body.errors).toEqual([])
      expect(expectOk(await user.rest('POST', `assets/${id}/revert/`, { json })).headline).toBe(long)
    })
  })

  it('takes custom fields of 10 KB and 16 levels, and no more', async () => {
    const { id } = await user.register()
    const path = `assets/${id}/`
    const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
    const send = (custom: object) => user.rest('PATCH', path, { json: { nit_commit_custom: custom } })
    expectOk(await send(deep(16)))
    expectError(await send(deep(17)), 'VALIDATION_FAILED')
    expectError(await send({ big: 'x'.repeat(10 * 1024) }), 'VALIDATION_FAILED')
    expectOk(await send({ a: null }))
    expectOk(await send({ big: 'x'.repeat(10 * 1024 - '{"big":""}'.length) }))
    // What the asset carries counts, not only what one request adds.
    expectError(await send({ more: 'x' }), 'VALIDATION_FAILED')
  })

  it('lets its owner set every key of the tree that describes the asset, by both doors, and none that identifies the file', async () => {
    const custom = {
      assetCreator: 'A. Photographer',
      creatorWallet: 'elsewhere',
      license: { name: 'CC-BY-4.0' },
      usedBy: 'https://example.org',
      digitalSourceType: 'digitalCapture',
      parentAssetCid: `bafkrei${'a'.repeat(52)}`,
      abstract: 'Theirs',
      headline: 'A headline of more than 25 characters',
    }
    const { id, proof_hash } = await user.register({ caption: 'Ours', nit_commit_custom: JSON.stringify(custom) })
    const treeOf = async () => {
      const { commits } = expectOk(await user.rest('GET', `assets/${id}/history/`))
      const [{ tree }] = (await app.sql('select tree from commits where tree_cid = $1', [
        commits.at(-1).assetTreeCid,
      ])) as [{ tree: string }]
      return JSON.parse(tree)
    }
    expect(await treeOf()).toMatchObject({ ...custom, assetCid: id, assetSha256: proof_hash })
    const set = { assetCreator: 'Somebody', abstract: null }
    expectOk(
      await user.graphql(
        'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id } } }',
        { input: { id, nitCommitCustom: set } },
      ),
    )
    // What is taken back is ours again.
    expect(await treeOf()).toMatchObject({ ...custom, assetCreator: 'Somebody', abstract: 'Ours' })
    for (const key of ['assetCid', 'assetSha256', 'encodingFormat', 'assetTimestampCreated']) {
      const refused = await user.rest('PATCH', `assets/${id}/`, { json: { nit_commit_custom: { [key]: 'x' } } })
      expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toHaveProperty('nit_commit_custom')
    }
  })

  it('what some readers of JSON take for a field that identifies the file is refused, and can be taken back', async () => {
    const { id } = await user.register()
    const set = (custom: object) => user.rest('PATCH', `assets/${id}/`, { json: { nit_commit_custom: custom } })
    // As Go's encoding/json reads it: in any case, and `ſ` as `s`.
    for (const key of ['AssetCid', 'assetsha256', 'ENCODINGFORMAT', 'a\u017f\u017fetCid']) {
      expectError(await set({ [key]: 'x' }), 'VALIDATION_FAILED')
      await app.sql('UPDATE assets SET custom = $2 WHERE nid = $1', [id, JSON.stringify({ [key]: 'before' })])
      expect(expectOk(await set({ [key]: null }))).not.toHaveProperty('nit_commit_custom')
    }
  })

  it('of an asset that somebody else shows is forbidden, of one that nobody shows it is not found', async () => {
    const shown = await user.register({ public_access: 'true' })
    const hidden = await user.register()
    const missing = `bafkrei${'a'.repeat(52)}`
    for (const method of ['PATCH', 'DELETE']) {
      const json = method === 'PATCH' ? { caption: 'Mine now' } : undefined
      expectError(await other.rest(method, `assets/${shown.id}/`, { json }), 'ASSET_WRITE_PERMISSION_DENIED')
      const answers = [
        await other.rest(method, `assets/${hidden.id}/`, { json }),
        await other.rest(method, `assets/${missing}/`, { json }),
      ]
      for (const answer of answers) expectError(answer, 'NOT_FOUND')
      expect(answers[0]!.body).toEqual(answers[1]!.body)
      expectError(await user.rest(method, 'assets/nonsense/', { json }), 'NOT_FOUND')
    }
    expect(await app.commitCount(shown.id)).toBe(1)
    expect(expectOk(await user.rest('GET', `assets/${shown.id}/`)).caption).toBe('')
  })
})

describe('deleting', () => {
  it('takes the asset out of every list and leaves its history to the chain', async () => {
    const { id } = await user.register({ public_access: 'true', tag: 'doomed', caption: 'Secret' })
    const answer = await user.rest('DELETE', `assets/${id}/`)
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' })
    for (const path of [`assets/${id}/`, `assets/${id}/history/`, `history/?nid=${id}`, `/ipfs/${id}`]) {
      expectError(await user.rest('GET', path), 'NOT_FOUND')
    }
    expect(expectOk(await app.rest('GET', 'assets/?tag=doomed')).count).toBe(0)
    expectError(await user.rest('DELETE', `assets/${id}/`), 'NOT_FOUND')
    const [row] = await app.sql(
      'select caption, tag, custom::text, meta, (deleted_at is not null)::text as gone from assets where nid = $1',
      [id],
    )
    expect(row).toEqual({ caption: '', tag: '', custom: '{}', meta: null, gone: 'true' })
    expect(await app.sql('select 1 from pins p join assets a on a.id = p.asset_id where a.nid = $1', [id])).toEqual([])
    expect(await app.commitCount(id)).toBe(1)
  })

  it('frees the file to be registered again', async () => {
    const file = newFile()
    const { id } = await user.register({ asset_file: file })
    await user.rest('DELETE', `assets/${id}/`)
    expect((await other.register({ asset_file: file })).id).toBe(id)
  })
})

describe('the history', () => {
  it('tells every commit, oldest first, by both of its paths', async () => {
    const { id } = await user.register({ caption: 'One', commit_message: 'Begin' })
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Two', commit_message: 'Go on' } }))
    const history = expectOk(await user.rest('GET', `assets/${id}/history/`))
    expect(expectOk(await user.rest('GET', `history/?nid=${id}`))).toEqual(history)
    const shared = {
      id: expect.stringMatching(/^commit_/),
      transaction: '',
      txHash: '',
      assetTreeCid: expect.stringMatching(/^bafkrei[a-z2-7]{52}$/),
      assetTreeSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      assetTreeSignature: '',
      author: user.address,
      committer: user.address,
      provider: 'Annal',
      timestampCreated: expect.any(Number),
      action: expect.stringMatching(/^bafkrei/),
      actionNid: expect.stringMatching(/^bafkrei/),
      actionResult: `${app.url}/api/v3/assets/${id}/`,
      status: 'pending',
      gasUsed: null,
      feePaid: null,
    }
    expect(history).toEqual({
      nid: id,
      count: 2,
      next: null,
      previous: null,
      commits: [
        {
          ...shared,
          actionName: 'action-initial-registration',
          abstract: 'Begin',
          commitMessage: 'Begin',
          changes: { caption: ['', 'One'] },
        },
        {
          ...shared,
          actionName: 'action-commit',
          abstract: 'Go on',
          commitMessage: 'Go on',
          changes: { caption: ['One', 'Two'] },
        },
      ],
    })
    expect(Math.abs(history.commits[1].timestampCreated - Date.now() / 1000)).toBeLessThan(60)
  })

  it('is read page by page, to its end, by absolute links', async () => {
    const { id } = await user.register({ caption: '0' })
    for (const caption of ['1', '2', '3', '4']) await user.rest('PATCH', `assets/${id}/`, { json: { caption } })
    const first = expectOk(await user.rest('GET', `assets/${id}/history/?limit=2`))
    expect([first.count, first.previous, first.commits.length]).toEqual([5, null, 2])
    const second = expectOk(await user.rest('GET', first.next.slice(app.url.length)))
    const third = expectOk(await user.rest('GET', second.next.slice(app.url.length)))
    expect([second.previous, third.next]).toEqual([expect.stringContaining('limit=2'), null])
    const captions = [first, second, third].flatMap(({ commits }) =>
      commits.map(({ changes }: { changes: { caption: string[] } }) => changes.caption[1]),
    )
    expect(captions).toEqual(['0', '1', '2', '3', '4'])
    const byNid = expectOk(await user.rest('GET', `history/?nid=${id}&limit=2&offset=4`))
    expect([byNid.commits.length, byNid.next]).toEqual([1, null])
  })

  it('of an asset that nobody shows is its owner’s alone', async () => {
    const { id } = await user.register()
    for (const rest of [app.rest, other.rest]) expectError(await rest('GET', `assets/${id}/history/`), 'NOT_FOUND')
    for (const path of ['history/', 'history/?nid=', 'history/?nid=nonsense'])
      expectError(await user.rest('GET', path), 'NOT_FOUND')
  })
})
