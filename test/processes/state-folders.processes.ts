/** Folders and buckets that store state belong to one installation. A service rejects those of another one. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { annalHere, startAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { createRest } from '../support/rest-client.ts'
import { createSharedInstallation, isReady, type Service, type SharedInstallation } from '../support/service.ts'
import { registerWith } from '../support/test-app.ts'
import { startS3Counterpart } from '../unit/files/s3-counterpart.ts'

const PASSWORD = 'correct horse battery'

const signUp = (url: string) => {
  const username = `u${randomUUID().slice(0, 12)}`
  const json = { username, email: `${username}@example.org`, password: PASSWORD }
  return createRest(url)('POST', 'auth/users/', { json }).then((answer) => ({ ...answer, email: json.email }))
}

async function newPerson(url: string) {
  const { email } = await signUp(url)
  const { body } = await createRest(url)('POST', 'auth/token/login/', { json: { email, password: PASSWORD } })
  return createRest(url, { actor: { token: body.auth_token } })
}

/** Replaces a folder by an empty one, then by that of another installation, and restores it. Calls `check` in between. */
async function whileReplaced(folder: string, marker: string, check: () => Promise<unknown>) {
  const aside = `${folder}-aside`
  await rename(folder, aside)
  await check()
  expect(await readdir(dirname(folder))).not.toContain(basename(folder))
  await mkdir(folder)
  await check()
  await writeFile(join(folder, marker), 'another')
  await check()
  await rm(folder, { recursive: true })
  await rename(aside, folder)
}

const degraded = (...missing: string[]) => ({ status: 200, body: { status: 'degraded', missing } })
const ready = { status: 200, body: { status: 'ok' } }

const expectReadiness = ({ readiness }: Pick<Service, 'readiness'>, expected: object) =>
  eventually(readiness, (found) => JSON.stringify(found) === JSON.stringify(expected))

async function newShared(variables: Record<string, string> = {}): Promise<SharedInstallation> {
  const shared = await createSharedInstallation(variables)
  onTestFinished(shared.remove)
  return shared
}

async function stoppedWithFile(variables: Record<string, string> = {}) {
  const shared = await newShared(variables)
  const service = await shared.start()
  const { body } = await registerWith(await newPerson(service.url), {})
  await service.stop()
  const owner = (await readFile(join(shared.dir, 'keys/vault-id'), 'utf8')).trim()
  return { shared, owner, nid: body.id as string, blocks: join(shared.dir, 'blocks') }
}

async function expectRefused(shared: SharedInstallation, reason: RegExp) {
  const { code, output } = await (await shared.spawn()).ended
  expect([code, output]).toEqual([1, expect.stringMatching(reason)])
}

async function doctor(shared: SharedInstallation, check: string) {
  const { stdout } = await annalHere({ ...shared.env, ANNAL_DIR: shared.dir }, ['doctor', '--only', check, '--json'])
  return JSON.parse(stdout) as { check: string; state: string; finding: string; fix: string | null }[]
}

describe('blocks folder', () => {
  it('marks the blocks folder at the first start, and later rejects an empty or foreign folder', async () => {
    const { shared, owner, blocks } = await stoppedWithFile()
    const marker = join(blocks, 'installation')
    expect(await readFile(marker, 'utf8')).toBe(`${owner}\n`)

    const aside = join(shared.dir, 'aside')
    await rename(blocks, aside)
    const empty = /blocks is empty or belongs to another installation: it has none .* Mount or restore the folder/
    await expectRefused(shared, empty)
    expect(await readdir(blocks)).toEqual([])
    expect(await doctor(shared, 'files')).toContainEqual(
      expect.objectContaining({ state: 'error', finding: expect.stringContaining('is empty or belongs to another') }),
    )

    const other = await stoppedWithFile()
    await rm(blocks, { recursive: true })
    await rename(other.blocks, blocks)
    const foreign = `the file \\S+ names ${other.owner}, and this database belongs to ${owner}`
    await expectRefused(shared, new RegExp(`belongs to another installation: ${foreign}`))
    expect((await doctor(shared, 'files'))[0]).toMatchObject({ fix: expect.stringContaining('Mount or') })
    const gc = () => annalHere({ ...shared.env, ANNAL_DIR: shared.dir }, ['gc'])
    expect(await gc()).toMatchObject({ code: 1, stderr: expect.stringContaining('another installation') })
    await rm(marker)
    await expectRefused(shared, empty)
    expect(await gc()).toMatchObject({ code: 1, stderr: expect.stringContaining('has none of the files') })

    // The operator marks the folder as correct.
    await writeFile(marker, owner)
    await (await shared.start()).stop()

    // An installation of an earlier version, or a restored backup of it.
    await rm(blocks, { recursive: true })
    await rename(aside, blocks)
    await rm(marker)
    await (await shared.start()).stop()
    expect(await readFile(marker, 'utf8')).toBe(`${owner}\n`)
    expect((await doctor(shared, 'files'))[0]).toMatchObject({ state: 'ok' })
  })

  it('/readyz reports a missing or replaced blocks folder, and no files are accepted until the folder returns', async () => {
    const shared = await newShared()
    const service = await shared.start()
    const background = await shared.start(['--roles', 'relay,jobs,deliveries'])
    const person = await newPerson(service.url)
    const { body } = await registerWith(person, {})
    await whileReplaced(join(shared.dir, 'blocks'), 'installation', async () => {
      for (const each of [service, background]) await expectReadiness(each, degraded('file store'))
      const refused = await registerWith(person, {}).catch((error: Error) => error.message)
      expect(refused).toMatch(/^Registration failed: 503/)
      expect((await person('GET', `../../ipfs/${body.id}`)).status).not.toBe(200)
    })
    for (const each of [service, background]) await expectReadiness(each, ready)
    await registerWith(person, {})
  })
})

