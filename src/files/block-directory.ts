import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CID } from 'multiformats/cid'
import { undefinedIf } from '../shared/async.ts'
import { notFound, storageFailure } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'
import { giveToOwner } from '../shared/private-files.ts'
import { blockExtension, blockPath } from './cids.ts'

/** Extensions of files that are being written, and of blocks that garbage collection moved aside. */
const [temporary, aside] = ['.part', '.aside']
/** Returns the block name of a file, without `aside`. */
const blockOf = (file: string) => file.slice(0, file.indexOf(blockExtension) + blockExtension.length)
const hasErrno = (code: string) => (error: unknown) => (error as NodeJS.ErrnoException).code === code
export const isMissingPath = hasErrno('ENOENT')
const ifMissing = undefinedIf(isMissingPath)
const ifExists = undefinedIf(hasErrno('EEXIST'))

export interface PlacedBlock {
  readonly path: string
  /** Time when this writer wrote the block, in milliseconds. Undefined if the block existed before. */
  readonly writtenAt: number | undefined
}

export const syncPath = async (path: string) => {
  const handle = await fs.open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Creates a hard link. Returns false if `path` exists. */
export const linkIfFree = (part: string, path: string) => fs.link(part, path).then(() => true, ifExists)

/** A directory in the layout of `blockstore-fs`, which itself does not sync, shares temporary files, hides errors. */
export const createBlockDirectory = (dir: string) => {
  const pathOf = (cid: CID) => join(dir, blockPath(cid))

  /** Renews the time of an existing block, so that garbage collection keeps it until its file is pinned. */
  const renew = async (path: string, length: number) => {
    const now = new Date()
    const renewed = fs.utimes(path, now, now).then(() => fs.stat(path))
    return (await renewed.catch(ifMissing))?.size === length
  }

  /** Returns the time of the write, or undefined if another writer wrote the block first and may still need it. */
  const write = async (path: string, bytes: Uint8Array): Promise<number | undefined> => {
    const part = `${path}.${randomUUID()}${temporary}`
    const create = () => fs.open(part, 'wx')
    const handle = await create().catch(async (error) => {
      if (!isMissingPath(error)) throw error
      const shard = dirname(path)
      // Do not create `dir`: if `dir` is missing, its disk may be unmounted.
      await fs.mkdir(shard).catch(ifExists)
      giveToOwner(shard)
      await syncPath(dir)
      return create()
    })
    const fill = async () => {
      giveToOwner(part)
      await handle.writeFile(bytes)
      await handle.sync()
      return (await handle.stat()).mtimeMs
    }
    try {
      const writtenAt = await fill().finally(() => handle.close())
      if (await linkIfFree(part, path)) return writtenAt
      // The existing file was written by another writer, or it is damaged.
      if (!(await renew(path, bytes.byteLength))) await fs.rename(part, path)
      return undefined
    } finally {
      // The temporary file is missing if it replaced a damaged block. Garbage collection deletes leftovers.
      await fs.unlink(part).catch(() => undefined)
    }
  }

  const readOrFail = (error: unknown): never => {
    throw isMissingPath(error) ? notFound('File') : storageFailure(error)
  }
  const storeOrFail = (error: unknown): never => {
    throw storageFailure(error)
  }

  return {
    /**
     * Writes a block atomically. The file name survives a power failure after `syncNames`. `isNew`: true if the block
     * probably does not exist. Throws INSUFFICIENT_STORAGE, UNAVAILABLE.
     */
    put(cid: CID, bytes: Uint8Array, isNew = false): Promise<PlacedBlock> {
      const path = pathOf(cid)
      const putBlock = async () => {
        const exists = !isNew && (await renew(path, bytes.byteLength))
        return { path, writtenAt: exists ? undefined : await write(path, bytes) }
      }
      return putBlock().catch(storeOrFail)
    },

    async syncNames(blocks: Iterable<PlacedBlock>): Promise<void> {
      const shards = new Set(Array.from(blocks, ({ path }) => dirname(path)))
      for (const shard of shards) await syncPath(shard).catch(storeOrFail)
    },

    /** Deletes blocks that this writer wrote and no import renewed. Ignores errors: `sweep` deletes the rest. */
    async discard(blocks: Iterable<PlacedBlock>): Promise<void> {
      for (const { path, writtenAt } of blocks)
        if (writtenAt !== undefined) await removeIf(path, (at) => at === writtenAt).catch(() => undefined)
    },

    /** Returns true if the folder is writable or missing. A store without an owner creates it with the first block. */
    isWritable: () => fs.access(dir, constants.R_OK | constants.W_OK).then(() => true, isMissingPath),

    get: (cid: CID): Promise<Uint8Array> => fs.readFile(pathOf(cid)).catch(readOrFail),

    length: async (cid: CID): Promise<number> => (await fs.stat(pathOf(cid)).catch(readOrFail)).size,

    nameOf: blockPath,

    changedAt: (cid: CID) => changedAt(pathOf(cid)),

    /** Restores blocks that a collection moved aside. Returns names that it could not restore. Throws UNAVAILABLE. */
    async restore(onError: OnError): Promise<Set<string>> {
      const stuck = new Set<string>()
      await eachFile(dir, onError, async (shard, file) => {
        if (!file.endsWith(aside)) return
        await restore(join(shard, file), join(shard, blockOf(file))).catch((error: unknown) => {
          stuck.add(blockOf(file))
          throw error
        })
      })
      return stuck
    },

    /** Deletes blocks not renewed since `before` (ms), except `keep`. Returns the count. Throws UNAVAILABLE. */
    async sweep(keep: (name: string) => boolean, before: number, onError: OnError, cancel?: AbortSignal) {
      const isOld = (at: number) => at < before
      let removed = 0
      const sweepFile = async (shard: string, file: string) => {
        const path = join(shard, file)
        if (file.endsWith(blockExtension)) {
          if (!keep(file) && (await removeIf(path, isOld))) removed += 1
        } else if (file.endsWith(temporary) && isOld((await changedAt(path)) ?? before))
          await fs.rm(path, { force: true })
      }
      await eachFile(dir, onError, sweepFile, cancel)
      return removed
    },
  }
}

type FileWork = (shard: string, file: string) => Promise<void>

/** Runs `work` for each file, and reports its errors to `onError`. Throws UNAVAILABLE if the folder cannot be read. */
const eachFile = async (dir: string, onError: OnError, work: FileWork, cancel?: AbortSignal) => {
  const shards = await fs.readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissingPath(error)) return []
    throw storageFailure(error)
  })
  for (const shard of shards) {
    if (!shard.isDirectory()) continue
    const path = join(dir, shard.name)
    const files = await fs.readdir(path).catch((error: unknown) => {
      onError(shard.name, error)
      return []
    })
    for (const file of files) {
      cancel?.throwIfAborted()
      await work(path, file).catch((error: unknown) => onError(join(shard.name, blockOf(file)), error))
    }
  }
}

const changedAt = async (path: string) => (await fs.stat(path).catch(ifMissing))?.mtimeMs

/**
 * Deletes a block if `isGarbage` accepts its time. Returns true if it was deleted. An import may renew the block
 * meanwhile. So the block is moved aside, checked again, and restored if it was renewed.
 */
const removeIf = async (path: string, isGarbage: (renewedAt: number) => boolean): Promise<boolean> => {
  const accepts = async (at: string) => {
    const renewedAt = await changedAt(at)
    return renewedAt !== undefined && isGarbage(renewedAt)
  }
  if (!(await accepts(path))) return false
  // The path is unique: a suspended collection must not delete a block that another collection moved.
  const moved = `${path}.${randomUUID()}${aside}`
  if (!(await fs.rename(path, moved).then(() => true, ifMissing))) return false
  const isDeleted = await accepts(moved)
  if (isDeleted) await fs.rm(moved, { force: true })
  else await restore(moved, path)
  return isDeleted
}

/** Restores a block that garbage collection moved aside, unless the block was written again meanwhile. */
const restore = async (moved: string, path: string) => {
  await linkIfFree(moved, path).catch(ifMissing)
  await fs.rm(moved, { force: true })
}
