import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { findServers, identify, waitFor } from '../../src/platform/embedded/child-process.ts'
import { startEmbeddedPostgres } from '../../src/platform/embedded/embedded-postgres.ts'
import { createRunner, ensureCluster, findBinaries } from '../../src/platform/embedded/postgres-cluster.ts'
import { annalHere, runAnnal } from '../support/annal-command.ts'
import { createTestLog } from '../support/test-log.ts'
import { beginToHold, end, hold, killHolders, silent as log } from './embedded-holders.ts'

let dir: string

const query = async (url: string, sql: string) => {
  const client = new pg.Client({ connectionString: url })
  // A server that goes away is told by the query, too.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const postmaster = async () => Number((await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

/** The connections by which processes say that they use the server. */
const present = (url: string) => query(url, `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`)

/** Until nobody but one is present: the server notices only a moment later that a process which used it was killed. */
const onlyOneIsPresent = (url: string) => waitFor(20_000, async () => (await present(url)).length === 1 || undefined)

const isListening = (url: string) =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-embedded-'))
})

afterEach(async () => {
  // Whatever a test left running: join it and be the last to leave.
  killHolders()
  if (await stat(join(dir, 'postgres')).catch(() => undefined)) {
    const last = await startEmbeddedPostgres({ dir, log })
    await onlyOneIsPresent(last.url)
    await last.stop()
  }
  await rm(dir, { recursive: true, force: true })
})

