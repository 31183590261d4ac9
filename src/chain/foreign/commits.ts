/**
 * Finds what others commit to files of ours: anybody may write to a registry. Blocks are read in order up to the newest, what is found is told
 * beside the history of an asset and changes nothing of it, and where the chain changes it is forgotten and found anew. What was written
 * before a file was registered here is its past, read for each file by itself (decision 39).
 */
import { getAddress } from 'ethers'
import type { Database } from '../../domain/ports/database.ts'
import type { Log } from '../../domain/ports/log.ts'
import {
  extendTrail,
  findFork,
  isAnother,
  type PassedBlock,
  passedBlockOf,
  readTrail,
  type Trail,
  writeTrail,
} from '../block-trail.ts'
import { keccak256 } from '../curve.ts'
import { toHex } from '../keys.ts'
import { createLease } from '../lease.ts'
import type { Registry } from '../registry/registry.ts'
import type { BlockReply } from '../replies.ts'
import { contradiction, quantity, type Rpc, resultOf } from '../rpc.ts'
import { createWatch, type Watch } from '../watch.ts'
import { createForeignFinder } from './find.ts'
import { createPastReader } from './past.ts'
import {
  beginPasts,
  findForeignPlace,
  findUnnamed,
  forgetAbove,
  goOnAt,
  leavePlace,
  lowerPasts,
  nameAssets,
  noteRead,
  placeOf,
  readAgain,
  unwatchAssets,
  watchAssets,
} from './statements.ts'

/** Which registry is read, and who writes to it as we. */
export interface ForeignWatcherOptions {
  database: Database
  /** For the connection that holds the lease: a session of its own, not through a statement pooler. */
  databaseUrl: string
  registry: Registry
  log: Log
  /** Accounts that write for us, and that did so earlier. */
  own: readonly string[]
  /** Milliseconds between looks while nothing is new; 5,000 when missing. */
  pollEvery?: number
  /** A registry with fewer blocks behind it is read from its first one on: then no file has a past to be asked for by itself; 2,000 when missing. */
  youngBlocks?: number
  /** Files, or commits by others, of one statement that goes through all of them; 5,000 when missing. */
  pageSize?: number
}

/** The lease of who reads. */
const FOREIGN_LEASE = 'foreign-commits'
/** Files whose topics are worked out in one step. */
const NAMED_AT_ONCE = 500
const FIRST_BLOCK = 0
/** Below it. */
const BEFORE_ALL = FIRST_BLOCK - 1
/** Milliseconds between two looks for files that are watched for and were deleted, or are not watched for yet. */
const WATCHED_EVERY_MS = 3_600_000
/** Milliseconds of rest while there is more to read: it can wait, and requests cannot. */
const BETWEEN_MS = 20

/** A block by its number or tag; undefined where the node has none. Raises UNAVAILABLE. */
const readBlock = async (rpc: Rpc, at: number | 'latest'): Promise<PassedBlock | undefined> => {
  const tag = at === 'latest' ? at : quantity(at)
  const [outcome] = await rpc.batch([{ method: 'eth_getBlockByNumber', params: [tag, false] }])
  const block = resultOf<BlockReply | null>(outcome)
  return block ? passedBlockOf(block) : undefined
}

/**
 * A watcher of commits by others; of several processes one reads, by the lease `foreign-commits`. While the chain or the database is away
 * it asks again, every 5 seconds at last, and is told of in the log once.
 */
