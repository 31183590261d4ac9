/** Judges an asset's history by its evidence alone: whether commits, trees, hashes, signatures, order and time agree. */
import { parseCommitData, REGISTRATION } from './commit-data.ts'
import type { Anchor, Evidence } from './evidence.ts'
import { type Finding, right, unknown, wrong } from './finding.ts'
import { type CommitToJudge, type Earlier, type JudgedTree, judgeCommit } from './judge-commit.ts'
import { type BrokenBlock, type ProvenEvent, readEvents } from './read-events.ts'
import type { Check, Verdict, Verification, VerifiedCommit } from './verification.ts'

/** The evidence, and the sources for what is not part of it. */
export interface JudgeOptions {
  evidence: Evidence
  /** Returns bytes whose hash is the CID's, or why there are none. */
  readTree(cid: string): Promise<Uint8Array | Finding>
  /** Compares the file with its SHA-256 in the trees; null when nobody gave the file. */
  judgeFile(sha256: string): Promise<Finding | null>
  /** Judges whether these blocks are those of the chain. */
  settle(blocks: readonly Anchor[]): Promise<{ settled: Finding; anchors: Anchor[] }>
  /** Accounts whose commits count; default: the account that wrote the first commit. */
  recorders?: readonly string[]
  /** Whether the reader said which registry counts: one that somebody made up writes in anybody's name. */
  isRegistryNamed: boolean
}

/** Trees asked for at once. */
const TREES = 8
const MOST_FOREIGN_RECORDERS = 20

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString()

/** Judges a history. Contradictions and missing evidence are part of the result, and never thrown. */
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
  const isAnybodys = recorders === undefined && (foreign.length > 0 || isFirstMissing)
  const findings = {
    complete,
    settled,
    recorder: judgeRecorders({ isRegistryNamed, isAnybodys, isFirstMissing }),
    file: commits.length && first ? await judgeFile(first.assetSha256) : unknown('No tree says what the file is.'),
  }
  const all = [...commits, ...broken.map((block) => presentBroken(block, life))]
  const reasons = evidence.missing === undefined ? missing.map(({ reason }) => reason) : [evidence.missing]
  const verdict = isAnybodys
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

/** Each registration begins a life of its own, and is judged by itself. */
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

const noTree = unknown('The commit names no tree.')

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
  'Anybody can make a registry that writes in the name of others: say by --registry which one counts.',
)

interface RecorderFacts {
  isRegistryNamed: boolean
  /** Several accounts wrote, and nobody said whose commits count. The first account may be an impostor that was quicker than the author. */
  isAnybodys: boolean
  isFirstMissing: boolean
}

function judgeRecorders({ isRegistryNamed, isAnybodys, isFirstMissing }: RecorderFacts): Finding {
  if (!isRegistryNamed) return anyRegistry
  if (!isAnybodys) return right
  const why = isFirstMissing ? 'The first commit may be missing' : 'Several accounts wrote about this asset'
  return unknown(`${why}: say whose commits count.`)
}

/** What the chain says of a commit, whatever it says of itself. */
const onTheChain = ({ checks }: VerifiedCommit): Check[] =>
  checks.filter(({ name }) => name === 'event' || name === 'transaction')

/** Of an ended life the trees are usually gone: its commits must stand on the chain, and nothing else of them counts. */
const counting = (commit: VerifiedCommit, life: number): Check[] =>
  commit.life === life ? commit.checks : onTheChain(commit)

function decide(findings: readonly (Finding | null)[], commits: number, missing: number): Verdict {
  const results = findings.map((finding) => finding?.result)
  if (results.includes('wrong')) return 'broken'
  if (commits === 0) return missing ? 'unsettled' : 'unknown'
  return results.includes('unknown') ? 'unsettled' : 'holds'
}
