import { create } from 'kubo-rpc-client'
import { DomainError, insufficientStorage, notFound, unavailable } from '../shared/errors.ts'
import { carOf, namesBelow } from './car.ts'
import { identifyDocument, measure, parseCid } from './cids.ts'
import { tellOrRaise } from './error-collector.ts'
import { identifyFile } from './file-layout.ts'
import type { ContentStore } from './file-types.ts'
import { createPatience, eachWithin, tooSlow } from './timeout.ts'

/** Global option of Kubo: answer from its own blocks instead of asking the network, where a missing block never fails. */
const offline: { offline: true } = { offline: true }

/** Our pins bear this name and the Unix second of their import; other pins of the node are never touched. */
const pinPrefix = 'annal '
const nameNow = () => `${pinPrefix}${Math.floor(Date.now() / 1000)}`
const isOld = (name: string | undefined, before: number) =>
  name?.startsWith(pinPrefix) === true && Number(name.slice(pinPrefix.length)) < before

/**
 * Everything that an identifier hangs on, whatever the node's own profile says: `kuboLayout` in Kubo's words. Its client
 * hands on what it does not know.
 */
const layout = {
  cidVersion: 1 as const,
  hashAlg: 'sha2-256',
  rawLeaves: true,
  chunker: 'size-262144',
  trickle: false,
  'max-file-links': 174,
  inline: false,
  nocopy: false,
  wrapWithDirectory: false,
}

/** Milliseconds that renewals and removals are remembered: longer than an upload takes. */
const MEMORY_MS = 3_600_000

/** Which Kubo node it is, and how patient its callers are. */
export interface KuboContentStoreOptions {
  /** Its RPC API. */
  url: string
  /** Milliseconds that it may take for an answer, or for the next piece of one. */
  patience?: number
  /** Milliseconds from the look at a pin to its removal after which the removal does not count; 5,000 when missing. */
  swift?: number
}

/**
 * The content store in a Kubo node (0.37 or later, which names pins as it adds them). Everything added is pinned at once;
 * `collectGarbage` unpins, and the space comes back with the node's own garbage collection.
 */
