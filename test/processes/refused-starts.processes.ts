/** Starts that fail for something outside: which part it is, why, and what to do, and no secret. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { readPostmaster } from '../../src/platform/embedded/postgres-cluster.ts'
import { annalHere, runAnnal } from '../support/annal-command.ts'
import { listen } from '../support/listen.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-refused-'))
afterAll(() => rm(dir, { recursive: true }))

const serve = (env: Record<string, string>) => runAnnal(dir, ['serve'], { env: { PORT: '0', ...env } })

it.each([
  ['a port that is dead', '127.0.0.1:5', /connect ECONNREFUSED 127\.0\.0\.1:5/],
  ['a host that nobody knows', 'nohost.invalid', /getaddrinfo E\w+ nohost\.invalid/],
  ['a certificate that is not there', '127.0.0.1:5', /ENOENT.*\/none\.crt'/, '?sslrootcert=/none.crt'],
])('a database at %s is named by its variable, without its password', async (_, host, reason, query = '') => {
  const env = { DATABASE_URL: `postgresql://u:geheim@${host}/db${query}` }
  const sentence = new RegExp(
    `^The database that DATABASE_URL names cannot be had: ${reason.source}\\. Bring PostgreSQL back, or set DATABASE_URL right: .*\\n$`,
  )
  expect(await serve(env)).toMatchObject({ code: 1, stderr: expect.stringMatching(sentence) })
  for (const args of [['jobs'], ['migrate'], ['users', 'find', 'ada']]) {
    const said = await annalHere({ ANNAL_DIR: dir, ...env }, args)
    expect(said, args.join(' ')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) })
    expect(said.stderr).not.toContain('geheim')
  }
})

it('a database that is another service is named, too', async () => {
  const service = createServer((socket) => socket.destroy())
  const port = await listen(service, onTestFinished)
  const direct = {
    DATABASE_URL: 'postgresql://127.0.0.1:5/db',
    DATABASE_DIRECT_URL: `postgresql://127.0.0.1:${port}/db`,
  }
  const { code, stderr } = await annalHere({ ANNAL_DIR: dir, ...direct }, ['jobs'])
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^The database that DATABASE_DIRECT_URL names cannot be had: /),
  ])
})

it('an address of another machine is named, and a variable that nobody reads is told before', async () => {
  const { code, stderr } = await serve({ HOST: '192.0.2.1', DATABASE_URI: 'geheim' })
  const [warning, ...refusal] = stderr.trim().split('\n')
  expect(JSON.parse(warning!)).toMatchObject({ msg: 'DATABASE_URI is no variable of Annal, and does nothing.' })
  expect([code, refusal.join('\n')]).toEqual([
    1,
    'Nobody can listen at port 0 of 192.0.2.1: address not available (EADDRNOTAVAIL). Set HOST to an address of this machine, and PORT to a port that this user may take.',
  ])
})

it('one that is refused once its database runs stops what it had started', async () => {
  const own = await mkdtemp(join(await realpath(tmpdir()), 'annal-refused-chain-'))
  onTestFinished(() => rm(own, { recursive: true, force: true }))
  await mkdir(join(own, 'chain'))
  await writeFile(join(own, 'chain/state.json.gz'), 'no chain')
  const { code, stderr } = await runAnnal(own, ['serve'], { env: { PORT: '0' } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('The saved chain')])
  const left = await readPostmaster(join(own, 'postgres'))
  if (left) process.kill(left.pid, 'SIGINT')
  expect(left).toBeUndefined()
})
