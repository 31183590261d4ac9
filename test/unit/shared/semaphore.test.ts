import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSemaphore, type Holder } from '../../../src/shared/limiters.ts'
import { until } from '../../support/eventually.ts'

const options = { name: 'Operations', slots: 2, perKey: 1, queue: 4, maxWait: 60_000 }
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

function openScene(semaphore = createSemaphore(options)) {
  const started: string[] = []
  const rejected: string[] = []
  const ends = new Map<string, () => void>()
  const all: Promise<void>[] = []
  const start = (name: string, holder: Holder) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    const work = () => {
      started.push(name)
      return promise
    }
    all.push(semaphore(work, holder).catch(() => void rejected.push(name)))
  }
  /** Ends an operation, and returns the operation that started last. */
  const end = async (name: string) => {
    ends.get(name)!()
    await settle()
    return started.at(-1)
  }
  const endAll = async (...names: string[]) => {
    for (const name of names) await end(name)
    await Promise.all(all)
  }
  return { semaphore, started, rejected, start, end, endAll }
}

describe('semaphores', () => {
  it('a semaphore with one slot per caller leaves slots and queue space for other callers', async () => {
    const { started, rejected, start, end, endAll, semaphore } = openScene()
    for (const name of ['a1', 'a2', 'a3', 'a4']) start(name, { keys: ['a'] })
    expect(semaphore.load()).toMatchObject({ running: 1, waiting: 2 })
    await until('one operation is rejected', () => rejected.length === 1)
    start('b1', { keys: ['b'] })
    start('c1', { keys: ['c'] })
    expect(started).toEqual(['a1', 'b1'])
    expect(await end('a1')).toBe('c1')
    expect(await end('b1')).toBe('a2')
    expect(await end('a2')).toBe('a3')
    await endAll('a3', 'c1')
    expect([rejected, semaphore.load()]).toEqual([['a4'], { slots: 2, running: 0, waiting: 0, refused: 1 }])
  })

  it('one caller can use all slots of a semaphore, and the caller with the fewest slots is next', async () => {
    const { started, start, end, endAll } = openScene(createSemaphore({ ...options, perKey: 2 }))
    for (const name of ['a1', 'a2', 'a3', 'a4']) start(name, { keys: ['a'] })
    start('b1', { keys: ['b'] })
    expect(started).toEqual(['a1', 'a2'])
    await end('a1')
    await end('a2')
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
    await endAll('b1', 'a3', 'a4')
  })

  it('a semaphore alternates between callers that share one slot', async () => {
    const { started, start, endAll } = openScene(createSemaphore({ ...options, slots: 1, queue: 20 }))
    for (const name of ['a1', 'a2', 'a3']) start(name, { keys: ['a'] })
    for (const name of ['b1', 'b2']) start(name, { keys: ['b'] })
    await endAll('a1', 'b1', 'a2', 'b2', 'a3')
    expect(started).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  it('a semaphore can give keys different numbers of slots', async () => {
    const perKey = (key: string) => (key === 's' ? 2 : 1)
    const { started, start, end, endAll } = openScene(createSemaphore({ ...options, slots: 3, perKey }))
    for (const name of ['a', 'b', 'c']) start(name, { keys: [name, 's'] })
    expect(started).toEqual(['a', 'b'])
    for (const name of ['d', 'e']) start(name, { keys: [name] })
    expect(started).toEqual(['a', 'b', 'd'])
    expect(await end('a')).toBe('e')
    expect(await end('b')).toBe('c')
    await endAll('c', 'd', 'e')
  })

  it('a semaphore limits every key to its share, and starts every operation, for random sequences', async () => {
    const asked = fc.tuple(fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { maxLength: 40 }), async (steps) => {
        const semaphore = createSemaphore({ ...options, slots: 3, queue: 1_000 })
        const running = new Map<number, readonly string[]>()
        const ends: (() => void)[] = []
        let done = 0
        const all: Promise<void>[] = []
        const check = () => {
          const keys = [...running.values()].flat()
          expect(running.size).toBeLessThanOrEqual(3)
          expect(new Set(keys).size).toBe(keys.length)
        }
        for (const [number, [keys, endsOne]] of steps.entries()) {
          const work = async () => {
            running.set(number, keys)
            check()
            await new Promise<void>((resolve) => ends.push(resolve))
            running.delete(number)
            done += 1
          }
          all.push(semaphore(work, { keys }))
          if (endsOne) ends.shift()?.()
          await settle()
        }
        while (done < steps.length) {
          expect(ends.length, 'operations wait, and none starts').toBeGreaterThan(0)
          ends.shift()!()
          await settle()
        }
        await Promise.all(all)
        expect(semaphore.load()).toMatchObject({ running: 0, waiting: 0, refused: 0 })
      }),
      { numRuns: 200 },
    )
  })
})

