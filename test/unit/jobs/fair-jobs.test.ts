/** Jobs for files: a user with many files does not delay a user with one file. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { startJobs } from '../../../src/jobs/jobs.ts'
import { requestThumbnails } from '../../../src/modules/assets/thumbnails.ts'
import { until } from '../../support/eventually.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()

/** Registers this number of pictures of an account. Returns the UUIDs of their assets. */
async function registerPictures(person: SignedIn, count: number): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) {
    const asset_file = new File([randomUUID()], 'picture.png', { type: 'image/png' })
    made.push((await person.register({ asset_file })).uuid)
  }
  return made
}

/** Runs the jobs of a queue one after another. Returns their assets in this order. */
async function carryOut(queue: 'thumbnail' | 'manifest', count: number): Promise<string[]> {
  const order: string[] = []
  const jobs = await startJobs(app.installation)
  await jobs.work(queue, { concurrency: 1, pollEvery: 0.1 }, async ({ assetId }) => void order.push(assetId))
  await until('all jobs ran', () => order.length === count)
  await jobs.stop()
  return order
}

it('the first job of an account does not wait for all queued jobs of another account', async () => {
  const many = await registerPictures(await app.newUser({ num: '10' }), 4)
  const one = await registerPictures(await app.newUser({ num: '10' }), 1)
  const inTurn = [many[0], ...one, ...many.slice(1)]
  expect({ thumbnails: await carryOut('thumbnail', 5), manifests: await carryOut('manifest', 5) }).toEqual({
    thumbnails: inTurn,
    manifests: inTurn,
  })
})

it('thumbnail jobs for old assets alternate between accounts', async () => {
  const one = await registerPictures(await app.newUser({ num: '10' }), 1)
  // Thumbnails are requested for the newest assets first.
  const many = await registerPictures(await app.newUser({ num: '10' }), 4)
  await carryOut('thumbnail', 5)
  await app.sql('update assets set thumbnail_requested = false where id = any ($1::uuid[])', [[...one, ...many]])
  await requestThumbnails(app.context)
  const order = await carryOut('thumbnail', 5)
  expect(order.indexOf(one[0]!)).toBeLessThan(2)
})
