/** What each asker may have under way at once. */
import { expect, it } from 'vitest'
import { createShares } from '../../src/platform/shares.ts'

const refused = new Error('refused')
const open = (options: { most?: number; waiting?: number; patience?: number } = {}) =>
  createShares({ most: 3, waiting: 2, patience: 60_000, ...options, refuse: () => refused })

/** Something under way until it is ended, which notes when it begins. */
function createWork(begun: string[], name: string) {
  const ending = Promise.withResolvers<void>()
  const work = () => {
    begun.push(name)
    return ending.promise
  }
  return { work, end: ending.resolve }
}

/** Everything that can go on has gone on. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

it('Each asker has so much under way, and waits in a line of their own', async () => {
  const { take } = open()
  const begun: string[] = []
  const works = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((name) => ({ name, ...createWork(begun, name) }))
  const taken = works.map(({ name, work }) => take(name[0], 1, work))
  await settle()
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  works[1]!.end()
  await settle()
  expect(begun.at(-1)).toBe('a4')
  for (const { end } of works) end()
  await Promise.all(taken)
})

it('What is large counts for as much, is not overtaken by what is small, and is done alone where it is larger than a share', async () => {
  const { take, hasRoom } = open()
  const begun: string[] = []
  const sizes = { two: 2, three: 3, one: 1 }
  const works = Object.entries(sizes).map(([name, size]) => ({ name, size, ...createWork(begun, name) }))
  const taken = works.map(({ work, size }) => take('a', size, work))
  await settle()
  expect(begun).toEqual(['two'])
  expect([hasRoom('a', 1), hasRoom('b', 1), hasRoom(undefined, 9)]).toEqual([false, true, true])
  works[0]!.end()
  await settle()
  expect(begun).toEqual(['two', 'three'])
  works[1]!.end()
  await settle()
  expect(begun).toEqual(['two', 'three', 'one'])
  works[2]!.end()
  await Promise.all(taken)
  await expect(take('a', 99, async () => 'done')).resolves.toBe('done')
})

it('A line that is full refuses at once, and one that does not get on after a while; what failed gives its share back', async () => {
  const { take } = open({ most: 1, waiting: 1 })
  const begun: string[] = []
  const [first, second] = [createWork(begun, 'first'), createWork(begun, 'second')]
  const taken = [take('a', 1, first.work), take('a', 1, second.work)]
  await expect(take('a', 1, async () => 'third')).rejects.toBe(refused)
  first.end()
  second.end()
  await Promise.all(taken)

  const hasty = open({ most: 1, patience: 1 })
  const held = createWork(begun, 'held')
  const holding = hasty.take('a', 1, held.work)
  await expect(hasty.take('a', 1, async () => 'late')).rejects.toBe(refused)
  held.end()
  await holding
  await expect(hasty.take('a', 1, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await expect(hasty.take('a', 1, async () => 'next')).resolves.toBe('next')
})

it('What is large and gives up waiting lets those behind it go on', async () => {
  const { take } = open({ patience: 20 })
  const begun: string[] = []
  const held = createWork(begun, 'held')
  const holding = take('a', 1, held.work)
  const large = take('a', 3, async () => begun.push('large'))
  const given = expect(large).rejects.toBe(refused)
  const small = take('a', 1, async () => begun.push('small'))
  await given
  await small
  expect(begun).toEqual(['held', 'small'])
  held.end()
  await holding
})
