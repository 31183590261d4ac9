import { randomUUID } from 'node:crypto'
import {
  access,
  constants,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  utimes,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { CID } from 'multiformats/cid'
import { notFound, storageFailure } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'
import { giveToOwner } from '../shared/private-files.ts'
import { blockExtension, blockPlace } from './block-name.ts'

/**
 * Blocks on disk in the layout of `blockstore-fs`, so that its tools read them. Writing and reading are our own, because
 * that library does not sync, gives two writers of one block the same temporary file (the slower one then writes into
 * a block that is already in place), and reports every failed read, such as too many open files, as a missing block.
 */
export type BlockDirectory = ReturnType<typeof createBlockDirectory>

/** Ends the names of files being written, and of blocks moved aside by garbage collection. Neither is a block. */
const temporary = '.part'
const aside = '.aside'
/**
 * Each its own: who looks at a block aside, stands still and removes it then must not meet one that another collection has moved
 * there since, and that somebody counts on.
 */
const asideOf = (path: string) => `${path}.${randomUUID()}${aside}`
/** The block of a file's name, without what `asideOf` adds; earlier versions added less. */
const blockOf = (file: string) => file.slice(0, file.indexOf(blockExtension) + blockExtension.length)
const errno = (error: unknown) => (error as NodeJS.ErrnoException).code
const isMissing = (error: unknown) => errno(error) === 'ENOENT'

/** A block that is in its place. */
export interface PlacedBlock {
  /** The directory that holds its name. */
  readonly shard: string
  readonly path: string
  /** When this writer wrote it, in milliseconds; undefined when it was there before. */
  readonly writtenAt: number | undefined
}

const syncPath = async (path: string) => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Blocks as files below `dir`, named by their CIDs: whole or not there, and on the disk once they are written. */
export const createBlockDirectory = (dir: string) => {
  const place = (cid: CID) => {
    const at = blockPlace(cid)
    return { shard: join(dir, at.dir), path: join(dir, at.dir, at.file) }
  }

  /** A block that is already there becomes young again, so that garbage collection spares it until its file is pinned. */
  const renew = async (path: string, length: number) => {
    try {
      const now = new Date()
      await utimes(path, now, now)
      return (await stat(path)).size === length
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  /** Returns when it was written; undefined when another writer was quicker, who may count on it by now. */
  const write = async (shard: string, path: string, bytes: Uint8Array): Promise<number | undefined> => {
    const part = `${path}.${randomUUID()}${temporary}`
    const create = () => open(part, 'wx')
    const handle = await create().catch(async (error) => {
      if (!isMissing(error)) throw error
      // Never creates `dir` itself: when it is missing, its disk may be unmounted, and blocks would be written to another disk.
      await mkdir(shard).catch((failure: unknown) => {
        if (errno(failure) !== 'EEXIST') throw failure
      })
      giveToOwner(shard)
      await syncPath(dir)
      return create()
    })
    let writtenAt: number
    try {
      try {
        giveToOwner(part)
        await handle.writeFile(bytes)
        await handle.sync()
        writtenAt = (await handle.stat()).mtimeMs
      } finally {
        await handle.close()
      }
      try {
        await link(part, path)
        return writtenAt
      } catch (error) {
        if (errno(error) !== 'EEXIST') throw error
      }
      // What is there is another writer's, or broken.
      if (!(await renew(path, bytes.byteLength))) await rename(part, path)
      return undefined
    } finally {
      // `rm` would look at it first. It is gone where it took the place of what was broken; what is left otherwise a collection removes.
      await unlink(part).catch(() => undefined)
    }
  }

  return {
    /**
     * Writes a block whole or not at all: a block under its name is complete and on the disk. Its name is only sure to
     * outlive a power cut after `syncNames`. `isNew`: it is not looked for first, since it is probably not there; one that is stays. Raises
     * INSUFFICIENT_STORAGE, UNAVAILABLE.
     */
    async put(cid: CID, bytes: Uint8Array, isNew = false): Promise<PlacedBlock> {
      const { shard, path } = place(cid)
      try {
        const isThere = !isNew && (await renew(path, bytes.byteLength))
        return { shard, path, writtenAt: isThere ? undefined : await write(shard, path, bytes) }
      } catch (error) {
        throw storageFailure(error)
      }
    },

    /** Makes the names of blocks durable. Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
    async syncNames(blocks: Iterable<PlacedBlock>): Promise<void> {
      try {
        for (const shard of new Set([...blocks].map((block) => block.shard))) await syncPath(shard)
      } catch (error) {
        throw storageFailure(error)
      }
    },

    /**
     * Removes the blocks that this writer wrote, unless somebody else has counted on one since. What cannot be removed is left
     * to `sweep`.
     */
    async discard(blocks: Iterable<PlacedBlock>): Promise<void> {
      for (const { path, writtenAt } of blocks) {
        if (writtenAt !== undefined) await removeUntouched(path, writtenAt).catch(() => undefined)
      }
    },

    /** Whether blocks can be put here, as far as permissions tell. */
    isWritable: () =>
      access(dir, constants.R_OK | constants.W_OK).then(
        () => true,
        // A store without an owner creates it with the first block.
        isMissing,
      ),

    /** Raises NOT_FOUND, UNAVAILABLE. */
    async get(cid: CID): Promise<Uint8Array> {
      try {
        return await readFile(place(cid).path)
      } catch (error) {
        throw isMissing(error) ? notFound('File') : storageFailure(error)
      }
    },

    /** Bytes of one block. Raises NOT_FOUND, UNAVAILABLE. */
    async length(cid: CID): Promise<number> {
      try {
        return (await stat(place(cid).path)).size
      } catch (error) {
        throw isMissing(error) ? notFound('File') : storageFailure(error)
      }
    },

    /** Where it lies, below the folder. */
    nameOf(cid: CID): string {
      const at = blockPlace(cid)
      return join(at.dir, at.file)
    },

    /** When it was last written or renewed, in milliseconds; undefined when it is not there. Raises what the disk raises. */
    changedAt: (cid: CID): Promise<number | undefined> => changedAt(place(cid).path),

    /**
     * Puts back what a collection that was killed or stands still left aside, so that it is not taken for missing. Returns the names of
     * blocks of which something still lies aside. Raises UNAVAILABLE.
     */
    async restore(onError: OnError): Promise<Set<string>> {
      const stuck = new Set<string>()
      await eachFile(dir, onError, async (shard, file) => {
        if (!file.endsWith(aside)) return
        await putBack(join(shard, file), join(shard, blockOf(file))).catch((error: unknown) => {
          stuck.add(blockOf(file))
          throw error
        })
      })
      return stuck
    },

    /**
     * Removes blocks last written or renewed before `before` (milliseconds) unless `keep` says so, and what interrupted
     * writes left behind. Returns how many blocks. `onError` is told of each that cannot be removed. `cancel` ends it between two
     * of them: it raises then. Raises UNAVAILABLE when the folder cannot be read.
     */
    async sweep(
      keep: (name: string) => boolean,
      before: number,
      onError: OnError,
      cancel?: AbortSignal,
    ): Promise<number> {
      let removed = 0
      const sweepFile = async (shard: string, file: string) => {
        const path = join(shard, file)
        if (file.endsWith(blockExtension)) {
          if (!keep(file) && (await removeOld(path, before))) removed += 1
        } else if (file.endsWith(temporary) && (await isOlder(path, before))) await rm(path, { force: true })
      }
      await eachFile(dir, onError, sweepFile, cancel)
      return removed
    },
  }
}

/** Each file for itself; `onError` is told of those that `work` failed for. Raises UNAVAILABLE when the folder cannot be read. */
const eachFile = async (
  dir: string,
  onError: OnError,
  work: (shard: string, file: string) => Promise<void>,
  cancel?: AbortSignal,
) => {
  const shards = await readdir(dir, { withFileTypes: true })
    .catch(noneWhenMissing)
    .catch((error: unknown) => {
      throw storageFailure(error)
    })
  for (const shard of shards) {
    if (!shard.isDirectory()) continue
    const path = join(dir, shard.name)
    const files = await readdir(path).catch((error: unknown) => {
      onError(shard.name, error)
      return []
    })
    for (const file of files) {
      cancel?.throwIfAborted()
      await work(path, file).catch((error: unknown) => onError(join(shard.name, blockOf(file)), error))
    }
  }
}

const noneWhenMissing = (error: unknown) => {
  if (isMissing(error)) return []
  throw error
}

const isOlder = async (path: string, before: number) => {
  try {
    return (await stat(path)).mtimeMs < before
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

const changedAt = async (path: string) => {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** As `removeOld`: whoever renews the block before it is aside shows in its age, and whoever comes later writes it anew. */
const removeUntouched = async (path: string, writtenAt: number) => {
  if ((await changedAt(path)) !== writtenAt) return
  const moved = asideOf(path)
  if (!(await moveIfThere(path, moved))) return
  if ((await changedAt(moved)) === writtenAt) await rm(moved, { force: true })
  else await putBack(moved, path)
}

/**
 * An import may renew the block between our look at its age and its removal. So the block is moved aside first: from
 * then on an import writes it anew, and an import that renewed it before shows in its age, and it is put back.
 * True when it was removed.
 */
const removeOld = async (path: string, before: number) => {
  if (!(await isOlder(path, before))) return false
  const moved = asideOf(path)
  if (!(await moveIfThere(path, moved))) return false
  if (!(await isOlder(moved, before))) {
    await putBack(moved, path)
    return false
  }
  await rm(moved, { force: true })
  return true
}

/** A block that was written anew meanwhile stays: it is as whole, and younger. */
const putBack = async (moved: string, path: string) => {
  try {
    await link(moved, path)
  } catch (error) {
    if (isMissing(error)) return
    if (errno(error) !== 'EEXIST') throw error
  }
  await rm(moved, { force: true })
}

/** False when another process was faster. */
const moveIfThere = async (from: string, to: string) => {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
