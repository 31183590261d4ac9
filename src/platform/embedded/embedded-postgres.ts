/** PostgreSQL for a machine that has none: the real server, on 127.0.0.1, with its data under our directory. */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../domain/ports/log.ts'
import { FixableError } from '../fixable-error.ts'
import { assertNotOfAnother } from '../folder-owner.ts'
import { makeFolders } from '../make-folders.ts'
import { findFreePort, readLogTail, spawnServer, waitFor } from './child-process.ts'
import { errorCode } from './error-code.ts'
import {
  type Credentials,
  canHaveSocket,
  childEnvironment,
  createRunner,
  databaseUser,
  disarmStaleLock,
  ensureCluster,
  findBinaries,
  readCredentials,
  readPostmaster,
  readSystemIdentifier,
  removeHalfWritten,
  restoreKeys,
  writeCredentials,
} from './postgres-cluster.ts'

/** Where the server's data lies, and how long it is waited for. */
export interface EmbeddedPostgresOptions {
  /** The installation's directory. Data lies under `<dir>/postgres`, port and password in `<dir>/keys/postgres.json`. */
  dir: string
  log: Log
  /** A fixed port; otherwise one is chosen at the first start and kept as long as it is free. */
  port?: number
  /** Milliseconds until a server that does not let us in is given up, unless it recovers what a crash left; 60,000 when missing. */
  patience?: number
}

/** The embedded server, as one of its users has it. */
export interface EmbeddedPostgres {
  /** For the database `annal`, as its superuser. */
  url: string
  /** The same by its Unix socket, which costs both sides a quarter less of the processor; `url` where it has none. */
  localUrl: string
  /** Another process had started it: it was running, or outlived its parent. */
  joined: boolean
  /** Returns whether its data directory is still the one that it was started on. Raises what the file system raises. */
  isIntact(): Promise<boolean>
  /** Gives the server up. The last process that uses it stops it. */
  stop(): Promise<void>
}

const databaseName = 'annal'
const START_MS = 60_000
/** For a server that recovers what a crash left: it reads up to 2 GB of what it had written ahead. */
const RECOVERY_MS = 30 * 60_000
const STOP_MS = 30_000
/** For a server that was told to leave everything as it is: after five seconds it kills those of its processes that do not hear it. */
const QUIT_MS = 10_000
/** Until a server is started once more that could not be started again, such as for want of room: at first, and at most. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 15_000]

const logIn = (dir: string) => join(dir, 'postgres.log')

/** Every process that uses the server holds this lock, shared, for as long as it lives. */
const presenceLock = 0x616e6e61

const settings = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '192MB',
  max_connections: 200,
  max_wal_size: '2GB',
  fsync: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  random_page_cost: 1.1,
  // A fresh table without statistics makes cached plans slow until autovacuum has seen it.
  autovacuum_naptime: '5s',
  // Parallel workers need /dev/shm, of which a container has little; our statements are short.
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  // A line every five minutes, for ever.
  log_checkpoints: 'off',
  // Without details: of a row that it refuses they tell what stands in it, and the log stays when the person is gone.
  log_error_verbosity: 'terse',
}

/** Without TLS, which the server does not have: the driver would else ask PGSSLMODE, that people have set for servers of theirs. */
const urlOf = ({ port, password }: Credentials, database = databaseName) =>
  `postgresql://${databaseUser}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`

const localUrlOf = ({ credentials, socketDir }: { credentials: Credentials; socketDir?: string }) => {
  if (socketDir === undefined) return urlOf(credentials)
  const url = new URL(urlOf(credentials))
  url.searchParams.set('host', socketDir)
  return url.href
}

/** Calls `check` until it returns something; for longer than our patience while the server starts. */
const waitForServer = async <T>(
  { dir, log, patience = START_MS }: EmbeddedPostgresOptions,
  check: () => Promise<T | undefined>,
  isStarting: () => Promise<boolean>,
) => {
  const deadline = performance.now() + RECOVERY_MS
  for (;;) {
    const found = await waitFor(patience, check)
    if (found !== undefined || performance.now() > deadline || !(await isStarting())) return found
    log.warn({ logFile: logIn(dir) }, 'Embedded PostgreSQL is still starting, as after a crash; waiting')
  }
}

/**
 * Has a server that was told to stop leave everything as it is; false when there is none. PostgreSQL 18 stands for ever where it was told so
 * while it recovered from the death of one of its processes, and hears nothing else. What was committed is read again at the next start.
 */
