/** The trees of one asset, by their CIDs. */
import { DomainError } from '../errors.ts'
import type { Database } from '../ports/database.ts'
import type { ContentStore } from '../ports/files.ts'

interface Dependencies {
  database: Database
  contentStore: Pick<ContentStore, 'readBlock'>
}

/**
 * Bytes of a tree of the asset with this nid; undefined for everything else that is stored. Anybody can commit to the nid on the chain and name
 * whatever tree they like there: one of another asset, which may be private, is not handed out under this one's name. Raises UNAVAILABLE.
 */
export const createOwnTrees =
  ({ database, contentStore }: Dependencies) =>
  (nid: string) =>
  async (cid: string): Promise<Uint8Array | undefined> => {
    const where = { nid, deletedAt: null, pins: { some: { cid } } }
    if (!(await database.read.asset.findFirst({ select: { id: true }, where }))) return undefined
    return contentStore.readBlock(cid).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
      throw error
    })
  }
