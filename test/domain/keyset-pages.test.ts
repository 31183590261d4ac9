import { expect, it } from 'vitest'
import { keysetPages } from '../../src/domain/keyset-pages.ts'

/** The numbers from 1 to `count` in pages of three, and how often was read. */
async function pagesOf(count: number) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const pages: number[][] = []
  let reads = 0
  const read = async (after: number, limit: number) => {
    reads += 1
    return numbers.filter((number) => number > after).slice(0, limit)
  }
  for await (const page of keysetPages({ first: 0, limit: 3, read, keyOf: (number) => number })) pages.push(page)
  return { pages, reads }
}

it.each([
  [0, [], 1],
  [2, [[1, 2]], 1],
  [3, [[1, 2, 3]], 2],
  [7, [[1, 2, 3], [4, 5, 6], [7]], 3],
])('%i rows come in pages, of which a shorter one is the last and none is empty', async (count, pages, reads) => {
  expect(await pagesOf(count)).toEqual({ pages, reads })
})