describe('semaphores without a total limit', () => {
  const rejection = new Error('rejected')
  const open = (given: { perKey?: number; queuePerKey?: number; maxWait?: number } = {}) =>
    createSemaphore({
      ...{ name: 'Operations', perKey: 3, queue: Number.POSITIVE_INFINITY, queuePerKey: 2, maxWait: 60_000 },
      ...given,
      reject: () => rejection,
    })

  it('a semaphore without a total limit restricts each caller without blocking other callers', async () => {
    const { started, start, end, endAll } = openScene(open())
    const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']
    for (const name of names) start(name, { keys: [name[0]!] })
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
    expect(await end('a2')).toBe('a4')
    await endAll(...names)
  })

  it('a semaphore starts operations of a caller in order, and an operation larger than the share alone', async () => {
    const semaphore = open()
    const { started, start, end, endAll } = openScene(semaphore)
    for (const [name, size] of Object.entries({ two: 2, three: 3, one: 1 })) start(name, { keys: ['a'], size })
    expect(started).toEqual(['two'])
    const isFree = [{ keys: ['a'] }, { keys: ['b'] }, { size: 9 }].map((holder) => semaphore.isFree(holder))
    expect(isFree).toEqual([false, true, true])
    await end('two')
    expect(started).toEqual(['two', 'three'])
    await end('three')
    expect(started).toEqual(['two', 'three', 'one'])
    await endAll('one')
    await expect(semaphore(async () => 'done', { keys: ['a'], size: 99 })).resolves.toBe('done')
  })

  it('a semaphore rejects operations beyond the queue immediately, and waiting operations after the maximum wait', async () => {
    const semaphore = open({ perKey: 1, queuePerKey: 1 })
    const { start, endAll } = openScene(semaphore)
    start('first', { keys: ['a'] })
    start('second', { keys: ['a'] })
    await expect(semaphore(async () => 'third', { keys: ['a'] })).rejects.toBe(rejection)
    await endAll('first', 'second')

    const hasty = open({ perKey: 1, maxWait: 1 })
    const scene = openScene(hasty)
    scene.start('held', { keys: ['a'] })
    await expect(hasty(async () => 'late', { keys: ['a'] })).rejects.toBe(rejection)
    await scene.endAll('held')
  })

  it('a semaphore releases the slot of an operation that fails', async () => {
    const semaphore = open({ perKey: 1 })
    await expect(semaphore(() => Promise.reject(new Error('failed')), { keys: ['a'] })).rejects.toThrow('failed')
    await expect(semaphore(async () => 'next', { keys: ['a'] })).resolves.toBe('next')
  })

  it('a semaphore starts the operations behind a large operation that timed out', async () => {
    const semaphore = open({ maxWait: 20 })
    const { started, start, endAll } = openScene(semaphore)
    start('held', { keys: ['a'] })
    const large = expect(semaphore(async () => started.push('large'), { keys: ['a'], size: 3 })).rejects.toBe(rejection)
    const small = semaphore(async () => started.push('small'), { keys: ['a'] })
    await large
    await small
    expect(started).toEqual(['held', 'small'])
    await endAll('held')
  })
})
