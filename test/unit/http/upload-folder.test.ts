import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createUploadFolder } from '../../../src/http/upload-folder.ts'
import { atEnd } from '../../support/at-end.ts'
import { onShortDisk } from '../../support/failing-disk.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const dir = await createTemporaryFolder()
const folder = createUploadFolder({ dir })
const BLOCK = 262_144

async function* stream(...pieces: Uint8Array[]) {
  yield* pieces
}

async function hold(...pieces: Uint8Array[]) {
  const file = await folder.hold(stream(...pieces), async () => {})
  atEnd(() => file.release())
  return file
}

const read = async (source: AsyncIterable<Uint8Array>) => {
  const pieces: Uint8Array[] = []
  for await (const piece of source) pieces.push(piece)
  return Buffer.concat(pieces)
}

const own = (bytes: Uint8Array) => Buffer.from(Uint8Array.from(bytes).buffer)

it('an upload releases written buffers, except buffers that are still in use', async () => {
  const shared = randomBytes(3 * BLOCK)
  const [large, small] = [own(randomBytes(10_000)), own(randomBytes(100))]
  const all = Buffer.concat([large, small, shared])
  const parts = Array.from({ length: 12 }, (_, index) =>
    shared.subarray((index * BLOCK) / 4, ((index + 1) * BLOCK) / 4),
  )
  const file = await hold(large, small, ...parts)
  expect([large.length, small.length, shared.length]).toEqual([0, 100, 3 * BLOCK])
  expect(Buffer.compare(await read(file.bytes()), all)).toBe(0)
})

it('an upload writes the remaining bytes after a partial write', async () => {
  const pieces = Array.from({ length: 40 }, () => randomBytes(20_000))
  const all = Buffer.concat(pieces)
  const file = await onShortDisk(dir, 30_000, () => hold(...pieces))
  expect(file.size).toBe(all.length)
  expect(Buffer.compare(await read(file.bytes()), all)).toBe(0)
})
