import { spawn } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { toId } from '../../src/shared/ids.ts'
import { annalCommand, annalHere, startAnnal } from '../support/annal-command.ts'
import { commandsPage, leavesOf } from '../support/commands-page.ts'
import { expectOk } from '../support/expect-error.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { createStore } from '../support/store.ts'
import { createTestApp } from '../support/test-app.ts'
import { createTestDatabase } from '../support/test-database.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const annal = (...args: string[]) => annalHere(app.env, args)
const program = createProgram('1.2.3')
const leaves = leavesOf(program)

async function newFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'annal-commands-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}

/** Waits for the end of a command. Returns its exit code and its stderr. */
async function endOf(command: Pick<ReturnType<typeof startAnnal>, 'stderr'> & EventEmitter) {
  const [said, [code]] = await Promise.all([text(command.stderr), once(command, 'exit')])
  return { code, said }
}

describe('all commands', () => {
  it('each command is documented in docs/reference/commands.md with its help text', async () => {
    await expect(commandsPage(program)).toMatchFileSnapshot('../../docs/reference/commands.md')
  })

  it.each(leaves.map(({ name, command }) => [name, command] as const))(
    'the command %s has examples and --json',
    async (name, command) => {
      const { code, stdout } = await annal(...name.split(' '), '--help')
      expect(code).toBe(0)
      expect(stdout).toMatch(new RegExp(`\nExamples:\n  \\$ .*annal ${name}\\b`))
      if (name !== 'serve') expect(command.options.map(({ long }) => long)).toContain('--json')
    },
  )
})

it('the help lists required options, and each invalid argument gets one line', async () => {
  expect((await annal('users', 'lock', '--help')).stdout).toMatch(
    /--reason <text> +reason .*audit\s+log, .*\(required\)/s,
  )
  const said = await annal('grant', '--user', 'nobody', '--points', 'x', '--reason', 'y')
  expect(said).toMatchObject({ code: 2, stdout: '' })
  for (const line of said.stderr.trim().split('\n')) expect(line).toMatch(/^--points: (Expected|Ensure) .+\.$/)
  const unnamed = await annal('grant', '--user', 'nobody', '--points', '1', '--reason', 'y', '--idempotency-key', '')
  expect(unnamed).toMatchObject({ code: 2, stdout: '', stderr: '--idempotency-key is empty.\n' })
})

it('a command ends silently if its output pipe is closed', async () => {
  const command = startAnnal(app.env.ANNAL_DIR!, ['config', '--json'])
  command.stdout.destroy()
  expect(await endOf(command)).toEqual({ said: '', code: 0 })
})

it.runIf(process.platform === 'linux')(
  'a command reports a full disk, and how to revoke a secret that was not printed',
  async () => {
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const intoFull = (...args: string[]) =>
      endOf(startAnnal(app.env.ANNAL_DIR!, args, app.env, ['ignore', full, 'pipe']))
    const sentence = 'Cannot write the output: no space left on device (ENOSPC).\n'
    expect(await intoFull('config')).toEqual({ code: 1, said: sentence })
    expect(await intoFull('--help')).toEqual({ code: 1, said: sentence })

    const { code, said } = await intoFull('api-key', 'issue', '--name', 'unread', '--json')
    const [key] = await app.sql(`select id from api_keys where name = 'unread'`)
    const id = toId('key', key!.id!)
    expect(code).toBe(1)
    expect(said).toContain(`The key ${id} was created, but it was not shown. Revoke it: annal api-key revoke ${id}\n`)
    expect(said).toContain(sentence)
  },
)

it.runIf(process.platform === 'linux')('a command reports a partially written output file', async () => {
  const out = join(await newFolder(), 'config.json')
  // Limits the file size to 1,024 bytes, like a full disk.
  const command = spawn('bash', ['-c', 'ulimit -f 1; exec "$@" >"$0"', out, ...annalCommand('config', '--json')], {
    env: { PATH: process.env.PATH, ...app.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  expect(await endOf(command)).toEqual({ code: 1, said: 'Cannot write the output: file too large (EFBIG).\n' })
  expect(await readFile(out)).toHaveLength(1_024)
})

it.runIf(process.platform === 'linux')('a command exits with the same code if stderr is closed', async () => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const command = startAnnal(app.env.ANNAL_DIR!, ['no-such-command'], {}, ['ignore', 'ignore', full])
  expect(await once(command, 'exit')).toEqual([2, null])
})

it('a proof never overwrites a file', async () => {
  const nid = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
  const dir = await newFolder()
  const kept = join(dir, 'kept.car')
  await writeFile(kept, 'kept')
  const places = { [kept]: 'EEXIST', [dir]: 'EEXIST', [join(dir, 'none', 'proof.car')]: 'ENOENT' }
  for (const [out, code] of Object.entries(places))
    expect(await annal('proof', nid, '--out', out)).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringMatching(new RegExp(`^Cannot write ${out}: .* \\(${code}\\)\\. Set --out .*\n$`)),
    })
  expect(await readFile(kept, 'utf8')).toBe('kept')
  const unknown = await annal('proof', nid, '--out', join(dir, 'unknown.car'))
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/no registry|has no commit/) })
  const uri = await annal('proof', `ipfs://${nid}/`, '--out', join(dir, 'unknown.car'))
  expect(uri).toMatchObject({ code: 1, stdout: '', stderr: unknown.stderr })
  expect(await readdir(dir)).toEqual(['kept.car'])
})

