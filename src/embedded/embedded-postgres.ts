/** PostgreSQL for a machine that has none: the real server, with its data in the installation's folder. */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../shared/log.ts'
import { errorCode, FixableError } from '../shared/operator-errors.ts'
import { assertOwnFolder, makeFolders } from '../shared/private-files.ts'
import { ownOrUse } from './ownership.ts'
import * as cluster from './postgres-cluster.ts'
import { readLogTail, signalServer, spawnServer, waitFor } from './server-process.ts'

interface EmbeddedPostgresOptions {
  /** The installation's folder. Data is in `<dir>/postgres`, port and password in `<dir>/keys/postgres.json`. */
  dir: string
  log: Log
  /** True for a service: commands use its server, and another service is refused. False for a command. */
  isService?: boolean
  /** Timeout in milliseconds for a server that neither recovers from a crash nor becomes ready. */
  patience?: number
}

/** The embedded server. */
export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>

const databaseName = 'annal'
const START_MS = 60_000
/** Recovery after a crash reads up to 2 GB of write-ahead log. */
const RECOVERY_MS = 30 * 60_000
const [STOP_MS, QUIT_MS] = [30_000, 10_000]
const [WATCH_EVERY_MS, LONGEST_PAUSE_MS] = [500, 15_000]
/** Maximum length of a socket path: 104 bytes on macOS, 108 on Linux, with the final zero. */
const MAX_SOCKET_PATH = 103

const settings = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '192MB',
  max_connections: 200,
  max_wal_size: '2GB',
  fsync: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  random_page_cost: 1.1,
  // Cached plans are slow for a fresh table until autovacuum has collected statistics.
  autovacuum_naptime: '5s',
  // Parallel query needs /dev/shm, and containers have little of it.
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Details of an error contain column values, and the log is kept after the account is deleted.
  log_error_verbosity: 'terse',
}

/** Sets `sslmode`, because the server has no TLS and the driver would otherwise read PGSSLMODE. */
const urlOf = ({ port, password }: cluster.Credentials, database = databaseName, socketDir?: string) =>
  `postgresql://${cluster.databaseUser}:${password}@127.0.0.1:${port}/${database}?sslmode=disable` +
  (socketDir === undefined ? '' : `&host=${encodeURIComponent(socketDir)}`)

