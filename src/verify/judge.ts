/** Judges an asset's history by its evidence alone: whether commits, trees, hashes, signatures, order and time agree. */
import { parseCommitData, REGISTRATION } from './commit-data.ts'
import type { Anchor, Evidence } from './evidence.ts'
import { type Finding, right, unknown, wrong } from './finding.ts'
import { type Earlier, type JudgedTree, judgeCommit } from './judge-commit.ts'
import { type BrokenBlock, type ProvenEvent, readEvents } from './read-events.ts'
import type { Check, Verdict, Verification, VerifiedCommit } from './verification.ts'

/** What a verdict is made from, and what is asked besides. */
export interface JudgeOptions {
  evidence: Evidence
  /** Bytes that are said to be a tree; undefined when they are not there. Raises SourceError. */
  readTree(cid: string): Promise<Uint8Array | undefined>
  /** What the file is, by its SHA-256 in the trees; null when nobody gave it. Raises SourceError. */
  judgeFile(sha256: string): Promise<Finding | null>
  /** Whether these blocks are those of the chain. Raises SourceError. */
  settle(blocks: readonly Anchor[]): Promise<{ settled: Finding; anchors: Anchor[] }>
  /** Accounts whose commits count; left out, those of whoever wrote the first one. */
  recorders?: readonly string[]
  /** Whether the reader said which registry counts: one that somebody made up writes in anybody's name. */
  isRegistryNamed: boolean
}

/** Trees asked for at once. */
const TREES = 8
const MOST_FOREIGN_RECORDERS = 20

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString()

/** Judges. What does not hold is told, never raised; raises SourceError when a source does not answer. */
export async function judge({
  evidence,
  readTree,
  judgeFile,
  settle,
  recorders,
  isRegistryNamed,
}: JudgeOptions): Promise<Verification> {
  const { events, broken, head, complete, blocks } = await readEvents(evidence)
  const whose = recorders ?? events.slice(0, 1).map(({ recorder }) => recorder)
  const counts = ({ recorder }: ProvenEvent) => whose.some((known) => sameAddress(known, recorder))
  const own = events.filter(counts)
  const foreign = events.filter((event) => !counts(event))
  const { commits, first } = await judgeLives(evidence.nid, own, readTree)
  const life = commits.at(-1)?.life ?? 0
  const { settled, anchors } = await settle(blocks)
  const findings = {
    complete,
    settled,
    recorder: isRegistryNamed ? judgeRecorders(foreign.length, recorders) : anyRegistry,
    file: commits.length && first ? await judgeFile(first.assetSha256) : unknown('No tree tells what the file is.'),
  }
  const all = [...commits, ...broken.map((block) => presentBroken(block, life))]
  const verdict = isAnybodys(foreign.length, recorders)
    ? decide([complete, settled, findings.recorder, ...all.flatMap(onTheChain)], all.length)
    : decide([...Object.values(findings), ...all.flatMap((commit) => counting(commit, life))], all.length)
  const { nid, chainId, registry } = evidence
  return {
    ...{ nid, chainId, registry, verdict, agrees: verdict === 'holds' },
    asOf: { number: head.number, hash: head.hash, time: isoOf(head.timestamp) },
    ...findings,
    anchors,
    recorders: [...whose],
    commits: all.sort((a, b) => a.blockNumber - b.blockNumber),
    foreign: foreign.length,
    foreignRecorders: [...new Set(foreign.map(({ recorder }) => recorder))].slice(0, MOST_FOREIGN_RECORDERS),
  }
}

/** Each registration begins a life of its own, and is judged by itself. */
async function judgeLives(nid: string, events: readonly ProvenEvent[], readTree: JudgeOptions['readTree']) {
  const commits: VerifiedCommit[] = []
  let earlier: Earlier = {}
  let life = 0
  for (let from = 0; from < events.length; from += TREES) {
    const page = events.slice(from, from + TREES).map((event) => ({ event, data: parseCommitData(event.text ?? '') }))
    const trees = await Promise.all(page.map(({ data }) => (data ? readTree(data.assetTreeCid) : undefined)))
    for (const [index, { event, data }] of page.entries()) {
      if (life === 0 || data?.actionName === REGISTRATION) {
        life += 1
        earlier = { ended: earlier.before ?? earlier.ended }
      }
      const { checks, changes, next } = judgeCommit({ nid, event, data, bytes: trees[index], earlier })
      commits.push({ ...presentEvent(event, life), commitData: data, changes, checks })
      earlier = next
    }
  }
  return { commits, first: earlier.first satisfies JudgedTree | undefined }
}

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

/** Several accounts wrote, and nobody said whose commits count: the first one's may be of somebody who was quicker than the author. */
const isAnybodys = (foreign: number, named: readonly string[] | undefined) => !named && foreign > 0

function judgeRecorders(foreign: number, named: readonly string[] | undefined): Finding {
  if (!isAnybodys(foreign, named)) return right
  return unknown('Several accounts wrote about this asset: say whose commits count.')
}

/** What the chain says of a commit, whatever it says of itself. */
const onTheChain = ({ checks }: VerifiedCommit): Check[] =>
  checks.filter(({ name }) => name === 'event' || name === 'transaction')

/** Of an ended life the trees are usually gone: its commits must stand on the chain, and nothing else of them counts. */
const counting = (commit: VerifiedCommit, life: number): Check[] =>
  commit.life === life ? commit.checks : onTheChain(commit)

function decide(findings: readonly (Finding | null)[], commits: number): Verdict {
  const results = findings.map((finding) => finding?.result)
  if (results.includes('wrong')) return 'broken'
  if (commits === 0) return 'unknown'
  return results.includes('unknown') ? 'unsettled' : 'holds'
}
