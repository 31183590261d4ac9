import { describe, expect, it } from 'vitest'
import { bothApis, type Input } from '../../support/api.ts'
import { codeOf, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const other = await app.newUser()

describe.each(bothApis)('asset registration over $name', (api) => {
  it('a registration stores the file and its metadata, and charges 0.179 from the points', async () => {
    const buyer = await app.newUser()
    const file = newFile('own name.png')
    const fields = { caption: 'Uploaded', nitCommitCustom: { a: 1 }, publicAccess: true }
    const asset = (await api.registerAsset(buyer, { ...fields, assetFile: file })).ok()
    expect(asset).toMatchObject({ ...fields, id: expect.stringMatching(/^baf/), assetFileName: 'own name.png' })
    expect((await app.rest('GET', `/ipfs/${asset.id}`)).text).toBe(await file.text())
    expect([await app.wallet(buyer), await app.commitCount(asset.id)]).toEqual([{ num: '0', points: '11.821' }, 1])
  })

  it('a registration needs only the file, and the asset is private by default', async () => {
    const asset = (await api.registerAsset(user, { assetFile: newFile() })).ok()
    expect(asset).toMatchObject({ caption: '', headline: '', tag: '', publicAccess: false })
    expect(asset.nitCommitCustom ?? {}).toEqual({})
    ;(await api.readAsset(app, { id: asset.id })).fails('NOT_FOUND')
  })

  it.each<[string, Input]>([
    ['no file', { caption: 'x' }],
    ['a string instead of a file', { assetFile: 'text' }],
    ['an empty file', { assetFile: new File([], 'empty.png') }],
  ])('a registration rejects %s', async (_, input) => {
    const result = await api.registerAsset(user, input)
    result.fails('VALIDATION_FAILED')
    expect(result.text).toMatch(/asset_file|assetFile/)
  })

  it('a registration rejects a duplicate file, returns the ID of the asset, and charges nothing', async () => {
    const file = newFile()
    const { id } = await user.register({ asset_file: file })
    for (const again of [user, other]) {
      const before = await app.wallet(again)
      const details = (await api.registerAsset(again, { assetFile: file, caption: 'Mine' })).fails('DUPLICATE_ASSET')
      expect(JSON.stringify(details)).toContain(id)
      expect(await app.wallet(again)).toEqual(before)
    }
  })

  it('ten concurrent registrations of one file create one asset and one charge', async () => {
    const buyer = await app.newUser()
    const input = { assetFile: newFile() }
    const results = await Promise.all(Array.from({ length: 10 }, () => api.registerAsset(buyer, input)))
    const rejected = results.filter(codeOf)
    expect(rejected).toHaveLength(9)
    for (const result of rejected) result.fails('DUPLICATE_ASSET')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '11.821' })
  })

  it('a registration rejects a wallet with too little balance, and names the amount required', async () => {
    const poor = await app.newUser({ points: '0.1', num: '0.078' })
    const result = await api.registerAsset(poor, { assetFile: newFile() })
    result.fails('ASSET_COMMIT_INSUFFICIENT_FUND')
    if (api.name === 'REST') {
      expect(result.body.error.details).toMatch(/: 0\.179$/)
      expect(result.body.detail.toLowerCase()).toContain('insufficient')
    } else {
      const amounts = { required: '0.179', available: '0.178', missing: '0.001' }
      expect(result.body.errors[0].extensions).toMatchObject(amounts)
    }
    expect(expectOk(await poor.rest('GET', 'assets/')).count).toBe(0)
    expect(await app.wallet(poor)).toEqual({ num: '0.078', points: '0.1' })
  })

  it('a registration accepts a headline of 100 characters', async () => {
    const headline = '🙂'.repeat(100)
    expect((await api.registerAsset(user, { assetFile: newFile(), headline })).ok().headline).toBe(headline)
    const input = { assetFile: newFile(), headline: `${headline}x` }
    const details = (await api.registerAsset(user, input)).fails('VALIDATION_FAILED')
    expect(details).toEqual({ headline: ['Ensure this field has no more than 100 characters.'] })
  })

  it('a registration accepts a file again after its asset was deleted', async () => {
    const file = newFile()
    const { id } = (await api.registerAsset(user, { assetFile: file })).ok()
    ;(await api.deleteAsset(user, { id })).ok()
    expect((await api.registerAsset(other, { assetFile: file })).ok().id).toBe(id)
  })
})
