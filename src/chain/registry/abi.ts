/** The registry's calls and events, encoded and decoded. */
import { Interface, id } from 'ethers'
import artefact from '../registry.json' with { type: 'json' }

const registry = new Interface(artefact.abi)
const commitEvent = registry.getEvent('Commit')
if (!commitEvent) throw new Error('registry.json has no event Commit. Run: node src/chain/compile.ts')

/** What the event of a commit begins with. Kept, because the library works it out anew each time it is asked. */
export const commitTopic: string = commitEvent.topicHash

/** Creation code; the constructor takes nothing. */
export const registryBytecode: string = artefact.bytecode

const selectorOf = (name: string): string => {
  const { selector } = registry.getFunction(name) ?? {}
  if (!selector) throw new Error(`registry.json has no function ${name}. Run: node src/chain/compile.ts`)
  return selector
}
const single = selectorOf('commit')
const batch = selectorOf('commitBatch')

const word = (value: number) => value.toString(16).padStart(64, '0')

const encodeText = (text: string) => {
  const hex = Buffer.from(text).toString('hex')
  return word(hex.length / 2) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')
}

/** What a call writes about an asset. */
export interface CommitCall {
  nid: string
  commitData: string
}

/** Offsets, counted from the first of them, and behind them what they lead to. */
const withOffsets = (parts: readonly string[]): string => {
  let offset = parts.length * 32
  const offsets = parts.map((part) => {
    const here = word(offset)
    offset += part.length / 2
    return here
  })
  return offsets.join('') + parts.join('')
}

const encodeTexts = (texts: readonly string[]) => word(texts.length) + withOffsets(texts.map(encodeText))

/** By hand, because the library takes as long as a signature does; a test holds it to the library's. */
export const encodeCommit = (nid: string, commitData: string): string =>
  single + withOffsets([encodeText(nid), encodeText(commitData)])

/** The call that carries these commits, in their order: one alone goes as everywhere, by `commit`. */
export const encodeCommits = (commits: readonly CommitCall[]): string => {
  const [first] = commits
  if (first && commits.length === 1) return encodeCommit(first.nid, first.commitData)
  const nids = encodeTexts(commits.map(({ nid }) => nid))
  return batch + withOffsets([nids, encodeTexts(commits.map(({ commitData }) => commitData))])
}

/** The commits that a call carries. Raises for a call of anything else. */
export const decodeCommits = (callData: string): CommitCall[] => {
  if (callData.startsWith(single)) {
    const [nid, commitData] = registry.decodeFunctionData('commit', callData) as unknown as [string, string]
    return [{ nid, commitData }]
  }
  const [nids, texts] = registry.decodeFunctionData('commitBatch', callData) as unknown as [string[], string[]]
  return Array.from(nids, (nid, index) => ({ nid, commitData: texts[index]! }))
}

/** Questions after ERC-165, and what a registry that takes batches answers to each: nothing else answers all three so. */
export const batchQuestions: readonly { data: string; answer: boolean }[] = [
  { data: '0x01ffc9a7', answer: true },
  { data: '0xffffffff', answer: false },
  { data: batch, answer: true },
].map(({ data, answer }) => ({ data: registry.encodeFunctionData('supportsInterface', [data]), answer }))

/** Whether a log is that of a commit. */
export const isCommitLog = ({ topics }: { topics: readonly string[] }): boolean => topics[0] === commitTopic

/** The call that asks for the blocks of an asset's commits. */
export const encodeGetCommits = (nid: string): string => registry.encodeFunctionData('getCommits', [nid])

/** The blocks that hold commits. Registries of other makers, and ours of before, name a block once for each of its commits. */
export const decodeGetCommits = (answer: string): number[] =>
  (registry.decodeFunctionResult('getCommits', answer)[0] as bigint[]).map(Number)

/** The log filter of an asset's commits: only the hash of its identifier is in the log. */
export const commitTopics = (nid: string): [string, null, string] => [commitTopic, null, id(nid)]

/** The log filter of everything that one of these accounts wrote. */
export const recorderTopics = (recorders: readonly string[]): [string, string[]] => [
  commitTopic,
  recorders.map((recorder) => `0x${recorder.slice(2).toLowerCase().padStart(64, '0')}`),
]

/** The log filter of what these accounts wrote about an asset: what others write is left with the node. */
export const ownTopics = (nid: string, recorders: readonly string[]): [string, string[], string] => [
  ...recorderTopics(recorders),
  id(nid),
]

/** Who wrote a commit, and its text, from the event in the log. */
export const decodeCommitLog = (log: { topics: string[]; data: string }): { recorder: string; commitData: string } => {
  const values = registry.decodeEventLog(commitEvent, log.data, log.topics)
  return { recorder: values.recorder as string, commitData: values.commitData as string }
}
