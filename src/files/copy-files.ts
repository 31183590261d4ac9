import { DomainError } from '../domain/errors.ts'
import type { ContentStore } from '../domain/ports/files.ts'
import { eachOf } from './at-once.ts'
import { isLeaf } from './cids.ts'

/** Files that are copied at the same time. */
const AT_ONCE = 4

/** What became of files that were to be copied. */
export interface Copying {
  copied: number
  /** They were there before. */
  present: number
  /** CIDs of files that are not there whole where they should come from. */
  missing: string[]
}

/** How files are copied. */
export interface CopyOptions {
  from: ContentStore
  to: ContentStore
  /** CIDs. */
  pinned: AsyncIterable<string>
  /** Told after each file how many are done. */
  tell?(done: number): void
  /** Ends it after the files that are under way: it raises then. */
  cancel?: AbortSignal
}

/**
 * Copies files from one content store to another one, each under the CID that it has. May be repeated: what is there whole is not copied again.
 * Raises INSUFFICIENT_STORAGE, UNAVAILABLE.
 */
export const copyFiles = async ({ from, to, pinned, tell, cancel }: CopyOptions): Promise<Copying> => {
  const copying: Copying = { copied: 0, present: 0, missing: [] }
  const copy = async (cid: string) => {
    if (await to.isWhole(cid)) copying.present += 1
    else if (await copyFile(from, to, cid)) copying.copied += 1
    else copying.missing.push(cid)
  }
  await eachOf(pinned, AT_ONCE, async (cid) => {
    cancel?.throwIfAborted()
    await copy(cid)
    tell?.(copying.copied + copying.present + copying.missing.length)
  })
  return copying
}

/** Copies one file under the CID that it has. False when it is missing or damaged where it should come from. Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
export const copyFile = async (from: ContentStore, to: ContentStore, cid: string): Promise<boolean> => {
  try {
    // A document is one block, however large it is.
    const copied = isLeaf(cid)
      ? await to.putDocument(await from.readBlock(cid))
      : (await to.importFile(from.read(cid))).cid
    return copied === cid
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return false
    throw error
  }
}
