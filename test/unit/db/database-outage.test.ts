import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { beforeAll, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../src/db/database.ts'
import { findSetting } from '../../../src/db/key-value-store.ts'
import { createTestLog } from '../../support/test-log.ts'

function elsewhere(change: (url: URL) => void): string {
  const url = new URL(inject('templateUrl'))
  change(url)
  return url.href
}

// The test server trusts local roles. This role needs its password.
beforeAll(async () => {
  const admin = new pg.Client({ connectionString: inject('templateUrl') })
  await admin.connect()
  try {
    await admin.query("create role outage_test login password 'current'")
    const path = (await admin.query<{ path: string }>("select current_setting('hba_file') as path")).rows[0]!.path
    const rules = await readFile(path, 'utf8')
    await writeFile(path, `local all outage_test scram-sha-256\n${rules}`)
    await admin.query('select pg_reload_conf()')
  } finally {
    await admin.end()
  }
})

it.each([
  ['whose socket does not exist', 'postgresql://annal@localhost/annal?host=/nowhere'],
  ['whose host name cannot be resolved', 'postgresql://annal@annal.invalid/annal'],
  ['whose port is closed', 'postgresql://annal@127.0.0.1:1/annal'],
  ['whose password was changed', elsewhere((url) => Object.assign(url, { username: 'outage_test', password: 'old' }))],
  ['whose role does not exist', elsewhere((url) => (url.username = 'nobody-of-that-name'))],
  ['that does not exist', elsewhere((url) => (url.pathname = '/nothing-of-that-name'))],
])('reports a database %s as unavailable', async (_, url) => {
  const database = createDatabase({ url, pool: 1, log: createTestLog() })
  try {
    await expect(database.query(findSetting, { key: 'chain:id' })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  } finally {
    await database.close()
  }
})
