/** A database and the folder of keys that belongs to it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openInstallation } from '../../src/installation.ts'
import { runAnnal } from '../support/annal-command.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { createTestLog } from '../support/test-log.ts'

const scratch = mkdtempSync(join(tmpdir(), 'annal-vault-'))
const testDatabase = await createTestDatabase()
afterAll(async () => {
  await testDatabase.drop()
  rmSync(scratch, { recursive: true })
})

const dirOf = (name: string) => join(scratch, name)
const start = (dir: string) =>
  openInstallation(readConfig({ ANNAL_DIR: dir, DATABASE_URL: testDatabase.url }), createTestLog(), {
    mayMigrate: true,
  })

it('a database takes the vault it is first opened with, and no other', async () => {
  await (await start(dirOf('first'))).close()
  await (await start(dirOf('first'))).close()
  const id = readFileSync(join(dirOf('first'), 'keys/vault-id'), 'utf8')
  const refusal = new RegExp(`do not belong to this database: it is sealed by the vault ${id}, and there is none`)
  await expect(start(dirOf('second'))).rejects.toThrow(refusal)

  const command = await runAnnal(dirOf('second'), ['check'], { env: { DATABASE_URL: testDatabase.url } })
  expect(command).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(refusal) })
  expect(await runAnnal(dirOf('first'), ['check'], { env: { DATABASE_URL: testDatabase.url } })).toMatchObject({
    code: 0,
  })

  writeFileSync(join(dirOf('second'), 'keys/vault-id'), 'another')
  await expect(start(dirOf('second'))).rejects.toThrow(/and there is another/)
  // An operator who knows better says so.
  writeFileSync(join(dirOf('second'), 'keys/vault-id'), `${id}\n`)
  await (await start(dirOf('second'))).close()
})