describe('annal webhooks', () => {
  it('`annal webhooks` lists deliveries and replays deliveries', async () => {
    const receiver = await startReceiver(onTestFinished, answerWith(410))
    const store = await createStore(app)
    const hooked = { name: `${store.name}-hooked`, price_mode: 'fixed', price: '1', webhook_url: receiver.url }
    const { id: appId } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json: hooked }))
    const buyer = await app.newUser({ num: '100' })
    const sell = async () => {
      const { id } = await store.order(buyer, { network_app: appId })
      expectOk(await store.confirm(buyer, id))
      const [row] = await app.sql<{ id: string }>('select d.id from webhook_deliveries d order by d.id desc limit 1')
      await app.jobs['webhook-delivery']({ deliveryId: row!.id })
      return id as string
    }
    const order = await sell()
    const list = async (...args: string[]) => JSON.parse((await annal('webhooks', 'list', '--json', ...args)).stdout)
    const [given] = await list('--status', 'given-up')
    expect(given).toMatchObject({
      ...{ id: expect.stringMatching(/^delivery_/), networkAppId: appId, networkAppName: hooked.name, orderId: order },
      ...{ status: 'given-up', attempts: 1, lastStatusCode: 410, lastFailure: expect.any(String) },
    })
    expect(await list('--status', 'delivered')).toEqual([])
    expect(await list('--order', order, '--app', appId)).toEqual([given])
    expect((await annal('webhooks', 'list')).stdout).toMatch(new RegExp(`^${given.id} +given-up +1 `, 'm'))

    const refused = await annal('webhooks', 'replay', given.id)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${given.id}: `) })
    expectOk(await store.owner.rest('PATCH', `store/network-apps/${appId}/`, { json: { webhook_url: receiver.url } }))
    const replayed = await annal('webhooks', 'replay', '--given-up', '--app', appId, '--json')
    expect([replayed.code, JSON.parse(replayed.stdout)]).toEqual([0, [{ id: given.id, refusal: null }]])
    expect(await list()).toMatchObject([{ id: given.id, status: 'pending' }])
    const [entry] = await app.sql('select action, user_id from audit_entries order by id desc limit 1')
    expect(entry).toEqual({ action: 'webhook-delivery.replayed', user_id: null })
  })

  it.each([
    [['replay'], /--given-up/],
    [['replay', 'delivery_x', '--given-up'], /--given-up/],
    [['list', '--limit', '0'], /from 1 to 1000/],
    [['list', '--status', 'lost'], /Allowed choices/],
    [['list', '--app', 'x'], /app_01h2x/],
  ])('`annal webhooks` rejects the arguments %j with exit code 2', async (args, message) => {
    expect(await annal('webhooks', ...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})

describe('annal migrate', () => {
  it('`annal migrate` lists pending migrations and applies the migrations', async () => {
    const database = await createTestDatabase()
    onTestFinished(database.drop)
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('drop schema public cascade; create schema public; drop schema jobs cascade')
    await client.end()
    const env = { ...app.env, ANNAL_DIR: await newFolder(), DATABASE_URL: database.url }
    const migrate = (...args: string[]) => annalHere(env, ['migrate', ...args])
    const before = await migrate('status', '--json')
    expect(before.code).toBe(1)
    const { applied, pending } = JSON.parse(before.stdout)
    expect([applied, pending[0]]).toEqual([[], '20261128000000_initial'])
    expect(await migrate('status')).toMatchObject({ code: 1, stderr: expect.stringContaining('to apply') })
    expect(JSON.parse((await migrate('--json')).stdout)).toEqual({ applied: pending })
    const after = await migrate('status')
    expect(after).toMatchObject({ code: 0, stderr: 'The database is up to date.\n' })
    expect(after.stdout).toMatch(/^20261128000000_initial +\d{4}-/m)
    expect(await migrate()).toMatchObject({ code: 0, stdout: '', stderr: 'No migrations to apply.\n' })
  })
})
