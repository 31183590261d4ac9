import { expect, it } from 'vitest'
import { forEachConcurrent } from '../../../src/shared/async.ts'

it('forEachConcurrent throws the error of its source after all running operations end', async () => {
  const done: number[] = []
  const works = Array.from({ length: 2 }, () => Promise.withResolvers<void>())
  async function* source() {
    yield* works.keys()
    throw new Error('The source is away.')
  }
  const dealing = forEachConcurrent(source(), 3, async (place) => {
    await works[place]!.promise
    done.push(place)
  })
  let isOver = false
  const watched = dealing.finally(() => {
    isOver = true
  })
  works[0]!.resolve()
  await expect.poll(() => done).toEqual([0])
  expect(isOver).toBe(false)
  works[1]!.resolve()
  await expect(watched).rejects.toThrow('The source is away.')
  expect(done).toEqual([0, 1])
})
