/** Where files of requests under way lie. They have no names, so nothing of them outlives its request or this process. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { storageFailure } from '../../domain/errors.ts'
import type { HeldFile, UploadFolder } from '../../domain/ports/files.ts'
import { createPiecePool, type PiecePool } from './piece-pool.ts'

/** A block of the file network: so one passes through as it was read, and is not put together of several. */
const READ_BYTES = 262_144
/** What may wait in memory to be written. */
const WRITE_BYTES = 262_144
/** Pieces of so many bytes come from the socket: no boundary of a form is so long. */
const OWN_BYTES = 4_096
/** Pieces that are kept to be read into again: as many as two imports have under way. */
const SPARE_PIECES = 16

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storageFailure(error)
  }
}

/** Files of requests below `dir`, which is made when it is needed. A file is unlinked as soon as it is open. */
export function createUploadFolder({ dir }: { dir: string }): UploadFolder {
  const pool = createPiecePool(READ_BYTES, SPARE_PIECES)

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
      return held(handle, size, pool)
    },

    /** Nothing of ours has a name: other versions and crashes left it. */
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

/** What comes while something is written is written together, next. Nothing waits for more, so a slow sender holds no memory. */
const gathering = (write: (pieces: Buffer[]) => Promise<void>) =>
  new Writable({
    highWaterMark: WRITE_BYTES,
    writev: (chunks, done) => void write(chunks.map(({ chunk }) => chunk)).then(() => done(), done),
  })

/** A disk that is nearly full takes a part, and refuses the next one. */
async function writeAll(handle: FileHandle, pieces: readonly Buffer[], count: number): Promise<void> {
  const { bytesWritten } = await handle.writev(pieces)
  if (bytesWritten < count) await handle.writeFile(Buffer.concat(pieces).subarray(bytesWritten))
}

/**
 * Frees the memory of a piece that has it for itself, instead of leaving it to the garbage collector: V8 marks its whole heap for each 64 MB outside it, which
 * costs more than all else that an upload does. A small piece may be a buffer that the reader of the form goes on using.
 */
function letGo({ buffer, byteLength }: Buffer): void {
  if (byteLength >= OWN_BYTES && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Its bytes may be read several times; whoever reads when it is released reads to the end. */
function held(handle: FileHandle, size: number, pool: PiecePool): HeldFile {
  let readers = 0
  let isReleased = false
  const closeUnread = async () => {
    if (isReleased && readers === 0) await handle.close()
  }
  async function* pieces() {
    readers += 1
    try {
      for (let position = 0; position < size; ) {
        const buffer = size < READ_BYTES ? Buffer.allocUnsafe(size) : pool.take()
        const { bytesRead } = await storing(() => handle.read(buffer, 0, buffer.length, position))
        if (bytesRead === 0) break
        position += bytesRead
        const piece = buffer.subarray(0, bytesRead)
        if (buffer.length === READ_BYTES) pool.lend(piece, buffer)
        yield piece
      }
    } finally {
      readers -= 1
      await closeUnread()
    }
  }
  return {
    size,
    bytes: () => ({ [Symbol.asyncIterator]: pieces, giveBack: pool.giveBack }),
    async release() {
      if (isReleased) return
      isReleased = true
      await closeUnread()
    },
  }
}
