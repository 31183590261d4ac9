/** Checks an asset's history with nothing but the chain and the file network: whether commits, hashes, signatures and order agree. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { CommitData } from '../domain/asset/commit-data.ts'
import { DomainError } from '../domain/errors.ts'
import type { ContentStore } from '../domain/ports.ts'
import { recoverSigner } from './keys.ts'
import type { ChainCommit, Registry } from './registry.ts'

/** The file network, as much as a reader needs of it. */
export type FileNetwork = Pick<ContentStore, 'identify' | 'readBlock' | 'read'>

/** One look at a commit. */
export interface Check {
  name: 'layout' | 'tree' | 'sha256' | 'signature' | 'author' | 'asset' | 'order'
  /** `unknown`: what it needs is not on the file network. */
  result: 'right' | 'wrong' | 'unknown'
  /** What was found, when it is not right. */
  finding?: string
}

/** A commit of the chain, with everything that was looked at. */
export interface VerifiedCommit {
  /** Which life of the file it belongs to, from 1: a file may be deleted and registered again, and each time begins anew. */
  life: number
  transactionHash: string
  blockNumber: number
  recorder: string
  /** Undefined when the text in the log is not in the known layout. */
  commitData: CommitData | undefined
  checks: Check[]
}

/** What a history is worth. */
export interface Verification {
  nid: string
  /** True only when there is a history and every check of its newest life is right. */
  agrees: boolean
  /** The file's own bytes against the SHA-256 that the trees tell. */
  file: Omit<Check, 'name'>
  /** Oldest first. */
  commits: VerifiedCommit[]
  /** How many commits others wrote about this asset; they count for nothing. */
  foreign: number
}

/** Whose history is checked, and where it is read. */
export interface VerifyOptions {
  nid: string
  registry: Pick<Registry, 'readCommits'>
  files: FileNetwork
  /** Accounts whose commits count. Undefined: every commit counts, whoever wrote it. */
  recorders?: readonly string[]
}

type Finding = Omit<Check, 'name'>

const treeShape = z.object({
  assetCid: z.string(),
  assetSha256: z.string(),
  assetTimestampCreated: z.number(),
})
type Tree = z.output<typeof treeShape>

const right: Finding = { result: 'right' }
const wrong = (finding: string): Finding => ({ result: 'wrong', finding })
const unknown = (finding: string): Finding => ({ result: 'unknown', finding })
const holds = (condition: boolean, otherwise: string): Finding => (condition ? right : wrong(otherwise))

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
const isMissing = (error: unknown) => error instanceof DomainError && error.code === 'NOT_FOUND'

/**
 * Reads an asset's commits, trees and file, and holds them to each other. Raises UNAVAILABLE when the chain or the file
 * network does not answer, WrongChainError on another chain; what does not hold is told, never raised.
 */
export async function verifyHistory({ nid, registry, files, recorders }: VerifyOptions): Promise<Verification> {
  const all = await registry.readCommits(nid)
  const trusted = recorders
    ? all.filter(({ recorder }) => recorders.some((known) => sameAddress(known, recorder)))
    : all
  const commits: VerifiedCommit[] = []
  let earlier: Earlier = {}
  let life = 0
  for (const commit of trusted) {
    if (life === 0 || commit.commitData?.actionName === 'action-initial-registration') {
      life += 1
      earlier = { ended: earlier.before ?? earlier.ended }
    }
    const { checks, tree } = await verifyCommit(nid, commit, files, earlier)
    const { transactionHash, blockNumber, recorder, commitData } = commit
    commits.push({ life, transactionHash, blockNumber, recorder, commitData, checks })
    earlier.first ??= tree
    earlier.registration ??= commitData
    earlier.before = commitData ?? earlier.before
  }
  const file = await verifyFile(nid, files, earlier.first)
  const checks = commits.filter((commit) => commit.life === life).flatMap((commit) => commit.checks)
  const agrees = commits.length > 0 && [file, ...checks].every(({ result }) => result === 'right')
  return { nid, agrees, file, commits, foreign: all.length - trusted.length }
}

/** What the commits before it told, in the same life: the first tree, the first commit and the last one. */
interface Earlier {
  first?: Tree
  registration?: CommitData
  before?: CommitData
  /** The last commit of the life before. */
  ended?: CommitData
}