export function createForeignWatcher(options: ForeignWatcherOptions): Watch {
  const { database, registry, log, pollEvery = 5_000, youngBlocks = 2_000, pageSize = 5_000 } = options
  const own = options.own.map((each) => getAddress(each.toLowerCase()))
  const stopping = new AbortController()
  const rpc = registry.rpc.until(stopping.signal)
  const lease = createLease({ databaseUrl: options.databaseUrl, log })
  const finder = createForeignFinder({ rpc, database, own: new Set(own) })
  const past = createPastReader({
    rpc,
    database,
    lease,
    leaseName: FOREIGN_LEASE,
    finder,
    startOf: (at) => startOf(at),
  })
  let start: { at: string; block: number; soughtAt: number } | undefined
  let watchedAt = Number.NEGATIVE_INFINITY
  /** Hash of the block before the registry, at which reading began. */
  let first: string | undefined

  /** Asked for once in a while only: halving a long chain takes some thirty questions. */
  const startOf = async (at: string) => {
    if (start?.at === at && performance.now() - start.soughtAt < WATCHED_EVERY_MS) return start.block
    const found = await registry.findStart(at, await registry.readChainId())
    if (found === undefined)
      log.warn(
        {},
        "The node does not tell at which block the registry was deployed: its log is read from the chain's first block on. CHAIN_REGISTRY_BLOCK says it",
      )
    start = { at, block: found ?? 0, soughtAt: performance.now() }
    return start.block
  }

  /** Page by page, however many files there are: a statement of the lease has a few seconds. */
  const throughAll = async (
    writePage: (page: { after: string; limit: number }) => Promise<{ last: string | null }[]>,
  ) => {
    for (let after: string | null = ''; after !== null; ) {
      stopping.signal.throwIfAborted()
      const [row]: { last: string | null }[] = await writePage({ after, limit: pageSize })
      after = row!.last
    }
  }

  const watchAll = async () => {
    if (performance.now() - watchedAt < WATCHED_EVERY_MS) return
    await throughAll((page) => lease.write(FOREIGN_LEASE, watchAssets, page))
    await throughAll((page) => lease.write(FOREIGN_LEASE, unwatchAssets, { ...page, own }))
    watchedAt = performance.now()
  }

  /** What was found above a block is forgotten. */
  const forget = async (height: number) => {
    for (let count = pageSize; count === pageSize; ) {
      stopping.signal.throwIfAborted()
      const [row] = await lease.write(FOREIGN_LEASE, forgetAbove, { height, limit: pageSize })
      count = row!.count
    }
  }

  /** Has new files found in what is read from here on. Returns whether there were any. */
  const nameAll = async (trail: Trail) => {
    const rows = await database.query(findUnnamed, { limit: NAMED_AT_ONCE })
    if (rows.length === 0) return false
    const nids = rows.map(({ nid }) => nid)
    const topics = nids.map((nid) => toHex(keccak256(Buffer.from(nid))))
    const { number: pastTo, hash } = trail[0]
    await lease.write(FOREIGN_LEASE, nameAssets, { nids, topics, pastTo, isFirst: hash === first })
    return true
  }

  /** The block before a young registry, or the first one of a young chain; undefined when there may be much behind the newest one. */
  const findBefore = async (at: string, head: PassedBlock): Promise<PassedBlock | undefined> => {
    const deployedAt = (await registry.findStart(at, await registry.readChainId())) ?? 0
    return head.number - deployedAt < youngBlocks ? readBlock(rpc, Math.max(deployedAt - 1, 0)) : undefined
  }

  /**
   * Where no file has a past yet, or at the newest block: then what is behind it is the past of each. Nothing says any more that the registry
   * was read, so that this begins again where it was broken off, whatever the chain says then.
   */
  const begin = async (place: string, at: string, head: PassedBlock) => {
    const before = await findBefore(at, head)
    const from = before ?? head
    first = before?.hash
    const past = { pastTo: from.number, isFirst: before !== undefined }
    await lease.write(FOREIGN_LEASE, leavePlace, { place })
    await forget(BEFORE_ALL)
    await throughAll((page) => lease.write(FOREIGN_LEASE, beginPasts, { ...page, ...past }))
    const trail = writeTrail([from])
    await lease.write(FOREIGN_LEASE, goOnAt, { place, trail, head: head.number, from: FIRST_BLOCK })
  }

  /**
   * Back to a block, from which on all is found anew. That it is wanted is written first, so that this begins again where it was broken off,
   * also where the chain has its blocks again by then.
   */
  const goOnAfter = async (place: string, trail: Trail, head: PassedBlock) => {
    const height = trail[0].number
    // Who wants all of it says the first block, before which there is none to go back to: they are answered by this, too.
    const from = height === FIRST_BLOCK ? FIRST_BLOCK : height + 1
    await lease.write(FOREIGN_LEASE, readAgain, { from })
    await forget(height)
    await throughAll((page) => lease.write(FOREIGN_LEASE, lowerPasts, { ...page, height }))
    await lease.write(FOREIGN_LEASE, goOnAt, { place, trail: writeTrail(trail), head: head.number, from })
  }

  /** The chain is another one below what was read of it: back to the newest block that it still has. */
  const goBack = async (place: string, at: string, trail: Trail, head: PassedBlock) => {
    const fork = await findFork(rpc, trail, head)
    if (!fork) {
      log.warn({}, 'The chain is another one; commits by others are sought on it from the beginning')
      return begin(place, at, head)
    }
    if (fork[0].hash === trail[0].hash) throw contradiction(rpc)
    await goOnAfter(place, fork, head)
  }

  /** An operator wants everything from a block on to be read once more. */
  const readAgainFrom = async (place: string, trail: Trail, head: PassedBlock, from: number) => {
    const before = await readBlock(rpc, Math.min(Math.max(from - 1, 0), trail[0].number))
    if (!before) throw contradiction(rpc)
    const passed = trail.filter(({ number }) => number < before.number)
    await goOnAfter(place, [before, ...passed], head)
  }

  /** Reads on from the newest block of the trail. Returns whether there is more. */
  const readOn = async (place: string, at: string, trail: Trail, head: PassedBlock): Promise<boolean> => {
    if (head.number <= trail[0].number) {
      if (isAnother(trail, head)) await goBack(place, at, trail, head)
      return false
    }
    const read = await finder.readAfter(at, trail[0], head.number)
    if (!read) {
      await goBack(place, at, trail, head)
      return true
    }
    const to = writeTrail(extendTrail(trail, read.last))
    await lease.write(FOREIGN_LEASE, noteRead, { place, trail: to, head: head.number, ...read.found })
    return read.last.number < head.number
  }

  /** Returns how long to rest, in milliseconds. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(FOREIGN_LEASE))) return pollEvery
    const chainId = await registry.readChainId()
    const at = await registry.findAddress(chainId)
    if (!at) return pollEvery
    await watchAll()
    const head = await readBlock(rpc, 'latest')
    if (!head) throw contradiction(rpc)
    const place = placeOf(chainId, at)
    const [row] = await database.query(findForeignPlace, { place })
    if (!row?.trail) {
      await begin(place, at, head)
      return 0
    }
    const trail = readTrail(row.trail)
    if (row.again !== null) {
      await readAgainFrom(place, trail, head, row.again)
      return 0
    }
    const hasNamed = await nameAll(trail)
    // Before anything is read for all, all have to be named.
    if (hasNamed && trail[0].hash === first) return BETWEEN_MS
    const hasPast = await past.readOn(at, trail[0])
    const hasMore = await readOn(place, at, trail, head)
    return hasNamed || hasPast || hasMore ? BETWEEN_MS : pollEvery
  }

  const words = { waits: 'Commits by others are not looked for', goesOn: 'Commits by others are looked for again' }
  return createWatch({ step, stopping, close: () => lease.close(), log, words })
}
