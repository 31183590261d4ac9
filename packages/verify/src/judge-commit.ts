/** Judges one commit by its own data, its tree and the commits before it. */
import { getAddress, verifyMessage } from 'ethers'
import { parseName, sha256Of } from './block-name.ts'
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

/** A tree whose bytes match its CID. */
export type JudgedTree = Tree

/** The commits before it in the same life: the first tree and the last one, the first commit and the last one. */
export interface Earlier {
  first?: JudgedTree
  tree?: JudgedTree
  registration?: Placed
  before?: Placed
  /** The last commit of the life before. */
  ended?: Placed
}

type Placed = CommitData & { blockNumber: number }

/** A commit, and what is needed to judge it. */
export interface CommitToJudge {
  nid: string
  event: ProvenEvent
  /** Undefined when the text is not in the known layout. */
  data: CommitData | undefined
  /** The bytes of its tree, or why there are none. */
  tree: Uint8Array | Finding
  earlier: Earlier
  /** Returns whether commits may be missing that are in this block or between it and another one. */
  mayMiss(from: number, to: number): boolean
}

/** The findings, the changes, and the state for judging the next commit. */
export interface JudgedCommit {
  checks: Check[]
  changes: Changes | undefined
  next: Earlier
}

/** A clock of a service may be ahead of the chain's by so much. */
const CLOCKS_DIFFER_SECONDS = 900

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Judges a commit. Reports what does not hold; throws nothing because of it. */
export function judgeCommit({ nid, event, data, tree: given, earlier, mayMiss }: CommitToJudge): JudgedCommit {
  const place: Check[] = [
    { name: 'event', ...right },
    { name: 'transaction', ...event.transaction },
  ]
  if (!data) {
    const layout: Check = { name: 'layout', ...wrong('The text in the log is not in the known layout.') }
    return { checks: [...place, layout], changes: undefined, next: earlier }
  }
  const { tree, checks } = judgeTree(nid, data, given, earlier.first)
  const here: Placed = { ...data, blockNumber: event.blockNumber }
  const isGapSince = (since: Placed | undefined) => mayMiss(since?.blockNumber ?? 0, event.blockNumber)
  // Missing commits can explain an author or an order that does not match the commits that are there.
  const unlessMissing = (finding: Finding, since: Placed | undefined) =>
    finding.result === 'wrong' && isGapSince(since) ? commitsMissing : finding
  return {
    checks: [
      ...place,
      { name: 'layout', ...right },
      ...checks,
      { name: 'signature', ...judgeSignature(data) },
      { name: 'author', ...unlessMissing(judgeAuthor(data, earlier.registration), earlier.registration) },
      { name: 'order', ...judgeOrder(data, earlier, (finding) => unlessMissing(finding, earlier.before)) },
      { name: 'time', ...judgeTime(data, event) },
    ],
    changes: tree && earlier.tree && !isGapSince(earlier.before) ? compareTrees(earlier.tree, tree) : undefined,
    next: {
      first: earlier.first ?? tree,
      tree,
      registration: earlier.registration ?? here,
      before: here,
      ended: earlier.ended,
    },
  }
}

function judgeTree(
  nid: string,
  data: CommitData,
  bytes: Uint8Array | Finding,
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
  if (!(bytes instanceof Uint8Array)) return { checks: told(bytes, bytes, bytes) }
  const sha256 = sha256Of(bytes)
  const tree = parseTree(bytes)
  return {
    ...(tree && { tree }),
    checks: told(
      right,
      holds(sha256 === data.assetTreeSha256, `The tree's SHA-256 is ${sha256}.`),
      judgeAsset(nid, tree, first),
    ),
  }
}

const commitsMissing = unknown('Commits before it may be missing.')

/** The tree is about this asset, and names the same file as the first tree. */
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

/** A life begins with its registration, and time never runs backwards. */
function judgeOrder(
  { actionName, timestampCreated }: CommitData,
  { before, ended }: Earlier,
  unlessMissing: (finding: Finding) => Finding,
): Finding {
  const previous = before ?? ended
  if (previous && timestampCreated < previous.timestampCreated) return wrong('It is older than the commit before it.')
  const expected = before ? CHANGE : REGISTRATION
  return unlessMissing(holds(actionName === expected, `Expected ${expected} here, found ${actionName}.`))
}

/** When it was written is the block's word; when it was made is the service's, and cannot be later. */
const judgeTime = ({ timestampCreated }: CommitData, { blockTime }: ProvenEvent): Finding =>
  holds(timestampCreated <= blockTime + CLOCKS_DIFFER_SECONDS, 'It says that it was made after its block.')
