/** Where files of requests under way lie. They have no names, so nothing of them outlives its request or this process. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { storageFailure } from '../../domain/errors.ts'
import type { HeldFile, UploadFolder } from '../../domain/ports.ts'

/** A block of the file network: so one passes through as it was read, and is not put together of several. */
const READ_BYTES = 262_144

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storageFailure(error)
  }
}

/** Files of requests below `dir`, which is made when it is needed. A file is unlinked as soon as it is open. */
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
      try {
        for await (const chunk of bytes) {
          await onBytes(chunk.length)
          await storing(() => handle.writeFile(chunk))
          size += chunk.length
        }
      } catch (error) {
        await handle.close()
        throw error
      }
      return held(handle, size)
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

/** Its bytes may be read several times; whoever reads when it is released reads to the end. */
function held(handle: FileHandle, size: number): HeldFile {
  let readers = 0
  let isReleased = false
  const closeUnread = async () => {
    if (isReleased && readers === 0) await handle.close()
  }
  return {
    size,
    async *bytes() {
      readers += 1
      try {
        for (let position = 0; position < size; ) {
          const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - position))
          const { bytesRead } = await storing(() => handle.read(buffer, 0, buffer.length, position))
          if (bytesRead === 0) break
          position += bytesRead
          yield buffer.subarray(0, bytesRead)
        }
      } finally {
        readers -= 1
        await closeUnread()
      }
    },
    async release() {
      if (isReleased) return
      isReleased = true
      await closeUnread()
    },
  }
}
