/** The operator's commands on accounts, run as processes. */
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { runAnnal, startAnnal } from '../support/annal-command.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { waiting, whileHeld } from '../support/held-rows.ts'
import { createRest } from '../support/rest-client.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const REASON = ['--reason', 'Our file 117']
const app = await createTestApp()

async function newFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'annal-person-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

const whileItWaits = (sql: string, args: readonly string[], deed: (child: ReturnType<typeof startAnnal>) => void) =>
  whileHeld(app, sql, async () => {
    const child = startAnnal(app.env.ANNAL_DIR!, args, app.env)
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    const said = Promise.all([text(child.stdout), text(child.stderr)])
    await waiting(app, 1)
    deed(child)
    return { ended, said }
  })

it('a killed `annal users delete` changes nothing, and a second run completes the deletion', async () => {
  const user = await app.newUser({ num: '5' })
  const { id: nid } = await user.register()
  const deletion = ['users', 'delete', user.publicId, ...REASON, '--yes']
  const { ended } = await whileItWaits(`select from users where id = '${user.id}' for update`, deletion, (child) =>
    child.kill('SIGKILL'),
  )
  expect(await ended).toEqual([null, 'SIGKILL'])
  expectOk(await user.rest('GET', `assets/${nid}/`))
  expect(await app.wallet(user)).toMatchObject({ num: '5' })
  expect(await app.sql(`select from audit_entries where action = 'account.deleted'`)).toEqual([])

  const next = await runAnnal(app.env.ANNAL_DIR!, deletion, { env: app.env })
  expect(next).toMatchObject({ code: 0, stderr: `Deleted ${user.publicId}.\n` })
  expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
  expect(await app.wallet(user)).toMatchObject({ num: '0' })
})

it('a killed or interrupted export leaves no file under the final name', async () => {
  const [user, dir] = [await app.newUser(), await newFolder()]
  const out = join(dir, 'person.json')
  const taking = ['users', 'export', user.publicId, ...REASON, '--out', out]
  const lock = 'lock table events in access exclusive mode'
  const killed = await whileItWaits(lock, taking, (child) => child.kill('SIGKILL'))
  expect(await killed.ended).toEqual([null, 'SIGKILL'])
  expect(await readdir(dir)).toEqual([expect.stringMatching(/^person\.json\.part-/)])
  const interrupted = await whileItWaits(lock, taking, (child) => child.kill('SIGTERM'))
  expect(await interrupted.ended).toEqual([1, null])
  expect(await interrupted.said).toEqual(['', 'Interrupted.\n'])
  expect(await readdir(dir)).toHaveLength(1)
  const whole = await runAnnal(app.env.ANNAL_DIR!, taking, { env: app.env })
  expect(whole.code).toBe(0)
  expect(JSON.parse(await readFile(out, 'utf8')).account.id).toBe(user.publicId)
})

it('commands work next to a server with embedded parts, and without a server', async () => {
  const dir = await newFolder()
  const server = startAnnal(dir, ['serve'], { PORT: '0' })
  onTestFinished(() => void server.kill('SIGKILL'))
  const ended = once(server, 'exit')
  server.stderr.resume()
  const [banner] = await once(server.stdout, 'data')
  const [url] = /http:\/\/localhost:\d+/.exec(String(banner))!
  const rest = createRest(url)
  const annal = (...args: string[]) => runAnnal(dir, ['users', ...args])
  const people = ['ada', 'bert'].map((username) => ({ username, email: `${username}@example.org`, password: PASSWORD }))
  for (const json of people) expectOk(await rest('POST', 'auth/users/', { json }))

  const exported = await annal('export', 'ada', ...REASON)
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(exported.stdout).account).toMatchObject({ username: 'ada', email: 'ada@example.org' })
  expect(await annal('delete', 'ada', ...REASON)).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') })
  expect(await annal('delete', 'ada', ...REASON, '--yes')).toMatchObject({ code: 0 })
  const refused = await rest('POST', 'auth/token/login/', { json: people[0] })
  expectError(refused, 'INCORRECT_LOGIN_CREDENTIALS')
  expectOk(await rest('POST', 'auth/token/login/', { json: people[1] }))

  server.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(JSON.parse((await annal('export', 'bert', ...REASON)).stdout).account).toMatchObject({ username: 'bert' })
  expect(await annal('delete', 'bert', ...REASON, '--yes')).toMatchObject({ code: 0 })
  expect(await annal('find', 'bert')).toMatchObject({ code: 1 })
})
