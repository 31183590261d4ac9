/** Judges one commit: what it says of itself, of its tree, and of those before it. */
import { getAddress, verifyMessage } from 'ethers'
import { isBlock, nameDocument, parseName, sha256Of } from './block-name.ts'
import {
  CHANGE,
  type Changes,
  type CommitData,
  compareTrees,
  parseTree,
  REGISTRATION,
  type Tree,
} from './commit-data.ts'
import { type Finding, holds, right, unknown, wrong } from './finding.ts'
import type { ProvenEvent } from './read-events.ts'
import type { Check } from './verification.ts'

/** A tree whose bytes are those of its CID. */
export type JudgedTree = Tree

/** What the commits before it told, in the same life: the first tree and the last one, the first commit and the last one. */
export interface Earlier {
  first?: JudgedTree
  tree?: JudgedTree
  registration?: CommitData
  before?: CommitData
  /** The last commit of the life before. */
  ended?: CommitData
}

/** A commit, and what is needed to judge it. */
export interface CommitToJudge {
  nid: string
  event: ProvenEvent
  /** Undefined when the text is not in the known layout. */
  data: CommitData | undefined
  /** Bytes that are said to be its tree. */
  bytes: Uint8Array | undefined
  earlier: Earlier
}

/** What was found, what it changed, and what the next one is judged by. */
export interface JudgedCommit {
  checks: Check[]
  changes: Changes | undefined
  next: Earlier
}

/** A clock of a service may be ahead of the chain's by so much. */
const CLOCKS_DIFFER_SECONDS = 900

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Judges a commit; what does not hold is told. */
export function judgeCommit({ nid, event, data, bytes, earlier }: CommitToJudge): JudgedCommit {
  const place: Check[] = [
    { name: 'event', ...right },
    { name: 'transaction', ...event.transaction },
  ]
  if (!data) {
    const layout: Check = { name: 'layout', ...wrong('The text in the log is not in the known layout.') }
    return { checks: [...place, layout], changes: undefined, next: earlier }
  }
  const { tree, checks } = judgeTree(nid, data, bytes, earlier.first)
  return {
    checks: [
      ...place,
      { name: 'layout', ...right },
      ...checks,
      { name: 'signature', ...judgeSignature(data) },
      { name: 'author', ...judgeAuthor(data, earlier.registration) },
      { name: 'order', ...judgeOrder(data, earlier) },
      { name: 'time', ...judgeTime(data, event) },
    ],
    changes: tree && earlier.tree && compareTrees(earlier.tree, tree),
    next: {
      first: earlier.first ?? tree,
      tree,
      registration: earlier.registration ?? data,
      before: data,
      ended: earlier.ended,
    },
  }
}

function judgeTree(
  nid: string,
  data: CommitData,
  bytes: Uint8Array | undefined,
  first: Tree | undefined,
): { tree?: Tree; checks: Check[] } {
  const told = (tree: Finding, sha256: Finding, asset: Finding): Check[] => [
    { name: 'tree', ...tree },
    { name: 'sha256', ...sha256 },
    { name: 'asset', ...asset },
  ]
  const cid = parseName(data.assetTreeCid)
  if (!cid) {
    const finding = wrong('The commit names no tree.')
    return { checks: told(finding, finding, finding) }
  }
  if (!bytes) {
    const missing = unknown('The tree is not on the file network, or not public.')
    return { checks: told(missing, missing, missing) }
  }
  const isNamed = isBlock(cid, bytes)
  const sha256 = sha256Of(bytes)
  const tree = parseTree(bytes)
  return {
    // What is not the tree that the commit names says nothing about what follows.
    ...(isNamed && tree && { tree }),
    checks: told(
      holds(isNamed, `The bytes are those of ${nameDocument(bytes)}.`),
      holds(sha256 === data.assetTreeSha256, `The tree's SHA-256 is ${sha256}.`),
      judgeAsset(nid, tree, first),
    ),
  }
}

/** The tree is about this asset, and tells the same of its file as the first one. */
function judgeAsset(nid: string, tree: Tree | undefined, first: Tree | undefined): Finding {
  if (!tree) return wrong('The tree is not in the known layout.')
  if (tree.assetCid !== nid) return wrong(`The tree is about ${tree.assetCid}.`)
  return holds(!first || tree.assetSha256 === first.assetSha256, 'The file differs from that of the first tree.')
}

/** 65 bytes: readers of other makers know no shorter form. */
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/
const malformed = wrong('The signature, or the address of the committer, is malformed.')

function judgeSignature({ assetTreeSha256, assetTreeSignature, committer }: CommitData): Finding {
  if (assetTreeSignature === null) return wrong('The tree is not signed.')
  try {
    if (!SIGNATURE.test(assetTreeSignature)) return malformed
    const signer = verifyMessage(assetTreeSha256, assetTreeSignature)
    return holds(
      signer === getAddress(committer.toLowerCase()),
      `The tree was signed by ${signer}, the committer is ${committer}.`,
    )
  } catch {
    return malformed
  }
}

/**
 * The author is who signed the registration's tree. A tree's own word on its creator is its owner's description of the
 * asset, and proves nothing.
 */
function judgeAuthor({ author, committer }: CommitData, registration: CommitData | undefined): Finding {
  const registrant = registration?.author ?? committer
  return holds(sameAddress(author, registrant), `The asset was registered by ${registrant}, the author is ${author}.`)
}

/** A life begins with its registration, and time never runs back. */
function judgeOrder({ actionName, timestampCreated }: CommitData, { before, ended }: Earlier): Finding {
  const expected = before ? CHANGE : REGISTRATION
  if (actionName !== expected) return wrong(`Expected ${expected} here, found ${actionName}.`)
  const previous = before ?? ended
  return holds(!previous || timestampCreated >= previous.timestampCreated, 'It is older than the commit before it.')
}

/** When it was written is the block's word; when it was made is the service's, and cannot be later. */
const judgeTime = ({ timestampCreated }: CommitData, { blockTime }: ProvenEvent): Finding =>
  holds(timestampCreated <= blockTime + CLOCKS_DIFFER_SECONDS, 'It says that it was made after its block.')
