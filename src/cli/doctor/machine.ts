/** Checks of the machine: what the process may use of it, and who else gets at what lies there. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import { openFileLimit } from '../../http/connections.ts'
import { bytes, type Diagnosis, right, toKnow, warning, wrong } from './diagnosis.ts'
import { existsAbove } from './exists-above.ts'
import type { Parts } from './parts.ts'

/** Older ones cannot run the sources: they do not strip types. */
const OLDEST_NODE = [22, 18]
const NODE = 24

/** The version of Node. */
export async function checkNode(): Promise<Diagnosis[]> {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const [oldest, oldestMinor] = OLDEST_NODE as [number, number]
  const fix = 'Start by `npm start` or `npm run annal`, which use the Node that npm brought, or install Node 24.'
  if (major < oldest || (major === oldest && minor < oldestMinor)) return [wrong(`Node ${node} is too old.`, fix)]
  return major < NODE ? [warning(`Node ${node}; Annal is tested with Node ${NODE}.`, fix)] : [right(`Node ${node}.`)]
}

const FEW_FILES = 4_096

/** How many files and connections may be open. */
export async function checkOpenFiles(): Promise<Diagnosis[]> {
  const limit = openFileLimit()
  if (limit === Number.POSITIVE_INFINITY) return [right('Open files are not limited.')]
  if (limit >= FEW_FILES) return [right(`${limit} files and connections may be open at once.`)]
  return [
    warning(
      `Only ${limit} files and connections may be open at once in this shell; a server needs one for each caller.`,
      `Raise it where the server is started: \`ulimit -n 65536\`, or \`LimitNOFILE=65536\` for systemd.`,
    ),
  ]
}

const LITTLE_MEMORY_BYTES = 1_000_000_000
const LITTLE_FREE_BYTES = 200_000_000

/** Memory, of the machine or of the container. */
export async function checkMemory(): Promise<Diagnosis[]> {
  const limit = process.constrainedMemory()
  const isLimited = limit > 0 && limit < totalmem()
  const total = isLimited ? limit : totalmem()
  const free = Math.max(process.availableMemory(), isLimited ? 0 : freemem())
  const finding = `${bytes(total)} of memory${isLimited ? ' in this container' : ''}, ${bytes(free)} of it free.`
  const fix = 'Give it 1 GB, and another one for each embedded part; see "capacity" in docs/operations.md.'
  return total < LITTLE_MEMORY_BYTES || free < LITTLE_FREE_BYTES ? [warning(finding, fix)] : [right(finding)]
}

const NO_ROOM_BYTES = 500_000_000
const LITTLE_ROOM_BYTES = 5_000_000_000
const FEW_INODES = 20_000

/** The installation's folder, and those in it that lie on disks of their own. */
function foldersByDisk(dir: string): string[] {
  const isFolder = statSync(dir, { throwIfNoEntry: false })?.isDirectory()
  const inside = isFolder ? readdirSync(dir).map((name) => join(dir, name)) : []
  const byDisk = new Map<number, string>()
  for (const path of [existsAbove(dir), ...inside]) {
    const disk = statSync(path, { throwIfNoEntry: false })?.dev
    if (disk !== undefined && !byDisk.has(disk)) byDisk.set(disk, path)
  }
  return [...byDisk.values()]
}

async function checkDiskOf(dir: string): Promise<Diagnosis> {
  const { bavail, bsize, files, ffree } = await statfs(dir)
  const room = bavail * bsize
  const finding = `${bytes(room)} of room in ${dir}.`
  const fix = 'Make room or grow the disk; `annal gc` removes what no asset needs. Uploads are refused on a full disk.'
  if (room < NO_ROOM_BYTES) return wrong(finding, fix)
  // Some file systems count no inodes.
  if (files > 0 && ffree < FEW_INODES) return warning(`Only ${ffree} more files can be made in ${dir}.`, fix)
  return room < LITTLE_ROOM_BYTES ? warning(finding, fix) : right(finding)
}

/** Room in the installation's folder, and in what of it lies on other disks. */
export async function checkDisk({ config }: Parts): Promise<Diagnosis[]> {
  const { dir } = await config()
  return Promise.all(foldersByDisk(dir).map(checkDiskOf))
}

/** Who gets at files, mails and keys. */
export async function checkFolders({ config }: Parts): Promise<Diagnosis[]> {
  const { dir } = await config()
  if (existsSync(dir) && !statSync(dir).isDirectory()) {
    return [wrong(`ANNAL_DIR is ${dir}, which is not a folder.`, 'Set ANNAL_DIR to a folder, or to a place for one.')]
  }
  const { findOpenFolders } = await import('../../shared/private-files.ts')
  const open = await findOpenFolders(dir)
  if (open === undefined) return [toKnow(`${dir} is not there yet: the first start makes it.`)]
  if (open.length === 0) return [right(`Nobody else gets at what lies in ${dir}.`)]
  return open.map((path) =>
    wrong(
      `Others on this machine get at ${path}.`,
      `\`chmod go= ${path}\`, as its owner; the server's start does it, too.`,
    ),
  )
}
