import { Interface, id } from 'ethers'
import { z } from 'zod'
import type { CommitData } from '../../modules/commits/commits.ts'
import artefact from '../registry.json' with { type: 'json' }

const registry = new Interface(artefact.abi)
const commitEvent = registry.getEvent('Commit')
if (!commitEvent) throw new Error('registry.json has no event Commit. Run: node src/chain/compile.ts')

/** Topic of the commit event. A constant, because ethers computes the topic again on each access. */
const commitTopic: string = commitEvent.topicHash
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

type CommitCall = { nid: string; commitData: string }

/** Encodes dynamic ABI values: their offsets, relative to the first offset, followed by the values. */
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

/** Encodes a `commit` call without ethers, which takes as long as a signature. A test compares the two encodings. */
export const encodeCommit = (nid: string, commitData: string): string =>
  single + withOffsets([encodeText(nid), encodeText(commitData)])

export const encodeCommits = (commits: readonly CommitCall[]): string => {
  const [first] = commits
  if (first && commits.length === 1) return encodeCommit(first.nid, first.commitData)
  const nids = encodeTexts(commits.map(({ nid }) => nid))
  return batch + withOffsets([nids, encodeTexts(commits.map(({ commitData }) => commitData))])
}

/** Decodes the commits in call data. Throws an Error if the call is not `commit` or `commitBatch`. */
export const decodeCommits = (callData: string): CommitCall[] => {
  if (callData.startsWith(single)) {
    const [nid, commitData] = registry.decodeFunctionData('commit', callData) as unknown as [string, string]
    return [{ nid, commitData }]
  }
  const [nids, texts] = registry.decodeFunctionData('commitBatch', callData) as unknown as [string[], string[]]
  return Array.from(nids, (nid, index) => ({ nid, commitData: texts[index]! }))
}

/** ERC-165 `supportsInterface` calls, with the results of a registry that supports batches. */
export const batchQuestions: readonly { data: string; answer: boolean }[] = [
  { data: '0x01ffc9a7', answer: true },
  { data: '0xffffffff', answer: false },
  { data: batch, answer: true },
].map(({ data, answer }) => ({ data: registry.encodeFunctionData('supportsInterface', [data]), answer }))

export const isCommitLog = ({ topics }: { topics: readonly string[] }): boolean => topics[0] === commitTopic
export const encodeGetCommits = (nid: string): string => registry.encodeFunctionData('getCommits', [nid])

/** Decodes the blocks that contain commits. Some registry contracts list a block once per commit. */
export const decodeGetCommits = (answer: string): number[] =>
  (registry.decodeFunctionResult('getCommits', answer)[0] as bigint[]).map(Number)

export type LogTopics = readonly (string | string[] | null)[]
export const commitTopics = (nid: string): LogTopics => [commitTopic, null, id(nid)]

export const recorderTopics = (recorders: readonly string[]): LogTopics => [
  commitTopic,
  recorders.map((recorder) => `0x${recorder.slice(2).toLowerCase().padStart(64, '0')}`),
]

export const ownTopics = (nid: string, recorders: readonly string[]): LogTopics => [
  ...recorderTopics(recorders),
  id(nid),
]

export const decodeCommitLog = (log: { topics: string[]; data: string }): { recorder: string; commitData: string } => {
  const values = registry.decodeEventLog(commitEvent, log.data, log.topics)
  return { recorder: values.recorder as string, commitData: values.commitData as string }
}

const commitDataShape = z.object({
  assetTreeCid: z.string(),
  assetTreeSha256: z.string(),
  assetTreeSignature: z.string().nullable(),
  author: z.string(),
  committer: z.string(),
  provider: z.string(),
  timestampCreated: z.number(),
  action: z.string(),
  actionResult: z.string(),
  actionName: z.enum(['action-initial-registration', 'action-commit']),
  abstract: z.string(),
})

/** Encodes commit data for the chain. The order of the keys, that of `commitDataShape`, is part of the format. */
export const encodeCommitData = (data: CommitData): string => JSON.stringify(data, Object.keys(commitDataShape.shape))

/** Parses the text of a log. Returns undefined for other formats, because anyone can write any text to the registry. */
export const parseCommitData = (text: string): CommitData | undefined => {
  try {
    return commitDataShape.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
