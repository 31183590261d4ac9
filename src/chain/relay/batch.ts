/** Groups commits into transactions and sets their gas limits (decision 34). */
import type { Origin } from '../../telemetry/telemetry-types.ts'
import { smaller } from '../fees.ts'
import { batchQuestions, type CommitCall, decodeCommits, encodeCommits } from '../registry/abi.ts'
import { type Rpc, RpcError } from '../rpc.ts'
import type { ChainView } from '../view.ts'
import type { Lane, RelayParts } from './lane.ts'

/** What a commit says to the registry. */
export interface RelayCall extends CommitCall {
  commitId: string
  /** Of a call of its own. */
  bytes: number
  /** It was in a transaction without effect before. */
  isAlone: boolean
  trace: Origin
}

/** Commits that go together, in their order. */
export interface RelayTransaction {
  calls: readonly RelayCall[]
  gasLimit: bigint
}

/** Some chains take no more than 95,000 bytes of a transaction, most of them 128 KiB. */
const MAXIMUM_BATCH_BYTES = 90_000
/** No more than a chain allows a transaction since EIP-7825, with room below it. */
const MAXIMUM_BATCH_GAS = 15_000_000n
/** What it costs to name another block of an asset: a new slot, and the length of the list. */
const GAS_OF_PLACE = 30_000n
/** A transaction that wants much of a block waits for one that has it left. */
const SHARE_OF_BLOCK = 4n

/** Whether the contract there takes several commits in one transaction: it is asked. Raises UNAVAILABLE. */
export const takesBatches = async (rpc: Rpc, registry: string): Promise<boolean> => {
  const outcomes = await rpc.batch(
    batchQuestions.map(({ data }) => ({ method: 'eth_call', params: [{ to: registry, data }, 'latest'] })),
  )
  return batchQuestions.every(({ answer }, index) => isWord(outcomes[index]?.result, answer))
}

/** Whether a call answered with exactly this word. A registry without the function reverts, or answers nothing. */
const isWord = (result: unknown, value: boolean) =>
  typeof result === 'string' && result.length === 66 && BigInt(result) === BigInt(value)

/** What these commits send to the registry. */
export const callData = (calls: readonly RelayCall[]): string => encodeCommits(calls)

/**
 * Puts commits into transactions, in their order, and says what gas each is offered with. A batch that wants more gas than it may
 * is halved; where the node will not estimate one, its commits go one by one, so that one of them stops nobody else.
 * Raises UNAVAILABLE.
 */
export const packCalls = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  calls: readonly RelayCall[],
): Promise<RelayTransaction[]> => {
  const most = smaller(MAXIMUM_BATCH_GAS, view.gasLimit / SHARE_OF_BLOCK)
  const packed: (RelayTransaction | { calls: readonly [RelayCall]; gasLimit: undefined })[] = []
  const place = async (group: readonly RelayCall[]): Promise<void> => {
    const [first, ...others] = group
    if (!first) return
    if (others.length === 0) return void packed.push({ calls: [first], gasLimit: undefined })
    const gasLimit = await askGas(parts, lane, {
      data: callData(group),
      assets: new Set(group.map(({ nid }) => nid)).size,
    })
    if (gasLimit === undefined) {
      for (const call of group) await place([call])
    } else if (gasLimit <= most) packed.push({ calls: group, gasLimit })
    else {
      const half = Math.ceil(group.length / 2)
      await place(group.slice(0, half))
      await place(group.slice(half))
    }
  }
  for (const group of groupsOf(calls, parts.commitsPerTransaction)) await place(group)
  const alone = packed.filter(({ gasLimit }) => gasLimit === undefined).map((each) => callData(each.calls))
  const gasOfOne = alone.length > 0 ? await estimateGas(parts, lane, alone) : 0n
  return packed.map(({ calls: carried, gasLimit }) => ({ calls: carried, gasLimit: gasLimit ?? gasOfOne }))
}

/** Neighbours, as many as a transaction may carry. */
const groupsOf = (calls: readonly RelayCall[], most: number): RelayCall[][] => {
  const groups: RelayCall[][] = []
  let open: RelayCall[] | undefined
  let bytes = 0
  for (const call of calls) {
    if (call.isAlone) {
      groups.push([call])
      open = undefined
      continue
    }
    if (!open || open.length >= most || bytes + call.bytes > MAXIMUM_BATCH_BYTES) {
      open = []
      bytes = 0
      groups.push(open)
    }
    open.push(call)
    bytes += call.bytes
  }
  return groups
}

/**
 * With room for what may differ by the time of its inclusion: the estimate is made in the newest block, and an asset that this one
 * names already needs a place in the next. Undefined when the node refuses to say.
 */
const askGas = async (
  { rpc, registry }: RelayParts,
  lane: Lane,
  { data, assets }: { data: string; assets: number },
): Promise<bigint | undefined> => {
  try {
    const estimate = await rpc.call<string>('eth_estimateGas', { from: lane.address, to: registry, data })
    return (BigInt(estimate) * 5n) / 4n + GAS_OF_PLACE * BigInt(assets) + 20_000n
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** For one call that stands for several: the largest. */
export const estimateGas = async (parts: RelayParts, lane: Lane, calls: readonly string[]): Promise<bigint> => {
  const data = calls.reduce((largest, each) => (each.length > largest.length ? each : largest))
  // The node cannot say, for example without funds. The contract's cost has a known bound where gas costs what it does on Ethereum.
  const commits = decodeCommits(data)
  const asked = await askGas(parts, lane, { data, assets: commits.length })
  return asked ?? 150_000n * BigInt(commits.length) + BigInt(data.length / 2) * 48n
}
