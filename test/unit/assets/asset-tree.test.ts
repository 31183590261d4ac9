import { describe, expect, it } from 'vitest'
import { compare, emptyMetadata, type Metadata, mergeCustom, writeTree } from '../../../src/modules/assets/metadata.ts'

const facts = {
  ...emptyMetadata,
  nid: 'bafkreinid',
  sha256: 'ab'.repeat(32),
  mimeType: 'image/png',
  uploadedAt: new Date('2023-05-05T10:12:44.900Z'),
  creatorName: 'Ada',
  creatorAddress: '0xAda',
  caption: 'A "caption"\n日本',
  headline: 'Headline',
  custom: {},
}

describe('asset trees', () => {
  it('serializes an asset tree to exactly the bytes of the public layout', () => {
    const custom = {
      own: { b: 1, a: [1, null] },
      usedBy: 'https://example.org',
      license: { name: 'CC0', document: null },
    }
    expect(writeTree({ ...facts, custom })).toBe(`{
  "assetCid": "bafkreinid",
  "assetSha256": "${'ab'.repeat(32)}",
  "encodingFormat": "image/png",
  "assetTimestampCreated": 1683281564,
  "assetCreator": "Ada",
  "creatorWallet": "0xAda",
  "license": {
    "name": "CC0",
    "document": null
  },
  "usedBy": "https://example.org",
  "abstract": "A \\"caption\\"\\n日本",
  "headline": "Headline",
  "own": {
    "b": 1,
    "a": [
      1,
      null
    ]
  }
}`)
  })

  it('lets custom fields override descriptive fields of the tree, but not fields that identify the file', () => {
    const custom = {
      headline: 'Theirs',
      abstract: { en: 'theirs' },
      creatorWallet: '0xTheirs',
      assetCreator: 'Bob',
      assetCid: 'bafkreiother',
      digitalSourceType: 'digitalCapture',
    }
    const tree = JSON.parse(writeTree({ ...facts, custom }))
    expect(tree).toEqual({ ...JSON.parse(writeTree(facts)), ...custom, assetCid: 'bafkreinid' })
    expect(Object.keys(tree)).toEqual([...Object.keys(JSON.parse(writeTree(facts))), 'digitalSourceType'])
  })
})

describe('mergeCustom', () => {
  it.each([
    [{ a: 1 }, {}, { a: 1 }],
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: { x: 1, y: 2 } }, { a: { z: 3 } }, { a: { z: 3 } }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{}, { a: null }, {}],
    [{}, { a: { nested: null } }, { a: { nested: null } }],
    [{ a: 1 }, { a: false, b: 0, c: '' }, { a: false, b: 0, c: '' }],
  ])('merges the custom fields %j with the update %j to %j', (old, given, merged) => {
    const before = structuredClone(old)
    expect(mergeCustom(old, given)).toEqual(merged)
    expect(old).toEqual(before)
  })
})

describe('compare', () => {
  const asset: Metadata = { ...emptyMetadata, caption: 'Old', custom: { same: { a: 1, b: [1, 2] }, gone: 1 } }
  const { same, gone } = asset.custom
  const custom = (changed: object) => ({ custom: { same, gone, ...changed } })
  const changed = (before: object, after: object) => ({ nit_commit_custom: [before, after] })
  it.each<[string, Partial<Metadata>, object]>([
    ['nothing', {}, {}],
    ['no change for reordered keys', { custom: { gone: 1, same: { b: [1, 2], a: 1 } } }, {}],
    ['a changed caption', { caption: '' }, { caption: ['Old', ''] }],
    ['changed public access', { publicAccess: true }, { public_access: [false, true] }],
    ['changed signed metadata', { signedMetadata: '{}' }, { signed_metadata: [null, '{}'] }],
    ['a changed custom key', custom({ gone: 2 }), changed({ gone }, { gone: 2 })],
    ['a removed key', { custom: { same } }, changed({ gone }, {})],
    ['an added key', custom({ more: [] }), changed({}, { more: [] })],
    ['an added key that every JavaScript object has', custom({ constructor: 1 }), changed({}, { constructor: 1 })],
    ['a reordered list', custom({ same: { a: 1, b: [2, 1] } }), changed({ same }, { same: { a: 1, b: [2, 1] } })],
    ['a number replaced by a list', custom({ gone: [] }), changed({ gone }, { gone: [] })],
  ])('the comparison of two asset trees reports %s', (_, change, changes) => {
    expect(compare(asset, { ...asset, ...change })).toEqual(changes)
  })
})
