/** F33 asks for every list of both doors. What is new, and does not say how it is asked for, or is gone, is told here. */
import { expect, it } from 'vitest'
import { everyList, staleNames } from '../../proofs/harness/every-list.ts'

const riches = { longHistory: 'bafkreiexample', order: 'order', sha256: '0'.repeat(64) }

it('every paginated list has a benchmark query for its first and a later page', () => {
  const asks = everyList(riches, 12_000)
  expect(asks.length).toBeGreaterThan(70)
  expect(new Set(asks.map(({ name }) => name)).size).toBe(asks.length)
  for (const { name, lines, document, path } of asks) {
    expect(lines, name).toBeGreaterThan(0)
    expect(document ?? path, name).toBeDefined()
  }
})

it('no benchmark query refers to a removed list or field', () => {
  expect(staleNames()).toEqual([])
})
