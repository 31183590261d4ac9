/** docs/reference/errors.md lists every error code with its REST status and type. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { statuses } from '../../src/http/error-status.ts'
import { errorCodes } from '../../src/shared/errors.ts'

it('the error reference page lists every code with its REST status and type', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/errors.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([A-Z_]+)`\s*\| (\d+) `(\w+)`/gm)]
  expect(rows.map(([, code, status, type]) => `${code} ${status} ${type}`)).toEqual(
    errorCodes.toSorted().map((code) => `${code} ${statuses[code].status} ${statuses[code].type}`),
  )
})
