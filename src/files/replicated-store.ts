/** The content store on several nodes that keep the same files: what is written goes to all of them, and what is read comes from any. */
import { DomainError, isFull, isUnavailable, notFound, unavailable } from '../domain/errors.ts'
import type { ContentStore } from '../domain/ports/files.ts'
import type { Log } from '../domain/ports/log.ts'
import { carOf, namesBelow } from './car.ts'
import { identifyDocument, parseCid } from './cids.ts'
import { copyFile } from './copy-files.ts'
import { identifyFile } from './file-layout.ts'
import { createNodeHealth, type StoreNode } from './node-health.ts'
import { share } from './share.ts'

/** Which nodes there are, and how many of them a file must be on. */
export interface ReplicatedStoreOptions {
  /** They are asked in this order. */
  nodes: readonly StoreNode[]
  /** So many must have taken a file before it counts as stored. */
  copies: number
  log: Pick<Log, 'info' | 'warn'>
}

type Outcome<T> = { value: T } | { error: unknown }

const isMissing = (error: unknown) => error instanceof DomainError && error.code === 'NOT_FOUND'

/** What an operator has to see to: a full node rather than one that is away. */
const failureOf = (errors: unknown[]) => errors.find(isFull) ?? errors.find(isUnavailable) ?? errors[0]

/**
 * Each node is a whole store of its own. A write goes to all that answer and counts once `copies` have taken it; with fewer it is
 * refused, and what was taken is garbage. A read goes to one node after the other until one has it, also in the middle of a file. A
 * node that did not answer is asked last, and for writes only where the others are too few, until it answers again. Whatever a node
 * lacks of what is needed, it is given by `collectGarbage`.
 */