describe('embedded PostgreSQL', () => {
  it('outlives a killed parent, is joined by the next start, and keeps what was committed', async () => {
    const first = await hold('postgres', dir)
    await query(first.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    const pid = await postmaster()
    await end(first, 'SIGKILL')

    const second = await startEmbeddedPostgres({ dir, log })
    expect({ url: second.url, joined: second.joined, pid: await postmaster() }).toEqual({
      url: first.url,
      joined: true,
      pid,
    })
    expect(await query(second.url, 'SELECT word FROM words')).toEqual([{ word: 'kept' }])
    expect(await onlyOneIsPresent(second.url)).toBe(true)
    await second.stop()
    expect(await isListening(second.url)).toBe(false)
  })

  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'is made for root also where its own files lie in a closed folder, as in /root',
    async () => {
      const { postgres } = await findBinaries()
      const native = dirname(dirname(postgres))
      const closed = await mkdtemp(join(native, '../closed-'))
      onTestFinished(() => rm(closed, { recursive: true, force: true }))
      await promisify(execFile)('cp', ['-al', native, closed])
      const bin = (name: string) => join(closed, 'native/bin', name)
      const binaries = { initdb: bin('initdb'), postgres: bin('postgres') }
      await ensureCluster(dir, binaries, await createRunner(dir, binaries), 'a password')
      expect(await readFile(join(dir, 'postgres/PG_VERSION'), 'utf8')).toBe('18\n')
      // Nothing was ever started on it.
      await rm(join(dir, 'postgres'), { recursive: true })
    },
  )

  it.runIf(process.getuid?.() === 0)(
    'of another machine, where its user had another number, is handed over by root, and anybody else is told how',
    async () => {
      const first = await startEmbeddedPostgres({ dir, log })
      await query(first.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
      await first.stop()
      const dataDir = join(dir, 'postgres')
      await promisify(execFile)('chown', ['-R', '54321:54321', dataDir])

      const ordinary = { command: (binary: string, args: string[]) => ({ binary, args }) }
      await expect(ensureCluster(dir, await findBinaries(), ordinary, 'a password')).rejects.toThrow(
        `belongs to user 54321, and PostgreSQL serves nobody but 0, who starts it here: chown -R 0 ${dir}`,
      )

      const second = await startEmbeddedPostgres({ dir, log })
      expect(await query(second.url, 'SELECT word FROM words')).toEqual([{ word: 'kept' }])
      expect((await stat(join(dataDir, 'base'))).uid).toBe((await stat(dataDir)).uid)
      expect((await stat(dataDir)).uid).not.toBe(54_321)
      await second.stop()
    },
  )

  it('is not started where its password is lost, and nothing is written then', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    await query(first.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    await first.stop()
    const keys = join(dir, 'keys')
    const file = join(keys, 'postgres.json')
    const kept = await readFile(file, 'utf8')
    const refusals = async () => {
      const doctor = await annalHere({ ANNAL_DIR: dir }, ['doctor', '--only', 'database', '--json'])
      const [{ finding, fix }] = JSON.parse(doctor.stdout)
      const { code, stderr } = await runAnnal(dir, ['serve'], { env: { PORT: '0' } })
      expect([doctor.code, code, stderr.trim()]).toEqual([1, 1, `${finding} ${fix}`])
      expect(fix).toContain('Restore ANNAL_DIR/keys from the backup')
      return finding
    }
    const { password } = JSON.parse(kept)
    for (const damaged of [kept.slice(0, -4), '{}', 'null']) {
      await writeFile(file, damaged)
      expect(await refusals()).toBe(`${file} is damaged.`)
    }
    await writeFile(file, kept.replace(password, 'another'))
    expect(await refusals()).toMatch(/refuses our password/)
    await rm(keys, { recursive: true })
    expect(await refusals()).toBe(`${file} is missing.`)
    expect(await readdir(keys)).toEqual([])

    await writeFile(file, kept)
    const last = await startEmbeddedPostgres({ dir, log })
    expect(await query(last.url, 'SELECT word FROM words')).toEqual([{ word: 'kept' }])
    await last.stop()
  })

  it('takes away what a first start left that was killed while its data was being made', async () => {
    const halfMade = async () => (await readdir(dir)).filter((name) => name.startsWith('postgres.init-'))
    const makersOf = async () => {
      const [name] = (await halfMade()).filter((each) => !each.endsWith('.password'))
      return name === undefined ? [] : findServers(`--pgdata=${join(dir, name)}`)
    }
    const starter = beginToHold('postgres', dir)
    const maker = await waitFor(20_000, async () => (await makersOf())[0])
    // One that stands still is not done, however quick the machine is.
    process.kill(maker!, 'SIGSTOP')
    starter.kill('SIGKILL')
    await once(starter, 'exit')
    expect(await halfMade()).toHaveLength(2)
    const earlier = join(dir, 'postgres.init-131675e9')
    await mkdir(earlier)

    const postgres = await startEmbeddedPostgres({ dir, log })
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect([await halfMade(), await identify(maker!)]).toEqual([[], undefined])
    await postgres.stop()
  })

  it('is joined without anything being written, so that commands which make room work on a full disk', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    const version = async () => {
      const { ino, mtimeMs } = await stat(join(dir, 'keys/postgres.json'))
      return { ino, mtimeMs }
    }
    const before = await version()
    const second = await startEmbeddedPostgres({ dir, log })
    expect({ joined: second.joined, version: await version() }).toEqual({ joined: true, version: before })
    await second.stop()
    await first.stop()
  })

  it('takes away what a start left that was killed while it wrote a small file', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    await first.stop()
    const left = ['keys/postgres.json.0123456789ab', 'postgres/postmaster.pid.0123456789ab'].map((name) =>
      join(dir, name),
    )
    const written = join(dir, 'keys/postgres.json.ba9876543210')
    for (const file of [...left, written]) await writeFile(file, 'half')
    for (const file of left) await utimes(file, 0, 0)
    const second = await startEmbeddedPostgres({ dir, log })
    const isThere = (file: string) =>
      stat(file).then(
        () => true,
        () => false,
      )
    // Another process may write what is young.
    expect(await Promise.all([...left, written].map(isThere))).toEqual([false, false, true])
    await second.stop()
  })

  it('comes back on the same port with the same password, which only its owner can read', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    await first.stop()
    const { mode } = await stat(join(dir, 'keys', 'postgres.json'))
    expect(mode & 0o777).toBe(0o600)
    const second = await startEmbeddedPostgres({ dir, log })
    expect({ url: second.url, joined: second.joined }).toEqual({ url: first.url, joined: false })
    await second.stop()
  })

  it('starts over lock files whose process number belongs to somebody else now', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    const names = (await readdir(join(dir, 'postgres'))).filter((name) => /^postmaster\.pid$|\.lock$/.test(name))
    const files = names.map((name) => join(dir, 'postgres', name))
    expect(files).toHaveLength(2)
    const locks = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    await query(first.url, 'CREATE TABLE words (word text)')
    await first.stop()
    for (const [place, lock] of locks.entries()) {
      await writeFile(files[place]!, lock.replace(/^\d+/, String(process.pid)), { mode: 0o644 })
    }
    const second = await startEmbeddedPostgres({ dir, log })
    expect(await query(second.localUrl, 'SELECT word FROM words')).toEqual([])
    await second.stop()
  })

  it('is spoken to by a socket in its own folder, and by its port where the path would be too long', async () => {
    const near = await startEmbeddedPostgres({ dir, log })
    const far = await startEmbeddedPostgres({ dir: join(dir, 'deep'.repeat(25)), log })
    const addressSeenBy = ({ localUrl }: typeof near) => query(localUrl, 'SELECT host(inet_client_addr()) AS address')
    const seen = await Promise.all([addressSeenBy(near), addressSeenBy(far)])
    await Promise.all([near.stop(), far.stop()])
    expect(seen).toEqual([[{ address: null }], [{ address: '127.0.0.1' }]])
    expect((await stat(join(dir, 'postgres'))).mode & 0o077).toBe(0)
  })

  it('is spoken to without TLS, whatever is set for servers of other people', async () => {
    const { PGSSLMODE } = process.env
    process.env.PGSSLMODE = 'require'
    onTestFinished(() => {
      if (PGSSLMODE === undefined) delete process.env.PGSSLMODE
      else process.env.PGSSLMODE = PGSSLMODE
    })
    const server = await startEmbeddedPostgres({ dir, log, patience: 5_000 })
    expect(await isListening(server.url)).toBe(true)
    expect(await isListening(server.localUrl)).toBe(true)
    await server.stop()
  })

  it('recovers when the server itself is killed, while its user goes on', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    await query(server.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    process.kill(await postmaster(), 'SIGKILL')
    const rows = await waitFor(30_000, () => query(server.url, 'SELECT word FROM words').catch(() => undefined))
    expect(rows).toEqual([{ word: 'kept' }])
    await server.stop()
    expect(await isListening(server.url)).toBe(false)
  })

  it('is started again also where that fails for a while, as on a full disk, and can be stopped meanwhile', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    await query(server.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
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
    const rows = await waitFor(60_000, () => query(server.url, 'SELECT word FROM words').catch(() => undefined))
    expect(rows).toEqual([{ word: 'kept' }])

    await kill(3)
    await server.stop()
    await mend()
    expect(await isListening(server.url)).toBe(false)
  })

  it('serves two that start at once, from nothing, and stops with the last of them', async () => {
    const [first, second] = await Promise.all([hold('postgres', dir), hold('postgres', dir)])
    expect(second.url).toBe(first.url)
    expect([first.joined, second.joined].sort()).toEqual([false, true])
    await end(first)
    expect(await isListening(second.url)).toBe(true)
    await end(second)
    const told = await readFile(join(dir, 'postgres.log'), 'utf8')
    expect(await isListening(second.url), told).toBe(false)
  })

  it('tells in its log which rule a row was refused by, and nothing of what stood in it', async () => {
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
    const told = await readFile(join(dir, 'postgres.log'), 'utf8')
    expect(told).toContain('one_each')
    expect(told).toContain('people_age_check')
    expect(told).not.toContain('@example.org')
  })

  it('refuses with a sentence when somebody who was about to stop the server stands still', async () => {
    const holder = await hold('postgres', dir)
    const frozen = new pg.Client({ connectionString: holder.url.replace(/[^/]+$/, 'postgres') })
    await frozen.connect()
    // Whoever stops the server holds this lock alone. Asking for it is enough: those who come later stand behind.
    const asked = frozen.query('SELECT pg_advisory_lock($1)', [0x616e6e61])
    await waitFor(10_000, async () => {
      const waiting = await query(holder.url, `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)
      return waiting.length > 0 || undefined
    })
    await expect(startEmbeddedPostgres({ dir, log, patience: 500 })).rejects.toThrow(/lets nobody in.*stands still/)
    await end(holder, 'SIGKILL')
    await asked
    await frozen.end()
  })

  it('is waited for, and said to be, while it recovers for longer than a start takes', async () => {
    const first = await startEmbeddedPostgres({ dir, log })
    await query(first.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    await first.stop()
    // The server asks an archive that takes its time.
    await appendFile(join(dir, 'postgres', 'postgresql.conf'), "\nrestore_command = 'sleep 2; false'\n")
    await copyFile(join(dir, 'postgres', 'PG_VERSION'), join(dir, 'postgres', 'recovery.signal'))
    const { uid, gid } = await stat(join(dir, 'postgres'))
    await chown(join(dir, 'postgres', 'recovery.signal'), uid, gid)
    const told: string[] = []
    const warn = (_facts: object, sentence: string) => void told.push(sentence)
    const again = await startEmbeddedPostgres({ dir, log: { ...log, warn }, patience: 500 })
    expect(told.join()).toContain('still starting')
    expect(await query(again.url, 'SELECT word FROM words')).toEqual([{ word: 'kept' }])
    await again.stop()
  })

  it('is entered again once it has recovered from the death of one of its own processes, however long that takes', async () => {
    const told = createTestLog()
    const server = await startEmbeddedPostgres({ dir, log: told, patience: 20 })
    const [first] = await present(server.url)
    process.kill(first.pid, 'SIGKILL')
    const again = await waitFor(60_000, async () => {
      // Whoever comes before it takes its other processes down, too, has to come again.
      if (!(await readFile(join(dir, 'postgres.log'), 'utf8')).includes('reinitializing')) return undefined
      const [other] = await present(server.url).catch(() => [])
      return other?.pid === first.pid ? undefined : other
    })
    expect(again).toBeDefined()
    expect(told.lines.filter(({ level }) => level === 'error')).toEqual([])
    await server.stop()
    expect(await isListening(server.url)).toBe(false)
  })

  /** The process of the server that writes checkpoints: where it dies the others have to go, too, and the server recovers. */
  const checkpointer = async (url: string): Promise<number> =>
    (await query(url, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"))[0].pid
  const isGone = (pid: number) => waitFor(5_000, async () => (await identify(pid)) === undefined || undefined)

  it('is stopped by who leaves while it recovers from the death of one of its own processes', async () => {
    const server = await startEmbeddedPostgres({ dir, log })
    const running = await postmaster()
    const [own] = await present(server.url)
    const victim = await checkpointer(server.url)
    // What leaving asks for is never answered: the server ends the one that was asked, with all its other processes.
    process.kill(own.pid, 'SIGSTOP')
    process.kill(victim, 'SIGKILL')
    await server.stop()
    expect(await isGone(running)).toBe(true)
  })

  it('is ended and started anew where it was told to stop, and stands for ever', async () => {
    const told = createTestLog()
    const server = await startEmbeddedPostgres({ dir, log: told, patience: 3_000 })
    await query(server.url, 'CREATE TABLE words (word text); INSERT INTO words VALUES ($$kept$$)')
    const running = await postmaster()
    // It waits for the last checkpoint, as it waits for a process that its recovery has forgotten.
    process.kill(await checkpointer(server.url), 'SIGSTOP')
    process.kill(running, 'SIGINT')
    const rows = await waitFor(60_000, () => query(server.url, 'SELECT word FROM words').catch(() => undefined))
    expect(rows).toEqual([{ word: 'kept' }])
    expect(await isGone(running)).toBe(true)
    expect(told.lines.map(({ message }) => message).join()).toContain('Embedded PostgreSQL does not stop; ending it')
    await server.stop()
    expect(await isListening(server.url)).toBe(false)
  })

  it('is not ended by Ctrl-C, which a terminal sends to the whole process group', async () => {
    const holder = await hold('postgres', dir)
    const exited = once(holder.process, 'exit')
    process.kill(-(holder.process.pid ?? 0), 'SIGINT')
    await exited
    expect(await isListening(holder.url)).toBe(true)
  })
})
