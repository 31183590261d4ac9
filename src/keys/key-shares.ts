/**
 * The part of every owner's wrapping key that lies outside the database: 32 random bytes in a file of its own. Without it
 * nothing opens that was wrapped for the owner, whoever holds the key-encryption key and a dump of the database.
 */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LostKeyError, unavailable } from '../shared/errors.ts'
import { createFile, removeFile } from '../shared/private-files.ts'

const BYTES = 32
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'

interface Options {
  /** Where the key shares lie. */
  dir: string
  /** Where empty files lie that name the owners who were deleted. */
  deletedDir: string
  /** Raises UNAVAILABLE when the folders are not those of this installation any more. */
  assertOwn?: () => void
}

/**
 * Key shares as files: one for each owner, and an empty one for each who was deleted. What is written is on the disk when
 * a method resolves.
 */
export function createKeyShares({ dir, deletedDir, assertOwn = () => {} }: Options) {
  const place = (folder: string, owner: string) => {
    // It becomes a path.
    if (!uuid.test(owner)) throw new TypeError('An owner is a UUID in lowercase.')
    return join(folder, owner.slice(-2), owner)
  }
  const fileOf = (owner: string) => place(dir, owner)

  async function exists(path: string): Promise<boolean> {
    try {
      await stat(path)
      return true
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  const isDeleted = (owner: string) => exists(place(deletedDir, owner))

  async function find(owner: string): Promise<Buffer | undefined> {
    try {
      const keyShare = await readFile(fileOf(owner))
      if (keyShare.length !== BYTES) throw new LostKeyError(`The key share of ${owner} is damaged.`)
      return keyShare
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** Raises UNAVAILABLE where it cannot be written, as on a full disk. */
  async function make(owner: string): Promise<void> {
    assertOwn()
    try {
      await createFile(fileOf(owner), randomBytes(BYTES))
    } catch (error) {
      throw unavailable('The key vault', error)
    }
  }

  return {
    isDeleted,
    /** Returns whether there is a key share of the owner, intact or not. */
    has: (owner: string): Promise<boolean> => exists(fileOf(owner)),
    /** The owner's key share, or undefined when there is none (any more). */
    find,
    /** The owner's key share, made where there is none, as `make` does. On the disk when this resolves. */
    async findOrMake(owner: string): Promise<Buffer> {
      const keyShare = await find(owner)
      if (keyShare) return keyShare
      if (await isDeleted(owner)) throw new LostKeyError(`${owner} was deleted.`, { isForGood: true })
      await make(owner)
      const made = await find(owner)
      if (!made) throw new Error(`The key share of ${owner} was destroyed.`)
      return made
    },
    /**
     * Removes it for good; nothing happens when there is none. It is not overwritten first: journals, snapshots and
     * flash memory keep old blocks all the same, so a medium that leaves the house must be encrypted or destroyed.
     */
    async forget(owner: string): Promise<void> {
      assertOwn()
      await removeFile(fileOf(owner))
    },
    /** Writes down for good that the owner was deleted. On the disk when this resolves. */
    async markDeleted(owner: string): Promise<void> {
      assertOwn()
      await createFile(place(deletedDir, owner), '')
    },
    /** Who has a key share, in no order. */
    owners: () => namesIn(dir),
    /** Who was marked as deleted, in no order. */
    deleted: () => namesIn(deletedDir),
  }
}

/** Owners that files in the folders of `dir` are named after; half-written files are not among them. */
async function* namesIn(dir: string): AsyncGenerator<string> {
  const list = (folder: string) =>
    readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
  for (const folder of await list(dir)) {
    for (const name of await list(join(dir, folder))) if (uuid.test(name)) yield name
  }
}
