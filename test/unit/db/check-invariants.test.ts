import { expect, it } from 'vitest'
import type { Database } from '../../../src/db/database-types.ts'
import { checkInvariants, invariants } from '../../../src/db/invariants/check-invariants.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const { client, open } = await createOwnDatabase()
const database = open({ pool: 4 })

function countTransactions(): { counted: Database; most(): number } {
  let open = 0
  let most = 0
  const transaction: Database['transaction'] = async (work) => {
    open += 1
    most = Math.max(most, open)
    return database.transaction(work).finally(() => (open -= 1))
  }
  return { counted: { ...database, transaction }, most: () => most }
}

it('runs invariant checks sequentially on one connection, and at most two at a time on several connections', async () => {
  for (const [connections, atOnce] of [
    [undefined, 1],
    [1, 1],
    [2, 2],
    [4, 2],
  ] as const) {
    const { counted, most } = countTransactions()
    await checkInvariants(counted, { connections })
    expect(most()).toBe(atOnce)
  }
})

function holdFirst(): Database {
  const { promise: overtaken, resolve } = Promise.withResolvers<void>()
  let asked = 0
  const transaction: Database['transaction'] = async (work) => {
    asked += 1
    if (asked > 1) return database.transaction(work).finally(resolve)
    const answer = await database.transaction(work)
    await overtaken
    return answer
  }
  return { ...database, transaction }
}

it('reports the results of concurrent invariant checks in order, with the rows that violate each invariant', async () => {
  await client.query('alter table events disable trigger all')
  const findings = await checkInvariants(holdFirst(), { connections: 2 })
  expect(findings.map(({ invariant }) => invariant.id)).toEqual(invariants.map(({ id }) => id))
  expect(findings.filter(({ rows }) => rows.length > 0).map(({ invariant }) => invariant.id)).toEqual(['I7'])
})
