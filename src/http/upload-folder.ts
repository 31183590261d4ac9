/** Stores files of open requests. They have no names, so they end with their request or with the process. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HeldFile, UploadFolder } from '../files/file-types.ts'
import { storageFailure } from '../shared/errors.ts'

/** Size of a piece that is read, in bytes: one block of the file network. */
const READ_BYTES = 262_144
/** Maximum number of bytes in memory that wait to be written. */
const WRITE_BYTES = 262_144
/** Minimum size of a piece that comes from the socket, in bytes. No boundary of a form is so long. */
const OWN_BYTES = 4_096

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storageFailure(error)
  }
}

/** Stores files of requests below `dir`. A file is unlinked as soon as it is open. */
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
      const write = async (pieces: Buffer[]) => {
        const count = pieces.reduce((sum, piece) => sum + piece.length, 0)
        await onBytes(count)
        await storing(() => writeAll(handle, pieces, count))
        size += count
        pieces.forEach(letGo)
      }
      try {
        await pipeline(bytes, gathering(write))
      } catch (error) {
        await handle.close()
        throw error
      }
      return held(handle, size)
    },

    /** Files with names were left by crashes and other versions. */
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

/** Bytes that arrive during a write are written together afterwards. A slow sender holds no memory. */
const gathering = (write: (pieces: Buffer[]) => Promise<void>) =>
  new Writable({
    highWaterMark: WRITE_BYTES,
    writev: (chunks, done) => void write(chunks.map(({ chunk }) => chunk)).then(() => done(), done),
  })

/** A disk that is nearly full writes a part, and rejects the next one. */
async function writeAll(handle: FileHandle, pieces: readonly Buffer[], count: number): Promise<void> {
  const { bytesWritten } = await handle.writev(pieces)
  if (bytesWritten < count) await handle.writeFile(Buffer.concat(pieces).subarray(bytesWritten))
}

/**
 * Frees the memory of a piece that owns it. Garbage collection of the pieces costs more than the rest of an upload. A small piece may be a buffer
 * that the reader of the form still uses.
 */
function letGo({ buffer, byteLength }: Buffer): void {
  if (byteLength >= OWN_BYTES && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** A file that may be read several times. Readers at the time of its release read to the end. */
function held(handle: FileHandle, size: number): HeldFile {
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
