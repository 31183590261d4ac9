/** A supervisor with several workers for requests, on one port. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Agent, createServer } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../src/platform/embedded/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { openRequest, send } from '../support/http-client.ts'
import { createRest } from '../support/rest-client.ts'
import { createSharedInstallation, type Service, type SharedInstallation } from '../support/service.ts'
import { newFile, registerWith } from '../support/test-app.ts'

const ada = { username: 'ada', email: 'ada@example.org', password: 'correct horse' }

let shared: SharedInstallation
beforeAll(async () => {
  shared = await createSharedInstallation()
})
afterAll(() => shared.remove())

/** The processes that say that they live, by the names that their supervisor gave them. */
const workers = async () => {
  const rows = await shared.sql<{ name: string; roles: string[] }>(
    'select name, roles from processes order by started_at',
  )
  return new Map(
    rows.map(({ name, roles }) => {
      const [place, worker] = name.split(' ')
      return [worker!, { pid: Number(place!.split(':')[1]), roles }]
    }),
  )
}

describe('a supervisor with two workers', () => {
  let service: Service
  let operators: string
  beforeAll(async () => {
    const healthPort = await findFreePort()
    operators = `http://127.0.0.1:${healthPort}`
    service = await shared.start([], { WEB_CONCURRENCY: '2', HEALTH_PORT: String(healthPort) })
    await eventually(
      async () => {
        if (service.child.exitCode !== null) throw new Error(`It ended: ${(await service.ended).output}`)
        return (await fetch(`${operators}/readyz`)).text()
      },
      (text) => text === '{"status":"ok"}',
    )
  })

  it('has both answer at one port, and another one do what is no request', async () => {
    expect([...(await workers())].map(([name, { roles }]) => [name, roles]).sort()).toEqual([
      ['background', ['relay', 'jobs', 'deliveries']],
      ['http-1', ['http']],
      ['http-2', ['http']],
    ])
    const anonymous = createRest(service.url)
    expectOk(await anonymous('POST', 'auth/users/', { json: ada }))
    const { auth_token: token } = expectOk(await anonymous('POST', 'auth/token/login/', { json: ada }))
    const rest = createRest(service.url, { actor: { token } })
    const { id } = (await registerWith(rest, { asset_file: newFile() })).body
    const status = async () => expectOk(await rest('GET', `assets/${id}/history/`)).commits[0].status
    await eventually(status, (found) => found === 'final')
  })

  it.runIf(process.platform === 'linux')(
    'has its workers listed, and nobody else, by the command of the page',
    async () => {
      const page = await readFile('docs/operations.md', 'utf8')
      const [, pattern] = /`pgrep -f '([^']+)'/.exec(page) ?? []
      const { stdout } = await promisify(execFile)('pgrep', ['-f', pattern!])
      const found = stdout.trim().split('\n').map(Number)
      expect(found).toEqual(expect.arrayContaining([...(await workers()).values()].map(({ pid }) => pid)))
      const names = await Promise.all(found.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')))
      // The PostgreSQL of this test has workers that a shorter pattern finds, and SIGTERM ends it.
      expect(names.filter((name) => name.includes('postgres') || name.includes('kworker'))).toEqual([])
    },
  )

  it('tells the metrics of all workers at once, each by its label', async () => {
    const metrics = await (await fetch(`${operators}/metrics`)).text()
    for (const worker of ['http-1', 'http-2', 'background']) {
      expect(metrics).toMatch(new RegExp(`^annal_build_info\\{version="[^"]+",worker="${worker}"\\} 1$`, 'm'))
      expect(metrics).toMatch(new RegExp(`^process_resident_memory_bytes\\{worker="${worker}"\\} \\d`, 'm'))
    }
    expect(metrics.match(/^# HELP annal_build_info /gm)).toHaveLength(1)
  })

  it('has another worker answer a connection that was handed to one that died before it took it', async () => {
    const { pid } = (await workers()).get('http-1')!
    process.kill(pid, 'SIGSTOP')
    const statuses: number[] = []
    // A connection of its own for each: one of before may be that worker's.
    const agent = new Agent({ keepAlive: false })
    const asked = Array.from({ length: 4 }, async () => {
      const { status } = await send(service.url, { path: '/healthz' }, { agent })
      statuses.push(status)
    })
    await eventually(() => statuses.length === 3, Boolean)
    process.kill(pid, 'SIGKILL')
    await Promise.all(asked)
    expect(statuses).toEqual([200, 200, 200, 200])
    await eventually(() => isReplaced('http-1', pid), Boolean)
    await eventually(
      async () => (await fetch(`${operators}/readyz`)).text(),
      (text) => text === '{"status":"ok"}',
    )
  })

  it('replaces a worker that was killed, and the others answer meanwhile', async () => {
    const { pid } = (await workers()).get('http-1')!
    process.kill(pid, 'SIGKILL')
    const readiness = async () => (await (await fetch(`${operators}/readyz`)).json()) as { missing?: string[] }
    // What it had been handed is lost with it.
    await eventually(readiness, ({ missing }) => missing?.includes('worker http-1') === true)
    const replaced = async () => {
      expect((await fetch(`${service.url}/healthz`, { headers: { Connection: 'close' } })).status).toBe(200)
      return (await readiness()).missing === undefined && (await isReplaced('http-1', pid))
    }
    await eventually(replaced, Boolean)
  })

  it('has a worker that is told to stop answer what it has begun, and replaces it', async () => {
    const body = JSON.stringify({ email: 'nobody@example.org', password: 'correct horse' })
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      Expect: '100-continue',
    }
    const begun = openRequest(`${service.url}/api/v3/auth/token/login/`, { headers })
    await eventually(begun.continued, Boolean)
    begun.write(body.slice(0, 10))
    const before = await workers()
    for (const name of ['http-1', 'http-2']) process.kill(before.get(name)!.pid, 'SIGTERM')
    begun.end(body.slice(10))
    expect(await begun.answer).toMatchObject({ status: 400, body: { error: { type: 'incorrect_login_credentials' } } })
    for (const name of ['http-1', 'http-2']) {
      await eventually(() => isReplaced(name, before.get(name)!.pid), Boolean)
    }
  })

  async function isReplaced(name: string, pid: number) {
    const rows = await shared.sql<{ name: string }>(
      'select name from processes where name like $1 and name not like $2',
      [`% ${name}`, `%:${pid} %`],
    )
    return rows.length > 0
  }

  it('ends with all of them by one signal, and names the worker in each line of the log', async () => {
    const { code, output } = await service.stop()
    expect(code).toBe(0)
    expect(output).toMatch(/"worker":"http-1".*Worker process ended; replacing it/)
    expect(await workers().then((left) => [...left.keys()].filter((name) => name === 'http-2'))).toEqual([])
  })
})

it('a worker that cannot start ends the whole with its error', async () => {
  const taken = createServer()
  const port = await new Promise<number>((resolve) =>
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
  )
  onTestFinished(() => new Promise<void>((resolve) => taken.close(() => resolve())))
  const { code, output } = await (await shared.spawn([], { WEB_CONCURRENCY: '2', PORT: String(port) })).ended
  expect(code).not.toBe(0)
  expect(output.match(new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is taken by another program`, 'g'))).toHaveLength(1)
  expect(output).toContain('Worker http-1 could not start')
})
