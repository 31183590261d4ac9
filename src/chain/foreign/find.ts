/** Which of a registry's logs are commits by others to files of ours, and where they are read. */
import type { Database } from '../../domain/ports/database.ts'
import { createBlockRange } from '../block-range.ts'
import { type PassedBlock, passedBlockOf } from '../block-trail.ts'
import { commitTopic } from '../registry/abi.ts'
import type { BlockReply, LogReply } from '../replies.ts'
import { contradiction, quantity, type Rpc, RpcError, type RpcOutcome, resultOf } from '../rpc.ts'
import { type LoggedCommit, readCommitLog } from './log.ts'
import { findByTopics, findOurs } from './statements.ts'

/** What is found, as the statements take it. */
export interface FoundCommits {
  nids: string[]
  blockNumbers: number[]
  logIndexes: number[]
  blockHashes: string[]
  hashes: string[]
  recorders: string[]
  data: string[]
  dataBytes: number[]
  times: Date[]
}

/** Finds commits by others; what `createForeignFinder` makes. */
export type ForeignFinder = ReturnType<typeof createForeignFinder>

const blockCall = (number: number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })
const blockOf = (outcome: RpcOutcome | undefined): PassedBlock | undefined => {
  const block = resultOf<BlockReply | null>(outcome)
  return block ? passedBlockOf(block) : undefined
}

/** Finds commits by others. `own`: accounts that write for us, beside those that carried commits of ours. */
export function createForeignFinder({
  rpc,
  database,
  own,
}: {
  rpc: Rpc
  database: Database
  own: ReadonlySet<string>
}) {
  const range = createBlockRange()

  /** Those that others wrote: neither an account of ours did, whatever became of it, nor did we sign the transaction. */
  const leaveOutOurs = async (commits: readonly LoggedCommit[]) => {
    const strange = commits.filter(({ recorder }) => !own.has(recorder))
    if (strange.length === 0) return []
    const recorders = [...new Set(strange.map(({ recorder }) => recorder))]
    const hashes = [...new Set(strange.map(({ transactionHash }) => transactionHash))]
    const ours = new Set((await database.query(findOurs, { recorders, hashes })).map((row) => row.own))
    return strange.filter(({ recorder, transactionHash }) => !ours.has(recorder) && !ours.has(transactionHash))
  }

  /** The times of the blocks that hold these. Raises UNAVAILABLE when the node has other blocks by now. */
  const readTimes = async (commits: readonly LoggedCommit[]) => {
    const hashes = new Map(commits.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
    const outcomes = await rpc.batch([...hashes.keys()].map(blockCall))
    const blocks = outcomes.map(blockOf)
    if (blocks.some((block) => block === undefined || hashes.get(block.number) !== block.hash)) throw contradiction(rpc)
    return new Map(blocks.map((block) => [block!.number, new Date(block!.time! * 1_000)]))
  }

  /** What of these logs is to be told: those of files that are watched for, and that others wrote. Raises UNAVAILABLE. */
  const find = async (logs: readonly LogReply[]): Promise<FoundCommits> => {
    const commits = await leaveOutOurs(logs.flatMap((log) => readCommitLog(log) ?? []))
    const topics = [...new Set(commits.map(({ topic }) => topic))]
    const rows = topics.length > 0 ? await database.query(findByTopics, { topics }) : []
    const nids = new Map(rows.map(({ topic, nid }) => [topic, nid]))
    const told = commits.filter(({ topic }) => nids.has(topic))
    const times = await readTimes(told)
    return {
      nids: told.map(({ topic }) => nids.get(topic)!),
      blockNumbers: told.map(({ blockNumber }) => blockNumber),
      logIndexes: told.map(({ logIndex }) => logIndex),
      blockHashes: told.map(({ blockHash }) => blockHash),
      hashes: told.map(({ transactionHash }) => transactionHash),
      recorders: told.map(({ recorder }) => recorder),
      data: told.map(({ data }) => data),
      dataBytes: told.map(({ dataBytes }) => dataBytes),
      times: told.map(({ blockNumber }) => times.get(blockNumber)!),
    }
  }

  /** Asks for less at once, for as long as there is less; where the node gave no answer, which may have been too long, not before the next step. */
  const narrow = (asked: number, error: unknown) => {
    const isLess = range.refused(asked)
    if (!(error instanceof RpcError) || !isLess) throw error
  }

  return {
    find,

    /**
     * Logs of the registry from one block to another, or a part of them, from the first one on; `topic` of one file, or of all. Returns also the
     * last block that was read. Asked in one request with that block before and after, so that a node that is behind, or a chain that
     * changes meanwhile, is noticed. Raises UNAVAILABLE, and RpcError when the node refuses even a single block.
     */
    async readLogs(
      at: string,
      { from, to, topic, after }: { from: number; to: number; topic?: string; after?: PassedBlock },
    ): Promise<{ logs: LogReply[]; last: PassedBlock; isChanged: boolean }> {
      for (;;) {
        const end = Math.min(from + range.size - 1, to)
        const filter = {
          ...{ address: at, fromBlock: quantity(from), toBlock: quantity(end) },
          topics: [commitTopic, ...(topic ? [null, topic] : [])],
        }
        const asked = [blockCall(after?.number ?? end), blockCall(end)]
        try {
          const [behind, before, logs, last] = await rpc.batch([
            ...asked,
            { method: 'eth_getLogs', params: [filter] },
            blockCall(end),
          ])
          const read = resultOf<LogReply[]>(logs)
          const block = blockOf(last)
          if (!block || blockOf(before)?.hash !== block.hash) throw contradiction(rpc)
          range.answered(end - from + 1)
          return { logs: read, last: block, isChanged: after !== undefined && blockOf(behind)?.hash !== after.hash }
        } catch (error) {
          narrow(end - from + 1, error)
        }
      }
    },

    /** What was committed after a block, as far as it is read at once; undefined when the chain does not have the block any more. Raises UNAVAILABLE, RpcError. */
    async readAfter(at: string, after: PassedBlock, to: number) {
      const { logs, last, isChanged } = await this.readLogs(at, { from: after.number + 1, to, after })
      return isChanged ? undefined : { found: await find(logs), last }
    },
  }
}
