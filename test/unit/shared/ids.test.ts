import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { TypeID } from 'typeid-js'
import { describe, expect, it } from 'vitest'
import { fromId, isNid, newUuid, toId } from '../../../src/shared/ids.ts'

describe('identifiers', () => {
  const edges = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
  const uuids = [...edges, ...Array.from({ length: 1000 }, (_, i) => (i % 2 ? randomUUID() : randomUUIDv7()))]

  it('formats identifiers like the TypeID library', () => {
    for (const uuid of uuids) expect(toId('commit', uuid)).toBe(TypeID.fromUUID('commit', uuid).toString())
  })

  it('converts an identifier to its UUID', () => {
    for (const uuid of uuids) {
      expect(fromId(toId('user', uuid))).toEqual({ prefix: 'user', uuid })
      expect(fromId(toId('user', uuid), 'commit')).toBeUndefined()
    }
  })

  it.each([
    '',
    '_',
    'user',
    'user_',
    'user_short',
    'user_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    'user_ILOU0000000000000000000000',
    'nobody_01h2xcejqtf2nbrexx3vqjhp41',
    'constructor_01h2xcejqtf2nbrexx3vqjhp41',
    'USER_01h2xcejqtf2nbrexx3vqjhp41',
  ])('rejects the invalid identifier %j', (text) => {
    expect(fromId(text)).toBeUndefined()
  })
})

describe('nids', () => {
  it.each([
    [`bafkrei${'a'.repeat(52)}`, true],
    [`bafybei${'a'.repeat(52)}`, true],
    [`bafkrei${'a'.repeat(51)}`, false],
    [`bafkrei${'A'.repeat(52)}`, false],
    [`bafkrei${'1'.repeat(52)}`, false],
    ['QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG', false],
    ['', false],
  ])('checks whether %s is a valid nid: %s', (text, is) => {
    expect(isNid(text)).toBe(is)
  })
})

it('new UUIDs sort by creation, even within a millisecond', () => {
  const made = Array.from({ length: 10_000 }, newUuid)
  expect(made.toSorted()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
})