export const createReplicatedContentStore = ({ nodes, copies, log }: ReplicatedStoreOptions): ContentStore => {
  const health = createNodeHealth(nodes, log)

  const inOrder = () => {
    const { awake, resting } = health.inOrder()
    return [...awake, ...resting]
  }

  /** What the first node says that has it. Raises NOT_FOUND only when every node says so, else UNAVAILABLE. */
  const askAll = async <T>(ask: (store: ContentStore) => Promise<T>): Promise<T> => {
    const errors: unknown[] = []
    for (const node of inOrder()) {
      try {
        const found = await ask(node.store)
        health.answered(node)
        return found
      } catch (error) {
        health.failed(node, error)
        errors.push(error)
      }
    }
    throw failureOf(errors)
  }

  /** Writes to the nodes that are chosen; what those say that took it. `isTheirs`: whether what is raised is a node's failure. */
  const writeAll = async <T>(
    chosen: StoreNode[],
    write: (store: ContentStore, index: number) => Promise<T>,
    isTheirs: () => boolean,
    onFailure?: () => void,
  ): Promise<T[]> => {
    const work = async (node: StoreNode, index: number): Promise<Outcome<T>> => {
      try {
        const value = await write(node.store, index)
        health.answered(node)
        return { value }
      } catch (error) {
        if (isTheirs()) health.failed(node, error)
        onFailure?.()
        return { error }
      }
    }
    const outcomes = await Promise.all(chosen.map(work))
    const taken = outcomes.flatMap((outcome) => ('value' in outcome ? [outcome.value] : []))
    if (taken.length < copies)
      throw failureOf(outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : [])))
    return taken
  }

  const writable = () => {
    const { awake, resting } = health.inOrder()
    return awake.length >= copies ? awake : [...awake, ...resting]
  }

  /** Looks at each, which also tells whether it rests from now on. */
  const findAway = async () => {
    const look = async (node: StoreNode) => {
      const isThere = await node.store.isReachable()
      if (isThere) health.answered(node)
      else health.failed(node, unavailable('The file store'))
      return isThere ? [] : [node]
    }
    return (await Promise.all(nodes.map(look))).flat()
  }

  const readBlock = (cid: { toString(): string }) => askAll((store) => store.readBlock(cid.toString()))

  /** Gives a node what it lacks, from another one. */
  const restore = async (node: StoreNode, cid: string) => {
    const errors: unknown[] = []
    for (const other of inOrder()) {
      if (other === node) continue
      try {
        if (await copyFile(other.store, node.store, cid)) return
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw failureOf(errors)
  }

  return {
    async importFile(source) {
      const chosen = writable()
      let sourceError: { error: unknown } | undefined
      async function* watched() {
        try {
          yield* source
        } catch (error) {
          sourceError = { error }
          throw error
        }
      }
      const { readers, leave, end } = share(watched(), chosen.length)
      let left = chosen.length
      const tooFew = () => {
        left -= 1
        // Nobody goes on with what is refused in any case.
        if (left < copies) end(new Error(`Fewer than ${copies} nodes take the file.`))
      }
      const write = (store: ContentStore, index: number) =>
        store.importFile(readers[index]!).finally(() => leave(index))
      const [file, ...others] = await writeAll(chosen, write, () => !sourceError, tooFew).catch((error: unknown) => {
        throw sourceError ? sourceError.error : error
      })
      const names = new Set([file!, ...others].map(({ cid }) => cid))
      if (names.size > 1)
        throw unavailable('The file store', new Error(`its nodes name a file differently: ${[...names].join(', ')}`))
      const discard = async () => {
        await Promise.all([file!, ...others].map((each) => each.discard()))
      }
      return { ...file!, discard }
    },

    identifyFile,

    identify(bytes) {
      const { cid, sha256 } = identifyDocument(bytes)
      return { cid: cid.toString(), sha256 }
    },

    async putDocument(bytes, cancel) {
      const put = (store: ContentStore) => store.putDocument(bytes, cancel)
      const [cid] = await writeAll(writable(), put, () => !cancel?.aborted)
      return cid!
    },

    async *read(cid, range) {
      const errors: unknown[] = []
      let done = 0
      for (const node of inOrder()) {
        const length = range ? range.length - done : Number.MAX_SAFE_INTEGER
        const rest = done > 0 ? { offset: (range?.offset ?? 0) + done, length } : range
        if (length === 0) return
        try {
          for await (const piece of node.store.read(cid, rest)) {
            done += piece.byteLength
            yield piece
          }
          health.answered(node)
          return
        } catch (error) {
          // Bytes under a CID are the same on every node, so the next one goes on where this one broke off.
          health.failed(node, error)
          errors.push(error)
        }
      }
      throw failureOf(errors)
    },

    size: (cid) => askAll((store) => store.size(cid)),

    readBlock,

    async isWhole(cid) {
      return askAll(async (store) => {
        if (await store.isWhole(cid)) return true
        throw notFound('File')
      }).catch((error: unknown) => {
        if (isMissing(error)) return false
        throw error
      })
    },

    async *exportCar(cid, selection) {
      yield* carOf(parseCid(cid), readBlock, selection)
    },

    async *blocksBelow(cid) {
      for await (const below of namesBelow(parseCid(cid), readBlock)) yield below.toString()
    },

    async collectGarbage(pinned, graceSeconds, options = {}) {
      const needed: string[] = []
      for await (const cid of pinned) needed.push(cid)
      async function* each() {
        yield* needed
      }
      const away: unknown[] = []
      let count = 0
      for (const node of nodes) {
        try {
          const giveBack = { restore: (cid: string) => restore(node, cid) }
          count += await node.store.collectGarbage(each(), graceSeconds, { ...options, ...giveBack })
        } catch (error) {
          if (!isUnavailable(error)) throw error
          health.failed(node, error)
          away.push(error)
        }
      }
      if (away.length === nodes.length) throw failureOf(away)
      return count
    },

    async isReachable() {
      const away = await findAway()
      return nodes.length - away.length >= copies
    },

    missingNodes: async () => (await findAway()).map(({ name }) => name),
  }
}
