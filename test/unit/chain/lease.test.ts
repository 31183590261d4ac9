import { expect, it } from 'vitest'
import { createLease } from '../../../src/chain/lease.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import { createTestLog } from '../../support/test-log.ts'

it('closes the database session of the lease if the session setup fails', async () => {
  const { url, drop } = await createTestDatabase()
  // The server rejects session settings with this duration.
  const lease = createLease({ databaseUrl: url, log: createTestLog(), duration: -2 })
  for (let tries = 0; tries < 3; tries += 1) await expect(lease.acquire('a')).rejects.toThrow('outside the valid range')
  await lease.close()
  // Throws if a connection is still open.
  await drop()
})
