import type { ChainNode } from '../../../packages/verify/src/chain-node.ts'
import type { FileSource } from '../../../packages/verify/src/sources.ts'
import type { Finding, Verification, VerifiedCommit } from '../../../packages/verify/src/verification.ts'
import type { Histories } from '../../chain/chain-types.ts'
import type { Registry } from '../../chain/registry/registry.ts'
import type { Rpc } from '../../chain/rpc.ts'
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import type { Asset } from '../../db/prisma/client.ts'
import { statement, text, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { undefinedIf } from '../../shared/async.ts'
import { DomainError, isNotFound, isUnavailable, unavailable } from '../../shared/errors.ts'
import { rateLimitKeys } from '../../shared/limiters.ts'
import { getAsset } from '../assets/find-asset.ts'

/** Source name for messages, such as "The node of this installation does not answer." */
const OWN = 'of this installation'

/** Replaces UNAVAILABLE with the error of the verifier for a source that does not respond. */
async function asSource<T>(name: string, response: Promise<T>): Promise<T> {
  const { SourceError } = await import('../../../packages/verify/src/source-error.ts')
  return response.catch((cause: unknown) => {
    throw isUnavailable(cause) ? new SourceError(`The ${name} ${OWN} does not answer.`, { cause }) : cause
  })
}

export const nodeOf = (rpc: Rpc): ChainNode => ({
  name: OWN,
  async request(requests) {
    const outcomes = await asSource('node', rpc.batch(requests))
    return outcomes.map(({ result, error }) =>
      error ? { refusal: `The node ${OWN} returned an error: ${error.message}.` } : { result },
    )
  },
})

/** Returns the content store as a source. `readBlock` must return undefined for missing and private blocks. */
export const filesOf = (
  store: Pick<ContentStore, 'readBlock' | 'exportCar'>,
  readBlock: FileSource['block'] = (cid) => ifFound(store.readBlock(cid)),
): FileSource => ({
  block: (cid) => asSource('file store', readBlock(cid)),
  async car(cid) {
    const isThere = await asSource('file store', ifFound(store.readBlock(cid)))
    return isThere && store.exportCar(cid)
  },
})

const ifFound = <T>(reading: Promise<T>): Promise<T | undefined> => reading.catch(undefinedIf(isNotFound))

interface HistoryParts {
  registry: Registry
  contentStore: Pick<ContentStore, 'readBlock' | 'exportCar'>
  /** Returns the relay addresses whose commits are valid. */
  recorders(): Promise<string[]>
}

/** Returns the address of the registry, or undefined before the first commit. */
export async function findRegistry(registry: Registry): Promise<string | undefined> {
  try {
    return await registry.findAddress(await registry.readChainId())
  } catch (error) {
    const { isNoAnswer } = await import('../../chain/registry/registry.ts')
    if (!isNoAnswer(error)) throw error
    const known = await registry.recall()
    if (!known) throw unavailable('The chain', error)
    return known.address
  }
}

/** Creates a reader for histories in this installation's registry. Large modules are loaded on first use. */
export function createOwnHistories({ registry, contentStore, recorders }: HistoryParts): Histories {
  const node = nodeOf(registry.rpc)
  const addressOf = async () => {
    const address = await findRegistry(registry)
    if (!address) throw notYet()
    return address
  }
  return {
    async place() {
      const found = await registry.recall()
      return found && { chainId: found.chainId, registry: found.address }
    },
    async verify(nid, readTree) {
      const address = await addressOf()
      const { verifyOnline } = await import('../../../packages/verify/src/verify.ts')
      const files = filesOf(contentStore, readTree)
      return verifyOnline({ nid, nodes: [node], registry: address, files, recorders: await recorders() })
    },
    async *prove(nid, readTree) {
      const address = await addressOf()
      const { writeProof } = await import('../../../packages/verify/src/write-proof.ts')
      try {
        yield* writeProof({ nid, node, registry: address, readTree })
      } catch (error) {
        const name = error instanceof Error ? error.name : ''
        if (name === 'NothingCommitted') throw notYet()
        throw name === 'SourceError' ? unavailable('The chain', error) : error
      }
    },
  }
}

const notYet = () => new DomainError('CONFLICT', 'The chain has no commit of this asset yet. Try again later.')

/** Maximum length of a history that a caller can verify. */
const MAX_COMMITS = 1_000

type HistoryContext = Use<'actor' | 'contentStore' | 'database' | 'histories' | 'semaphores'>

/** Throws NOT_FOUND, VALIDATION_FAILED, CONFLICT, UNAVAILABLE. */
export async function verifyHistory(context: HistoryContext, id: string): Promise<Verification> {
  const asset = await findShortHistory(context, id)
  const verify = async () => {
    const verification = await chainOf(context).verify(asset.nid, treeReader(context, asset.nid))
    return compareWithDatabase(verification, await readRecords(context.database, asset.id))
  }
  return context.semaphores.verifications(verify, { keys: rateLimitKeys(context.actor) })
}

/** Throws NOT_FOUND, VALIDATION_FAILED, UNAVAILABLE and CONFLICT before it calls `send`. */
export async function proveHistory(
  context: HistoryContext,
  id: string,
  send: (nid: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { nid } = await findShortHistory(context, id)
  const prove = async () => {
    const bytes = chainOf(context).prove(nid, treeReader(context, nid))
    const first = await bytes.next()
    const all = async function* () {
      if (!first.done) yield first.value
      yield* bytes
    }
    await send(nid, all())
  }
  await context.semaphores.proofs(prove, { keys: rateLimitKeys(context.actor) })
}

function chainOf({ histories }: Use<'histories'>): Histories {
  if (!histories) throw unavailable('The chain', new Error('no chain is connected'))
  return histories
}

async function findShortHistory(context: Use<'actor' | 'database'>, id: string): Promise<Pick<Asset, 'id' | 'nid'>> {
  const asset = await getAsset(context, id, { select: { id: true, nid: true, headSequence: true } })
  if (asset.headSequence <= MAX_COMMITS) return asset
  throw new DomainError('VALIDATION_FAILED', `The history has more than ${MAX_COMMITS} commits.`, {
    details: 'Verify it with annal verify, which reads longer ones.',
  })
}

const findPin = statement(
  'history_find_pin',
  { parameters: { nid: text, cid: text }, columns: { id: uuid } },
  'select a.id from assets a join pins p on p.asset_id = a.id where a.nid = $nid and a.deleted_at is null and p.cid = $cid',
)

/** Returns a function that reads only trees of one asset, because a commit on the chain may name others. */
export const treeReader =
  ({ database, contentStore }: Use<'contentStore' | 'database'>, nid: string) =>
  async (cid: string): Promise<Uint8Array | undefined> => {
    if ((await database.query(findPin, { nid, cid })).length === 0) return undefined
    return ifFound(contentStore.readBlock(cid))
  }

const readRecords = (database: Database, assetId: string) =>
  database.read.commit.findMany({
    where: { assetId },
    orderBy: { sequence: 'asc' },
    take: MAX_COMMITS,
    select: {
      ...{ treeCid: true, treeSha256: true, createdAt: true, message: true },
      author: { select: { wallet: { select: { address: true } } } },
      relay: { select: { status: true, treeSignature: true, transactionHash: true, blockNumber: true } },
    },
  })

type RecordedCommit = Awaited<ReturnType<typeof readRecords>>[number]

/** Relay statuses of commits that must be on the chain. */
const onChain = new Set(['INCLUDED', 'FINAL'])

/**
 * Adds the check `record` to each commit of the current registration, and to the verification. Records are matched by
 * position, so the comparison is skipped if commits are missing on the chain.
 */
function compareWithDatabase(verification: Verification, records: readonly RecordedCommit[]): Verification {
  if (verification.missing.length) {
    return { ...verification, record: { result: 'unknown', finding: 'Not all commits of the chain could be read.' } }
  }
  const life = verification.commits.at(-1)?.life
  const expected = records.filter(({ relay }) => relay?.status !== 'FAILED')
  let position = 0
  const commits = verification.commits.map((commit): VerifiedCommit => {
    if (commit.life !== life || !commit.commitData) return commit
    const record = expected[position]
    position += 1
    return { ...commit, checks: [...commit.checks, { name: 'record', ...compareRecord(commit, record) }] }
  })
  const missing = expected.slice(position).filter(({ relay }) => onChain.has(relay?.status ?? ''))
  const record: Finding = missing.length
    ? { result: 'wrong', finding: `The database has ${missing.length} commits that the chain does not have.` }
    : { result: 'right' }
  const checks = commits.flatMap((commit) => commit.checks.filter(({ name }) => name === 'record'))
  const isWrong = [record, ...checks].some(({ result }) => result === 'wrong')
  return { ...verification, commits, record, ...(isWrong && { verdict: 'broken', agrees: false }) }
}

function compareRecord(
  { commitData, transactionHash, blockNumber }: VerifiedCommit,
  record: RecordedCommit | undefined,
): Finding {
  if (!record) return { result: 'wrong', finding: 'The database does not have this commit of the chain.' }
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
  const differing = pairs.find(([, recorded, found]) => recorded !== found)
  if (!differing) return { result: 'right' }
  const [name, recorded, found] = differing
  return { result: 'wrong', finding: `The ${name} differs: ${recorded} in the database, ${found} on the chain.` }
}
