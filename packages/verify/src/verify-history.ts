/** Verifies commits by their data, their trees and the commits before them. */
import { getAddress, verifyMessage } from 'ethers'
import { parseName, sha256Of } from './cids.ts'
import {
  CHANGE,
  type Changes,
  type CommitData,
  compareTrees,
  parseCommitData,
  parseTree,
  REGISTRATION,
  type Tree,
} from './commit-data.ts'
import type { Anchor, Evidence } from './evidence.ts'
import { type BrokenBlock, type ProvenEvent, readEvents } from './read-events.ts'
import {
  type Check,
  type Finding,
  holds,
  right,
  unknown,
  type Verdict,
  type Verification,
  type VerifiedCommit,
  wrong,
} from './verification.ts'

/** A tree whose bytes match its CID. */
export type JudgedTree = Tree

/** Previous commits of the same registration: the first and the last tree, the first and the last commit. */
export interface Earlier {
  first?: JudgedTree
  tree?: JudgedTree
  registration?: Placed
  before?: Placed
  /** Last commit of the previous registration. */
  ended?: Placed
}

type Placed = CommitData & { blockNumber: number }

/** A commit to verify, with its context. */
export interface CommitToJudge {
  nid: string
  event: ProvenEvent
  /** Undefined if the text has an unknown format. */
  data: CommitData | undefined
  /** Bytes of the tree, or the reason why they are missing. */
  tree: Uint8Array | Finding
  earlier: Earlier
  /** Returns true if commits may be missing in one of these blocks or between them. */
  mayMiss(from: number, to: number): boolean
}

/** Checks and changes of a commit, and the context for the next one. */
export interface JudgedCommit {
  checks: Check[]
  changes: Changes | undefined
  next: Earlier
}

/** Maximum difference between the clocks of the service and the chain, in seconds. */
const CLOCKS_DIFFER_SECONDS = 900

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Verifies a commit. Failures are part of the result and are not thrown. */
export function judgeCommit({ nid, event, data, tree: given, earlier, mayMiss }: CommitToJudge): JudgedCommit {
  const place: Check[] = [
    { name: 'event', ...right },
    { name: 'transaction', ...event.transaction },
  ]
  if (!data) {
    const layout: Check = { name: 'layout', ...wrong('The text in the log has an unknown format.') }
    return { checks: [...place, layout], changes: undefined, next: earlier }
  }
  const { tree, checks } = judgeTree(nid, data, given, earlier.first)
  const here: Placed = { ...data, blockNumber: event.blockNumber }
  const isGapSince = (since: Placed | undefined) => mayMiss(since?.blockNumber ?? 0, event.blockNumber)
  // Missing commits can explain a wrong author or order.
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
  const treeChecks = (tree: Finding, sha256: Finding, asset: Finding): Check[] => [
    { name: 'tree', ...tree },
    { name: 'sha256', ...sha256 },
    { name: 'asset', ...asset },
  ]
  const cid = parseName(data.assetTreeCid)
  if (!cid) {
    const finding = wrong('The commit has no CID of a tree.')
    return { checks: treeChecks(finding, finding, finding) }
  }
  if (!(bytes instanceof Uint8Array)) return { checks: treeChecks(bytes, bytes, bytes) }
  const sha256 = sha256Of(bytes)
  const tree = parseTree(bytes)
  return {
    ...(tree && { tree }),
    checks: treeChecks(
      right,
      holds(sha256 === data.assetTreeSha256, `The tree's SHA-256 is ${sha256}.`),
      judgeAsset(nid, tree, first),
    ),
  }
}

const commitsMissing = unknown('Earlier commits may be missing.')

/** Checks that the tree is about this asset and has the same file hash as the first tree. */
function judgeAsset(nid: string, tree: Tree | undefined, first: Tree | undefined): Finding {
  if (!tree) return wrong('The tree has an unknown format.')
  if (tree.assetCid !== nid) return wrong(`The tree belongs to the asset ${tree.assetCid}.`)
  return holds(!first || tree.assetSha256 === first.assetSha256, 'The file differs from that of the first tree.')
}

/** A signature of 65 bytes. Other software may not support the shorter form of EIP-2098. */
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

