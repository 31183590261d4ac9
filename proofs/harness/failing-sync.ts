/**
 * Loaded before a gateway (`--import`): while the file SYNC_FAILS is there, fsync of files and folders fails as that of a broken
 * disk does. Every failure is written down in it, a dot each.
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
