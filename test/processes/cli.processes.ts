import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toId } from '../../src/shared/ids.ts'
import { annalHere, type HereOptions, runAnnal } from '../support/annal-command.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const NID = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
let dir: string
let testDatabase: TestDatabase
let database: pg.Client

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-cli-'))
  testDatabase = await createTestDatabase()
  database = new pg.Client({ connectionString: testDatabase.url })
  database.on('error', () => {})
  await database.connect()
})

afterAll(async () => {
  await database?.end()
  await testDatabase?.drop()
  await rm(dir, { recursive: true, force: true })
})

const annal = (args: string[], { env, ...options }: HereOptions & { env?: Record<string, string> } = {}) =>
  annalHere({ ANNAL_DIR: dir, DATABASE_URL: testDatabase.url, ...env }, args, options)

describe('annal command line', () => {
  it('the command line prints help, and exits with the code of the result', async () => {
    const help = await runAnnal(dir, ['--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toMatch(/Examples:[\s\S]*annal verify/)
    const wrong = await runAnnal(dir, ['check'], { env: { PORT: 'x' } })
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('PORT') })
    expect((await annal(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each([
    [['no-such-command'], /unknown command/],
    [['admin', 'create'], /required option/],
    [['admin', 'create', '--username', 'a', '--email', 'a@example.org'], /--password-file/],
    [['admin', 'create', '--username', 'a', '--email', 'a@example.org', '--password', 'secret'], /unknown option/],
    [['verify', 'bafkrei'], /neither a proof file nor/],
    [['verify', NID, '--gateway', 'http://127.0.0.1:1'], /--rpc, --registry and --gateway/],
    [['verify', `ipfs://${NID.toUpperCase()}`, '--gateway', 'http://127.0.0.1:1'], /--rpc, --registry and --gateway/],
    [['verify', 'proof.car', '--rpc', 'nonsense'], /must start with http/],
    [['verify', 'proof.car', '--block-hash', 'f'.repeat(64)], /0x and 64 hexadecimal digits/],
  ])('the command line rejects the arguments %j with exit code 2 and a message on stderr', async (args, message) => {
    expect(await annal(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })

  it('`annal verify` exits with 2 when a proof does not exist', async () => {
    const stderr = 'The proof cannot be read: there is no such file.\n'
    expect(await annal(['verify', '/none.car'])).toEqual({ code: 2, stdout: '', stderr })
  })

  it('`annal config` shows the configuration without its secrets', async () => {
    const env = { KEY_ENCRYPTION_KEY: 'ab'.repeat(32), GAS_FEE: '0.5' }
    const { code, stdout } = await annal(['config', '--json'], { env })
    const variables = JSON.parse(stdout) as { name: string; value: unknown }[]
    expect(code).toBe(0)
    expect(variables).toContainEqual(expect.objectContaining({ name: 'GAS_FEE', value: '0.5' }))
    expect(variables).toContainEqual(expect.objectContaining({ name: 'KEY_ENCRYPTION_KEY', value: '(set, not shown)' }))
    expect(stdout).not.toContain('abab')
  })

  it('`annal config` shows an invalid configuration with its errors, and exits with 2', async () => {
    const said = await annal(['config'], { env: { PORT: '4115', HEALTH_PORT: '4115' } })
    expect(said).toMatchObject({ code: 2, stdout: expect.stringMatching(/^HEALTH_PORT +4115 /m) })
    expect(said.stderr).toBe(
      'The configuration has problems:\n  HEALTH_PORT and PORT are the same: probes need their own port.\n',
    )
  })

  it('`annal admin create` creates an administrator with a valid token, and explains a rejected duplicate', async () => {
    const args = ['admin', 'create', '--username', 'root', '--email', 'root@example.org', '--json']
    const made = await annal(args, { input: 'correct horse\n' })
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const { id, token } = JSON.parse(made.stdout)
    expect(id).toMatch(/^user_/)
    const { rows } = await database.query(
      `select role::text from users u join access_tokens t on t.user_id = u.id where t.hash = sha256($1::bytea)`,
      [Buffer.from(token)],
    )
    expect(rows).toEqual([{ role: 'ADMIN' }])

    const again = await annal([...args, '--password-file', '-'], { input: 'correct horse\n' })
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already in use') })
    const short = await annal(args, { input: 'short' })
    expect(short).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('at least 8 characters') })
  })

  it('ending all sessions invalidates mailed links, and writes audit entries', async () => {
    const credentials = ['--username', 'signed-in', '--email', 'signed-in@example.org', '--json']
    const { id } = JSON.parse((await annal(['admin', 'create', ...credentials], { input: 'correct horse\n' })).stdout)
    await database.query(
      `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
       select id, 'PASSWORD_RESET', uuidv7(), sha256('x'), email, now() + interval '1 hour' from users where username = 'signed-in'`,
    )
    expect(await annal(['sessions', 'end'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') })
    const { rows: before } = await database.query('select id from access_tokens')
    expect(JSON.parse((await annal(['sessions', 'end', '--all', '--json'])).stdout)).toEqual({ ended: before.length })
    const sessions = 'select user_id from access_tokens union all select user_id from one_time_tokens'
    expect((await database.query(sessions)).rows).toEqual([])
    const { rows: reported } = await database.query(
      `select action from audit_entries e join users u on u.id = e.user_id where u.username = 'signed-in' order by e.id desc limit 1`,
    )
    expect([id, reported]).toEqual([expect.stringMatching(/^user_/), [{ action: 'session.revoked' }]])
  })

  it('the command line issues an API key, stores only its hash, lists the key, and revokes it', async () => {
    const { id, key } = JSON.parse((await annal(['api-key', 'issue', '--name', 'partner', '--json'])).stdout)
    expect(key).toMatch(/^[0-9a-f]{8}\.[\w-]{32}$/)
    const find = 'select name from api_keys where hash = sha256($1::bytea)'
    expect((await database.query(find, [Buffer.from(key)])).rows).toEqual([{ name: 'partner' }])
    const list = async () => {
      const { code, stdout } = await annal(['api-key', 'list', '--json'])
      expect([code, stdout.includes(key.slice(9))]).toEqual([0, false])
      return JSON.parse(stdout)[0]
    }
    const record = { id, name: 'partner', prefix: key.slice(0, 8), createdAt: expect.any(String) }
    expect(await list()).toEqual({ ...record, revokedAt: null })
    expect(await annal(['api-key', 'revoke', id])).toMatchObject({ code: 0, stdout: '' })
    expect(await list()).toEqual({ ...record, revokedAt: expect.any(String) })
    const table = await annal(['api-key', 'list'])
    expect(table.stdout).toMatch(/^id +prefix +created at +revoked at +name\n/)
    expect(table.stdout).toContain(id)
  })

  it('the command line reports a missing API key to revoke, and a missing name', async () => {
    const unknown = await annal(['api-key', 'revoke', 'key_01h455vb4pex5vsknk084sn02q'])
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('API key not found') })
    const blank = await annal(['api-key', 'issue', '--name', ' '])
    expect(blank).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('blank') })
  })

  it('the command line lists pending commits, and retries commits immediately', async () => {
    const { stdout } = await annal(['relay', '--retry', '--json'])
    const withdrawals = { count: 0, amount: '0', oldest: null, late: false }
    expect(JSON.parse(stdout)).toEqual({ retried: 0, counts: [], waiting: [], withdrawals })
    expect(await annal(['relay'])).toMatchObject({ code: 0, stderr: expect.stringMatching(/No commit waits/) })
  })

  it('the command line lists pending and dead-lettered jobs, and retries the jobs', async () => {
    const jobs = async (...args: string[]) => {
      const { code, stdout } = await annal(['jobs', '--json', ...args])
      return { code, ...JSON.parse(stdout) }
    }
    expect(await jobs()).toEqual({ code: 0, retried: 0, waiting: [], failed: [], deadLetters: [], failures: [] })
    const bury = async (data: object) => {
      const { rows } = await database.query(`select enqueue('dead-letter', $1::jsonb) as id`, [data])
      await database.query(
        `update jobs.job set source_name = 'account-mail', source_retry_count = 180,
           source_output = '{"message": "The mail server did not accept the mail (ESOCKET)."}' where id = $1`,
        [rows[0].id],
      )
      return toId('job', rows[0].id)
    }
    const subject = { template: 'password-changed', userId: '01890000-0000-7000-8000-000000000000' }
    const whole = await bury(subject)
    const cut = await bury({ ...subject, template: 'email-changed', isCut: true })
    const shown = await annal(['jobs'])
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('2 jobs failed permanently.') })
    expect(shown.stdout).toMatch(
      /^account-mail +failed +2 +\S+ +The mail server did not accept the mail \(ESOCKET\)\.$/m,
    )
    expect(shown.stdout).toMatch(new RegExp(`^${whole} +account-mail +\\S+ +181 +yes +\\{.*"password-changed"`, 'm'))
    expect(shown.stdout).toMatch(new RegExp(`^${cut} +account-mail +\\S+ +181 +no +\\{.*"email-changed"`, 'm'))

    expect(await annal(['jobs', '--retry', 'no-id'])).toMatchObject({ code: 2, stdout: '' })
    expect(await jobs('--retry', cut)).toMatchObject({ code: 1, retried: 0 })
    expect(await jobs('--retry', whole)).toMatchObject({
      ...{ code: 0, retried: 1, deadLetters: [{ id: cut }] },
      waiting: [{ queue: 'account-mail', count: 1, last_error: null }],
    })
    const { rows } = await database.query('delete from jobs.job returning data')
    expect(rows).toContainEqual({ data: subject })
  })

  it('the command line lists failed items of cleanup jobs, and retries the items', async () => {
    const uuid = '01890000-0000-7000-8000-000000000000'
    const item = toId('order', uuid)
    await database.query(
      `insert into job_failures (job, item, attempts, next_attempt_at, last_error)
       values ('expire-orders', $1, 3, now() + interval '1 hour', 'it is locked')`,
      [uuid],
    )
    const shown = await annal(['jobs'])
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining('1 item of a batch job fails') })
    expect(shown.stdout).toMatch(new RegExp(`^expire-orders +${item} +\\S+ +3 +\\S+ +it is locked$`, 'm'))
    const check = await annal(['check'])
    expect(check).toMatchObject({ code: 1, stderr: expect.stringContaining('Problems found') })
    expect(check.stdout).toMatch(/^W3 +1 wrong/m)
    expect(check.stdout).toContain(item)
    const { stdout } = await annal(['jobs', '--retry', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ retried: 1, failures: [{ item }] })
    const { rows } = await database.query('delete from job_failures returning next_attempt_at <= now() as due')
    expect(rows).toEqual([{ due: true }])
  })

  it('`annal check` reports violated ledger invariants with a limited number of rows', async () => {
    expect(await annal(['check'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^I1 +ok/) })
    await database.query(`insert into transfers (reference) values ('order:nobody-knows-it')`)
    await database.query(
      `insert into idempotency_keys (scope, payload_hash, result) select n::text::bytea, 'b', uuidv7()::text from generate_series(1, 150) n`,
    )
    const { stdout } = await annal(['check'])
    const { code, stdout: json } = await annal(['check', '--json'])
    await database.query(`delete from idempotency_keys`)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^I4 +1 wrong/m)
    expect(stdout).toContain('"subject":"order:nobody-knows-it"')
    expect(stdout).toMatch(/^I8 +more than 100 wrong/m)
    expect(stdout.split('\n').filter((line) => line.startsWith('I8  {'))).toHaveLength(20)
    expect(stdout).toContain('I8  more rows')
    expect(JSON.parse(json)).toContainEqual(expect.objectContaining({ id: 'I8', holds: false, isCut: true }))
  })

  it('`annal check` reports only missing columns or indexes if tables are incomplete', async () => {
    await database.query('drop index assets_sha256_id_idx')
    const { code, stdout, stderr } = await annal(['check'])
    const doctor = await annal(['doctor', '--only', 'migrations'])
    await database.query('create index assets_sha256_id_idx on assets (sha256, id)')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Problems found') })
    expect(stdout).toMatch(/^T1 +1 wrong .*\nT1 {2}{"subject":"assets.assets_sha256_id_idx","problem":"is missing"}\n/)
    expect(doctor.stdout).toContain('The tables are damaged: assets.assets_sha256_id_idx is missing.')
  })

  it('`annal check` names the unavailable part and the reason', async () => {
    const { code, stderr } = await annal(['gc'], { env: { IPFS_API_URL: 'http://127.0.0.1:9' } })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/ is not available right now.*\n.*\w/) })
  })

  it('the command line collects garbage', async () => {
    const { code, stdout } = await annal(['gc', '--json'])
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { removedBlocks: 0 }])
  })
})
