/** The npm package: packed here, installed elsewhere, and run there by the machine's own Node, whichever that is. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { liveAt, recallAt } from './life.ts'
import { bash, megabytesOf, root, type Started, startService } from './shell.ts'

const MOST_MEGABYTES = 450

let dir: string
let tarball: string
let project: string
const started: Started[] = []

const start = (line: string, cwd: string, port: number) => {
  const service = startService(line, cwd, port)
  started.push(service)
  return service
}

const isRunning = async () => (await readdir(join(project, '.annal/postgres'))).includes('postmaster.pid')

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-package-'))
  tarball = join(dir, (await bash(`npm pack --silent --pack-destination ${dir}`, root)).trim().split('\n').at(-1)!)
  project = join(dir, 'project')
  await mkdir(project)
  await bash(`npm install --no-audit --no-fund ${tarball}`, project)
})
afterAll(async () => {
  for (const service of started) service.kill()
  await rm(dir, { recursive: true, force: true })
})

describe('npm package', () => {
  it('packing the npm package leaves no files behind, and the package contains no tests or secrets', async () => {
    expect((await bash('git status --porcelain --ignored dist', root)).trim()).toBe('')
    const names = (await bash(`tar -tzf ${tarball}`, dir)).trim().split('\n')
    expect(names.filter((name) => /^package\/(src|test|proofs|bench)\/|\.env/.test(name))).toEqual([])
  })

  it('the npm package stays below its maximum size with production dependencies only', async () => {
    expect(await megabytesOf(join(project, 'node_modules'))).toBeLessThanOrEqual(MOST_MEGABYTES)
    const installed = await readdir(join(project, 'node_modules'))
    expect(installed.filter((name) => /^(prisma|typescript|effect|vitest|@electric-sql|@biomejs)$/.test(name))).toEqual(
      [],
    )
  })

  it('the npm package serves from an empty folder, keeps its data there, and stops on SIGTERM', async () => {
    const port = await findFreePort()
    const first = start('npx annal serve', project, port)
    await first.ready()
    const person = await liveAt(`http://127.0.0.1:${port}`)
    await bash(`npx annal verify ${person.nid}`, project)
    for (const page of ['/', '/graphql', '/api/v3/docs', '/api/v3/docs/scalar.js', '/api/v3/openapi.json']) {
      const answer = await fetch(`http://127.0.0.1:${port}${page}`, { headers: { accept: 'text/html' } })
      expect(answer.status, page).toBe(200)
    }
    await first.stop()
    await until('the service has ended, and npx not alone', async () => !(await isRunning()))

    const again = start('npx annal serve', project, port)
    await again.ready()
    expect(await recallAt(`http://127.0.0.1:${port}`, person)).toMatchObject({ headline: 'Sunset' })
    await again.stop('SIGINT')
    await until('the service has ended', async () => !(await isRunning()))
    await bash('npx annal check', project)
    expect((await readdir(join(project, '.annal'))).sort()).toEqual(
      expect.arrayContaining(['blocks', 'chain', 'keys', 'postgres']),
    )
  })
})