describe('key vault', () => {
  it('/readyz reports a missing or replaced key vault, and no keys are created until the folder returns', async () => {
    const shared = await newShared()
    const service = await shared.start()
    expect((await signUp(service.url)).status).toBe(201)
    await whileReplaced(join(shared.dir, 'keys'), 'vault-id', async () => {
      await expectReadiness(service, degraded('key vault'))
      expect((await signUp(service.url)).status).toBe(503)
    })
    await expectReadiness(service, ready)

    const shares = join(shared.dir, 'keys/counterparts')
    await rename(shares, `${shares}-aside`)
    await expectReadiness(service, degraded('key vault'))
    await mkdir(shares)
    await expectReadiness(service, degraded('key vault'))
    await rm(shares, { recursive: true })
    await rename(`${shares}-aside`, shares)
    await expectReadiness(service, ready)
    expect((await signUp(service.url)).status).toBe(201)
  })

  it('rejects a key vault without the key shares of the accounts until the operator abandons the key shares', async () => {
    const { shared } = await stoppedWithFile()
    await rm(join(shared.dir, 'keys/counterparts'), { recursive: true })
    const reason = /counterparts is empty or belongs to another installation: .*annal keys abandon key-shares/
    await expectRefused(shared, reason)
    expect((await doctor(shared, 'keys'))[0]).toMatchObject({ state: 'error', finding: expect.stringMatching(reason) })
    const env = { ...shared.env, ANNAL_DIR: shared.dir }
    expect(await annalHere(env, ['keys', 'abandon', 'key-shares'])).toMatchObject({ code: 0 })
    const service = await shared.start()
    await expectReadiness(service, ready)
    await service.stop()
  })
})

describe('buckets', () => {
  const newBucket = async () => {
    const s3 = await startS3Counterpart()
    onTestFinished(s3.stop)
    const keys = { AWS_ACCESS_KEY_ID: 'somebody', AWS_SECRET_ACCESS_KEY: 'a secret of tests' }
    return { s3, env: { ...s3.env, ...keys } }
  }

  it('rejects an empty bucket or the bucket of another installation, and accepts an unmarked bucket with the files', async () => {
    const { s3, env } = await newBucket()
    const { shared, owner } = await stoppedWithFile(env)
    const objects = new Map(s3.objects)
    expect(objects.get('installation')?.bytes.toString()).toBe(owner)

    s3.objects.clear()
    await expectRefused(shared, /The bucket is empty or belongs to another .* Set S3_BUCKET and S3_PREFIX/)
    expect(s3.objects.size).toBe(0)
    expect((await doctor(shared, 'files'))[0]).toMatchObject({ fix: expect.stringContaining('S3_PREFIX') })
    s3.objects.set('installation', { bytes: Buffer.from('another'), changedAt: s3.now })
    await expectRefused(shared, /The bucket belongs to another installation: its object installation names another/)

    s3.objects.clear()
    for (const [key, object] of objects) if (key !== 'installation') s3.objects.set(key, object)
    await (await shared.start()).stop()
    expect(s3.objects.get('installation')?.bytes.toString()).toBe(owner)
  })

  it('/readyz reports a bucket that is emptied or replaced', async () => {
    const { s3, env } = await newBucket()
    const shared = await newShared(env)
    const service = await shared.start()
    await registerWith(await newPerson(service.url), {})
    await expectReadiness(service, ready)
    const objects = new Map(s3.objects)
    s3.objects.clear()
    await expectReadiness(service, degraded('file store'))
    s3.objects.set('installation', { bytes: Buffer.from('another'), changedAt: s3.now })
    await expectReadiness(service, degraded('file store'))
    for (const [key, object] of objects) s3.objects.set(key, object)
    await expectReadiness(service, ready)
  })
})

