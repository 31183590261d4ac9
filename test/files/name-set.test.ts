import { createHash } from 'node:crypto'
import { base32upper } from 'multiformats/bases/base32'
import { expect, it } from 'vitest'
import { createNameSet } from '../../src/files/name-set.ts'

const nameOf = (index: number) => {
  const multihash = Buffer.concat([Buffer.from([0x12, 0x20]), createHash('sha256').update(String(index)).digest()])
  return `${base32upper.encode(multihash)}.data`
}

it('has the names that were added and no others, however many they are', () => {
  const names = createNameSet()
  const indices = Array.from({ length: 20_000 }, (_, index) => index)
  for (const index of indices) names.add(nameOf(index * 2))
  for (const index of indices) names.add(nameOf(index * 2))
  expect(indices.filter((index) => !names.has(nameOf(index * 2)))).toEqual([])
  expect(indices.filter((index) => names.has(nameOf(index * 2 + 1)))).toEqual([])
})

it('tells names apart that are no hashes', () => {
  const names = createNameSet()
  names.add('BCIQABCZZ.data')
  expect([names.has('BCIQABCZZ.data'), names.has('BCIQABDZZ.data'), names.has('B.data')]).toEqual([true, false, false])
})
