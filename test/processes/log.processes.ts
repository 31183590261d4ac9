import { spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { afterAll, expect, inject, it, onTestFinished } from 'vitest'
import { annalCommand } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { createSharedInstallation } from '../support/service.ts'

const installation = await createSharedInstallation({ LOG_LEVEL: 'info' })
afterAll(installation.remove)

/** Starts a service and waits for its banner, which follows the line "Ready". */
async function start(env: Record<string, string> = {}) {
  const service = await installation.spawn([], env)
  await Promise.race([once(service.child.stdout, 'data'), service.ended])
  return service
}

const manifest = (await import('../../package.json', { with: { type: 'json' } })).default

/** Returns the JSON lines of stderr. The banner on stdout is not JSON. */
const linesOf = (output: string): Record<string, unknown>[] =>
  output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))

it('the log contains JSON lines with levels and UTC times, from Ready to Stopped', async () => {
  const service = await start()
  const answer = await fetch(`${service.url}/api/v3/nothing/`)
  const { output, code } = await service.stop()
  expect(code).toBe(0)
  const lines = linesOf(output)
  for (const { level, time } of lines) {
    expect(level).toMatch(/^(info|warn|error)$/)
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  const [ready, ...after] = lines.slice(lines.findIndex(({ msg }) => msg === 'Ready'))
  expect(ready).toMatchObject({
    url: service.url.replace('127.0.0.1', 'localhost'),
    version: manifest.version,
    roles: ['http', 'relay', 'jobs', 'deliveries'],
    durationMs: expect.any(Number),
  })
  const known = after.filter(({ msg }) => /^(Request|Shutting|Stopped)/.test(String(msg)))
  expect(known).toMatchObject([
    { msg: 'Request completed', requestId: answer.headers.get('x-request-id'), status: 404, code: 'NOT_FOUND' },
    { msg: 'Shutting down…', signal: 'SIGTERM' },
    { msg: 'Stopped', signal: 'SIGTERM', durationMs: expect.any(Number) },
  ])
})

it('the log names the reason when a second signal ends the service early', async () => {
  const service = await start({ SHUTDOWN_DELAY_SECONDS: '60' })
  service.child.kill('SIGTERM')
  await eventually(
    () => service.child.kill('SIGTERM'),
    () => service.child.exitCode !== null,
  )
  expect(linesOf((await service.ended).output).filter(({ msg }) => msg === 'Stopped')).toMatchObject([
    { signal: 'SIGTERM', reason: 'second signal' },
  ])
})

it('the log contains one line per outage of the database, and one line when it recovered', async () => {
  const name = new URL(installation.env.DATABASE_URL).pathname.slice(1)
  const onServer = new pg.Client({ connectionString: inject('templateUrl') })
  await onServer.connect()
  onTestFinished(() => onServer.end())
  const rename = (from: string, to: string) =>
    eventually(async () => {
      await onServer.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from])
      return onServer.query(`alter database ${from} rename to ${to}`).catch(() => undefined)
    })
  const service = await start()
  const read = () => fetch(`${service.url}/api/v3/assets/bafkrei${'a'.repeat(52)}/`)
  await eventually(async () => (await read()).status === 404)
  await rename(name, `${name}_away`)
  for (let count = 0; count < 20; count += 1) expect((await read()).status).toBe(503)
  let logged = ''
  service.child.stderr.on('data', (text: Buffer) => (logged += text))
  await rename(`${name}_away`, name)
  await eventually(() => logged.includes('Database recovered'))
  expect((await read()).status).toBe(404)
  const lines = linesOf((await service.stop()).output)
  expect(lines.filter(({ level, msg }) => level !== 'info' || /recover/i.test(String(msg)))).toMatchObject([
    { level: 'warn', msg: 'Database unavailable; retrying', reason: expect.any(String) },
    { level: 'info', msg: 'Database recovered', downSeconds: expect.any(Number) },
  ])
})

/** Starts a service on a pseudo-terminal, and waits for its banner. */
async function startOnTerminal(env: Record<string, string> = {}) {
  const port = String(await findFreePort())
  const command = annalCommand('serve').map((part) => `'${part}'`)
  const variables = { ANNAL_DIR: installation.dir, ...installation.env, ...env }
  const child = spawn('script', ['--quiet', '--command', `exec ${command.join(' ')}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...variables, PORT: port, NO_COLOR: '1' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (piece: Buffer) => (output += piece))
  const lines = () => output.split(/\r?\n/)
  await eventually(() => output.includes('Press Ctrl-C'))
  return {
    lines,
    async pressCtrlC() {
      child.stdin.write('\x03')
      await ended
      return lines()
    },
  }
}

it('the log is readable text on a terminal', async () => {
  const lines = await (await startOnTerminal()).pressCtrlC()
  const line = (text: string) => expect.stringMatching(new RegExp(String.raw`\[\d\d:\d\d:\d\d\] INFO: ${text}`))
  expect(lines).toEqual(expect.arrayContaining([line(String.raw`Ready \{.*"roles":`)]))
  const stops = lines.filter((each) => /Shutting down|Stopped/.test(each))
  expect(stops).toEqual([
    line(String.raw`Shutting down… \{"signal":"SIGINT"\}`),
    line(String.raw`Stopped \{"signal":"SIGINT"`),
  ])
  expect(lines.join()).not.toContain('"level"')
})
