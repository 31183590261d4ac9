/** The blocks of a file in a CAR export. */
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, it } from 'vitest'
import { cidsBelow, walk } from '../../../src/files/block-reader.ts'
import type { CarSelection } from '../../../src/files/file-types.ts'

const blocks = new Map<string, Uint8Array>()
const put = async (code: number, bytes: Uint8Array) => {
  const cid = CID.createV1(code, await sha256.digest(bytes))
  blocks.set(cid.toString(), bytes)
  return cid
}
const leaf = (text: string) => put(raw.code, Buffer.from(text))
const over = (size: number, ...children: CID[]) => {
  const data = new UnixFS({ type: 'file', blockSizes: children.map(() => BigInt(size)) })
  const links = children.map((Hash) => ({ Hash, Name: '', Tsize: 0 }))
  return put(dagPb.code, dagPb.encode({ Data: data.marshal(), Links: links }))
}
const read = async (cid: CID) => {
  const bytes = blocks.get(cid.toString())
  if (!bytes) throw new Error('not here')
  return bytes
}
const taken = async (root: CID, selection: Partial<CarSelection>) => {
  const found: string[] = []
  for await (const { cid } of walk(root, read, { scope: 'all', duplicates: false, ...selection })) found.push(name(cid))
  return found
}

const [a, b, c] = [await leaf('aaaa'), await leaf('bbbb'), await leaf('cccc')]
const half = await over(4, a, b)
const root = await over(8, half, half, c)
const names = new Map(
  [a, b, c, half, root].map((cid, index) => [cid.toString(), ['a', 'b', 'c', 'half', 'root'][index]!]),
)
const name = (cid: CID) => names.get(cid.toString())!

const range = { offset: 4, length: 5 }
it.each([
  ['exports every block once', {}, ['root', 'half', 'a', 'b', 'c']],
  ['exports every occurrence with duplicates', { duplicates: true }, ['root', 'half', 'a', 'b', 'half', 'a', 'b', 'c']],
  ['exports only the root with scope "block"', { scope: 'block' as const }, ['root']],
  ['exports a range across occurrences of one node', { range }, ['root', 'half', 'b', 'a']],
  ['exports a range with duplicates', { range, duplicates: true }, ['root', 'half', 'b', 'half', 'a']],
  ['exports the block of the last byte', { range: { offset: 19, length: 1 } }, ['root', 'c']],
  ['exports only one block for a byte at a block boundary', { range: { offset: 8, length: 1 } }, ['root', 'half', 'a']],
])('the CAR export %s', async (_, selection, expected) => {
  expect(await taken(root, selection)).toEqual(expected)
})

it('the CAR export of a byte range does not read blocks outside the range', async () => {
  const holed = await over(4, a, CID.createV1(raw.code, await sha256.digest(Buffer.from('lost'))), c)
  names.set(holed.toString(), 'holed')
  expect(await taken(holed, { range: { offset: 0, length: 4 } })).toEqual(['holed', 'a'])
  expect(await taken(holed, { range: { offset: 9, length: 1 } })).toEqual(['holed', 'c'])
  await expect(taken(holed, {})).rejects.toThrow('not here')
})

it('lists each block of a file once without reading the leaf blocks', async () => {
  const lost = CID.createV1(raw.code, await sha256.digest(Buffer.from('lost')))
  const top = await over(8, half, half, await over(4, a, lost))
  const found: string[] = []
  for await (const below of cidsBelow(top, read)) found.push(below.toString())
  expect(found).toHaveLength(new Set(found).size)
  expect(found).toEqual(expect.arrayContaining([a, b, half, lost].map(String)))
  expect(found).not.toContain(top.toString())
})
