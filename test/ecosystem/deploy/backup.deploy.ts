/** Backing up and restoring by exactly the commands that docs/how-to/back-up-and-restore.md has. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFreePort } from '../../support/free-port.ts'
import { liveAt, type Person, recallAt } from './life.ts'
import { startOwnPostgres } from './postgres.ts'
import { bash, environment, root, type Started, startService } from './shell.ts'

let dir: string
let path: string
let postgres: Awaited<ReturnType<typeof startOwnPostgres>>
const PUBLIC_URL = 'https://annal.example.org'
const documented = new Map<string, string>()
const started: Started[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-backup-'))
  // PostgreSQL's own user comes through to its data.
  await chmod(dir, 0o755)
  const page = await readFile(join(root, 'docs/how-to/back-up-and-restore.md'), 'utf8')
  for (const [, name, commands] of page.matchAll(/<!-- tried: (\S+) -->\s+```sh\n(.*?)```/gs)) {
    documented.set(name!, commands!)
  }
  const folder = join(dir, 'bin')
  await mkdir(folder)
  const cli = `exec ${process.execPath} --disable-warning=ExperimentalWarning ${root}/src/cli.ts "$@"\n`
  await writeFile(join(folder, 'annal'), `#!/bin/sh\n${cli}`, { mode: 0o755 })
  await mkdir(join(dir, 'own-postgres'), { mode: 0o755 })
  postgres = await startOwnPostgres(join(dir, 'own-postgres'))
  path = `${folder}:${postgres.tools}:${environment().PATH}`
})
afterAll(async () => {
  for (const service of started) service.kill()
  await postgres.stop()
  await rm(dir, { recursive: true, force: true })
})

const carryOut = (name: string, env: Record<string, string>) => {
  const commands = documented.get(name)
  if (!commands) throw new Error(`docs/how-to/back-up-and-restore.md has no commands that are marked "tried: ${name}".`)
  return bash(commands, dir, { ...env, PATH: path })
}

async function serve(env: Record<string, string>) {
  const port = await findFreePort()
  const service = startService('annal serve', dir, port, { ...env, PATH: path })
  started.push(service)
  await service.ready()
  return { ...service, url: `http://127.0.0.1:${port}` }
}

async function expectRestored(env: Record<string, string>, person: Person, remembered: unknown) {
  const service = await serve(env)
  expect(await recallAt(service.url, person)).toEqual(remembered)
  await bash(`annal verify ${person.nid}`, dir, { ...env, PATH: path })
  const another = await liveAt(service.url)
  await bash(`annal verify ${another.nid}`, dir, { ...env, PATH: path })
  await bash('annal check', dir, { ...env, PATH: path })
  expect(await service.stop()).toBe(0)
}

describe('backups', () => {
  it('a backup of a dump, keys, blocks and chain can be restored elsewhere and passes all checks', async () => {
    const BACKUP = join(dir, 'backup')
    const before = {
      DATABASE_URL: await postgres.createDatabase('annal'),
      ANNAL_DIR: join(dir, 'before'),
      BACKUP,
      PUBLIC_URL,
    }
    const service = await serve(before)
    const person = await liveAt(service.url)
    const remembered = await recallAt(service.url, person)
    await carryOut('backup', before)
    // Another one in the same folder would lie beneath the first.
    const first = await readdir(BACKUP, { recursive: true })
    await expect(carryOut('backup', before)).rejects.toThrow('File exists')
    expect(await readdir(BACKUP, { recursive: true })).toEqual(first)
    expect((await stat(BACKUP)).mode & 0o777).toBe(0o700)
    await service.stop()
    await carryOut('backup-chain', before)
    await rm(before.ANNAL_DIR, { recursive: true })

    const after = {
      DATABASE_URL: await postgres.createDatabase('restored'),
      ANNAL_DIR: join(dir, 'after'),
      BACKUP,
      PUBLIC_URL,
    }
    await carryOut('restore', after)
    await expect(carryOut('restore', after)).rejects.toThrow(`${after.ANNAL_DIR}/keys is there already.`)
    const unplanned = `psql -tA --command="select count(*) from pg_class c where relkind = 'r' and reltuples < 0 and relnamespace = 'public'::regnamespace" "$DATABASE_URL"`
    expect(await bash(unplanned, dir, { ...after, PATH: path })).toBe('0\n')
    await expectRestored(after, person, remembered)
  })

  it('a backup of a fully embedded installation can be restored elsewhere and passes all checks', async () => {
    const BACKUP = join(dir, 'embedded-backup')
    const before = { ANNAL_DIR: join(dir, 'embedded-before'), BACKUP, PUBLIC_URL }
    const service = await serve(before)
    const person = await liveAt(service.url)
    const remembered = await recallAt(service.url, person)
    await service.stop()
    await carryOut('backup-embedded', before)
    await expect(carryOut('backup-embedded', before)).rejects.toThrow('File exists')
    await rm(before.ANNAL_DIR, { recursive: true })

    const after = { ANNAL_DIR: join(dir, 'embedded-after'), BACKUP, PUBLIC_URL }
    await carryOut('restore-embedded', after)
    await expect(carryOut('restore-embedded', after)).rejects.toThrow('is there already.')
    await expectRestored(after, person, remembered)
  })
})
