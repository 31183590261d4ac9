/** A disk that is soon full: a tmpfs. Needs root and Linux. */
import { execFile } from 'node:child_process'
import { mkdir, statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { ProofContext } from './proof.ts'

const run = promisify(execFile)

export interface SmallDisk {
  /** Bytes. */
  used(): Promise<number>
  /** MiB. */
  resize(size: number): Promise<void>
}

/** At `path`, of `size` MiB. Throws when it cannot be had. */
export async function mountSmallDisk(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  path: string,
  size: number,
): Promise<SmallDisk> {
  await mkdir(path, { recursive: true })
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', path])
  // Lazily: whoever still has a file open there ends later.
  afterwards(() => run('umount', ['-l', path]))
  return {
    async used() {
      const { blocks, bfree, bsize } = await statfs(path)
      return (blocks - bfree) * bsize
    },
    resize: async (larger) => void (await run('mount', ['-o', `remount,size=${larger}m`, path])),
  }
}
