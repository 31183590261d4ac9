/**
 * Preloaded into a gateway (`--import`). While the file SYNC_FAILS exists, fsync of files and folders fails, as on a broken disk. Each
 * failure appends a dot to that file.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'

const flag = process.env.SYNC_FAILS!
const handle = await open(import.meta.filename)
const prototype = Object.getPrototypeOf(handle) as { sync(): Promise<void> }
await handle.close()
const { sync } = prototype

prototype.sync = async function (this: unknown) {
  if (existsSync(flag)) {
    appendFileSync(flag, '.')
    throw Object.assign(new Error(`EIO: i/o error, fsync '${flag}'`), { code: 'EIO' })
  }
  return sync.call(this)
}
