import { expect, inject, it } from 'vitest'
import { createDatabase } from '../../../src/db/database.ts'
import { findSetting } from '../../../src/db/key-value-store.ts'
import { createTestLog } from '../../support/test-log.ts'

function elsewhere(change: (url: URL) => void): string {
  const url = new URL(inject('templateUrl'))
  change(url)
  return url.href
}

it.each([
  ['whose socket is not there', 'postgresql://annal@localhost/annal?host=/nowhere'],
  ['whose name cannot be looked up', 'postgresql://annal@annal.invalid/annal'],
  ['whose port nobody listens at', 'postgresql://annal@127.0.0.1:1/annal'],
  ['whose password has been exchanged', elsewhere((url) => (url.password = 'an earlier one'))],
  ['whose role is not there', elsewhere((url) => (url.username = 'nobody-of-that-name'))],
  ['that is not there', elsewhere((url) => (url.pathname = '/nothing-of-that-name'))],
])('reports a database %s as unavailable', async (_, url) => {
  const database = createDatabase({ url, pool: 1, log: createTestLog() })
  try {
    const asked = database.query(findSetting, { key: 'chain:id' })
    await expect(asked).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  } finally {
    await database.close()
  }
})
