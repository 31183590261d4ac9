/** The registry's calls and events, encoded and decoded. */
import { Interface, id } from 'ethers'
import artefact from './registry.json' with { type: 'json' }

const registry = new Interface(artefact.abi)
const commitEvent = registry.getEvent('Commit')
if (!commitEvent) throw new Error('registry.json has no event Commit. Run: node src/chain/compile.ts')

/** Creation code; the constructor takes nothing. */
export const registryBytecode: string = artefact.bytecode

const { selector } = registry.getFunction('commit') ?? {}
if (!selector) throw new Error('registry.json has no function commit. Run: node src/chain/compile.ts')

const word = (value: number) => value.toString(16).padStart(64, '0')

const encodeText = (text: string) => {
  const hex = Buffer.from(text).toString('hex')
  return word(hex.length / 2) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')
}

/** By hand, because the library takes as long as a signature does; a test holds it to the library's. */
export const encodeCommit = (nid: string, commitData: string): string => {
  const first = encodeText(nid)
  const offset = 2 * 32
  return selector + word(offset) + word(offset + first.length / 2) + first + encodeText(commitData)
}

/** The asset and the text of a `commit` call. Raises for any other call. */
export const decodeCommit = (callData: string): { nid: string; commitData: string } => {
  const [nid, commitData] = registry.decodeFunctionData('commit', callData) as unknown as [string, string]
  return { nid, commitData }
}

/** The call that asks for the blocks of an asset's commits. */
export const encodeGetCommits = (nid: string): string => registry.encodeFunctionData('getCommits', [nid])

/** The blocks that hold commits. Registries of other makers, and ours of before, name a block once for each of its commits. */
export const decodeGetCommits = (answer: string): number[] =>
  (registry.decodeFunctionResult('getCommits', answer)[0] as bigint[]).map(Number)

/** The log filter of an asset's commits: only the hash of its identifier is in the log. */
export const commitTopics = (nid: string): [string, null, string] => [commitEvent.topicHash, null, id(nid)]

/** The log filter of everything that one of these accounts wrote. */
export const recorderTopics = (recorders: readonly string[]): [string, string[]] => [
  commitEvent.topicHash,
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