const quit = async (dataDir: string, log: Log): Promise<boolean> => {
  const running = await readPostmaster(dataDir)
  if (!running?.stopping) return false
  log.warn({ pid: running.pid }, 'Embedded PostgreSQL does not stop; ending it. Its data is safe')
  try {
    process.kill(running.pid, 'SIGQUIT')
  } catch (error) {
    // It has ended by itself.
    if (errorCode(error) !== 'ESRCH') throw error
  }
  return true
}

/** Starts the server, or joins the one that runs on the directory. */
const ensureRunning = async (options: EmbeddedPostgresOptions) => {
  const { dir, log, port } = options
  const dataDir = join(dir, 'postgres')
  const logFile = logIn(dir)
  const written = await readCredentials(dir)
  const credentials = { ...written, port: port ?? written.port }
  let joined = true
  let hasSocket = canHaveSocket(dataDir)

  const attempt = async () => {
    const running = await readPostmaster(dataDir)
    if (running) {
      // Not ready: it starts, recovers or stops. All of them end by themselves.
      if (!running.ready) return undefined
      credentials.port = running.port
      return running
    }
    const binaries = await findBinaries()
    const runner = await createRunner(dir, binaries)
    await ensureCluster(dir, binaries, runner, credentials.password)
    await disarmStaleLock(dataDir)
    await removeHalfWritten(dir)
    const places = { port: credentials.port, unix_socket_directories: hasSocket ? dataDir : '' }
    const flags = Object.entries({ ...settings, ...places }).map(([name, value]) => `--${name}=${value}`)
    const server = await spawnServer({
      ...runner.command(binaries.postgres, ['-D', dataDir, ...flags]),
      env: childEnvironment,
      cwd: dir,
      logFile,
      user: runner.spawnAs,
    })
    let failure: string | undefined
    void server.ended.then((reason) => {
      failure = reason
    })
    const started = await waitForServer(
      options,
      async () => {
        const found = await readPostmaster(dataDir)
        return found?.ready ? found : failure === undefined ? undefined : null
      },
      async () => failure === undefined,
    )
    if (started) {
      joined = started.pid !== server.pid
      credentials.port = started.port
      return started
    }
    const tail = await readLogTail(logFile)
    if (/Address already in use|could not create any TCP\/IP sockets/.test(tail) && port === undefined) {
      credentials.port = await findFreePort()
      return undefined
    }
    // There are file systems without sockets.
    if (hasSocket && /could not create any Unix-domain sockets/.test(tail)) {
      hasSocket = false
      return undefined
    }
    // Another process was faster, or backends of a killed server are still about to end.
    if (/lock file ".*" already exists|pre-existing shared memory block/.test(tail)) return undefined
    throw new Error(`The embedded PostgreSQL did not start (${failure ?? 'too slow'}). The end of ${logFile}:\n${tail}`)
  }

  const isStarting = async () => (await readPostmaster(dataDir))?.starting === true
  const wait = () => waitForServer(options, attempt, isStarting)
  const postmaster = (await wait()) ?? ((await quit(dataDir, log)) ? await wait() : undefined)
  if (!postmaster) {
    throw new Error(
      `The PostgreSQL on ${dataDir} neither answers nor ends. Look at ${logFile}, and end it with "kill -QUIT" on the process named in ${dataDir}/postmaster.pid.`,
    )
  }
  // Commands that make room join beside a server whose disk is full.
  if (credentials.port !== written.port) await writeCredentials(dir, credentials)
  log.debug({ pid: postmaster.pid, port: postmaster.port, joined }, 'Embedded PostgreSQL is running')
  return { ...postmaster, credentials, joined }
}

/** What PostgreSQL answers while it starts, stops, or recovers from the crash of one of its processes. */
const CANNOT_CONNECT_NOW = '57P03'

/**
 * Takes the presence lock on a connection of its own. Without a connection there is the server's reason: it goes away or
 * recovers meanwhile, or somebody holds the lock who is about to stop it and stands still.
 */