/** Checks that the author is the account that signed the registration. A creator in the tree is only a description and proves nothing. */
function judgeAuthor({ author, committer }: CommitData, registration: CommitData | undefined): Finding {
  const registrant = registration?.author ?? committer
  return holds(sameAddress(author, registrant), `The asset was registered by ${registrant}, the author is ${author}.`)
}

/** Checks that a history starts with a registration and that timestamps never decrease. */
function judgeOrder(
  { actionName, timestampCreated }: CommitData,
  { before, ended }: Earlier,
  unlessMissing: (finding: Finding) => Finding,
): Finding {
  const previous = before ?? ended
  if (previous && timestampCreated < previous.timestampCreated)
    return wrong('The commit is older than the previous commit.')
  const expected = before ? CHANGE : REGISTRATION
  return unlessMissing(holds(actionName === expected, `Expected ${expected} here, found ${actionName}.`))
}

/** Checks that the commit's time, set by the service, is not after the block's time. */
const judgeTime = ({ timestampCreated }: CommitData, { blockTime }: ProvenEvent): Finding =>
  holds(timestampCreated <= blockTime + CLOCKS_DIFFER_SECONDS, 'The time of the commit is after the time of its block.')

/** The evidence, and sources of other data. */
export interface JudgeOptions {
  evidence: Evidence
  /** Returns bytes that match the CID, or the reason why they are missing. */
  readTree(cid: string): Promise<Uint8Array | Finding>
  /** Compares the file with the SHA-256 in the trees. Returns null without a file. */
  judgeFile(sha256: string): Promise<Finding | null>
  /** Checks that these blocks are on the chain. */
  settle(blocks: readonly Anchor[]): Promise<{ settled: Finding; anchors: Anchor[] }>
  /** Accounts whose commits count. Default: the account that wrote the first commit. */
  recorders?: readonly string[]
  /** True if the user named the registry. An untrusted registry can forge the accounts of commits. */
  isRegistryNamed: boolean
}

/** Number of trees requested at the same time. */
const TREES = 8
const MOST_FOREIGN_RECORDERS = 20

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString()

/** Verifies a history. Contradictions and missing evidence are part of the result and are not thrown. */
export async function judge({
  evidence,
  readTree,
  judgeFile,
  settle,
  recorders,
  isRegistryNamed,
}: JudgeOptions): Promise<Verification> {
  const { events, broken, missing, head, complete, blocks } = await readEvents(evidence)
  const mayMiss = (from: number, to: number) =>
    missing.some(({ number }) => number === undefined || (number >= from && number <= to))
  const [earliest] = events
  const whose = recorders ?? (earliest ? [earliest.recorder] : [])
  const counts = ({ recorder }: ProvenEvent) => whose.some((known) => sameAddress(known, recorder))
  const own = events.filter(counts)
  const foreign = events.filter((event) => !counts(event))
  const { commits, first } = await judgeLives({ nid: evidence.nid, events: own, readTree, mayMiss })
  const life = commits.at(-1)?.life ?? 0
  const { settled, anchors } = await settle(blocks)
  const isFirstMissing = earliest !== undefined && mayMiss(0, earliest.blockNumber)
  const isRecorderAmbiguous = recorders === undefined && (foreign.length > 0 || isFirstMissing)
  const findings = {
    complete,
    settled,
    recorder: judgeRecorders({ isRegistryNamed, isRecorderAmbiguous, isFirstMissing }),
    file:
      commits.length && first ? await judgeFile(first.assetSha256) : unknown('No tree contains the hash of the file.'),
  }
  const all = [...commits, ...broken.map((block) => presentBroken(block, life))]
  const reasons = evidence.missing === undefined ? missing.map(({ reason }) => reason) : [evidence.missing]
  const verdict = isRecorderAmbiguous
    ? decide([complete, settled, findings.recorder, ...all.flatMap(onTheChain)], all.length, reasons.length)
    : decide(
        [...Object.values(findings), ...all.flatMap((commit) => counting(commit, life))],
        all.length,
        reasons.length,
      )
  const { nid, chainId = null, registry } = evidence
  return {
    ...{ nid, chainId, registry, verdict, agrees: verdict === 'holds' },
    asOf: head ? { number: head.number, hash: head.hash, time: isoOf(head.timestamp) } : null,
    ...findings,
    missing: reasons,
    anchors,
    recorders: [...whose],
    commits: all.sort((a, b) => a.blockNumber - b.blockNumber),
    foreign: foreign.length,
    foreignRecorders: [...new Set(foreign.map(({ recorder }) => recorder))].slice(0, MOST_FOREIGN_RECORDERS),
  }
}

