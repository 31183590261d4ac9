/**
 * What others had committed to a file before it was registered here. The registry is asked for the blocks that hold its commits, and each of them
 * for the file's events; where it cannot tell, the log is read from its beginning, in ranges. A part at a time, each file for
 * itself: one whose past cannot be read rests, and the others go on.
 */
import { isUnavailable } from '../../domain/errors.ts'
import { explainError } from '../../domain/explain-error.ts'
import type { Database } from '../../domain/ports/database.ts'
import type { PassedBlock } from '../block-trail.ts'
import { type Lease, LeaseLostError } from '../lease.ts'
import { commitTopic, decodeGetCommits, encodeGetCommits } from '../registry/abi.ts'
import type { BlockReply, LogReply } from '../replies.ts'
import { quantity, type Rpc, type RpcOutcome, resultOf } from '../rpc.ts'
import type { ForeignFinder } from './find.ts'
import { findUnreadPast, notePast, notePastEmpty, postponePast, type UnreadPast } from './statements.ts'

/** Files of one step, those of them that have a past, and blocks of one of these. */
const FILES_AT_ONCE = 20
const PASTS_AT_ONCE = 4
const BLOCKS_AT_ONCE = 50

interface Dependencies {
  rpc: Rpc
  database: Database
  lease: Pick<Lease, 'write'>
  /** Of the lease that is held. */
  leaseName: string
  finder: ForeignFinder
  /** The first block of a registry's log. Raises UNAVAILABLE. */
  startOf(at: string): Promise<number>
}

/** The blocks that hold commits to a file, each once, oldest first; undefined when the registry cannot tell. */
const blocksOf = (outcome: RpcOutcome | undefined): number[] | undefined => {
  if (!outcome || outcome.error) return undefined
  try {
    return [...new Set(decodeGetCommits(outcome.result as string))].sort((a, b) => a - b)
  } catch {
    // It answers something else, as contracts do that do not know the question.
    return undefined
  }
}

/** Reads pasts, a part at each step. */
export function createPastReader({ rpc, database, lease, leaseName, finder, startOf }: Dependencies) {
  /** Which blocks hold commits to these files; undefined when the node does not have `newest`. */
  const list = async (at: string, files: readonly UnreadPast[], newest: PassedBlock) => {
    const [known, ...lists] = await rpc.batch([
      { method: 'eth_getBlockByNumber', params: [quantity(newest.number), false] },
      ...files.map(({ nid }) => ({ method: 'eth_call', params: [{ to: at, data: encodeGetCommits(nid) }, 'latest'] })),
    ])
    return resultOf<BlockReply | null>(known)?.hash === newest.hash ? lists.map(blocksOf) : undefined
  }

  const readBlocks = async (at: string, { topic }: UnreadPast, blocks: readonly number[]) => {
    const outcomes = await rpc.batch(
      blocks.map(quantity).map((block) => ({
        method: 'eth_getLogs',
        params: [{ address: at, fromBlock: block, toBlock: block, topics: [commitTopic, null, topic] }],
      })),
    )
    return outcomes.flatMap((outcome) => resultOf<LogReply[]>(outcome))
  }

  /** A part of a file's past: its logs, and from where on it is to be read next; from nowhere at its end. */
  const readPart = async (at: string, file: UnreadPast, blocks: readonly number[] | undefined) => {
    const { topic, past_from: from, past_to: to } = file
    if (blocks) {
      const part = blocks.slice(0, BLOCKS_AT_ONCE)
      return { logs: await readBlocks(at, file, part), next: blocks.length > part.length ? part.at(-1)! + 1 : null }
    }
    const first = Math.max(from, await startOf(at))
    if (first > to) return { logs: [], next: null }
    const { logs, last } = await finder.readLogs(at, { from: first, to, topic })
    return { logs, next: last.number < to ? last.number + 1 : null }
  }

  const readFile = async (at: string, file: UnreadPast, blocks: readonly number[] | undefined) => {
    try {
      const { logs, next } = await readPart(at, file, blocks)
      await lease.write(leaseName, notePast, { nid: file.nid, from: next, ...(await finder.find(logs)) })
    } catch (error) {
      // Whoever is away is away for all of them.
      if (isUnavailable(error) || error instanceof LeaseLostError) throw error
      await lease.write(leaseName, postponePast, { nid: file.nid, lastError: explainError(error) })
    }
  }

  return {
    /** Reads a part of what is unread, up to `newest`, the last block that was read for all. Returns whether there may be more. Raises UNAVAILABLE. */
    async readOn(at: string, newest: PassedBlock): Promise<boolean> {
      const files = await database.query(findUnreadPast, { limit: FILES_AT_ONCE })
      if (files.length === 0) return false
      const lists = await list(at, files, newest)
      if (!lists) return false
      const pasts = files.map((file, index) => ({
        file,
        blocks: lists[index]?.filter((block) => block >= file.past_from && block <= file.past_to),
      }))
      const empty = pasts.filter(({ blocks }) => blocks?.length === 0).map(({ file }) => file.nid)
      if (empty.length > 0) await lease.write(leaseName, notePastEmpty, { nids: empty })
      const others = pasts.filter(({ blocks }) => blocks?.length !== 0).slice(0, PASTS_AT_ONCE)
      for (const { file, blocks } of others) await readFile(at, file, blocks)
      return true
    },
  }
}
