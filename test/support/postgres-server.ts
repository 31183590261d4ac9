/** Runs PostgreSQL servers with standbys that tests can kill, disconnect and promote. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import {
  childEnvironment,
  createRunner,
  databaseUser,
  ensureCluster,
  findBinaries,
} from '../../src/embedded/embedded-postgres.ts'
import { findServers, startServer } from '../../src/embedded/server-process.ts'
import { until } from './eventually.ts'

const run = promisify(execFile)

export type ServerPlace = { dir: string; hosts: readonly string[]; port: number; inside?: readonly string[] }

export interface PostgresServer {
  readonly place: ServerPlace
  readonly url: string
  readonly name: string
  readonly password: string
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  kill(): Promise<boolean>
  configure(settings: Readonly<Record<string, string | null>>): Promise<void>
  settleStandbys(): Promise<void>
  sql<Row = Record<string, string>>(text: string): Promise<Row[]>
  makeStandby(place: ServerPlace): Promise<PostgresServer>
  promote(): Promise<void>
  log(): Promise<string>
}

const common = {
  shared_buffers: '64MB',
  max_connections: '200',
  wal_keep_size: '512MB',
  unix_socket_directories: '',
  jit: 'off',
  timezone: 'UTC',
  autovacuum_naptime: '5s',
  log_line_prefix: '%m [%p] %a ',
}

const CONNECT_TIMEOUT_MS = 5_000

function signal(pid: number, what: 'SIGKILL' | 'SIGHUP' | 0): boolean {
  try {
    return process.kill(pid, what)
  } catch {
    return false
  }
}

const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`

function open(place: ServerPlace, password: string): PostgresServer {
  const { dir, hosts, port, inside = [] } = place
  const dataDir = join(dir, 'postgres')
  const serverArgument = `-D${dataDir}`
  const url = `postgresql://${databaseUser}:${password}@${hosts[0]}:${port}/annal`
  const settings = new Map<string, string>(
    Object.entries({ ...common, port: String(port), listen_addresses: hosts.join(',') }),
  )

  const sql = async <Row>(text: string, database = 'annal'): Promise<Row[]> => {
    const client = new pg.Client({
      connectionString: url.replace(/annal$/, database),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'operator',
    })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows as Row[]
    } finally {
      await client.end()
    }
  }

  const write = async (path: string, text: string) => {
    await writeFile(path, text, { mode: 0o600 })
    const { owner } = await createRunner(dir, await findBinaries())
    if (owner) await chown(path, owner.uid, owner.gid)
  }

  const writeSettings = () =>
    write(
      join(dataDir, 'postgresql.auto.conf'),
      [...settings].map(([name, value]) => `${name} = ${quoted(value)}\n`).join(''),
    )

  const server: PostgresServer = {
    place,
    url,
    name: `${hosts[0]}:${port}`,
    password,
    sql,
    async start(more = {}) {
      for (const [name, value] of Object.entries(more)) settings.set(name, value)
      await writeSettings()
      await rm(join(dataDir, 'postmaster.pid'), { force: true })
      const binaries = await findBinaries()
      const runner = await createRunner(dir, binaries)
      const command = [...inside, ...runner.prefix, binaries.postgres, serverArgument]
      await startServer('postgres', dir, command, childEnvironment, () =>
        sql('select 1', 'postgres').then(
          () => true,
          () => false,
        ),
      )
    },
    async kill() {
      const [postmaster] = await findServers(serverArgument)
      if (postmaster === undefined) return false
      const { stdout } = await run('pgrep', ['-P', String(postmaster)]).catch(() => ({ stdout: '' }))
      const pids = [postmaster, ...stdout.split('\n').filter(Boolean).map(Number)]
      for (const pid of pids) signal(pid, 'SIGKILL')
      await until('PostgreSQL is gone', () => !pids.some((pid) => signal(pid, 0)))
      return true
    },
    async configure(changes) {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) settings.delete(name)
        else settings.set(name, value)
      }
      await writeSettings()
      signal((await findServers(serverArgument))[0]!, 'SIGHUP')
    },
    async settleStandbys() {
      const wanted = settings.get('synchronous_standby_names') ?? ''
      await until('the server has read its settings', async () => {
        const [row] = await sql<{ names: string }>(`select current_setting('synchronous_standby_names') as names`)
        return row!.names === wanted
      })
      // A checkpoint guarantees that the checkpointer has applied the settings.
      await sql('checkpoint')
    },
    async makeStandby(at) {
      const target = join(at.dir, 'postgres')
      await rm(target, { recursive: true, force: true })
      await mkdir(at.dir, { recursive: true, mode: 0o755 })
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
      client.on('error', () => {})
      await client.connect()
      try {
        await client.query(`select pg_backup_start('standby', true)`)
        // The write-ahead log restores files that disappear during the copy.
        await run('cp', ['-a', dataDir, target]).catch((error: { stderr?: string }) => {
          if (!/No such file/.test(error.stderr ?? '')) throw error
        })
        const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
        const standby = open(at, password)
        for (const name of ['postmaster.pid', 'postmaster.opts']) await rm(join(target, name), { force: true })
        for (const [name, text] of Object.entries({ backup_label: rows[0]!.labelfile, 'standby.signal': '' })) {
          await write(join(target, name), text)
        }
        return standby
      } finally {
        await client.end()
      }
    },
    async promote() {
      const [row] = await sql<{ isDone: boolean }>('select pg_promote(true, 30) as "isDone"')
      if (!row!.isDone) throw new Error('The standby was not promoted within 30 s.')
    },
    log: () => readFile(join(dir, 'postgres.log'), 'utf8'),
  }
  return server
}

export const following = (server: PostgresServer, name: string): Record<string, string> => ({
  primary_conninfo: [
    `host=${server.place.hosts.at(-1)} port=${server.place.port} user=${databaseUser} password=${server.password}`,
    // Detects lost connections quickly.
    `application_name=${name} connect_timeout=2 keepalives_idle=1 keepalives_interval=1 keepalives_count=3`,
  ].join(' '),
})

/** Creates and starts a cluster with an empty database `annal`. */
export async function startPostgresServer(place: ServerPlace): Promise<PostgresServer> {
  await mkdir(place.dir, { recursive: true, mode: 0o755 })
  await chmod(place.dir, 0o755)
  const password = randomBytes(12).toString('hex')
  const binaries = await findBinaries()
  await ensureCluster(place.dir, binaries, await createRunner(place.dir, binaries))
  const hosts = ['all', 'replication'].map((database) => `host ${database} all 127.0.0.0/8 trust\n`)
  await writeFile(join(place.dir, 'postgres', 'pg_hba.conf'), hosts.join(''))
  const server = open(place, password)
  await server.start()
  const admin = new pg.Client({ connectionString: server.url.replace(/annal$/, 'postgres') })
  await admin.connect()
  await admin.query('create database annal')
  await admin.end()
  return server
}
