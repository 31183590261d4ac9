import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openInfrastructure } from '../../src/infrastructure.ts'
import { annalHere } from '../support/annal-command.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { createTestLog } from '../support/test-log.ts'

const scratch = mkdtempSync(join(tmpdir(), 'annal-vault-'))
const testDatabase = await createTestDatabase()
afterAll(async () => {
  await testDatabase.drop()
  rmSync(scratch, { recursive: true })
})

const dirOf = (name: string) => join(scratch, name)
const variables = (dir: string) => ({ ANNAL_DIR: dir, DATABASE_URL: testDatabase.url })
const start = (dir: string) => openInfrastructure(readConfig(variables(dir)), createTestLog(), { isService: true })

it('a database accepts only the key vault that it was first used with', async () => {
  await (await start(dirOf('first'))).close()
  await (await start(dirOf('first'))).close()
  const id = readFileSync(join(dirOf('first'), 'keys/vault-id'), 'utf8')
  const refusal = new RegExp(`do not belong to this database: it needs the vault ${id}, but the folder holds none`)
  await expect(start(dirOf('second'))).rejects.toThrow(refusal)

  const annal = (dir: string, ...args: string[]) => annalHere(variables(dir), args)
  const command = await annal(dirOf('second'), 'check')
  expect(command).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(refusal) })
  expect(await annal(dirOf('first'), 'check')).toMatchObject({ code: 0 })

  writeFileSync(join(dirOf('second'), 'keys/vault-id'), 'another')
  await expect(start(dirOf('second'))).rejects.toThrow(/but the folder holds another/)
  // The operator accepts the vault.
  writeFileSync(join(dirOf('second'), 'keys/vault-id'), `${id}\n`)
  await (await start(dirOf('second'))).close()
})

it('a vault with account keys rejects an empty database and leaves it unchanged', async () => {
  const dir = dirOf('first')
  const admin = ['admin', 'create', '--username', 'first', '--email', 'first@example.org']
  await (await start(dir)).close()
  expect(await annalHere(variables(dir), admin, { input: 'correct horse\n' })).toMatchObject({ code: 0 })
  const empty = new URL(testDatabase.url)
  empty.pathname = `/${empty.pathname.slice(1)}_empty`
  const server = new pg.Client({ connectionString: testDatabase.url })
  await server.connect()
  await server.query(`create database ${empty.pathname.slice(1)}`)
  const env = { ...variables(dir), DATABASE_URL: empty.href }
  const doctor = await annalHere(env, ['doctor', '--only', 'migrations', '--json'])
  const [{ finding, fix }] = JSON.parse(doctor.stdout)
  expect([doctor.code, finding, fix]).toEqual([
    1,
    `The database is empty, but ${join(dir, 'keys')} holds keys of accounts.`,
    expect.stringMatching(/^Set DATABASE_URL to the database of the accounts, .* set ANNAL_DIR to another folder\.$/),
  ])
  const refused = openInfrastructure(readConfig(env), createTestLog(), { isService: true })
  await expect(refused).rejects.toThrow(`${finding} ${fix}`)
  expect(await annalHere(env, ['migrate'])).toMatchObject({ code: 1, stderr: `${finding} ${fix}\n` })
  const { pending, applied } = JSON.parse((await annalHere(env, ['migrate', 'status', '--json'])).stdout)
  expect([applied, pending.length > 0]).toEqual([[], true])
  expect(await annalHere({ ...env, ANNAL_DIR: dirOf('new') }, ['migrate'])).toMatchObject({ code: 0 })
  await server.query(`drop database ${empty.pathname.slice(1)}`)
  await server.end()

  const embedded = await annalHere({ ANNAL_DIR: dir }, ['jobs'])
  const gone = `${join(dir, 'postgres')} is missing, but ${join(dir, 'keys')} holds keys of accounts. Restore it`
  expect(embedded).toMatchObject({ code: 1, stderr: expect.stringContaining(gone) })
  const { stdout } = await annalHere({ ANNAL_DIR: dir }, ['doctor', '--only', 'database', '--json'])
  expect(JSON.parse(stdout)).toMatchObject([{ state: 'error', finding: expect.stringContaining('is missing, but') }])
  expect(existsSync(join(dir, 'postgres'))).toBe(false)
})

it('a server does not start without a key that wraps account keys, until the key is abandoned', async () => {
  const dir = dirOf('first')
  const env = variables(dir)
  await (await start(dir)).close()
  const admin = ['admin', 'create', '--username', 'root', '--email', 'root@example.org']
  expect(await annalHere(env, admin, { input: 'correct horse\n' })).toMatchObject({ code: 0 })
  await (await start(dir)).close()
  const file = join(dir, 'keys/key-encryption-key')
  const key = readFileSync(file, 'utf8')
  writeFileSync(file, 'ab'.repeat(32))
  const refusal = /lacks keys that wrap the keys of accounts: (local:\w{16}) \(2 accounts\).*Restore the newest backup/
  await expect(start(dir)).rejects.toThrow(refusal)
  const check = await annalHere(env, ['check', '--json'])
  expect(JSON.parse(check.stdout)).toContainEqual(expect.objectContaining({ id: 'S1', holds: false }))

  const id = refusal.exec(String(await start(dir).catch((error: unknown) => error)))![1]!
  const nonsense = ['keys', 'abandon', 'local:0123']
  const unknown = "No account's key is wrapped by a key local:0123."
  expect(await annalHere(env, nonsense)).toMatchObject({ code: 1, stderr: `${unknown} Missing: ${id} (2 accounts).\n` })
  for (const _time of ['once', 'again'])
    expect(await annalHere(env, ['keys', 'abandon', id])).toMatchObject({ code: 0 })
  expect(await annalHere(env, nonsense)).toMatchObject({ code: 1, stderr: `${unknown} No key is missing.\n` })
  await (await start(dir)).close()
  writeFileSync(file, key)
  expect(await annalHere(env, ['keys', 'abandon', id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The vault holds'),
  })
  await (await start(dir)).close()
})
