/** Data folders of earlier versions. `test/fixtures/record-data-folder.ts` records them. They hold files of PostgreSQL for x86-64. */
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Person, recallAt } from '../ecosystem/deploy/life.ts'
import { unpackFolder } from '../fixtures/data-folder.ts'
import { runAnnal, startAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { createRest } from '../support/rest-client.ts'
import { isReady } from '../support/service.ts'

const fixtures = join(import.meta.dirname, '../fixtures')
const archives = (await readdir(fixtures)).filter((name) => name.endsWith('.tar.br'))

let dir: string
const services: ReturnType<typeof startAnnal>[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-data-folder-'))
})
afterEach(async () => {
  for (const service of services.splice(0)) {
    service.kill('SIGTERM')
    if (service.exitCode === null) await once(service, 'exit')
  }
  await rm(dir, { recursive: true, force: true })
})

describe.runIf(process.arch === 'x64' && process.platform === 'linux').each(archives)('data folder %s', (archive) => {
  it('the data folder of a previous version keeps its accounts, assets, histories and balances', async () => {
    await unpackFolder(join(fixtures, archive), dir)
    const person = JSON.parse(await readFile(join(dir, 'person.json'), 'utf8')) as Person
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}`
    const service = startAnnal(dir, ['serve'], { PORT: String(port), LOG_LEVEL: 'warn' })
    services.push(service)
    service.stdout.resume()
    service.stderr.resume()
    await eventually(() => isReady(url), Boolean, 120_000)
    expect(await recallAt(url, person)).toMatchObject({ headline: 'Sunset', commits: { length: 2 } })

    const rest = createRest(url)
    const actor = { token: person.token }
    const update = await rest('PATCH', `assets/${person.nid}/`, { actor, multipart: { headline: 'Night' } })
    expect(update.status).toBe(200)
    await eventually(async () => {
      const { commits } = (await rest('GET', `assets/${person.nid}/history/`, { actor })).body
      return commits.length === 3 && commits.every(({ status }: { status: string }) => status === 'final')
    })
    const check = await runAnnal(dir, ['check'])
    expect(check, check.stderr + check.stdout).toMatchObject({ code: 0 })
  })
})
