/** The owner of a block store: garbage collection must not delete blocks of another installation. */

import { randomUUID } from 'node:crypto'
import { link, open, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { DomainError } from '../shared/errors.ts'
import { giveToOwner } from '../shared/private-files.ts'
import { blockPlace } from './cids.ts'
import type { S3Bucket } from './s3-bucket.ts'

/** Name of the file or object that contains the ID of the owner. */
export const OWNER_NAME = 'installation'

/** Returns CIDs of some files in the database. */
export type FindFiles = () => Promise<readonly string[]>

/** Error for a store that belongs to another installation. */
export class WrongStoreError extends Error {
  override readonly name = 'WrongStoreError'
  readonly finding: string
  readonly fix: string

  constructor(finding: string, fix: string) {
    super(`${finding} ${fix}`)
    this.finding = finding
    this.fix = fix
  }
}

/** A folder or a bucket of one installation. */
export interface OwnedStore {
  /** Title in messages, such as `The folder /var/lib/annal/blocks`. */
  readonly title: string
  /** Location of the owner ID in messages, such as `the file /var/lib/annal/blocks/installation`. */
  readonly mark: string
  /** Instruction for the operator: how to use the right folder or bucket. */
  readonly fix: string
  /** Returns undefined without an owner. */
  readOwner(): Promise<string | undefined>
  writeOwner(owner: string): Promise<void>
  has(cid: CID): Promise<boolean>
}

/** Returns an error if a store belongs to another installation. Returns undefined if it is ours or can be claimed. */
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
      `${fix} If the other installation is gone for good, write ${owner} there: then the files that only it needs are removed.`,
    )
  }
  const files = await findFiles()
  for (const file of files) if (await has(CID.parse(file))) return undefined
  if (files.length === 0) return undefined
  return new WrongStoreError(
    `${title} is empty or belongs to another installation: it has none of the files that the database knows.`,
    `${fix} To go on without the files, write ${owner} into ${mark}.`,
  )
}

/**
 * Makes this installation the owner of a store. A store without an owner can be claimed if the database has no files, or the store has some of
 * them. Throws WrongStoreError if the store belongs to another installation.
 */
export async function claimStore(store: OwnedStore, owner: string, findFiles: FindFiles): Promise<void> {
  if ((await store.readOwner()) === owner) return
  const problem = await findOwnerProblem(store, owner, findFiles)
  if (problem) throw problem
  await store.writeOwner(owner)
  // Another installation may have claimed it at the same time.
  const late = await findOwnerProblem(store, owner, findFiles)
  if (late) throw late
}

const hasCode = (error: unknown, code: string) => (error as NodeJS.ErrnoException).code === code

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns the folder `dir` as a store with an owner. */
export function ownedBlocks(dir: string): OwnedStore {
  const file = join(dir, OWNER_NAME)
  return {
    title: `The folder ${dir}`,
    mark: `the file ${file}`,
    fix: `Mount or restore the folder of this installation as ${dir}.`,
    async readOwner() {
      try {
        return (await readFile(file, 'utf8')).trim()
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      }
    },
    async writeOwner(owner) {
      const part = `${file}.${randomUUID()}`
      await writeFile(part, `${owner}\n`, { flag: 'wx', flush: true })
      try {
        giveToOwner(part)
        await link(part, file)
        await syncFolder(dir)
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error
      } finally {
        await unlink(part)
      }
    },
    async has(cid) {
      const { dir: shard, file: name } = blockPlace(cid)
      return stat(join(dir, shard, name)).then(
        () => true,
        (error: unknown) => {
          if (hasCode(error, 'ENOENT')) return false
          throw error
        },
      )
    },
  }
}

/** Returns a bucket as a store with an owner. `within`: timeout of reading the owner, in milliseconds. */
export const ownedBucket = (bucket: S3Bucket, within?: number): OwnedStore => ({
  title: 'The bucket',
  mark: `its object ${OWNER_NAME}`,
  fix: 'Set S3_BUCKET and S3_PREFIX to those of this installation, or copy its blocks there as described in docs/how-to/store-files-on-kubo-or-s3.md.',
  async readOwner() {
    try {
      return Buffer.from(await bucket.get(OWNER_NAME, within))
        .toString()
        .trim()
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  },
  async writeOwner(owner) {
    await bucket.readClock()
    await bucket.put(OWNER_NAME, Buffer.from(owner))
  },
  async has(cid) {
    const { dir, file } = blockPlace(cid)
    return (await bucket.stat(`${dir}/${file}`)) !== undefined
  },
})

/** Makes an installation the owner of a bucket. Throws WrongStoreError, UNAVAILABLE. */
export const claimBucket = (bucket: S3Bucket, owner: string, findFiles: FindFiles = async () => []): Promise<void> =>
  claimStore(ownedBucket(bucket), owner, findFiles)
