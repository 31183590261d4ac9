/**
 * The part of every owner's wrapping key that lies outside the database: 32 random bytes in a file of its own. Without it
 * nothing opens that was wrapped for the owner, whoever holds the key-encryption key and a dump of the database.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LostKeyError } from '../domain/errors.ts'
import { createFile, removeFile } from './lasting-file.ts'

const BYTES = 32
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function createCounterparts({ dir }: { dir: string }) {
  const fileOf = (owner: string) => {
    // It becomes a path.
    if (!uuid.test(owner)) throw new TypeError('An owner is a UUID in lowercase.')
    return join(dir, owner.slice(-2), owner)
  }

  async function find(owner: string): Promise<Buffer | undefined> {
    try {
      const counterpart = await readFile(fileOf(owner))
      if (counterpart.length !== BYTES) throw new LostKeyError(`The counterpart of ${owner} is damaged.`)
      return counterpart
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  return {
    /** The owner's counterpart, or undefined when there is none (any more). */
    find,
    /** The owner's counterpart, made where there is none. On the disk when this resolves. */
    async findOrMake(owner: string): Promise<Buffer> {
      const counterpart = await find(owner)
      if (counterpart) return counterpart
      await createFile(fileOf(owner), randomBytes(BYTES))
      const made = await find(owner)
      if (!made) throw new Error(`The counterpart of ${owner} was destroyed.`)
      return made
    },
    /**
     * Removes it for good; nothing happens when there is none. It is not overwritten first: journals, snapshots and
     * flash memory keep old blocks all the same, so a medium that leaves the house must be encrypted or destroyed.
     */
    forget: async (owner: string): Promise<void> => removeFile(fileOf(owner)),
  }
}
