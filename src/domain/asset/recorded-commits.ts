/** Compares the database with the history on the chain. */
import type { Finding } from '../../verify/finding.ts'
import type { Check, Verification, VerifiedCommit } from '../../verify/verification.ts'

/** A commit as the database has it. */
export interface RecordedCommit {
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
export function holdAgainst(verification: Verification, records: readonly RecordedCommit[]): Verification {
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
