/**
 * Who may have what is said of every operation, field and route: by the tables that F23 tries on a whole service. What is new,
 * or gone, is reported here.
 */
import { expect, it } from 'vitest'
import { missingFromTables } from '../../proofs/harness/authz-tables.ts'

it('the authorization tables cover exactly the existing operations, fields and routes', () => {
  const missing = missingFromTables()
  expect(
    missing,
    `proofs/harness/authz-expectations.ts, authz-types.ts and authz-values.ts:\n${missing.join('\n')}`,
  ).toEqual([])
})
