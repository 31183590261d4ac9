import { expect, it } from 'vitest'
import { findSetting } from '../../src/chain/registry-statements.ts'
import { createDatabase } from '../../src/platform/database/database.ts'
import { createTestLog } from '../support/test-log.ts'

it.each([
  ['whose socket is not there', 'postgresql://annal@localhost/annal?host=/nowhere'],
  ['whose name cannot be looked up', 'postgresql://annal@annal.invalid/annal'],
  ['whose port nobody listens at', 'postgresql://annal@127.0.0.1:1/annal'],
])('A database %s is told as away', async (_, url) => {
  const database = createDatabase({ url, pool: 1, log: createTestLog() })
  try {
    const asked = database.query(findSetting, { key: 'chain:id' })
    await expect(asked).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  } finally {
    await database.close()
  }
})