export const createKuboContentStore = ({
  url,
  patience = 15_000,
  swift = 5_000,
}: KuboContentStoreOptions): ContentStore => {
  const kubo = create({ url })
  /** When this process last renewed and last removed a pin, in milliseconds. */
  const renewed = new Map<string, number>()
  const removed = new Map<string, number>()

  /** One question. Raises NOT_FOUND, UNAVAILABLE. */
  const ask = async <T>(question: (signal: AbortSignal) => Promise<T>, cancel?: AbortSignal): Promise<T> => {
    const deadline = AbortSignal.timeout(patience)
    const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
    try {
      return await question(signal)
    } catch (error) {
      throw deadline.aborted ? unavailable('The file store', tooSlow(patience)) : refusal(error)
    }
  }

  const pin = (cid: string, cancel?: AbortSignal) =>
    ask((signal) => kubo.pin.add(cid, { name: nameNow(), ...offline, signal }), cancel)

  const readBlock = (cid: { toString(): string }) =>
    ask((signal) => kubo.block.get(parseCid(cid.toString()), { ...offline, signal }))

  const note = (times: Map<string, number>, cid: string) => {
    const now = Date.now()
    for (const [known, at] of times) if (at < now - MEMORY_MS) times.delete(known)
    times.set(cid, now)
  }

  /** Kubo has pinned it since `begun`; holds it against a removal of ours that came in between. */
  const hold = async (cid: string, begun: number, cancel?: AbortSignal) => {
    note(renewed, cid)
    if ((removed.get(cid) ?? 0) < begun) return
    await pin(cid, cancel).catch((error: unknown) => {
      // Kubo's own collection came in between, too: nothing is held, and whoever sends it again is served.
      throw error instanceof DomainError && error.code === 'NOT_FOUND' ? unavailable('The file store', error) : error
    })
  }

  /** The name of the pin now, undefined when there is none. */
  const nameOf = (cid: string) =>
    ask(async (signal) => {
      for await (const found of kubo.pin.ls({ paths: cid, type: 'recursive', names: true, signal })) return found.name
      return undefined
    }).catch((error: unknown) => {
      if (error instanceof DomainError && error.cause instanceof Error && /not pinned/i.test(error.cause.message))
        return undefined
      throw error
    })

  /**
   * Removes a pin of ours that is old; whether it is gone. Kubo cannot remove on a condition, so another import may renew the pin
   * between our look at it and its removal, and in a process that is stopped in between that may be long. Therefore the pin is made
   * anew at once, before Kubo's own collection comes by, when
   * - this process renewed it meanwhile, or it is pinned by the database now;
   * - look and removal took longer than `swift`, or the removal was not answered: whoever renewed it may not have registered yet.
   * What remains is another process that imports the very file within these moments and registers it after them, and an end of this
   * process, or a Kubo that is away, between removal and pin: the next collection of any process pins what the database tells of.
   */
  const unpinOld = async (
    cid: string,
    before: number,
    isPinned: (cid: string) => Promise<boolean>,
  ): Promise<boolean> => {
    const looked = Date.now()
    if (!isOld(await nameOf(cid), before)) return false
    note(removed, cid)
    let isGone = false
    try {
      await ask((signal) => kubo.pin.rm(cid, { signal })).catch(ifUnpinned)
      const took = Date.now() - looked
      const wasRenewed = (renewed.get(cid) ?? 0) >= looked
      isGone = !wasRenewed && took >= 0 && took <= swift && !(await isPinned(cid))
    } finally {
      note(removed, cid)
      if (!isGone) await pin(cid).catch(ifMissing)
    }
    return isGone
  }

  const isReachable = async () => {
    const signal = AbortSignal.timeout(Math.min(patience, 2_000))
    return kubo.version({ signal }).then(
      () => true,
      () => false,
    )
  }

  return {
    async importFile(source) {
      const { stream, result } = measure(source)
      const { signal, start, stop } = createPatience(patience)
      let failure: { error: unknown } | undefined
      // The client turns an error of the source into an aborted request, so it is kept aside.
      async function* watched() {
        try {
          for await (const piece of stream) {
            start()
            yield piece
            stop()
          }
          start()
        } catch (error) {
          failure = { error }
          throw error
        }
      }
      const begun = Date.now()
      const pieces = watched()
      try {
        start()
        const added = await kubo.add(pieces, { ...layout, pin: true, 'pin-name': nameNow(), signal } as object)
        const cid = added.cid.toString()
        stop()
        await hold(cid, begun)
        // Somebody else may count on the pin by now, and the node cannot tell: garbage collection will.
        return { cid, ...result(), discard: async () => {} }
      } catch (error) {
        if (failure) throw failure.error
        throw signal.aborted ? unavailable('The file store', signal.reason) : refusal(error)
      } finally {
        stop()
        // The client leaves a source open that it has no use for any more.
        void pieces.return().catch(() => undefined)
      }
    },

    identifyFile,

    identify(bytes) {
      const { cid, sha256 } = identifyDocument(bytes)
      return { cid: cid.toString(), sha256 }
    },

    async putDocument(bytes, cancel) {
      const begun = Date.now()
      // A file of one piece is that block. `block/put` cannot name a pin, and between two requests the node's own collection takes the block.
      const whole = { ...layout, chunker: `size-${Math.max(bytes.byteLength, 1)}`, pin: true, 'pin-name': nameNow() }
      const added = await ask((signal) => kubo.add(bytes, { ...whole, signal } as object), cancel)
      const cid = added.cid.toString()
      await hold(cid, begun, cancel)
      return cid
    },

    async *read(cid, range) {
      const parsed = parseCid(cid)
      try {
        yield* eachWithin(patience, (signal) => kubo.cat(parsed, { ...offline, ...range, signal }))
      } catch (error) {
        throw refusal(error)
      }
    },

    async size(cid) {
      const path = `/ipfs/${parseCid(cid)}`
      return (await ask((signal) => kubo.files.stat(path, { ...offline, signal }))).size
    },

    async readBlock(cid) {
      return readBlock(parseCid(cid))
    },

    async isWhole(cid) {
      const path = `/ipfs/${parseCid(cid)}`
      const look = (signal: AbortSignal) => kubo.files.stat(path, { ...offline, withLocal: true, signal })
      const found = await ask(look).catch(ifMissing)
      return found !== undefined && found.local !== false
    },

    async *exportCar(cid, selection) {
      yield* carOf(parseCid(cid), readBlock, selection)
    },

    async *blocksBelow(cid) {
      for await (const below of namesBelow(parseCid(cid), readBlock)) yield below.toString()
    },

    async collectGarbage(pinned, graceSeconds, { cancel, onError, isPinned = async () => false, restore } = {}) {
      // Taken before the pins are read: what is pinned later was imported or renewed later.
      const before = Date.now() / 1000 - graceSeconds
      const kept = new Set<string>()
      for await (const cid of pinned) kept.add(cid)
      const lost = new Set(kept)
      const old: string[] = []
      try {
        const all = (signal: AbortSignal) => kubo.pin.ls({ type: 'recursive', names: true, signal })
        for await (const { cid, name } of eachWithin(patience, all)) {
          cancel?.throwIfAborted()
          lost.delete(cid.toString())
          if (isOld(name, before) && !kept.has(cid.toString())) old.push(cid.toString())
        }
      } catch (error) {
        throw refusal(error)
      }
      const told = tellOrRaise(onError)
      const each = async (cids: Iterable<string>, work: (cid: string) => Promise<unknown>) => {
        for (const cid of cids) {
          cancel?.throwIfAborted()
          await work(cid).catch(async (error: unknown) => {
            if (!(await isReachable())) throw error
            told.onError(cid, error)
          })
        }
      }
      let count = 0
      // First what is needed: a pin that is missing is one that Kubo's own collection may not find in time.
      await each(lost, (cid) =>
        pin(cid)
          .catch(ifMissing)
          .then((found) => (found ? undefined : restore?.(cid))),
      )
      await each(old, async (cid) => {
        if (await unpinOld(cid, before, isPinned)) count += 1
      })
      told.end()
      return count
    },

    isReachable,
  }
}

