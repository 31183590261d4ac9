import { expect, it } from 'vitest'
import { createPictureMaker } from '../../../src/files/picture-maker.ts'

async function* endless() {
  yield new Uint8Array([0xff, 0xd8])
  await new Promise(() => {})
}

it('aborts a picture conversion that takes too long', async () => {
  const maker = createPictureMaker({ timeoutMs: 200 })
  await expect(maker.make(endless(), [64])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

it('a picture conversion returns the error of its source', async () => {
  async function* broken() {
    yield new Uint8Array([0xff, 0xd8])
    throw new Error('the disk is gone')
  }
  await expect(createPictureMaker().make(broken(), [64])).rejects.toThrow('the disk is gone')
})