describe('embedded data', () => {
  /** Starts a service with embedded parts, in a new folder or the given one. */
  async function startEmbedded(given?: string) {
    const dir = given ?? (await mkdtemp(join(tmpdir(), 'annal-folders-')))
    if (given === undefined) onTestFinished(() => rm(dir, { recursive: true, force: true }))
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}`
    const child = startAnnal(dir, ['serve'], { PORT: String(port), LOG_LEVEL: 'warn' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const output = Promise.all([text(child.stdout), text(child.stderr)])
    const exited = once(child, 'exit')
    const ended = exited.then(async ([code]) => ({ code, output: (await output).join('\n') }))
    const readiness = async () => {
      const answer = await fetch(`${url}/readyz`)
      return { status: answer.status, body: await answer.json() }
    }
    return {
      dir,
      url,
      readiness,
      ended,
      async ready() {
        await eventually(async () => {
          if (child.exitCode !== null) expect.fail((await ended).output)
          return isReady(url)
        })
      },
      stop() {
        child.kill('SIGTERM')
        return ended
      },
    }
  }
  type Embedded = Awaited<ReturnType<typeof startEmbedded>>

  async function settle({ url }: Embedded) {
    const person = await newPerson(url)
    const { body } = await registerWith(person, {})
    await eventually(async () => {
      const { commits } = (await person('GET', `assets/${body.id}/history/`)).body
      return commits.every(({ status }: { status: string }) => status === 'final')
    })
  }

  async function settled() {
    const service = await startEmbedded()
    await service.ready()
    await settle(service)
    expect(await service.stop()).toMatchObject({ code: 0 })
    return service.dir
  }

  const expectEmbeddedRefused = async (dir: string, reason: RegExp) =>
    expect(await (await startEmbedded(dir)).ended).toEqual({ code: 1, output: expect.stringMatching(reason) })

  it('/readyz reports embedded data whose folder is missing or replaced', async () => {
    const service = await startEmbedded()
    await service.ready()
    const aside = join(service.dir, 'aside')
    await whileReplaced(join(service.dir, 'chain'), 'installation', () => expectReadiness(service, degraded('chain')))
    await expectReadiness(service, ready)

    const database = join(service.dir, 'postgres')
    await rename(database, aside)
    const away = { status: 503, body: { status: 'unavailable', missing: ['database'] } }
    await expectReadiness(service, away)
    await mkdir(join(database, 'global'), { recursive: true })
    await writeFile(join(database, 'global/pg_control'), 'another cluster')
    await expectReadiness(service, away)
    await rm(database, { recursive: true })
    await rename(aside, database)
    await expectReadiness(service, ready)
    // The exit code may be 1: PostgreSQL ends by itself if it looks for its lock file while the folder is away.
    await service.stop()
  })

  it('does not start embedded parts on an empty folder or the folder of another installation', async () => {
    const [dir, other] = [await settled(), await settled()]
    const owner = (await readFile(join(dir, 'keys/vault-id'), 'utf8')).trim()
    const aside = join(dir, 'aside')

    await rename(join(dir, 'postgres'), aside)
    await mkdir(join(dir, 'postgres'))
    await expectEmbeddedRefused(dir, /postgres is empty, but \S+keys holds keys of accounts\. Mount it, or restore it/)
    await rm(join(dir, 'postgres'), { recursive: true })
    await rename(join(other, 'postgres'), join(dir, 'postgres'))
    await expectEmbeddedRefused(dir, /refuses our password|do not belong to this database/)
    await rename(join(dir, 'postgres'), join(other, 'postgres'))
    await rename(aside, join(dir, 'postgres'))

    const chain = join(dir, 'chain')
    await rm(chain, { recursive: true })
    await mkdir(chain)
    const empty = /chain is empty or belongs to another installation: .* Mount or restore the folder/
    await expectEmbeddedRefused(dir, empty)
    const doctor = await annalHere({ ANNAL_DIR: dir }, ['doctor', '--only', 'chain', '--json'])
    expect(JSON.parse(doctor.stdout)[0]).toMatchObject({ finding: expect.stringMatching(/is empty or/) })
    await rm(chain, { recursive: true })
    await rename(join(other, 'chain'), chain)
    await expectEmbeddedRefused(dir, new RegExp(`to another installation: .* this database belongs to ${owner}`))
    await rm(join(chain, 'installation'))
    await expectEmbeddedRefused(dir, empty)

    // After the chain is lost permanently, every commit is sent again.
    await rm(chain, { recursive: true })
    await mkdir(chain)
    await writeFile(join(chain, 'installation'), owner)
    const again = await startEmbedded(dir)
    await again.ready()
    await settle(again)
    expect(await again.stop()).toMatchObject({ code: 0 })
  })
})