/** Creates the database if it is missing. Throws FixableError when the password is wrong, and PostgreSQL's error otherwise. */
async function ensureDatabase(credentials: cluster.Credentials) {
  const connectionString = urlOf(credentials, 'postgres')
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: START_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${databaseName}`)
  } catch (error) {
    if (errorCode(error) !== '28P01') throw error
    const finding = 'The embedded PostgreSQL refuses our password: keys/postgres.json does not belong to this data.'
    throw new FixableError(finding, cluster.restoreKeys)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Starts PostgreSQL and restarts it when it dies, as its owner. A command uses the server of the running service. Throws FixableError. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions) {
  assertOwnFolder(options.dir)
  await makeFolders(options.dir)
  const { log, isService = false, patience = START_MS } = options
  const dir = await realpath(options.dir)
  const [dataDir, logFile] = [join(dir, 'postgres'), join(dir, 'postgres.log')]
  const stopping = new AbortController()
  // The socket is in the data folder, which only its owner can enter.
  let hasSocket = process.platform !== 'win32' && Buffer.byteLength(join(dataDir, '.s.PGSQL.65535')) <= MAX_SOCKET_PATH

  const findServer = () => cluster.readPostmaster(dataDir)
  type Postmaster = NonNullable<Awaited<ReturnType<typeof findServer>>>
  const waitUntilGone = (milliseconds: number) =>
    waitFor(milliseconds, async () => ((await findServer()) ? undefined : true))

  const connectTo = async ({ port, socketDir }: Postmaster) => {
    const credentials = { ...(await cluster.readCredentials(dir)), port }
    // A server rejects connections briefly while it recovers from the crash of one of its processes.
    for (const deadline = performance.now() + patience; ; await delay(50)) {
      const error = await ensureDatabase(credentials).catch((error: unknown) => error)
      if (!error) break
      if (error instanceof FixableError || performance.now() > deadline) throw error
    }
    const identifier = await cluster.readSystemIdentifier(dataDir)
    return {
      /** Connection URL of the database `annal`, as superuser, over TCP. */
      url: urlOf(credentials),
      /** Connection URL over the Unix socket, which uses a quarter less CPU time. Equal to `url` if there is no socket. */
      localUrl: urlOf(credentials, databaseName, socketDir),
      /** Returns true if the data folder is still the one that the server was started on. */
      isIntact: async () => (await cluster.readSystemIdentifier(dataDir)) === identifier,
    }
  }

  /** Sends SIGQUIT to a server that hangs while it stops. PostgreSQL 18 hangs when it is stopped during crash recovery. No data is lost. */
  const quit = async (pid: number) => {
    log.warn({ pid }, 'Embedded PostgreSQL does not stop; ending it. Its data is safe')
    signalServer(pid, 'SIGQUIT')
    return waitUntilGone(QUIT_MS)
  }

  const launch = async ({ port, password }: cluster.Credentials) => {
    const binaries = await cluster.findBinaries()
    const runner = await cluster.createRunner(dir, binaries)
    await cluster.ensureCluster(dir, binaries, runner, password)
    await cluster.cleanUpAfterCrash(dir)
    const places = { port, unix_socket_directories: hasSocket ? dataDir : '' }
    const flags = Object.entries({ ...settings, ...places }).map(([name, value]) => `--${name}=${value}`)
    const command = runner.command(binaries.postgres, ['-D', dataDir, ...flags])
    return spawnServer({ ...command, env: cluster.childEnvironment, cwd: dir, logFile, user: runner.spawnAs })
  }

  /** Returns the server once it accepts connections. Starts it when none runs. */
  const ensureRunning = async (): Promise<Postmaster> => {
    let credentials = await cluster.readCredentials(dir)
    const begin = performance.now()
    let patient = begin + patience
    let launched: Awaited<ReturnType<typeof launch>> | undefined
    for (;;) {
      stopping.signal.throwIfAborted()
      const found = await findServer()
      if (found?.state === 'ready') return found
      if (!found && !launched) {
        launched = await launch(credentials)
        patient = performance.now() + patience
      } else if (!found && launched?.failure !== undefined) {
        const tail = await readLogTail(logFile)
        if (/Address already in use|could not create any TCP\/IP sockets/.test(tail))
          credentials = await cluster.chooseCredentials(dir, credentials.password)
        // Some file systems do not support sockets.
        else if (hasSocket && /could not create any Unix-domain sockets/.test(tail)) hasSocket = false
        // Child processes of a killed server may still be running.
        else if (!/pre-existing shared memory block/.test(tail) || performance.now() > patient)
          throw new Error(
            `The embedded PostgreSQL did not start (${launched.failure}). The end of ${logFile}:\n${tail}`,
          )
        launched = undefined
      } else if (performance.now() > patient) {
        const isRecovering = found?.state === 'starting' && performance.now() < begin + RECOVERY_MS
        if (isRecovering) log.warn({ logFile }, 'Embedded PostgreSQL is still starting, as after a crash; waiting')
        else if (found?.state !== 'stopping' || !(await quit(found.pid)))
          throw new Error(`The embedded PostgreSQL in ${dataDir} neither answers nor ends. Look at ${logFile}.`)
        patient = performance.now() + patience
      }
      await delay(10)
    }
  }

  /** Restarts the server when it dies. A full disk can prevent that for a while. Rejects when the server is to be stopped. */
  const watch = async (): Promise<never> => {
    for (let pause = WATCH_EVERY_MS; ; ) {
      await delay(pause, undefined, { signal: stopping.signal })
      const found = await findServer()
      if (found && found.state !== 'stopping') continue
      log.warn({}, 'Embedded PostgreSQL ended; starting it again')
      try {
        await ensureRunning()
        pause = WATCH_EVERY_MS
      } catch (err) {
        stopping.signal.throwIfAborted()
        log.error({ err }, 'Failed to start embedded PostgreSQL; retrying')
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
      }
    }
  }

  const stop = async (watching?: Promise<unknown>) => {
    stopping.abort()
    await watching
    const server = await findServer()
    if (!server) return
    signalServer(server.pid, 'SIGINT')
    if (!(await waitUntilGone(STOP_MS)) && !(await quit(server.pid)))
      log.warn({ pid: server.pid }, 'Embedded PostgreSQL is still stopping. Its data is safe')
  }

  const start = async () => {
    try {
      const connection = await connectTo(await ensureRunning())
      const watching = watch().catch(() => undefined)
      return { ...connection, stop: () => stop(watching) }
    } catch (error) {
      await stop()
      throw error
    }
  }
  return ownOrUse({ path: join(dir, 'postgres.owner'), isService }, start, async () => {
    const found = await findServer()
    return found?.state === 'ready' ? connectTo(found) : undefined
  })
}
