/** Simulates write errors of a full or broken disk below a folder. */
import { mkdtemp, open, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Operation = 'writeFile' | 'writev' | 'sync'

export type DiskFailure = { operation: Operation; code: 'ENOSPC' | 'EDQUOT' | 'EIO'; below: string; after?: number }

async function fileHandlePrototype() {
  const dir = await mkdtemp(join(tmpdir(), 'annal-prototype-'))
  const handle = await open(join(dir, 'any'), 'w')
  try {
    return Object.getPrototypeOf(handle) as Record<Operation, (...values: unknown[]) => Promise<unknown>>
  } finally {
    await handle.close()
    await rm(dir, { recursive: true })
  }
}

/** Runs `work` with write errors. Returns its result and the number of errors. */
export async function onFailingDisk<T>(
  { operation, code, below, after = 0 }: DiskFailure,
  work: () => Promise<T>,
): Promise<{ result: T; failures: number }> {
  const prototype = await fileHandlePrototype()
  const real = prototype[operation]
  let calls = 0
  let failures = 0
  prototype[operation] = async function (this: { fd: number }, ...values) {
    const path = await readlink(`/proc/self/fd/${this.fd}`)
    if (path.startsWith(below)) {
      calls += 1
      if (calls > after) {
        failures += 1
        throw Object.assign(new Error(`${code}: the disk fails, write '${path}'`), { code, path })
      }
    }
    return real.apply(this, values)
  }
  try {
    return { result: await work(), failures }
  } finally {
    prototype[operation] = real
  }
}

/** Runs `work` while vectored writes below a folder write at most this many bytes, as on a nearly full disk. */
export async function onShortDisk<T>(below: string, bytes: number, work: () => Promise<T>): Promise<T> {
  const prototype = await fileHandlePrototype()
  const real = prototype.writev
  prototype.writev = async function (this: { fd: number }, pieces) {
    const path = await readlink(`/proc/self/fd/${this.fd}`)
    const all = Buffer.concat(pieces as Buffer[])
    return real.call(this, [path.startsWith(below) ? all.subarray(0, bytes) : all])
  }
  try {
    return await work()
  } finally {
    prototype.writev = real
  }
}