/** Somebody else was faster. */
const ifUnpinned = (error: unknown): undefined => {
  if (!(error instanceof DomainError && error.cause instanceof Error && /not pinned/i.test(error.cause.message)))
    throw error
}

/** Kubo tells a missing block and a full disk by its words only. */
const refusal = (error: unknown) => {
  if (error instanceof DomainError) return error
  if (error instanceof Error && /no space left|quota exceeded/i.test(error.message)) return insufficientStorage(error)
  const missing = error instanceof Error && /not found|could not find/i.test(error.message)
  return missing ? notFound('File') : unavailable('The file store', error)
}

/** Its blocks are gone, or were never imported: there is nothing to hold. */
const ifMissing = (error: unknown): undefined => {
  if (!(error instanceof DomainError && error.code === 'NOT_FOUND')) throw error
}

/** What Kubo tells of where its blocks lie: one datastore, several of them mounted, or one that another wraps. */
interface DatastoreSpec {
  type?: string
  sync?: boolean
  mounts?: DatastoreSpec[]
  child?: DatastoreSpec
}

const isUnsynced = ({ type, sync, mounts = [], child }: DatastoreSpec): boolean =>
  (type === 'flatfs' && sync !== true) || [...mounts, ...(child ? [child] : [])].some(isUnsynced)

/** Whether a node acknowledges blocks before its disk has them, as its configuration says; false when it does not tell. `url`: its RPC. */
export const keepsUnsynced = async (url: string): Promise<boolean> => {
  const asked = create({ url }).config.get('Datastore.Spec', { signal: AbortSignal.timeout(2_000) })
  return asked.then(
    (spec) => isUnsynced(spec as DatastoreSpec),
    () => false,
  )
}

/**
 * How many other nodes get every block from a node that they ask it for: those that are connected to it, or none where its configuration
 * says that it serves none. 0 when it does not tell. `url`: its RPC.
 */
export const countServed = async (url: string): Promise<number> => {
  const kubo = create({ url })
  const signal = AbortSignal.timeout(2_000)
  // A node of which nothing is said serves others.
  const isServer = await kubo.config.get('Bitswap.ServerEnabled', { signal }).catch(() => true)
  if (isServer === false) return 0
  return (await kubo.swarm.peers({ signal }).catch(() => [])).length
}
