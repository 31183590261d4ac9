/** Builds the container image with Docker and runs it. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { liveAt, recallAt } from './life.ts'
import { root } from './shell.ts'

const file = join(root, 'deploy/docker/Dockerfile')
const name = `annal-test-${process.pid}`

const docker = async (...args: string[]) =>
  (await promisify(execFile)('docker', args, { maxBuffer: 50_000_000 })).stdout.trim()
const volume = ['--volume', `${name}:/var/lib/annal`]
const inImage = (line: string) =>
  docker('run', '--rm', '--read-only', '--tmpfs', '/tmp', ...volume, '--entrypoint', 'sh', name, '-c', line)
const state = (field: string) => docker('inspect', '--format', `{{.State.${field}}}`, name)

beforeAll(() => docker('build', '--file', file, '--tag', name, root))
afterAll(async () => {
  await docker('rm', '--force', name)
  await docker('volume', 'rm', '--force', name)
  await docker('image', 'rm', '--force', name)
})

it('the container image uses the tested Node version', async () => {
  expect(await readFile(file, 'utf8')).toContain(`\nARG NODE_IMAGE=node:${manifest.dependencies.node}-bookworm-slim\n`)
})

it('the container image contains the service and its dependencies, but no build tools', async () => {
  expect(Number.parseInt(await inImage('du -sm /opt/annal'), 10)).toBeLessThanOrEqual(350)
  const modules = (await inImage('ls /opt/annal/node_modules')).split('\n')
  expect(modules).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(typescript|vitest|prisma|node|@biomejs)$/)]),
  )
  expect(await inImage('test -e /src || echo absent')).toBe('absent')
})

it('the container runs as an unprivileged user on a read-only root file system', async () => {
  expect(await inImage('id -u')).toBe('10001')
  await expect(inImage('touch /opt/annal/x')).rejects.toThrow('Read-only file system')
  await inImage('touch /tmp/x /var/lib/annal/x && rm /var/lib/annal/x')
})

it('the container serves requests, reports health, stops on SIGTERM, and keeps its data', async () => {
  const [port, healthPort] = [await findFreePort(), await findFreePort()]
  const url = `http://127.0.0.1:${port}`
  const env = { PORT: port, HEALTH_PORT: healthPort, HOST: '127.0.0.1', ANNAL_EMBEDDED: 'true', PUBLIC_URL: url }
  const settings = Object.entries({ ...env, MAIL_FROM: 'Annal <annal@example.org>' })
  const options = ['--read-only', '--tmpfs', '/tmp', '--network', 'host', ...volume]
  const variables = settings.flatMap(([key, value]) => ['--env', `${key}=${value}`])
  await docker('run', '--detach', '--name', name, ...options, ...variables, name)
  const healthy = () =>
    eventually(
      () => state('Health.Status'),
      (status) => status === 'healthy',
      120_000,
    )
  await healthy()
  const person = await liveAt(url)
  await docker('exec', name, 'annal', 'verify', person.nid)
  await docker('stop', '--time', '30', name)
  expect(await state('ExitCode')).toBe('0')

  await docker('start', name)
  await healthy()
  expect(await recallAt(url, person)).toMatchObject({ headline: 'Sunset' })
  await docker('stop', '--time', '30', name)
  expect(await state('ExitCode')).toBe('0')
})
