/** Stores uploads in unlinked files, so that the system deletes them when the request or the process ends. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HeldFile, UploadFolder } from '../files/file-types.ts'
import { storageFailure } from '../shared/errors.ts'

const READ_BYTES = 262_144
/** Maximum number of unwritten bytes in memory. */
const WRITE_BYTES = 262_144
/** Minimum size of a chunk whose memory is freed. Smaller chunks may be form boundaries. */
const MIN_FREED_BYTES = 4_096

const storing = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    throw storageFailure(error)
  })

export function createUploadFolder({ dir }: { dir: string }): UploadFolder {
  async function openNameless(): Promise<FileHandle> {
    await mkdir(dir, { recursive: true })
    const path = join(dir, randomUUID())
    const handle = await open(path, 'wx+', 0o600)
    try {
      await unlink(path)
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  return {
    async hold(bytes, onBytes) {
      const handle = await storing(openNameless)
      let size = 0
      const write = async (chunks: Buffer[]) => {
        const count = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
        await onBytes(count)
        await storing(() => writeAll(handle, chunks, count))
        size += count
        chunks.forEach(freeMemory)
      }
      try {
        // Chunks that arrive during a write are written together in the next write.
        const writev = (chunks: { chunk: Buffer }[], done: (error?: Error | null) => void) =>
          void write(chunks.map(({ chunk }) => chunk)).then(() => done(), done)
        await pipeline(bytes, new Writable({ highWaterMark: WRITE_BYTES, writev }))
      } catch (error) {
        await handle.close()
        throw error
      }
      return createHeldFile(handle, size)
    },

    async sweep(seconds, onError) {
      const before = Date.now() - seconds * 1_000
      for (const name of await readdir(dir).catch(() => [])) {
        const path = join(dir, name)
        const found = await stat(path).catch(() => undefined)
        if (!found || found.mtimeMs >= before) continue
        await rm(path, { recursive: true, force: true }).catch((error: unknown) => onError(name, error))
      }
    },
  }
}

/** A nearly full disk accepts a part of the bytes and rejects the rest with an error. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[], count: number): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks)
  if (bytesWritten < count) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten))
}

/** Frees a chunk that owns its buffer. Garbage collection would cost more than the rest of an upload. */
function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength >= MIN_FREED_BYTES && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0)
}

/** A file that can be read several times. Releasing it waits for open readers. */
function createHeldFile(handle: FileHandle, size: number): HeldFile {
  let readers = 0
  let isReleased = false
  const closeUnread = async () => {
    if (isReleased && readers === 0) await handle.close()
  }
  async function* pieces() {
    readers += 1
    try {
      for (let position = 0; position < size; ) {
        const buffer = Buffer.allocUnsafe(Math.min(size - position, READ_BYTES))
        const { bytesRead } = await storing(() => handle.read(buffer, 0, buffer.length, position))
        if (bytesRead === 0) break
        position += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      readers -= 1
      await closeUnread()
    }
  }
  return {
    size,
    bytes: pieces,
    async release() {
      if (isReleased) return
      isReleased = true
      await closeUnread()
    },
  }
}
