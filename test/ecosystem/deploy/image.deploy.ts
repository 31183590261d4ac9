/** The container image: every step of its Dockerfile on a clean Debian, and then the service in it, as a container engine would run it. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { findFreePort } from '../../../src/embedded/server-process.ts'
import { buildImage, containerLine, type Image, parseDockerfile } from './dockerfile.ts'
import { liveAt, recallAt } from './life.ts'
import { bash, megabytesOf, root, type Started, startService } from './shell.ts'

const file = join(root, 'deploy/docker/Dockerfile')
const authorities = process.env.NODE_EXTRA_CA_CERTS
const AUTHORITIES = '/etc/extra-authorities.pem'
const MIRROR = 'http://deb.debian.org/debian'

let dir: string
let image: Image
let data: string
const started: Started[] = []

async function makeBase(): Promise<string> {
  const base = join(dir, 'base')
  if (process.env.DEPLOY_DEBIAN) await bash(`cp -a ${process.env.DEPLOY_DEBIAN} ${base}`, dir)
  else if (spawnSync('debootstrap', ['--version']).error)
    throw new Error(
      'This test needs debootstrap: apt-get install debootstrap; or name a Debian by DEPLOY_DEBIAN=<folder>.',
    )
  else await bash(`debootstrap --variant=minbase bookworm ${base} ${MIRROR}`, dir)
  const npm = (await bash('realpath "$(dirname "$(realpath "$(command -v npm)")")/.."', dir)).trim()
  await cp(process.execPath, join(base, 'usr/local/bin/node'))
  await cp(npm, join(base, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true })
  await bash(`ln -s ../lib/node_modules/npm/bin/npm-cli.js ${base}/usr/local/bin/npm`, dir)
  if (authorities) await cp(authorities, join(base, AUTHORITIES))
  return base
}

const inContainer = (words: readonly string[], more: Record<string, string> = {}) =>
  spawnSync('bash', ['-c', containerLine(image, words, data, more)], { encoding: 'utf8' })

beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error('This test changes roots and mounts: run it as root.')
  dir = await mkdtemp(join(tmpdir(), 'annal-image-'))
  image = await buildImage({
    file,
    dir,
    base: await makeBase(),
    env: authorities ? { NODE_EXTRA_CA_CERTS: AUTHORITIES } : {},
  })
  // A new volume holds what the image has there, with its owner.
  data = join(dir, 'data')
  await bash(`cp -a ${image.folder}${image.volumes[0]} ${data}`, dir)
})
afterAll(async () => {
  for (const service of started) service.kill()
  await rm(dir, { recursive: true, force: true })
})

describe('the image', () => {
  it('uses the tested Node version', () => {
    const base = parseDockerfile(file).find(({ name }) => name === 'ARG')
    expect(base?.text).toBe(`NODE_IMAGE=node:${manifest.dependencies.node}-bookworm-slim`)
  })

  it('contains the service and its dependencies, but no build tools', async () => {
    expect(await megabytesOf(join(image.folder, 'opt/annal'))).toBeLessThanOrEqual(350)
    for (const name of ['typescript', 'vitest', 'prisma', 'node', '@biomejs']) {
      expect(existsSync(join(image.folder, 'opt/annal/node_modules', name)), name).toBe(false)
    }
    expect(existsSync(join(image.folder, 'src/package.json'))).toBe(false)
  })

  it('runs as an unprivileged user on a read-only root', () => {
    expect(inContainer(['id', '-u']).stdout.trim()).toBe('10001')
    expect(inContainer(['touch', '/opt/annal/x']).stderr).toMatch(/Read-only file system/)
    expect(inContainer(['sh', '-c', 'touch /tmp/x /var/lib/annal/x && rm /var/lib/annal/x']).status).toBe(0)
  })

  it('serves requests, reports health, stops on SIGTERM, and keeps its data', async () => {
    const [port, healthPort] = [await findFreePort(), await findFreePort()]
    const env = {
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      HOST: '127.0.0.1',
      ANNAL_EMBEDDED: 'true',
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      MAIL_FROM: 'Annal <annal@example.org>',
    }
    const start = () => {
      const line = containerLine(image, [...image.entrypoint, ...image.command], data, env)
      const service = startService(line, dir, port)
      started.push(service)
      return service
    }
    expect(inContainer(image.health, env).status).toBe(1)
    const first = start()
    await first.ready()
    expect(inContainer(image.health, env).status).toBe(0)
    const person = await liveAt(env.PUBLIC_URL)
    expect(inContainer(['annal', 'verify', person.nid], env)).toMatchObject({ status: 0 })
    expect(await first.stop()).toBe(0)

    const second = start()
    await second.ready()
    expect(await recallAt(env.PUBLIC_URL, person)).toMatchObject({ headline: 'Sunset' })
    expect(await second.stop()).toBe(0)
  })
})
