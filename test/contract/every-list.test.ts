/** F33 asks for every list of both doors. What is new, and does not say how it is asked for, or is gone, is told here. */
import { expect, it } from 'vitest'
import { everyList, staleNames } from '../../proofs/harness/every-list.ts'

const riches = { longHistory: 'bafkreiexample', order: 'order', sha256: '0'.repeat(64) }

it('every list that comes in pages says how it is asked for, at its start and far in', () => {
  const asks = everyList(riches, 12_000)
  expect(asks.length).toBeGreaterThan(70)
  expect(new Set(asks.map(({ name }) => name)).size).toBe(asks.length)
  for (const { name, lines, document, path } of asks) {
    expect(lines, name).toBeGreaterThan(0)
    expect(document ?? path, name).toBeDefined()
  }
})

it('nothing is said of a list, or of a field, that is gone', () => {
  expect(staleNames()).toEqual([])
})
