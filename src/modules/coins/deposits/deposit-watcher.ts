/**
 * Watches the chain for deposits to wallet addresses. 1 coin, or 1 configured token, is 1 currency unit. Blocks are scanned in order up to the newest,
 * and their deposits are stored as pending. A deposit is credited when its block is deep enough. After a reorganization, pending deposits are deleted
 * and found again, and credited ones are frozen (decision 33).
 */
import {
  extendTrail,
  findFork,
  isOtherBranch,
  type PassedBlock,
  passedBlockOf,
  readTrail,
  type Trail,
  writeTrail,
} from '../../../chain/block-checkpoint.ts'
import { createLease } from '../../../chain/lease.ts'
import { createPoller, type Poller } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import { type BlockReply, contradiction, type Rpc, resultOf } from '../../../chain/rpc.ts'
import type { Log } from '../../../shared/log.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositLedger, ScanPosition } from '../deposit-ledger.ts'
import { createDepositFinder } from './deposit-finder.ts'

/** Number of confirmations until a deposit is credited, or `finalized` to wait until the chain finalizes the block. */
export type DepositDepth = number | 'finalized'

/** The newest block of the chain, and the newest block whose deposits are credited. */
interface DepositView {
  chainId: number
  head: PassedBlock
  due: number
}

/** Reads up to which block deposits are credited. Throws WrongChainError, UNAVAILABLE, and an Error if the chain does not support `finalized`. */
export async function readDepositView(
  registry: Pick<Registry, 'assertChain'>,
  rpc: Rpc,
  confirmations: DepositDepth,
): Promise<DepositView> {
  const tags = ['latest', ...(confirmations === 'finalized' ? ['finalized'] : [])]
  const [id, latest, final] = await rpc.batch([
    { method: 'eth_chainId', params: [] },
    ...tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  ])
  const chainId = Number(resultOf<string>(id))
  await registry.assertChain(chainId)
  const newest = resultOf<BlockReply | null>(latest)
  if (!newest) throw contradiction(rpc)
  const head = passedBlockOf(newest)
  if (confirmations !== 'finalized') return { chainId, head, due: head.number - confirmations }
  const finalized = final?.error ? null : resultOf<BlockReply | null>(final)
  if (!finalized)
    throw new Error('The chain does not say which block is final: set CHAIN_DEPOSIT_CONFIRMATIONS to a number.')
  return { chainId, head, due: Number(finalized.number) }
}

/** Parts and settings of the deposit watcher. */
export interface DepositWatcherOptions {
  registry: Registry
  ledger: DepositLedger
  /** Direct connection to the database, without a statement pooler. It holds the lease. */
  databaseUrl: string
  log: Log
  confirmations: DepositDepth
  /** Address of an ERC-20 token that is credited too. */
  token?: string | undefined
  /** Pause between steps without a new block, in milliseconds. Default: 1,000. */
  pollEvery?: number
}

/** Maximum number of blocks per RPC batch. */
const BATCH = 20

/** Number of steps in which the node may announce a next block that it does not have. */
const MAX_MISSING_BLOCKS = 30

const lock = 'deposits'

