import { once } from 'node:events'
import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyPairs } from '../../src/chain/transaction.ts'
import { type ConnectedDatabase, createDatabase } from '../../src/db/database.ts'
import { bytes, smallint, statement, text, uuid } from '../../src/db/sql.ts'
import { createCustody } from '../../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../../src/keys/key-vault.ts'
import { annalHere, startAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { onFailingDisk } from '../support/failing-disk.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { insertTestUser } from '../support/user.ts'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const USERS = 300

let dir: string
let testDatabase: TestDatabase
let database: ConnectedDatabase

const openCustody = () => createCustody({ vault: createLocalKeyVault({ dir, key: undefined }), keyPairs })

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-keys-'))
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, pool: 8, log })
  expect(await annal(['keys', 'status'])).toMatchObject({ code: 0 })
  const custody = openCustody()
  for (let made = 0; made < USERS; made += 20)
    await Promise.all(Array.from({ length: 20 }, () => insertTestUser({ database, custody })))
})

afterAll(async () => {
  await database?.close()
  await testDatabase?.drop()
  await rm(dir, { recursive: true, force: true })
})

const annal = (args: string[], env: Record<string, string> = {}) =>
  annalHere({ ANNAL_DIR: dir, DATABASE_URL: testDatabase.url, ...env }, args)

const status = async (): Promise<{ keys: { id: string; total: number }[] }> =>
  JSON.parse((await annal(['keys', 'status', '--json'])).stdout)

const findKeys = statement(
  'test_keys',
  { columns: { user_id: uuid, version: smallint, id: text, wrapped: bytes, sealed: bytes } },
  `select user_id, version, vault_key_id as id, wrapped_data_key as wrapped, sealed_private_key as sealed
   from user_keys order by user_id`,
)
const readKeys = () => database.query(findKeys)

async function signAll() {
  const custody = openCustody()
  const rows = await readKeys()
  return Promise.all(
    rows.map(({ user_id, version, id, wrapped, sealed }) =>
      custody.sign(user_id, { version, vaultKeyId: id, wrappedDataKey: wrapped, sealedPrivateKey: sealed }, 'a tree'),
    ),
  )
}

/** Kills a command while it waits for a locked row in the middle. */
async function killHalfway(args: string[]) {
  const holder = new pg.Client({ connectionString: testDatabase.url })
  // Within a transaction, the list of sessions does not change.
  const watcher = new pg.Client({ connectionString: testDatabase.url })
  await Promise.all([holder.connect(), watcher.connect()])
  const read = async (sql: string, values: unknown[]) => (await watcher.query<{ pid: number }>(sql, values)).rows
  const others = `select pid from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> all($1)`
  try {
    const ours = (await read(others, [[]])).map(({ pid }) => pid)
    await holder.query('begin')
    await holder.query('select 1 from user_keys order by user_id offset $1 limit 1 for update', [USERS / 2])
    const { rows } = await holder.query('select pg_backend_pid() as pid')
    const command = startAnnal(dir, args, { DATABASE_URL: testDatabase.url })
    const ended = once(command, 'exit')
    const blocked = 'select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))'
    await eventually(async () => (await read(blocked, [rows[0].pid])).length > 0)
    command.kill('SIGKILL')
    await ended
    await holder.query('rollback')
    await eventually(async () => (await read(others, [ours])).length === 0)
  } finally {
    await Promise.all([holder.end(), watcher.end()])
  }
}

