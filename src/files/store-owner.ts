/** Ownership of a block store, because garbage collection must not delete blocks of another installation. */
import { randomUUID } from 'node:crypto'
import { readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { undefinedIf } from '../shared/async.ts'
import { isNotFound } from '../shared/errors.ts'
import { FixableError } from '../shared/operator-errors.ts'
import { giveToOwner } from '../shared/private-files.ts'
import { isMissingPath, linkIfFree, syncPath } from './block-directory.ts'
import { blockPath } from './cids.ts'
import type { S3Bucket } from './s3-bucket.ts'

/** Name of the file or object that contains the owner's ID. */
const OWNER_NAME = 'installation'

/** Returns the CIDs of some files in the database. */
export type FindFiles = () => Promise<readonly string[]>

export interface Ownership {
  /** ID of this installation. If undefined, the owner of the store is not checked. */
  owner?: string | undefined
  findFiles?: FindFiles | undefined
  /** True if the installation may use a store without an owner and not claim it. */
  mayBeUnmarked?: boolean
}

export class WrongStoreError extends FixableError {
  override readonly name = 'WrongStoreError'
}

/** A block store that one installation owns: a folder or a bucket. */
export interface OwnedStore {
  /** The store and the location of its owner's ID in messages, such as `The folder /blocks` and `its object …`. */
  readonly title: string
  readonly mark: string
  /** Instruction for the operator: how to use the right folder or bucket. */
  readonly fix: string
  readOwner(): Promise<string | undefined>
  writeOwner(owner: string): Promise<void>
  has(cid: CID): Promise<boolean>
}

/** Returns an error if a store belongs to another installation. Returns undefined if it is our store or unclaimed. */
export async function findOwnerProblem(
  { title, mark, fix, readOwner, has }: OwnedStore,
  owner: string,
  findFiles: FindFiles,
): Promise<WrongStoreError | undefined> {
  const found = await readOwner()
  if (found === owner) return undefined
  if (found !== undefined) {
    return new WrongStoreError(
      `${title} belongs to another installation: ${mark} names ${found}, and this database belongs to ${owner}.`,
      `${fix} If the other installation no longer exists, write ${owner} there. The files that only the other one needs are then deleted.`,
    )
  }
  const files = await findFiles()
  for (const file of files) if (await has(CID.parse(file))) return undefined
  if (files.length === 0) return undefined
  return new WrongStoreError(
    `${title} is empty or belongs to another installation: it has none of the files in the database.`,
    `${fix} To continue without the files, write ${owner} into ${mark}.`,
  )
}

/** Makes this installation the owner of a store. Throws WrongStoreError. */
export async function claimStore(store: OwnedStore, owner: string, findFiles: FindFiles = async () => []) {
  if ((await store.readOwner()) === owner) return
  const problem = await findOwnerProblem(store, owner, findFiles)
  if (problem) throw problem
  await store.writeOwner(owner)
  // Another installation may have claimed the store at the same time.
  const late = await findOwnerProblem(store, owner, findFiles)
  if (late) throw late
}

const ifMissing = undefinedIf(isMissingPath)

export function ownedBlocks(dir: string): OwnedStore {
  const file = join(dir, OWNER_NAME)
  return {
    title: `The folder ${dir}`,
    mark: `the file ${file}`,
    fix: `Mount or restore the folder of this installation as ${dir}.`,
    readOwner: async () => (await readFile(file, 'utf8').catch(ifMissing))?.trim(),
    async writeOwner(owner) {
      const part = `${file}.${randomUUID()}`
      await writeFile(part, `${owner}\n`, { flag: 'wx', flush: true })
      try {
        giveToOwner(part)
        if (await linkIfFree(part, file)) await syncPath(dir)
      } finally {
        await unlink(part)
      }
    },
    has: async (cid) => (await stat(join(dir, blockPath(cid))).catch(ifMissing)) !== undefined,
  }
}

/** `within`: timeout of reading the owner, in milliseconds. */
export const ownedBucket = (bucket: S3Bucket, within?: number): OwnedStore => ({
  title: 'The bucket',
  mark: `its object ${OWNER_NAME}`,
  fix: 'Set S3_BUCKET and S3_PREFIX to those of this installation, or copy its blocks there as described in docs/how-to/store-files-on-kubo-or-s3.md.',
  async readOwner() {
    const found = await bucket.get(OWNER_NAME, within === undefined ? {} : { within }).catch(undefinedIf(isNotFound))
    return found && Buffer.from(found).toString().trim()
  },
  async writeOwner(owner) {
    await bucket.readClock()
    await bucket.put(OWNER_NAME, Buffer.from(owner))
  },
  has: async (cid) => (await bucket.stat(blockPath(cid))) !== undefined,
})
