/** Histories as the chain has them. Contract: `GET /api/v3/assets/{nid}/proof` and `Asset.verification`. */
import type { Asset } from '../../platform/prisma/client.ts'
import type { Verification } from '../../verify/verification.ts'
import type { Actor } from '../actor.ts'
import { DomainError, unavailable } from '../errors.ts'
import type { Histories } from '../ports/chain.ts'
import type { Database } from '../ports/database.ts'
import type { ContentStore } from '../ports/files.ts'
import type { Semaphore } from '../ports/semaphore.ts'
import { rateLimitKeys } from '../rate-limit-key.ts'
import type { AssetService } from './asset-service.ts'
import { createOwnTrees } from './own-trees.ts'
import { holdAgainst, type RecordedCommit } from './recorded-commits.ts'

interface Dependencies {
  database: Database
  contentStore: Pick<ContentStore, 'readBlock'>
  assets: Pick<AssetService, 'get'>
  /** Undefined where no chain is connected. */
  histories?: Histories
  /** Reading a history asks the chain for all its blocks. */
  verifications: Semaphore
  /** A proof takes as long as whoever reads it, which keeps nobody from verifying. */
  proofs: Semaphore
}

/** Commits of a history that is read for a caller. */
const MOST_COMMITS = 1_000

const tooLong = () =>
  new DomainError('VALIDATION_FAILED', `The history has more than ${MOST_COMMITS} commits.`, {
    details: 'Verify it with annal verify, which reads longer ones.',
  })

/** Verifies histories and proves them, for whoever may see the asset. */
export function createHistoryService(deps: Dependencies) {
  const { database, contentStore, assets, histories, verifications, proofs } = deps
  const chain = (): Histories => {
    if (!histories) throw unavailable('The chain', new Error('no chain is connected'))
    return histories
  }

  const treesOf = createOwnTrees({ database, contentStore })

  /** Returns the asset's UUID and its nid. Raises NOT_FOUND, and VALIDATION_FAILED if the history is too long to be read at once. */
  async function find(actor: Actor, given: string): Promise<Pick<Asset, 'id' | 'nid'>> {
    const select = { id: true, nid: true, headSequence: true }
    const { id, nid, headSequence } = await assets.get(actor, given, { select })
    if (headSequence > MOST_COMMITS) throw tooLong()
    return { id, nid }
  }

  const readRecords = (assetId: string) =>
    database.read.commit.findMany({
      where: { assetId },
      orderBy: { sequence: 'asc' },
      take: MOST_COMMITS,
      select: {
        treeCid: true,
        treeSha256: true,
        createdAt: true,
        message: true,
        author: { select: { wallet: { select: { address: true } } } },
        relay: { select: { status: true, treeSignature: true, transactionHash: true, blockNumber: true } },
      },
    }) as Promise<RecordedCommit[]>

  return {
    /** Where histories stand: the chain, and the address of the registry; undefined while that is not known. No node is asked. */
    async place() {
      return histories?.place()
    },

    /** Verifies an asset's history, and compares it with the database. Throws NOT_FOUND, VALIDATION_FAILED, CONFLICT, UNAVAILABLE. */
    async verify(actor: Actor, given: string): Promise<Verification> {
      const { id, nid } = await find(actor, given)
      return verifications(
        async () => {
          const verification = await chain().verify(nid, treesOf(nid))
          return holdAgainst(verification, await readRecords(id))
        },
        { keys: rateLimitKeys(actor) },
      )
    },

    /**
     * Calls `send` with the asset's nid and the bytes of its proof. Raises NOT_FOUND, VALIDATION_FAILED, UNAVAILABLE, and CONFLICT while the chain has no
     * commit, before the call.
     */
    async prove(
      actor: Actor,
      given: string,
      send: (nid: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>,
    ): Promise<void> {
      const { nid } = await find(actor, given)
      await proofs(
        async () => {
          const bytes = chain().prove(nid, treesOf(nid))
          const first = await bytes.next()
          await send(nid, beginning(first.value, bytes))
        },
        { keys: rateLimitKeys(actor) },
      )
    },
  }
}

async function* beginning(first: Uint8Array | undefined, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first) yield first
  yield* rest
}