describe('annal keys', () => {
  it('`annal keys` reports a full disk and changes nothing', async () => {
    const before = await annal(['keys', 'status'])
    const disk = { operation: 'sync', code: 'ENOSPC', below: join(dir, 'keys') } as const
    const { result } = await onFailingDisk(disk, () => annal(['keys', 'rotate']))
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain(
      `There is no space for a new key in ${join(dir, 'keys')}. Free space or grow the disk`,
    )
    expect(await annal(['keys', 'status'])).toEqual(before)
  })

  it('`annal keys` continues a rotation after a kill', async () => {
    const signatures = await signAll()
    const [first] = (await status()).keys
    await killHalfway(['keys', 'rotate'])
    const [current, earlier] = (await status()).keys
    expect(earlier).toMatchObject({ id: first!.id })
    expect(current!.total + earlier!.total).toBe(USERS)
    expect([current!.total, earlier!.total].every((total) => total > 0)).toBe(true)
    expect(await signAll()).toEqual(signatures)
    const tooEarly = await annal(['keys', 'destroy-previous'])
    expect(tooEarly).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Rotate the keys first') })

    const resumed = await annal(['keys', 'rotate', '--json'])
    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringMatching(/\d+ of \d+ rewrapped/) })
    const rotation = { current: current!.id, isNew: false, rewrapped: earlier!.total, unreadable: [] }
    expect(JSON.parse(resumed.stdout)).toEqual(rotation)
    expect((await status()).keys.map(({ total }) => total)).toEqual([USERS, 0])
    expect(await signAll()).toEqual(signatures)
  })

  it('`annal keys` lists keys that can be destroyed, and destroys the keys after a waiting time', async () => {
    const signatures = await signAll()
    const sealed = (await readKeys()).map((row) => row.sealed)
    const rotated = await annal(['keys', 'rotate'])
    expect(rotated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^key +local:[0-9a-f]{16} \\(new\\)\nrewrapped +${USERS}\n$`)),
      stderr: expect.stringContaining('No row uses a previous key'),
    })
    expect((await readKeys()).map((row) => row.sealed)).toEqual(sealed)
    expect((await annal(['keys', 'destroy-previous'])).stderr).toContain('15 minutes')
    const hourAgo = Date.now() / 1_000 - 3_600
    await utimes(join(dir, 'keys/key-encryption-key'), hourAgo, hourAgo)
    const { code, stdout } = await annal(['keys', 'destroy-previous', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).destroyed).toHaveLength(2)
    expect((await annal(['keys', 'destroy-previous'])).stderr).toContain('no key to destroy')
    const table = await annal(['keys', 'status'])
    expect(table.stdout).toMatch(/^key +is current +private keys +other secrets\nlocal:[0-9a-f]{16} +yes +300 +0\n$/)
    expect(await signAll()).toEqual(signatures)
  })

  it('`annal keys` rewraps everything with a key from the environment, and creates no key there', async () => {
    const env = { KEY_ENCRYPTION_KEY: 'ab'.repeat(32) }
    const rotated = JSON.parse((await annal(['keys', 'rotate', '--json'], env)).stdout)
    expect(rotated).toMatchObject({ isNew: false, rewrapped: USERS, unreadable: [] })
    const next = { KEY_ENCRYPTION_KEY: 'cd'.repeat(32), KEY_ENCRYPTION_KEY_PREVIOUS: env.KEY_ENCRYPTION_KEY }
    const again = JSON.parse((await annal(['keys', 'rotate', '--json'], next)).stdout)
    expect(again).toMatchObject({ isNew: false, rewrapped: USERS, unreadable: [] })
    const idle = await annal(['keys', 'rotate'], { KEY_ENCRYPTION_KEY: next.KEY_ENCRYPTION_KEY })
    expect(idle).toMatchObject({ code: 0, stdout: expect.stringMatching(/rewrapped +0/) })
    const wrong = await annal(['keys', 'status'], { KEY_ENCRYPTION_KEY_PREVIOUS: 'ab' })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('KEY_ENCRYPTION_KEY_PREVIOUS') })
  })

  it('`annal keys` names an account whose key cannot be decrypted, and exits with 1', async () => {
    const env = { KEY_ENCRYPTION_KEY: 'ef'.repeat(32) }
    const { code, stderr } = await annal(['keys', 'rotate'], env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/Cannot decrypt user_[0-9a-z]{26}: The key vault does not hold/)
    const shown = await annal(['keys', 'status'], env)
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining(`${USERS} rows use a key that`) })
  })
})