interface Lives extends Pick<JudgeOptions, 'readTree'>, Pick<CommitToJudge, 'mayMiss'> {
  nid: string
  events: readonly ProvenEvent[]
}

/** Splits the commits by registration and verifies each history separately. */
async function judgeLives({ nid, events, readTree, mayMiss }: Lives) {
  const commits: VerifiedCommit[] = []
  let earlier: Earlier = {}
  let life = 0
  for (let from = 0; from < events.length; from += TREES) {
    const page = events.slice(from, from + TREES).map((event) => ({ event, data: parseCommitData(event.text ?? '') }))
    const trees = await Promise.all(page.map(({ data }) => (data ? readTree(data.assetTreeCid) : noTree)))
    for (const [index, { event, data }] of page.entries()) {
      if (life === 0 || data?.actionName === REGISTRATION) {
        life += 1
        earlier = { ...((earlier.before ?? earlier.ended) && { ended: earlier.before ?? earlier.ended }) }
      }
      const { checks, changes, next } = judgeCommit({ nid, event, data, tree: trees[index]!, earlier, mayMiss })
      commits.push({ ...presentEvent(event, life), commitData: data, changes, checks })
      earlier = next
    }
  }
  return { commits, first: earlier.first satisfies JudgedTree | undefined }
}

const noTree = unknown('The commit has no CID of a tree.')

const presentEvent = (event: ProvenEvent, life: number) => {
  const { blockNumber, blockHash, transactionHash, transactionIndex, eventIndex, recorder } = event
  const blockTime = isoOf(event.blockTime)
  return { life, blockNumber, blockHash, blockTime, transactionHash, transactionIndex, eventIndex, recorder }
}

const presentBroken = ({ blockNumber, blockHash, blockTime, finding }: BrokenBlock, life: number): VerifiedCommit => ({
  ...{ life, blockNumber, blockHash, blockTime: isoOf(blockTime) },
  ...{ transactionHash: undefined, transactionIndex: undefined, eventIndex: undefined, recorder: undefined },
  ...{ commitData: undefined, changes: undefined },
  checks: [{ name: 'event', ...wrong(finding) }],
})

const anyRegistry = unknown(
  'Anyone can deploy a registry that forges the accounts of commits. Name the registry that you trust (--registry).',
)

interface RecorderFacts {
  isRegistryNamed: boolean
  /**
   * True if several accounts wrote and the user did not name the right ones. The first account may be an impostor that was faster than the
   * author.
   */
  isRecorderAmbiguous: boolean
  isFirstMissing: boolean
}

function judgeRecorders({ isRegistryNamed, isRecorderAmbiguous, isFirstMissing }: RecorderFacts): Finding {
  if (!isRegistryNamed) return anyRegistry
  if (!isRecorderAmbiguous) return right
  const why = isFirstMissing ? 'The first commit may be missing' : 'Several accounts wrote commits of this asset'
  return unknown(`${why}. Name the accounts whose commits count (--recorder).`)
}

/** Returns the checks that depend on the chain only. */
const onTheChain = ({ checks }: VerifiedCommit): Check[] =>
  checks.filter(({ name }) => name === 'event' || name === 'transaction')

/** Returns the checks that count. The trees of a deleted asset are usually gone, so only its presence on the chain counts. */
const counting = (commit: VerifiedCommit, life: number): Check[] =>
  commit.life === life ? commit.checks : onTheChain(commit)

function decide(findings: readonly (Finding | null)[], commits: number, missing: number): Verdict {
  const results = findings.map((finding) => finding?.result)
  if (results.includes('wrong')) return 'broken'
  if (commits === 0) return missing ? 'unsettled' : 'unknown'
  return results.includes('unknown') ? 'unsettled' : 'holds'
}
