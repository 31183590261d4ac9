/**
 * What our accounts wrote about assets, read a bounded part at a time: anybody may write to a public registry, and an asset with a
 * history without end must not hold up a lane.
 */
import type { ChainCommit, Registry } from '../registry/registry.ts'

/** Pages of one asset in one step of the relay; each is one question of the node. */
const PAGES_AT_ONCE = 4
/** Assets whose reading is remembered. One that is forgotten is read from its beginning again. */
const MEMORY = 1_000

/** Oldest first; undefined as long as it is not read to its end: asking again goes on. Raises UNAVAILABLE, RpcError. */
export type ReadHistory = (nid: string) => Promise<ChainCommit[] | undefined>

/** Reads what our accounts wrote about assets, a few pages a step; asking again goes on where the last step ended. */
export const createHistories = (readOwn: Registry['readOwn']) => {
  const reading = new Map<string, { pages: AsyncIterator<ChainCommit[]>; found: ChainCommit[] }>()

  const begin = (nid: string, recorders: ReadonlySet<string>) => {
    const begun = { pages: readOwn(nid, [...recorders])[Symbol.asyncIterator](), found: [] }
    reading.set(nid, begun)
    const [oldest] = reading.keys()
    if (reading.size > MEMORY && oldest !== undefined) reading.delete(oldest)
    return begun
  }

  return (recorders: ReadonlySet<string>): ReadHistory =>
    async (nid) => {
      const { pages, found } = reading.get(nid) ?? begin(nid, recorders)
      try {
        for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
          const { value, done } = await pages.next()
          if (!done) for (const commit of value) found.push(commit)
          else {
            reading.delete(nid)
            return found
          }
        }
        return undefined
      } catch (error) {
        reading.delete(nid)
        throw error
      }
    }
}
