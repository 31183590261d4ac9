/** Concurrency limit of expensive operations: in total and per caller. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Asker } from '../../src/domain/ports/gate.ts'
import { createGate } from '../../src/platform/gate.ts'
import { eventually } from '../support/eventually.ts'

const options = { places: 2, perKey: 1, queue: 4, patience: 60_000, what: 'Things' }

/** Work at a gate that goes on until it is let go. */
function openScene(gate = createGate(options)) {
  const begun: string[] = []
  const refused: string[] = []
  const ends = new Map<string, () => void>()
  const all: Promise<void>[] = []
  const ask = (name: string, asker: Asker) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    const work = () => {
      begun.push(name)
      return promise
    }
    all.push(gate(work, asker).catch(() => void refused.push(name)))
  }
  const end = async (name: string) => {
    ends.get(name)!()
    // Whoever comes next is let in before anything else happens.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { gate, begun, refused, ask, end, all }
}

describe('a gate', () => {
  it('leaves the others a place and room to wait, however often one asks', async () => {
    const { begun, refused, ask, end, all, gate } = openScene()
    for (const name of ['a1', 'a2', 'a3', 'a4']) ask(name, { keys: ['a'] })
    expect(gate.load()).toMatchObject({ running: 1, waiting: 2 })
    await eventually(
      async () => refused,
      (names) => names.length === 1,
    )
    ask('b1', { keys: ['b'] })
    ask('c1', { keys: ['c'] })
    expect(begun).toEqual(['a1', 'b1'])
    await end('a1')
    expect(begun).toEqual(['a1', 'b1', 'a2'])
    await end('b1')
    // a3 waits longer, and a2 is still there.
    expect(begun).toEqual(['a1', 'b1', 'a2', 'c1'])
    await end('a2')
    expect(begun.at(-1)).toBe('a3')
    for (const name of ['a3', 'c1']) await end(name)
    await Promise.all(all)
    expect([refused, gate.load()]).toEqual([['a4'], { places: 2, running: 0, waiting: 0, refused: 1 }])
  })

  it('lets one alone have all places, and next whoever has the fewest', async () => {
    const { begun, ask, end, all } = openScene(createGate({ ...options, perKey: 2 }))
    for (const name of ['a1', 'a2', 'a3', 'a4']) ask(name, { keys: ['a'] })
    ask('b1', { keys: ['b'] })
    expect(begun).toEqual(['a1', 'a2'])
    await end('a1')
    await end('a2')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
    for (const name of ['b1', 'a3', 'a4']) await end(name)
    await Promise.all(all)
  })

  it('gives a trusted service several places, and a caller that has none the next one', async () => {
    const gate = createGate({ ...options, places: 3, perService: 2 })
    const { begun, ask, end, all } = openScene(gate)
    for (const name of ['a', 'b', 'c']) ask(name, { keys: [name], service: 's' })
    expect(begun).toEqual(['a', 'b'])
    for (const name of ['d', 'e']) ask(name, { keys: [name] })
    expect(begun).toEqual(['a', 'b', 'd'])
    await end('a')
    expect(begun.at(-1)).toBe('e')
    await end('b')
    expect(begun.at(-1)).toBe('c')
    for (const name of ['c', 'd', 'e']) await end(name)
    await Promise.all(all)
  })

  it('holds every key to its share, and forgets nobody, in whatever order things come and go', async () => {
    const key = fc.constantFrom('a', 'b', 'c')
    const asked = fc.tuple(fc.uniqueArray(key, { maxLength: 2 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { maxLength: 40 }), async (steps) => {
        const gate = createGate({ ...options, places: 3, queue: 1_000 })
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
          all.push(
            gate(
              async () => {
                running.set(number, keys)
                check()
                await new Promise<void>((resolve) => ends.push(resolve))
                running.delete(number)
                done += 1
              },
              { keys },
            ),
          )
          if (endsOne) ends.shift()?.()
          await new Promise((resolve) => setImmediate(resolve))
        }
        while (done < steps.length) {
          expect(ends.length, 'somebody waits, and nobody is let in').toBeGreaterThan(0)
          ends.shift()!()
          await new Promise((resolve) => setImmediate(resolve))
        }
        await Promise.all(all)
        expect(gate.load()).toMatchObject({ running: 0, waiting: 0, refused: 0 })
      }),
      { numRuns: 200 },
    )
  })
})
