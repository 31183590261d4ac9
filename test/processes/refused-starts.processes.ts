/** Starts that fail report the part, the reason and the remedy, and no secret. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { findServers } from '../../src/embedded/server-process.ts'
import { annalHere, runAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/listen.ts'
import { createSharedInstallation } from '../support/service.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-refused-'))
afterAll(() => rm(dir, { recursive: true }))

const serve = (env: Record<string, string>) => runAnnal(dir, ['serve'], { env: { PORT: '0', ...env } })

it.each([
  ['a closed port', '127.0.0.1:5', /connect ECONNREFUSED 127\.0\.0\.1:5/],
  ['an unknown host', 'nohost.invalid', /getaddrinfo E\w+ nohost\.invalid/],
  ['a host with a missing certificate file', '127.0.0.1:5', /ENOENT.*\/none\.crt'/, '?sslrootcert=/none.crt'],
])(
  'a rejected start names the variable of an unusable database at %s, without its password',
  async (_, host, reason, query = '') => {
    const env = { DATABASE_URL: `postgresql://u:geheim@${host}/db${query}` }
    const sentence = new RegExp(
      `^The database at DATABASE_URL cannot be reached: ${reason.source}\\. Start PostgreSQL, or correct DATABASE_URL: .*\\n$`,
    )
    expect(await serve(env)).toMatchObject({ code: 1, stderr: expect.stringMatching(sentence) })
    for (const args of [['jobs'], ['migrate'], ['users', 'find', 'ada']]) {
      const said = await annalHere({ ANNAL_DIR: dir, ...env }, args)
      expect(said, args.join(' ')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) })
      expect(said.stderr).not.toContain('geheim')
    }
  },
)

it('a rejected start names the variable of a database URL that leads to another service', async () => {
  const service = createServer((socket) => socket.destroy())
  const port = await listen(service, onTestFinished)
  const DATABASE_DIRECT_URL = `postgresql://127.0.0.1:${port}/db`
  const env = { ANNAL_DIR: dir, DATABASE_URL: 'postgresql://127.0.0.1:5/db', DATABASE_DIRECT_URL }
  const stderr = expect.stringMatching(/^The database at DATABASE_DIRECT_URL cannot be reached: /)
  expect(await annalHere(env, ['jobs'])).toMatchObject({ code: 1, stderr })
})

it('a rejected start names an address of another machine, and warns about unknown variables first', async () => {
  const { code, stderr } = await serve({ HOST: '192.0.2.1', DATABASE_URI: 'geheim' })
  const [warning, ...refusal] = stderr.trim().split('\n')
  expect(JSON.parse(warning!)).toMatchObject({
    msg: 'Environment variable ignored',
    problem: 'DATABASE_URI is not a variable of Annal and has no effect.',
  })
  expect([code, refusal.join('\n')]).toEqual([
    1,
    'Annal cannot listen on port 0 of 192.0.2.1: address not available (EADDRNOTAVAIL). Set HOST to an address of this machine, and PORT to a port that this user may use.',
  ])
})

it('stops the embedded database if the start is rejected later', async () => {
  const own = await mkdtemp(join(await realpath(tmpdir()), 'annal-refused-chain-'))
  onTestFinished(() => rm(own, { recursive: true, force: true }))
  await mkdir(join(own, 'chain'))
  await writeFile(join(own, 'chain/state.json.gz'), 'no chain')
  const { code, stderr } = await runAnnal(own, ['serve'], { env: { PORT: '0' } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('The saved chain')])
  const left = await findServers(`-D${join(own, 'postgres')}`)
  for (const pid of left) process.kill(pid, 'SIGINT')
  expect(left).toEqual([])
})

/** Runs the service as `npm start` does. */
async function startMain(env: Record<string, string>) {
  const main = join(import.meta.dirname, '../../src/main.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { PATH: process.env.PATH, HOME: dir, ANNAL_DIR: dir, PORT: '0', ...env },
  })
  const ended = once(child, 'exit')
  const [stderr] = await Promise.all([text(child.stderr), text(child.stdout)])
  const [code] = (await ended) as [number]
  return { code, stderr }
}

describe('exit status of a rejected start', () => {
  it.each([
    ['an invalid variable', { CHAIN_CONFIRMATIONS: '-' }, 'CHAIN_CONFIRMATIONS'],
    ['a variable that names a missing file', { SMTP_URL_FILE: '/none' }, 'SMTP_URL_FILE'],
    ['inconsistent variables', { S3_ENDPOINT: 'https://s3.example.org' }, 'S3_BUCKET is needed'],
    ['unreadable trusted documents', { GRAPHQL_TRUSTED_DOCUMENTS: '/none.json' }, 'GRAPHQL_TRUSTED_DOCUMENTS'],
    ['unreadable certificates', { C2PA_CERTIFICATES: '/none', C2PA_PRIVATE_KEY: 'x' }, 'C2PA_CERTIFICATES'],
    ['an unreadable trust list', { C2PA_TRUST_LIST: '/none' }, 'C2PA_TRUST_LIST'],
  ])('the exit status of a rejected start is 2 for %s', async (_, env, variable) => {
    for (const said of [await serve(env), await startMain(env)])
      expect(said).toMatchObject({ code: 2, stderr: expect.stringContaining(variable) })
  })

  it('the exit status of a rejected start is 1 for an unavailable database', async () => {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1:5/db' }
    for (const said of [await serve(env), await startMain(env)])
      expect(said).toMatchObject({ code: 1, stderr: expect.stringContaining('DATABASE_URL') })
  })
})

describe("first start on the operator's own chain", () => {
  const address = `0x${'11'.repeat(20)}`

  it("a first start on the operator's own chain fails until a registry is configured or may be deployed", async () => {
    const shared = await createSharedInstallation({ CHAIN_DEPLOY_REGISTRY: '' })
    onTestFinished(shared.remove)
    const refused =
      /Set CHAIN_REGISTRY_ADDRESS to .*CHAIN_DEPLOY_REGISTRY=true to deploy one: .* pays for about 450,000 gas/
    const environments: Record<string, string>[] = [{}, { ROLES: 'http' }]
    for (const env of environments) {
      const { code, output } = await (await shared.spawn([], env)).ended
      expect([code, output]).toEqual([2, expect.stringMatching(refused)])
    }
    const main = await startMain({ ...shared.env, ANNAL_DIR: shared.dir })
    expect(main).toMatchObject({ code: 2, stderr: expect.stringMatching(refused) })
    const doctor = async (more = {}) => {
      const env = { ...shared.env, ANNAL_DIR: shared.dir, ...more }
      return JSON.parse((await annalHere(env, ['doctor', '--only', 'chain', '--json'])).stdout)
    }
    expect(await doctor()).toContainEqual({
      ...{ check: 'chain', state: 'error', finding: 'This installation has no registry contract yet.' },
      fix: expect.stringMatching(refused),
    })
    expect((await doctor({ CHAIN_DEPLOY_REGISTRY: 'true' })).at(-1)).toMatchObject({ state: 'info' })

    expect(await (await shared.start([], { CHAIN_REGISTRY_ADDRESS: address })).stop()).toMatchObject({ code: 0 })
    const deploying = await shared.start([], { CHAIN_DEPLOY_REGISTRY: 'true' })
    const remembered = () => shared.sql(`select from key_values where key like 'registry:%'`)
    await eventually(remembered, (rows) => rows.length === 1)
    expect(await deploying.stop()).toMatchObject({ code: 0 })
    expect(await (await shared.start()).stop()).toMatchObject({ code: 0 })
  })
})
