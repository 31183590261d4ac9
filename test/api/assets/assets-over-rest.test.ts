import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { emptyTexts } from '../../support/metadata.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

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

describe('REST records of assets', () => {
  it('the REST record of an asset has exactly the fields of the contract', async () => {
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

  it('the REST record of an asset reads digital_source_type and parent_asset_cid from the custom fields', async () => {
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

  it.each([
    ['nothing', {}, {}, []],
    ['an empty object and an empty list', { meta: '{}', signature: '[]' }, {}, []],
    ['no list of signatures', { meta: '{"a":1}', signature: '{"signature":"0x"}' }, { a: 1 }, []],
    ['null', { meta: 'null', signature: 'null' }, {}, []],
  ])(
    'the REST record of an asset contains an object and a list even if the caller sent %s',
    async (_, sent, information, signature) => {
      expect(await user.register(sent as Record<string, string>)).toMatchObject({ information, signature })
    },
  )
})

it('a revert restores a headline longer than 25 characters', async () => {
  const headline = '🙂'.repeat(100)
  const { id } = await user.register({ headline })
  expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { headline: 'Short' } }))
  const json = { revert_to: expectOk(await user.rest('GET', `assets/${id}/history/`)).commits[0].id }
  expect((await user.rest('POST', `assets/${id}/revert/?dry_run=true`, { json })).body.errors).toEqual([])
  expect(expectOk(await user.rest('POST', `assets/${id}/revert/`, { json })).headline).toBe(headline)
})

describe('REST history of assets', () => {
  it('the REST history of an asset lists every commit, oldest first, at both paths', async () => {
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

  it('the REST history of a private asset is visible only to its owner', async () => {
    const { id } = await user.register()
    for (const rest of [app.rest, other.rest]) expectError(await rest('GET', `assets/${id}/history/`), 'NOT_FOUND')
    for (const path of ['history/', 'history/?nid=', 'history/?nid=nonsense'])
      expectError(await user.rest('GET', path), 'NOT_FOUND')
  })
})
