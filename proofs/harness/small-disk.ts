/** A small disk (tmpfs) that fills up quickly. Needs root and Linux. */
import { execFile } from 'node:child_process'
import { mkdir, statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { ProofContext } from './proof.ts'

const run = promisify(execFile)

export interface SmallDisk {
  /** Returns the used space in bytes. */
  used(): Promise<number>
  /** Changes the size, in MiB. */
  resize(size: number): Promise<void>
}

/** Mounts a disk of `size` MiB at `path`. Throws if that is not possible. */
export async function mountSmallDisk(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  path: string,
  size: number,
): Promise<SmallDisk> {
  await mkdir(path, { recursive: true })
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', path])
  // Unmounts lazily, because a process may still have files open there.
  afterwards(() => run('umount', ['-l', path]))
  return {
    async used() {
      const { blocks, bfree, bsize } = await statfs(path)
      return (blocks - bfree) * bsize
    },
    resize: async (larger) => void (await run('mount', ['-o', `remount,size=${larger}m`, path])),
  }
}
