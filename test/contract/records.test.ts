/** The exact keys of every record. You may add a key here, but never remove one. */
import { describe, expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { emptyTexts } from '../support/metadata.ts'
import { createStore } from '../support/store.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '10' })

const keysOf = (record: object) => Object.keys(record).sort()
const words = (text: string) => text.trim().split(/\s+/).sort()

const contract = words(`
  id cid uuid type asset_file_name asset_file_mime_type asset_file_size asset_file asset_file_thumbnail sharable_copy
  proof_hash caption headline tag public_access uploaded_at updated_at owner_name owner_profile_display_name
  owner_addresses creator_name creator_profile_display_name creator_addresses is_original_owner information parsed_meta
  signature signed_metadata digital_source_type parent_asset_cid integrity_info post_creation_workflow_id
  mint_workflow_id nft_token_id nft_token_uri nft_chain_id nft_blockchain_name nft_contract_address source_type
  source_transaction supporting_file`)
const asset = [...new Set([...contract, ...Object.keys(emptyTexts)])].sort()
const profile = words(`display_name description phone_number profile_picture profile_picture_thumbnail
  profile_background profile_background_thumbnail`)
const me =
  words(`id username email address language email_verified pending_email phone_verified asset_count referral_code default_tag
  allow_c2pa_download profile user_wallet asset_wallet_num points`)
const wallet = words(`asset_wallet asset_wallet_num integrity_wallet integrity_wallet_num points num_wallet_name
  billed_num`)
const commit = words(`id transaction txHash assetTreeCid assetTreeSha256 assetTreeSignature author committer provider
  timestampCreated action actionName actionNid actionResult abstract commitMessage changes status gasUsed feePaid`)
const order = words(`id status network_app_id network_app_name action action_args price fee num_charged points_charged
  num_paid points_paid total_cost quantity fund_tx_hash payment_tx_hash fund_crypto_transaction_id
  payment_crypto_transaction_id workflow_id owner created_at expired_at`)
const page = words('count next previous results')

it("the REST record of an asset has the expected keys, with the owner's e-mail only for the owner", async () => {
  const { id, ...plain } = await user.register({ public_access: 'true' })
  expect(keysOf({ id, ...plain })).toEqual([...asset, 'owner'].sort())
  const list = expectOk(await app.rest('GET', 'assets/'))
  expect(keysOf(list)).toEqual(page)
  expect(keysOf(list.results[0])).toEqual(asset)
  const changed = await user.rest('PATCH', `assets/${id}/`, { json: { nit_commit_custom: { a: 1 } } })
  expect(keysOf(expectOk(changed))).toEqual([...asset, 'owner', 'nit_commit_custom'].sort())
})

it('the REST records of a history and its commits have the expected keys', async () => {
  const { id } = await user.register()
  const history = expectOk(await user.rest('GET', `assets/${id}/history/`))
  expect(keysOf(history.commits[0])).toEqual(commit)
})

it('the REST record of a user has the expected keys, including keys for old scripts', async () => {
  const self = expectOk(await user.rest('GET', 'auth/users/me/?show_num_balance=true'))
  expect(keysOf(self)).toEqual([...me, 'results'].sort())
  expect([keysOf(self.profile), keysOf(self.user_wallet)]).toEqual([profile, wallet])
  const { results, ...rest } = self
  expect(results).toEqual([rest])
  expect(expectOk(await user.rest('GET', 'auth/users/')).results).toEqual([rest])
  const changed = await user.rest('PATCH', 'auth/users/profile/', { json: { description: 'Hello' } })
  expect(keysOf(expectOk(changed))).toEqual(profile)
})

it('the REST record of an order has the expected keys', async () => {
  const store = await createStore(app)
  const created = await store.order(user, { price: 0 })
  expect(keysOf(created)).toEqual(order)
  expect(keysOf(expectOk(await store.confirm(user, created.id)))).toEqual(order)
})

describe('null values', () => {
  const nullsIn = (value: unknown, path = ''): string[] => {
    if (value === null) return [path]
    if (typeof value !== 'object') return []
    return Object.entries(value as object).flatMap(([key, inner]) => nullsIn(inner, path ? `${path}.${key}` : key))
  }
  const nulls = (record: object) => nullsIn(record).sort()

  it('an asset field that existing callers read as a string is never null', async () => {
    const { id } = await user.register()
    const record = expectOk(await user.rest('GET', `assets/${id}/`))
    expect(nulls(record)).toEqual(
      words(`digital_source_type mint_workflow_id nft_chain_id nft_contract_address nft_token_id parent_asset_cid
        parsed_meta source_transaction supporting_file`),
    )
  })

  it('a commit field that existing callers read as a string is never null', async () => {
    const { id } = await user.register()
    const history = expectOk(await user.rest('GET', `assets/${id}/history/`))
    expect(nulls(history.commits[0])).toEqual(['feePaid', 'gasUsed'])
    const tree = expectOk(await user.rest('GET', `assets/${id}/tree/`))
    expect(nulls(tree)).toEqual([])
  })

  it('an order field that existing callers read as a string is never null', async () => {
    const created = await (await createStore(app)).order(user)
    expect(nulls(created)).toEqual(words('fund_crypto_transaction_id payment_crypto_transaction_id workflow_id'))
  })

  it('a user field that existing callers read as a string is never null', async () => {
    const { results: _, ...self } = expectOk(await user.rest('GET', 'auth/users/me/'))
    expect(nulls(self)).toEqual(
      words(`pending_email profile.profile_background profile.profile_background_thumbnail profile.profile_picture
        profile.profile_picture_thumbnail user_wallet.integrity_wallet_num`),
    )
  })
})
