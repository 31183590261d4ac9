import { getOperationAST } from 'graphql'
import { expect, it } from 'vitest'
import { createCostOf } from '../../src/graphql/execute.ts'
import { routes, schema } from '../support/full-api.ts'

const MAX_RECORD_BYTES = 1_000_000
const MAX_PART_BYTES = 20_000_000
const cut = new Set(['assets', 'assets/:nid/history', 'history', 'lookup', 'store/network-app-orders'])

const costOf = createCostOf(schema)
const lists = routes.flatMap(({ path, operation, list }) => (list ? [{ path, operation, list }] : []))

it.each(lists)('the REST list $path limits the size of a record and of its parts', ({ path, operation, list }) => {
  const bytesOf = (length: number) =>
    costOf(operation, getOperationAST(operation)!, { first: length, limit: length }).bytes
  expect(bytesOf(2) - bytesOf(1)).toBeLessThan(MAX_RECORD_BYTES)
  if (!cut.has(path)) expect(bytesOf(list.partSize)).toBeLessThan(MAX_PART_BYTES)
})