const enter = async (
  credentials: Credentials,
  patience: number,
): Promise<{ presence?: pg.Client; reason?: string }> => {
  const client = new pg.Client({
    connectionString: urlOf(credentials, 'postgres'),
    connectionTimeoutMillis: 5_000,
    lock_timeout: patience / 2,
    query_timeout: START_MS,
    application_name: 'annal presence',
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT pg_advisory_lock_shared($1)', [presenceLock])
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [databaseName])
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${databaseName}`).catch((error) => {
        // 42P04, 23505: another process made it in this moment.
        if (!['42P04', '23505'].includes(errorCode(error) ?? '')) throw error
      })
    }
    return { presence: client }
  } catch (error) {
    await client.end().catch(() => undefined)
    const reason = errorCode(error)
    if (reason === '28P01') {
      const finding = 'The embedded PostgreSQL refuses our password: keys/postgres.json does not belong to this data.'
      throw new FixableError(finding, restoreKeys)
    }
    return { reason }
  }
}

/**
 * Starts PostgreSQL on the directory, or joins the one that runs there: of another process of ours, or one that outlived
 * a killed parent. A server that dies is started again, on the same port, and tried again for as long as it cannot be. Raises when the
 * first start fails, and as `assertNotOfAnother` does.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  assertNotOfAnother(options.dir)
  await makeFolders(options.dir)
  const { log } = options
  const resolved = { ...options, dir: await realpath(options.dir) }
  const dataDir = join(resolved.dir, 'postgres')
  const patience = options.patience ?? START_MS
  const stopping = new AbortController()

  const joinServer = async () => {
    let refusal: string | undefined
    const tryToEnter = async () => {
      const server = await ensureRunning(resolved)
      const { presence, reason } = await enter(server.credentials, patience)
      refusal = reason
      return presence && { ...server, presence }
    }
    const entered = await waitForServer(resolved, tryToEnter, async () => refusal === CANNOT_CONNECT_NOW)
    if (!entered) {
      throw new Error(
        `The PostgreSQL on ${dataDir} lets nobody in: it accepts no connections, or a process that was about to stop it stands still. End what stands still, or look at ${logIn(resolved.dir)}.`,
      )
    }
    entered.presence.once('end', () => {
      if (stopping.signal.aborted) return
      log.warn({}, 'Embedded PostgreSQL ended; starting it again')
      current = startAgain()
      current.catch(() => undefined)
    })
    return entered
  }
  /** For as long as it takes: a disk that is full has room again at some time. Raises when it is to be stopped meanwhile. */
  const startAgain = async (pause = FIRST_PAUSE_MS): ReturnType<typeof joinServer> => {
    try {
      return await joinServer()
    } catch (err) {
      log.error({ err }, 'Failed to start embedded PostgreSQL; retrying')
    }
    await delay(pause, undefined, { signal: stopping.signal })
    return startAgain(Math.min(2 * pause, LONGEST_PAUSE_MS))
  }
  const started = await joinServer()
  let current = Promise.resolve(started)

  /** Stops the server where nobody else uses it; tells whether. Raises where the connection is lost. */
  const stopIfLast = async ({ presence, pid }: Pick<typeof started, 'presence' | 'pid'>): Promise<boolean> => {
    try {
      await presence.query('SELECT pg_advisory_unlock_shared($1)', [presenceLock])
      const { rows } = await presence.query('SELECT pg_try_advisory_lock($1) AS last', [presenceLock])
      // Held until the server is gone: whoever comes now waits here, loses the connection, and starts a new server.
      if (rows[0].last) process.kill(pid, 'SIGINT')
      return rows[0].last
    } finally {
      await presence.end().catch(() => undefined)
    }
  }
  /** The same on another connection, unless that server is gone; undefined while it lets nobody in, as it recovers from the death of one of its processes. */
  const comeToStop = async ({ credentials, pid }: typeof started): Promise<boolean | undefined> => {
    if ((await readPostmaster(dataDir))?.pid !== pid) return false
    const { presence } = await enter(credentials, patience)
    return presence && stopIfLast({ presence, pid }).catch(() => undefined)
  }

  const leave = async () => {
    stopping.abort()
    // Rejected when it could not be started again: then there is nothing to stop.
    const server = await current.catch(() => undefined)
    if (!server) return
    const isLast = await stopIfLast(server).catch((err) => {
      log.warn({ err }, 'Embedded PostgreSQL ended while it was being stopped')
      return waitFor(STOP_MS, () => comeToStop(server))
    })
    if (isLast === false) return
    const isGone = async () => ((await readPostmaster(dataDir)) ? undefined : true)
    if (await waitFor(STOP_MS, isGone)) return
    const gone = (await quit(dataDir, log)) && (await waitFor(QUIT_MS, isGone))
    if (!gone) log.warn({ pid: server.pid }, 'Embedded PostgreSQL is still stopping. Its data is safe')
  }

  let stopped: Promise<void> | undefined
  const identifier = await readSystemIdentifier(dataDir)

  return {
    isIntact: async () => (await readSystemIdentifier(dataDir)) === identifier,
    url: urlOf(started.credentials),
    localUrl: localUrlOf(started),
    joined: started.joined,
    stop: () => {
      stopped ??= leave()
      return stopped
    },
  }
}
