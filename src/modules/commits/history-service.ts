/** Histories as the chain has them. Contract: `GET /api/v3/assets/{nid}/proof` and `Asset.verification`. */

import type { Check, Finding, Verification, VerifiedCommit } from '../../../packages/verify/src/verification.ts'
import type { Histories } from '../../chain/chain-types.ts'
import type { Database } from '../../db/database-types.ts'
import type { Asset } from '../../db/prisma/client.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, unavailable } from '../../shared/errors.ts'
import { rateLimitKeys } from '../../shared/rate-limiter.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import type { AssetService } from '../assets/asset-service.ts'

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

/**
 * Reads trees of one asset by their CIDs. Returns undefined for everything else in the content store: anyone can commit to the nid on the chain
 * and name the tree of another, private asset. Raises UNAVAILABLE.
 */
export const createOwnTrees =
  ({ database, contentStore }: Pick<Dependencies, 'database' | 'contentStore'>) =>
  (nid: string) =>
  async (cid: string): Promise<Uint8Array | undefined> => {
    const where = { nid, deletedAt: null, pins: { some: { cid } } }
    if (!(await database.read.asset.findFirst({ select: { id: true }, where }))) return undefined
    return contentStore.readBlock(cid).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
      throw error
    })
  }

/** A commit as the database has it. */
interface RecordedCommit {
  treeCid: string
  treeSha256: string
  createdAt: Date
  message: string
  author: { wallet: { address: string } | null }
  relay: {
    status: string
    treeSignature: string | null
    transactionHash: string | null
    blockNumber: number | null
  } | null
}

/** States in which the chain must have a commit. */
const onChain = new Set(['INCLUDED', 'FINAL'])

/**
 * Adds the comparison with the database for the newest life: a check `record` of each commit, and one of all commits. Records are in order.
 * Without all commits of the chain nothing is compared, because records are found by their position.
 */
function holdAgainst(verification: Verification, records: readonly RecordedCommit[]): Verification {
  if (verification.missing.length) return { ...verification, record: notCompared }
  const life = verification.commits.at(-1)?.life
  const told = records.filter(({ relay }) => relay?.status !== 'FAILED')
  let position = 0
  const commits = verification.commits.map((commit): VerifiedCommit => {
    if (commit.life !== life || !commit.commitData) return commit
    const record = told[position]
    position += 1
    return { ...commit, checks: [...commit.checks, { name: 'record', ...judgeRecord(commit, record) }] }
  })
  const missing = told.slice(position).filter(({ relay }) => onChain.has(relay?.status ?? ''))
  const record: Finding = missing.length
    ? { result: 'wrong', finding: `The database tells of ${missing.length} commits that the chain does not have.` }
    : { result: 'right' }
  const isWrong = [record, ...commits.flatMap(({ checks }) => checks.filter(isRecord))].some(
    ({ result }) => result === 'wrong',
  )
  return { ...verification, commits, record, ...(isWrong && { verdict: 'broken', agrees: false }) }
}

const notCompared: Finding = { result: 'unknown', finding: 'Not all commits of the chain could be read.' }

const isRecord = ({ name }: Check) => name === 'record'

function judgeRecord(
  { commitData, transactionHash, blockNumber }: VerifiedCommit,
  record: RecordedCommit | undefined,
): Finding {
  if (!record) return { result: 'wrong', finding: 'The database has no such commit.' }
  const { treeCid, treeSha256, createdAt, message, author, relay } = record
  const pairs: [string, unknown, unknown][] = [
    ['tree', treeCid, commitData?.assetTreeCid],
    ['SHA-256 of the tree', treeSha256, commitData?.assetTreeSha256],
    ['signature', relay?.treeSignature ?? commitData?.assetTreeSignature, commitData?.assetTreeSignature],
    ['time', Math.floor(createdAt.getTime() / 1000), commitData?.timestampCreated],
    ['message', message, commitData?.abstract],
    ['committer', author.wallet?.address, commitData?.committer],
    ['transaction', relay?.transactionHash ?? transactionHash, transactionHash],
    ['block', relay?.blockNumber ?? blockNumber, blockNumber],
  ]
  const differing = pairs.filter(([, told, found]) => told !== found)
  if (!differing.length) return { result: 'right' }
  const [name, told, found] = differing[0]!
  return { result: 'wrong', finding: `The database says another ${name}: ${told}, the chain ${found}.` }
}