/** Creates the deposit watcher without starting it. Only the process with the lease `deposits` runs it. */
export function createDepositWatcher({
  registry,
  ledger,
  databaseUrl,
  log,
  confirmations,
  token,
  pollEvery = 1_000,
}: DepositWatcherOptions): Poller {
  const stopping = new AbortController()
  const rpc = registry.rpc.until(stopping.signal)
  const lease = createLease({ databaseUrl, log })
  const finder = createDepositFinder({ rpc, ledger, token })
  let notedHead = ''
  let missingBlocks = 0

  /** Stores the head, from which readers compute confirmations. */
  const noteHead = async ({ head, due }: DepositView) => {
    const noted = `${head.number} ${due}`
    if (noted !== notedHead) await ledger.noteHead(head.number, due)
    notedHead = noted
  }

  /** Returns the start on a different chain: the first block of the earlier scan, or the block up to which this chain is credited. */
  const findStart = async (trail: Trail, due: number): Promise<PassedBlock[]> => {
    const start = Math.min(trail.at(-1)!.number, Math.max(due, 0))
    const [block] = await finder.readBlocks(start, start)
    return block ? [passedBlockOf(block)] : []
  }

  /** Freezes all deposits above the first block of `trail`, page by page, and moves the scan back to it. */
  const freeze = async (scan: ScanPosition, trail: Trail) => {
    const references: string[] = []
    let shortfall = 0n
    for (;;) {
      const part = await ledger.goBack(scan, writeTrail(trail), trail[0].number)
      if (part.frozen.length === 0) return { references, shortfall: fromUnits(shortfall) }
      references.push(...part.frozen)
      shortfall += toUnits(part.shortfall)
    }
  }

  /** Handles a reorganization: goes back to the newest scanned block that the chain still has. */
  const goBack = async ({ head, due }: DepositView, scan: ScanPosition, trail: Trail) => {
    const [fork, ...rest] = (await findFork(rpc, trail, head)) ?? (await findStart(trail, due))
    if (!fork || fork.hash === trail[0].hash) throw contradiction(rpc)
    const { references, shortfall } = await freeze(scan, [fork, ...rest])
    const depth = trail[0].number - fork.number
    const facts = { from: fork.number, to: trail[0].number, frozen: references.length, shortfall }
    if (references.length > 0 || (confirmations !== 'finalized' && depth > confirmations)) {
      log.error(
        { ...facts, deposits: references.slice(0, 5) },
        'Chain reorganization deeper than CHAIN_DEPOSIT_CONFIRMATIONS; credited deposits are frozen until the chain has them again ("annal deposits")',
      )
    } else log.info(facts, 'Chain reorganization; reading its newest blocks again for deposits')
  }

  const credit = async (scan: ScanPosition, due: number) => {
    const credited = await ledger.creditDue(scan, due)
    if (credited) log.info({ deposits: credited, block: due }, 'Deposits credited')
  }

  /** Scans the next blocks. Returns the pause until the next step, in milliseconds. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(lock))) return pollEvery
    const view = await readDepositView(registry, rpc, confirmations)
    await finder.assertToken()
    const { chainId, head, due } = view
    await noteHead(view)
    const position = await ledger.readPosition(chainId)
    if (position === undefined) {
      // Deposits before the first scan are not credited.
      await ledger.begin(chainId, writeTrail([head]))
      return 0
    }
    const trail = readTrail(position)
    const next = trail[0].number + 1
    if (head.number < next) {
      if (isOtherBranch(trail, head)) await goBack(view, { chainId, position }, trail)
      // A node that is behind others cannot confirm the depth of a block.
      else if (head.hash === trail[0].hash) await credit({ chainId, position }, due)
      return pollEvery
    }
    const blocks = await finder.readBlocks(next, Math.min(head.number, next + BATCH - 1))
    const [first] = blocks
    const last = blocks.at(-1)
    if (!first || !last) {
      // Another node behind the same load balancer may not have the block yet. Report an error if it never arrives.
      missingBlocks += 1
      if (missingBlocks > MAX_MISSING_BLOCKS) throw contradiction(rpc)
      return pollEvery
    }
    missingBlocks = 0
    if (first.parentHash !== trail[0].hash) {
      await goBack(view, { chainId, position }, trail)
      return 0
    }
    const to = writeTrail(blocks.reduce<Trail>((passed, block) => extendTrail(passed, passedBlockOf(block)), trail))
    if (!(await ledger.note(chainId, { from: position, to }, await finder.find(blocks)))) return 0
    await credit({ chainId, position: to }, Math.min(due, Number(last.number)))
    return Number(last.number) < head.number ? 0 : pollEvery
  }

  const messages = { failed: 'Deposit watcher failed; retrying', recovered: 'Deposit watcher recovered' }
  return createPoller({ step, stopping, close: () => lease.close(), log, messages })
}
