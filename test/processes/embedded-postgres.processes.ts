import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, copyFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  createRunner,
  ensureCluster,
  findBinaries,
  startEmbeddedPostgres,
} from '../../src/embedded/embedded-postgres.ts'
import { findServers, waitFor } from '../../src/embedded/server-process.ts'
import { identify } from '../support/process-identity.ts'
import { createTestLog } from '../support/test-log.ts'
import { beginToHold, end, hold, killHolders, silent as log } from './embedded-holders.ts'

let dir: string

const query = async (url: string, sql: string) => {
  const client = new pg.Client({ connectionString: url })
  // The query reports a lost connection, too.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const createWords = (url: string) => query(url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
const readWords = async (url: string) => (await query(url, 'SELECT word FROM words')).map(({ word }) => word)

async function createStopped() {
  const server = await startEmbeddedPostgres({ dir, log })
  await createWords(server.url)
  await server.stop()
}

const recovered = (url: string) => waitFor(60_000, () => readWords(url).catch(() => undefined))

const postmaster = async () => Number((await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

const isListening = (url: string) =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-embedded-'))
})

afterEach(async () => {
  // Takes over and stops what a test left running.
  killHolders()
  if (await stat(join(dir, 'postgres')).catch(() => undefined)) await (await startEmbeddedPostgres({ dir, log })).stop()
  await rm(dir, { recursive: true, force: true })
})

describe('embedded PostgreSQL', () => {
  it('embedded PostgreSQL starts again with all committed data after its owner was killed', async () => {
    const first = await hold('postgres', dir)
    await createWords(first.url)
    const pid = await postmaster()
    await end(first, 'SIGKILL')

    const second = await startEmbeddedPostgres({ dir, log })
    expect(second.url).toBe(first.url)
    expect(await identify(pid)).toBeUndefined()
    expect(await readWords(second.url)).toEqual(['kept'])
    await second.stop()
    expect(await isListening(second.url)).toBe(false)
  })

  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'root can create embedded PostgreSQL in a private folder such as /root',
    async () => {
      const { postgres } = await findBinaries()
      const native = dirname(dirname(postgres))
      const closed = await mkdtemp(join(native, '../closed-'))
      onTestFinished(() => rm(closed, { recursive: true, force: true }))
      await promisify(execFile)('cp', ['-al', native, closed])
      const bin = (name: string) => join(closed, 'native/bin', name)
      const binaries = { initdb: bin('initdb'), postgres: bin('postgres') }
      await ensureCluster(dir, binaries, await createRunner(dir, binaries))
      expect(await readFile(join(dir, 'postgres/PG_VERSION'), 'utf8')).toBe('18\n')
      await rm(join(dir, 'postgres'), { recursive: true })
    },
  )

  it.runIf(process.getuid?.() === 0)(
    'root can transfer embedded PostgreSQL from another user ID, and other users get instructions',
    async () => {
      await createStopped()
      const dataDir = join(dir, 'postgres')
      await promisify(execFile)('chown', ['-R', '54321:54321', dataDir])

      await expect(ensureCluster(dir, await findBinaries(), { prefix: [] })).rejects.toThrow(
        `belongs to user 54321. Change the owner: chown -R 0 ${dir}`,
      )

      const second = await startEmbeddedPostgres({ dir, log })
      expect(await readWords(second.url)).toEqual(['kept'])
      expect((await stat(join(dataDir, 'base'))).uid).toBe((await stat(dataDir)).uid)
      expect((await stat(dataDir)).uid).not.toBe(54_321)
      await second.stop()
    },
  )

  it('embedded PostgreSQL removes an incomplete data folder and stops its initdb', async () => {
    const halfMade = async () => (await readdir(dir)).filter((name) => name.startsWith('postgres.init'))
    const starter = beginToHold('postgres', dir)
    const maker = await waitFor(20_000, async () => (await findServers(`--pgdata=${join(dir, 'postgres.init')}`))[0])
    // A suspended process cannot complete, even on a fast machine.
    process.kill(maker!, 'SIGSTOP')
    starter.kill('SIGKILL')
    await once(starter, 'exit')
    expect(await halfMade()).toHaveLength(1)
    const postgres = await startEmbeddedPostgres({ dir, log })
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect([await halfMade(), await identify(maker!)]).toEqual([[], undefined])
    await postgres.stop()
  })

  it('embedded PostgreSQL writes nothing for a command, so that commands work on a full disk', async () => {
    const first = await startEmbeddedPostgres({ dir, log, isService: true })
    const folders = [dir, join(dir, 'postgres')]
    const versions = () => Promise.all(folders.map(async (folder) => (await stat(folder)).mtimeMs))
    const before = await versions()
    const second = await startEmbeddedPostgres({ dir, log })
    expect(await versions()).toEqual(before)
    await second.stop()
    await first.stop()
  })

  it('embedded PostgreSQL restarts without half-written files', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    await first.stop()
    await writeFile(join(dir, 'postgres/postmaster.pid.0123456789ab'), 'half')
    const second = await startEmbeddedPostgres({ dir, log })
    expect(second.url).toBe(first.url)
    expect(await readdir(dir, { recursive: true })).not.toEqual(
      expect.arrayContaining([expect.stringContaining('0123456')]),
    )
    await second.stop()
  })

  it('embedded PostgreSQL starts despite stale lock files with a reused process ID', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    const names = (await readdir(join(dir, 'postgres'))).filter((name) => /^postmaster\.pid$|\.lock$/.test(name))
    const files = names.map((name) => join(dir, 'postgres', name))
    expect(files).toHaveLength(2)
    const locks = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    await query(first.url, 'CREATE TABLE words (word text)')
    await first.stop()
    for (const [place, lock] of locks.entries())
      await writeFile(files[place]!, lock.replace(/^\d+/, String(process.pid)), { mode: 0o644 })
    const second = await startEmbeddedPostgres({ dir, log })
    expect(await query(second.url, 'SELECT word FROM words')).toEqual([])
    await second.stop()
  })

  it('embedded PostgreSQL uses a socket in its folder, or in the temporary folder if the path is too long', async () => {
    const near = await startEmbeddedPostgres({ dir, log })
    const far = await startEmbeddedPostgres({ dir: join(dir, 'deep'.repeat(25)), log })
    const folders = [near, far].map(({ url }) => new URL(url).searchParams.get('host')!)
    onTestFinished(() => rm(folders[1]!, { recursive: true }))
    const addressSeenBy = ({ url }: typeof near) => query(url, 'SELECT host(inet_client_addr()) AS address')
    const seen = await Promise.all([addressSeenBy(near), addressSeenBy(far)])
    const modes = await Promise.all(folders.map(async (folder) => (await stat(folder)).mode & 0o077))
    await Promise.all([near.stop(), far.stop()])
    expect(folders).toEqual([join(dir, 'postgres'), expect.stringContaining(join(tmpdir(), 'annal-'))])
    expect([seen, modes]).toEqual([
      [[{ address: null }], [{ address: null }]],
      [0, 0],
    ])
  })

  it('connects to embedded PostgreSQL without TLS, independent of the TLS settings', async () => {
    const { PGSSLMODE } = process.env
    process.env.PGSSLMODE = 'require'
    onTestFinished(() => {
      if (PGSSLMODE === undefined) delete process.env.PGSSLMODE
      else process.env.PGSSLMODE = PGSSLMODE
    })
    const server = await startEmbeddedPostgres({ dir, log })
    expect(await isListening(server.url)).toBe(true)
    await server.stop()
  })

  it('embedded PostgreSQL recovers if its server is killed, while the service continues', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    await createWords(server.url)
    process.kill(await postmaster(), 'SIGKILL')
    expect(await recovered(server.url)).toEqual(['kept'])
    await server.stop()
    expect(await isListening(server.url)).toBe(false)
  })

  it('restarts embedded PostgreSQL repeatedly, for example on a full disk, and can be stopped meanwhile', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    await createWords(server.url)
    const needed = join(dir, 'postgres/global/pg_control')
    const kill = async (times: number) => {
      await rename(needed, `${needed}.away`)
      process.kill(await postmaster(), 'SIGKILL')
      const hasFailed = async () =>
        (await readFile(join(dir, 'postgres.log'), 'utf8')).split('pg_control": No such file').length > times
      expect(await waitFor(60_000, async () => (await hasFailed()) || undefined)).toBe(true)
    }
    const mend = () => rename(`${needed}.away`, needed)

    await kill(2)
    await mend()
    expect(await recovered(server.url)).toEqual(['kept'])

    await kill(3)
    await server.stop()
    await mend()
    expect(await isListening(server.url)).toBe(false)
  })

  it('a command can use the embedded PostgreSQL of a running service, but a second service cannot', async () => {
    const service = await hold('postgres', dir)
    const command = await startEmbeddedPostgres({ dir, log })
    expect(command.url).toBe(service.url)
    await command.stop()
    expect(await isListening(service.url)).toBe(true)
    await expect(startEmbeddedPostgres({ dir, log, isService: true })).rejects.toThrow(
      `Another Annal service (process ${service.process.pid}) uses ${dir}. Stop it first.`,
    )
    await end(service)
    expect(await isListening(service.url)).toBe(false)
  })

  it('commands that start concurrently own embedded PostgreSQL one after another', async () => {
    const service = await hold('postgres', dir)
    const { url } = service
    await end(service, 'SIGKILL')
    let owners = 0
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const command = await startEmbeddedPostgres({ dir, log })
        owners += 1
        expect([owners, await isListening(url)]).toEqual([1, true])
        owners -= 1
        await command.stop()
      }),
    )
    expect(await isListening(url)).toBe(false)
  })

  it('embedded PostgreSQL starts if another program has the process ID of the last owner', async () => {
    const other = spawn('sleep', ['60'])
    onTestFinished(() => void other.kill('SIGKILL'))
    await writeFile(join(dir, 'postgres.owner'), `service ${other.pid}`)
    const server = await startEmbeddedPostgres({ dir, log, isService: true })
    expect(await isListening(server.url)).toBe(true)
    await server.stop()
    expect(other.exitCode ?? other.signalCode).toBeNull()
  })

  it('embedded PostgreSQL logs a violated constraint, but not the row', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    await query(server.url, 'CREATE TABLE people (email text CONSTRAINT one_each UNIQUE, age int CHECK (age > 0))')
    const insert = async (email: string, age: number) => {
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      return client.query('INSERT INTO people VALUES ($1, $2)', [email, age]).finally(() => client.end())
    }
    await insert('ada@example.org', 36)
    await expect(insert('ada@example.org', 37)).rejects.toThrow('one_each')
    await expect(insert('bob@example.org', -1)).rejects.toThrow('people_age_check')
    await server.stop()
    const reported = await readFile(join(dir, 'postgres.log'), 'utf8')
    expect(reported).toContain('one_each')
    expect(reported).toContain('people_age_check')
    expect(reported).not.toContain('@example.org')
  })

  it('the start waits for the recovery of a killed embedded PostgreSQL, with a message', async () => {
    const first = await hold('postgres', dir)
    await createWords(first.url)
    process.kill(first.process.pid!, 'SIGKILL')
    process.kill(await postmaster(), 'SIGKILL')
    // The server waits for a slow archive.
    await appendFile(join(dir, 'postgres', 'postgresql.conf'), "\nrestore_command = 'sleep 2; false'\n")
    await copyFile(join(dir, 'postgres', 'PG_VERSION'), join(dir, 'postgres', 'recovery.signal'))
    const { uid, gid } = await stat(join(dir, 'postgres'))
    await chown(join(dir, 'postgres', 'recovery.signal'), uid, gid)
    const reported = createTestLog()
    const server = await startEmbeddedPostgres({ dir, log: reported })
    expect(await readWords(server.url)).toEqual(['kept'])
    await server.stop()
    expect(reported.lines.map(({ message }) => message).join()).toContain('was killed; it recovers its data')
  })

  /** The checkpointer process of the server. If it dies, the server restarts all other processes and recovers. */
  const checkpointer = async (url: string): Promise<number> =>
    (await query(url, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"))[0].pid
  const isReplaced = (pid: number) => waitFor(5_000, async () => (await identify(pid)) === undefined || undefined)

  it('kills embedded PostgreSQL if it hangs while stopping, and the next start has all data', async () => {
    const reported = createTestLog()
    const first = await startEmbeddedPostgres({ dir, log: reported })
    await createWords(first.url)
    const [running, suspended] = [await postmaster(), await checkpointer(first.url)]
    process.kill(suspended, 'SIGSTOP')
    await first.stop()
    expect(await isReplaced(running)).toBe(true)
    expect(reported.lines.map(({ message }) => message).join()).toContain(
      'Embedded PostgreSQL does not stop; ending it',
    )
    const second = await startEmbeddedPostgres({ dir, log })
    expect(await readWords(second.url)).toEqual(['kept'])
    await second.stop()
  })

  it("Ctrl-C in the terminal's process group does not stop embedded PostgreSQL", async () => {
    const holder = await hold('postgres', dir)
    const exited = once(holder.process, 'exit')
    process.kill(-(holder.process.pid ?? 0), 'SIGINT')
    await exited
    expect(await isListening(holder.url)).toBe(true)
  })
})
