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
import { blockExtension, blockPlace } from './cids.ts'

/**
 * Blocks on disk in the layout of `blockstore-fs`, so that its tools can read them. The library itself is not used: it does not sync, it gives two
 * writers of a block the same temporary file, and it reports every failed read as a missing block.
 */
export type BlockDirectory = ReturnType<typeof createBlockDirectory>

/** Extensions of files that are being written, and of blocks that garbage collection moved aside. */
const temporary = '.part'
const aside = '.aside'
/**
 * Returns a unique path for a block that is moved aside. A collection that was suspended must not delete a block that another collection moved to the
 * same path.
 */
const asidePath = (path: string) => `${path}.${randomUUID()}${aside}`
/** Returns the block name of a file, without the suffix of `asidePath`. Older versions had other suffixes. */
const blockOf = (file: string) => file.slice(0, file.indexOf(blockExtension) + blockExtension.length)
const errno = (error: unknown) => (error as NodeJS.ErrnoException).code
const isMissing = (error: unknown) => errno(error) === 'ENOENT'

export interface PlacedBlock {
  /** Directory of the block. */
  readonly shard: string
  readonly path: string
  /** Time when this writer wrote it, in milliseconds. Undefined if it existed before. */
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

/** Creates a directory of blocks below `dir`. A block is complete and synced, or it does not exist. */
export const createBlockDirectory = (dir: string) => {
  const place = (cid: CID) => {
    const at = blockPlace(cid)
    return { shard: join(dir, at.dir), path: join(dir, at.dir, at.file) }
  }

  /** Renews the time of an existing block, so that garbage collection keeps it until its file is pinned. */
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

  /** Returns the time of the write. Returns undefined if another writer was faster, who may need the block. */
  const write = async (shard: string, path: string, bytes: Uint8Array): Promise<number | undefined> => {
    const part = `${path}.${randomUUID()}${temporary}`
    const create = () => open(part, 'wx')
    const handle = await create().catch(async (error) => {
      if (!isMissing(error)) throw error
      // Does not create `dir`: if it is missing, its disk may be unmounted.
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
      // The existing block is another writer's, or damaged.
      if (!(await renew(path, bytes.byteLength))) await rename(part, path)
      return undefined
    } finally {
      // The file is gone if it replaced a damaged block. Garbage collection removes leftovers.
      await unlink(part).catch(() => undefined)
    }
  }

  return {
    /**
     * Writes a block atomically. A named block is complete and synced. Its name survives a power failure after `syncNames`. `isNew`: skips the check
     * for an existing block, because there is probably none. Throws INSUFFICIENT_STORAGE, UNAVAILABLE.
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

    /** Syncs the names of blocks to disk. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
    async syncNames(blocks: Iterable<PlacedBlock>): Promise<void> {
      try {
        for (const shard of new Set([...blocks].map((block) => block.shard))) await syncPath(shard)
      } catch (error) {
        throw storageFailure(error)
      }
    },

    /** Deletes the blocks that this writer wrote, unless another import has renewed them. Ignores errors: `sweep` deletes the rest. */
    async discard(blocks: Iterable<PlacedBlock>): Promise<void> {
      for (const { path, writtenAt } of blocks) {
        if (writtenAt !== undefined) await removeUntouched(path, writtenAt).catch(() => undefined)
      }
    },

    /** Returns true if the permissions allow writes. */
    isWritable: () =>
      access(dir, constants.R_OK | constants.W_OK).then(
        () => true,
        // A store without an owner creates the folder with the first block.
        isMissing,
      ),

    /** Throws NOT_FOUND, UNAVAILABLE. */
    async get(cid: CID): Promise<Uint8Array> {
      try {
        return await readFile(place(cid).path)
      } catch (error) {
        throw isMissing(error) ? notFound('File') : storageFailure(error)
      }
    },

    /** Returns the size of a block in bytes. Throws NOT_FOUND, UNAVAILABLE. */
    async length(cid: CID): Promise<number> {
      try {
        return (await stat(place(cid).path)).size
      } catch (error) {
        throw isMissing(error) ? notFound('File') : storageFailure(error)
      }
    },

    /** Returns the path of a block below the folder. */
    nameOf(cid: CID): string {
      const at = blockPlace(cid)
      return join(at.dir, at.file)
    },

    /** Returns when a block was last written or renewed, in milliseconds, or undefined. */
    changedAt: (cid: CID): Promise<number | undefined> => changedAt(place(cid).path),

    /**
     * Restores blocks that an interrupted collection moved aside. Returns the names of blocks that could not be restored. Throws UNAVAILABLE.
     */
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

    /**
     * Deletes blocks that were not renewed since `before` (milliseconds), except those of `keep`, and files of interrupted writes. Returns the number of
     * deleted blocks. Reports blocks that cannot be deleted to `onError`. Throws if `cancel` aborts, and UNAVAILABLE if the folder cannot be read.
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

/** Runs `work` for each file, and reports its errors to `onError`. Throws UNAVAILABLE if the folder cannot be read. */
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

/** Deletes a block unless it was renewed since `writtenAt`. See `removeOld`. */
const removeUntouched = async (path: string, writtenAt: number) => {
  if ((await changedAt(path)) !== writtenAt) return
  const moved = asidePath(path)
  if (!(await moveIfThere(path, moved))) return
  if ((await changedAt(moved)) === writtenAt) await rm(moved, { force: true })
  else await restore(moved, path)
}

/**
 * Deletes an old block. Returns true if it was deleted. An import may renew the block between the check of its age and the deletion. So the block is
 * moved aside and checked again: later imports write it again, and a block that was renewed before is restored.
 */
const removeOld = async (path: string, before: number) => {
  if (!(await isOlder(path, before))) return false
  const moved = asidePath(path)
  if (!(await moveIfThere(path, moved))) return false
  if (!(await isOlder(moved, before))) {
    await restore(moved, path)
    return false
  }
  await rm(moved, { force: true })
  return true
}

/** Restores a block that was moved aside, unless it was written again meanwhile. */
const restore = async (moved: string, path: string) => {
  try {
    await link(moved, path)
  } catch (error) {
    if (isMissing(error)) return
    if (errno(error) !== 'EEXIST') throw error
  }
  await rm(moved, { force: true })
}

/** Returns false if another process was faster. */
const moveIfThere = async (from: string, to: string) => {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