async function verifyCommit(
  nid: string,
  { commitData }: ChainCommit,
  files: FileNetwork,
  { first, registration, before, ended }: Earlier,
): Promise<{ checks: Check[]; tree?: Tree }> {
  if (!commitData) return { checks: [{ name: 'layout', ...wrong('The text in the log is not in the known layout.') }] }
  const signature: Check = { name: 'signature', ...verifySignature(commitData) }
  const author: Check = { name: 'author', ...verifyAuthor(commitData, registration) }
  const order: Check = { name: 'order', ...verifyOrder(commitData, before, ended) }
  const bytes = await readTree(files, commitData.assetTreeCid)
  if (!bytes) {
    const missing = unknown('The tree is not on the file network, or not public.')
    const waiting = (['tree', 'sha256', 'asset'] as const).map((name) => ({ name, ...missing }))
    return { checks: [...waiting, signature, author, order] }
  }
  // Readers need not trust whoever handed them the bytes: the identifier is made from them.
  const { cid, sha256 } = files.identify(bytes)
  const tree = parseTree(bytes)
  return {
    tree,
    checks: [
      { name: 'tree', ...holds(cid === commitData.assetTreeCid, `The bytes are those of ${cid}.`) },
      { name: 'sha256', ...holds(sha256 === commitData.assetTreeSha256, `The tree's SHA-256 is ${sha256}.`) },
      { name: 'asset', ...verifyTree(nid, tree, first) },
      signature,
      author,
      order,
    ],
  }
}

async function readTree(files: FileNetwork, cid: string): Promise<Uint8Array | undefined> {
  try {
    return await files.readBlock(cid)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const parseTree = (bytes: Uint8Array): Tree | undefined => {
  try {
    return treeShape.safeParse(JSON.parse(Buffer.from(bytes).toString())).data
  } catch {
    return undefined
  }
}

function verifySignature({ assetTreeSha256, assetTreeSignature, committer }: CommitData): Finding {
  if (assetTreeSignature === null) return wrong('The tree is not signed.')
  try {
    const signer = recoverSigner(assetTreeSha256, assetTreeSignature)
    return holds(sameAddress(signer, committer), `The tree was signed by ${signer}, the committer is ${committer}.`)
  } catch {
    return wrong('The signature is malformed.')
  }
}

/** A life begins with its registration, and time never runs back. */
function verifyOrder(
  { actionName, timestampCreated }: CommitData,
  before: CommitData | undefined,
  ended: CommitData | undefined,
): Finding {
  const expected = before ? 'action-commit' : 'action-initial-registration'
  if (actionName !== expected) return wrong(`Expected ${expected} here, found ${actionName}.`)
  const previous = before ?? ended
  return holds(!previous || timestampCreated >= previous.timestampCreated, 'It is older than the commit before it.')
}

/**
 * The author is who signed the registration's tree. A tree's own word on its creator is its owner's description of the
 * asset, and proves nothing.
 */
function verifyAuthor({ author, committer }: CommitData, registration: CommitData | undefined): Finding {
  const registrant = registration?.author ?? committer
  return holds(sameAddress(author, registrant), `The asset was registered by ${registrant}, the author is ${author}.`)
}

/** The tree is about this asset, and tells the same of its file as the first one. */
function verifyTree(nid: string, tree: Tree | undefined, first: Tree | undefined): Finding {
  if (!tree) return wrong('The tree is not in the known layout.')
  if (tree.assetCid !== nid) return wrong(`The tree is about ${tree.assetCid}.`)
  return holds(!first || tree.assetSha256 === first.assetSha256, 'The file differs from that of the first tree.')
}

async function verifyFile(nid: string, files: FileNetwork, tree: Tree | undefined): Promise<Finding> {
  if (!tree) return unknown('No tree tells what the file is.')
  const hash = createHash('sha256')
  try {
    for await (const chunk of files.read(nid)) hash.update(chunk)
  } catch (error) {
    if (isMissing(error)) return unknown('The file is not on the file network, or not public.')
    throw error
  }
  const sha256 = hash.digest('hex')
  return holds(sha256 === tree.assetSha256, `The file's SHA-256 is ${sha256}, the tree says ${tree.assetSha256}.`)
}
