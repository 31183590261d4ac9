/** The benchmark F33 queries every list of both APIs. This test reports lists without a query, and queries without a list. */
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
