/** What an update must know of an asset, read together with what its caller wants to see. */
import type { Prisma } from '../../db/prisma/client.ts'
import { metadataSelection } from './metadata.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type AssetQuery = Omit<Prisma.AssetFindManyArgs, 'where'>

/** What Prisma reads of an asset that is to be updated. */
export const updateSelection = {
  id: true,
  nid: true,
  ownerId: true,
  mimeType: true,
  sha256: true,
  uploadedAt: true,
  ...metadataSelection,
  headSequence: true,
  headCommitId: true,
  creator: { select: { username: true, wallet: { select: { address: true } } } },
} as const satisfies Prisma.AssetSelect

/** An asset with everything that an update decides on and writes into the tree. */
export type AssetToUpdate = Prisma.AssetGetPayload<{ select: typeof updateSelection }>

type Selection = Record<string, unknown>
const nested = (wanted: unknown) => (wanted as { select?: Selection } | undefined)?.select

/** Both selections in one; the arguments of `second` hold. */
export function merge(first: Selection, second: Selection): Selection {
  const merged: Selection = { ...first, ...second }
  for (const [name, wanted] of Object.entries(second)) {
    const both = [nested(first[name]), nested(wanted)] as const
    if (both[0] && both[1]) merged[name] = { ...(wanted as object), select: merge(both[0], both[1]) }
  }
  return merged
}

/** What an update of the asset leaves as it was: people's names and addresses, and the first commit. */
const untouched: Record<string, (wanted: unknown) => boolean> = {
  owner: () => true,
  creator: () => true,
  wallet: () => true,
  relay: () => true,
  commits: (wanted) => (wanted as { where?: { sequence?: unknown } }).where?.sequence === 1,
}
const touched = new Set(['num', 'points'])

/** Whether what was read before an update, with the updated columns put in, is what a read after it would give. */
export const survivesUpdate = (selection: Selection): boolean =>
  Object.entries(selection).every(([name, wanted]) => {
    if (wanted === true) return !touched.has(name)
    const select = nested(wanted)
    return select !== undefined && untouched[name]?.(wanted) === true && survivesUpdate(select)
  })
