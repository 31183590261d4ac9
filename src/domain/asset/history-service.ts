/** Histories as the chain has them. Contract: `GET /api/v3/assets/{nid}/proof` and `Asset.verification`. */
import type { Verification } from '../../verify/verification.ts'
import type { Actor } from '../actor.ts'
import { askerOf } from '../asker.ts'
import { DomainError, unavailable } from '../errors.ts'
import type { Histories } from '../ports/chain.ts'
import type { Database } from '../ports/database.ts'
import type { ContentStore } from '../ports/files.ts'
import type { Gate } from '../ports/gate.ts'
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
  verifications: Gate
  /** A proof takes as long as whoever reads it, which keeps nobody from verifying. */
  proofs: Gate
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

  /** The asset's UUID. Raises NOT_FOUND, VALIDATION_FAILED when its history is too long to be read at once. */
  async function find(actor: Actor, nid: string): Promise<string> {
    const { id, headSequence } = await assets.get(actor, nid, { select: { id: true, headSequence: true } })
    if (headSequence > MOST_COMMITS) throw tooLong()
    return id
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

  async function verify(actor: Actor, nid: string): Promise<Verification> {
    const assetId = await find(actor, nid)
    return verifications(async () => {
      const verification = await chain().verify(nid, treesOf(nid))
      return holdAgainst(verification, await readRecords(assetId))
    }, askerOf(actor))
  }

  return {
    /** Where histories stand: the chain, and the address of the registry; undefined while that is not known. No node is asked. */
    async place() {
      return histories?.place()
    },

    /** Verifies an asset's history, and compares it with the database. Throws NOT_FOUND, VALIDATION_FAILED, CONFLICT, UNAVAILABLE. */
    async verify(actor: Actor, nid: string): Promise<Verification> {
      // The chain may be ahead of a replica, and nothing is wrong then.
      return database.replicas.upToDate(() => verify(actor, nid))
    },

    /** Hands a proof's bytes over in pieces. Raises NOT_FOUND, VALIDATION_FAILED, UNAVAILABLE, CONFLICT while nothing is on the chain, before the first. */
    async prove(actor: Actor, nid: string, send: (bytes: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void> {
      await find(actor, nid)
      await proofs(async () => {
        const bytes = chain().prove(nid, treesOf(nid))
        const first = await bytes.next()
        await send(beginning(first.value, bytes))
      }, askerOf(actor))
    },
  }
}

async function* beginning(first: Uint8Array | undefined, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first) yield first
  yield* rest
}
