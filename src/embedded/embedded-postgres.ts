/** PostgreSQL for a machine that has none: the real server, with its data in `<dir>/postgres` and a Unix socket there. */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../shared/log.ts'
import { assertOwnFolder, makeFolders } from '../shared/private-files.ts'
import { ownOrUse } from './ownership.ts'
import * as cluster from './postgres-cluster.ts'
import { placeSocket, readLogTail, signalServer, spawnServer, waitFor } from './server-process.ts'

interface EmbeddedPostgresOptions {
  /** The data folder of the installation. */
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
const port = 5432
const START_MS = 60_000
/** Recovery after a crash reads up to 2 GB of write-ahead log. */
const RECOVERY_MS = 30 * 60_000
const [STOP_MS, QUIT_MS] = [30_000, 10_000]
const [WATCH_EVERY_MS, LONGEST_PAUSE_MS] = [500, 15_000]

const settings = {
  listen_addresses: '',
  port,
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

/** Sets port and `sslmode`, which the driver would otherwise read from PGPORT and PGSSLMODE. */
const urlOf = (socketDir: string, database: string) =>
  `postgresql://${cluster.databaseUser}@127.0.0.1:${port}/${database}?sslmode=disable&host=${encodeURIComponent(socketDir)}`

/** Creates the database if it is missing. */
async function ensureDatabase(socketDir: string) {
  const connectionString = urlOf(socketDir, 'postgres')
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: START_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${databaseName}`)
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

  const findServer = () => cluster.readPostmaster(dataDir)
  type Postmaster = NonNullable<Awaited<ReturnType<typeof findServer>>>
  const waitUntilStopped = (milliseconds: number) =>
    waitFor(milliseconds, async () => ((await findServer()) ? undefined : true))

  const connectTo = async ({ socketDir }: Postmaster) => {
    // A server rejects connections briefly while it recovers from the crash of one of its processes.
    for (const deadline = performance.now() + patience; ; await delay(50)) {
      const error = await ensureDatabase(socketDir).catch((error: unknown) => error)
      if (!error) break
      if (performance.now() > deadline) throw error
    }
    const identifier = await cluster.readSystemIdentifier(dataDir)
    return {
      /** Connection URL of the database `annal`, as superuser. */
      url: urlOf(socketDir, databaseName),
      /** Returns true if the data folder is still the one that the server was started on. */
      isIntact: async () => (await cluster.readSystemIdentifier(dataDir)) === identifier,
    }
  }

  /** Sends SIGQUIT to a server that hangs while it stops. PostgreSQL 18 hangs when it is stopped during crash recovery. No data is lost. */
  const quit = async (pid: number) => {
    log.warn({ pid }, 'Embedded PostgreSQL does not stop; ending it. Its data is safe')
    signalServer(pid, 'SIGQUIT')
    return waitUntilStopped(QUIT_MS)
  }

  const launch = async () => {
    const binaries = await cluster.findBinaries()
    const runner = await cluster.createRunner(dir, binaries)
    await cluster.ensureCluster(dir, binaries, runner)
    await cluster.prepareStart(dataDir)
    const socketDir = await placeSocket(dataDir, `.s.PGSQL.${port}`, runner.owner)
    const flags = Object.entries({ ...settings, unix_socket_directories: socketDir })
    const command = runner.command(binaries.postgres, [
      '-D',
      dataDir,
      ...flags.map(([name, value]) => `--${name}=${value}`),
    ])
    return spawnServer({ ...command, env: cluster.childEnvironment, cwd: dir, logFile, user: runner.spawnAs })
  }

  /** Returns the server once it accepts connections. Starts it when none runs. */
  const ensureRunning = async (): Promise<Postmaster> => {
    const begin = performance.now()
    let deadline = begin + patience
    let launched: Awaited<ReturnType<typeof launch>> | undefined
    for (; ; await delay(10)) {
      stopping.signal.throwIfAborted()
      const found = await findServer()
      if (found?.state === 'ready') return found
      if (!found && launched?.failure !== undefined) {
        const tail = await readLogTail(logFile)
        // Child processes of a killed server may still be running.
        if (!/pre-existing shared memory block/.test(tail) || performance.now() > begin + patience)
          throw new Error(
            `The embedded PostgreSQL did not start (${launched.failure}). The end of ${logFile}:\n${tail}`,
          )
        launched = undefined
      }
      if (!found && !launched) {
        launched = await launch()
        deadline = performance.now() + patience
      } else if (performance.now() > deadline) {
        const isRecovering = found?.state === 'starting' && performance.now() < begin + RECOVERY_MS
        if (isRecovering) log.warn({ logFile }, 'Embedded PostgreSQL is still starting, as after a crash; waiting')
        else if (found?.state !== 'stopping' || !(await quit(found.pid)))
          throw new Error(`The embedded PostgreSQL in ${dataDir} neither answers nor ends. Look at ${logFile}.`)
        deadline = performance.now() + patience
      }
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
    if (!(await waitUntilStopped(STOP_MS)) && !(await quit(server.pid)))
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
