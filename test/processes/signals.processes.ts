import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findServers } from '../../src/embedded/server-process.ts'
import { startAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { type OpenRequest, openRequest } from '../support/http-client.ts'
import { type NpmScript, startNpmScript } from '../support/npm-script.ts'

const BODY = JSON.stringify({ email: 'nobody@example.org', password: 'correct horse' })

/** Starts a request without its end, and waits until the server reads it. */
async function beginRequest(url: string): Promise<OpenRequest> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(BODY.length), Expect: '100-continue' }
  const begun = openRequest(`${url}/api/v3/auth/token/login/`, { headers })
  await eventually(begun.continued, Boolean)
  begun.write(BODY.slice(0, 10))
  return begun
}

/** Sends a signal to npm like a supervisor, or to its process group like a terminal. */
const send = ({ npm }: NpmScript, signal: NodeJS.Signals, to: string) =>
  process.kill(to === 'group' ? -npm.pid! : npm.pid!, signal)

describe.concurrent('signals', () => {
  it.for([
    ['SIGTERM', 'npm', 'start'],
    ['SIGINT', 'group', 'start'],
    ['SIGTERM', 'npm', 'dev'],
  ] as const)(
    '%s to the %s of npm run %s completes running requests and leaves no process',
    async ([signal, to, name], { expect, onTestFinished }) => {
      const script = await startNpmScript(name)
      onTestFinished(script.remove)
      await script.ready()
      const begun = await beginRequest(script.url)
      send(script, signal, to)
      await eventually(script.isListening, (isListening) => !isListening)
      const body = { error: { type: 'incorrect_login_credentials' } }
      begun.end(BODY.slice(10))
      expect(await begun.answer).toMatchObject({ status: 400, body })
      expect(await script.ended).toMatchObject({ code: 0, signal: null })
    },
  )

  it.for(['start', 'dev'])(
    'SIGKILL to the npm process of npm run %s stops the service',
    async (name, { onTestFinished }) => {
      const script = await startNpmScript(name)
      onTestFinished(script.remove)
      await script.ready()
      script.npm.kill('SIGKILL')
      await script.ended
      const isRunning = () => {
        try {
          return process.kill(-script.npm.pid!, 0)
        } catch {
          return false
        }
      }
      await eventually(isRunning, (isStillRunning) => !isStillRunning)
    },
  )

  it('a signal during the start ends the service and leaves no process', async ({ expect, onTestFinished }) => {
    const script = await startNpmScript('start')
    onTestFinished(script.remove)
    await script.answers()
    send(script, 'SIGINT', 'npm')
    expect(await script.ended).toMatchObject({ code: 0, signal: null })
    expect(await script.isListening()).toBe(false)
  })
})

async function startService() {
  const dir = await mkdtemp(join(tmpdir(), 'annal-signals-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const service = startAnnal(dir, ['serve'], { PORT: '0' })
  onTestFinished(() => void service.kill('SIGKILL'))
  service.stderr.resume()
  const findPostgres = async () => (await findServers(`-D${join(await realpath(dir), 'postgres')}`))[0]
  return { service, ended: once(service, 'exit'), findPostgres }
}

it('closing the terminal stops the service and its embedded parts gracefully', async () => {
  const { service, ended, findPostgres } = await startService()
  await once(service.stdout, 'data')
  service.kill('SIGHUP')
  service.stdout.destroy()
  service.stderr.destroy()
  expect(await ended).toEqual([0, null])
  expect(await findPostgres()).toBeUndefined()
})

it('the service ends immediately on a second signal, and stops the embedded parts', async () => {
  const { service, ended, findPostgres } = await startService()
  const [announced] = await once(service.stdout, 'data')
  const begun = await beginRequest(/http:\/\/localhost:\d+/.exec(String(announced))![0])
  begun.answer.catch(() => undefined)
  await eventually(
    () => service.kill('SIGTERM'),
    () => service.exitCode !== null || service.signalCode !== null,
  )
  const [, signal] = await ended
  expect(signal).toBeNull()
  expect(await eventually(findPostgres, (server) => !server)).toBeUndefined()
})

describe('service that hangs during shutdown', () => {
  const start = async (milliseconds: number) => {
    const never = join(import.meta.dirname, '../support/never-stops.ts')
    const child = spawn(process.execPath, [never, String(milliseconds)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    return { child, ended }
  }

  it('a service that hangs during shutdown ends at a second signal', async () => {
    const { child, ended } = await start(60_000)
    // Repeated, because a second signal right after the first counts as the same Ctrl-C.
    await eventually(
      () => child.kill('SIGINT'),
      () => child.exitCode !== null || child.signalCode !== null,
    )
    expect(await ended).toEqual([1, null])
  })

  it('a service that hangs during shutdown ends after the shutdown timeout', async () => {
    const { child, ended } = await start(50)
    child.kill('SIGTERM')
    expect(await ended).toEqual([1, null])
  })
})
