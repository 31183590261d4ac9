import { create } from 'kubo-rpc-client'
import { undefinedIf } from '../shared/async.ts'
import { DomainError, insufficientStorage, isNotFound, notFound, unavailable } from '../shared/errors.ts'
import { createBlockReader } from './block-reader.ts'
import { measure, parseCid } from './cids.ts'
import type { ContentStore } from './file-types.ts'
import { createErrorCollector } from './garbage-collection.ts'

/** Makes Kubo use only local blocks. A search for a missing block on the network never ends. */
const offline = { offline: true } as const

/** Prefix of Annal's pin names. The Unix time of the import follows. Annal never changes other pins of the node. */
const pinPrefix = 'annal '
const nameNow = () => `${pinPrefix}${Math.floor(Date.now() / 1000)}`
const isOld = (name: string | undefined, before: number) =>
  name?.startsWith(pinPrefix) === true && Number(name.slice(pinPrefix.length)) < before

/** The DAG layout of `cids.ts` as options of Kubo. They override the profile of the node. */
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

/** Time to keep renewals and removals of pins in memory, in milliseconds. It exceeds the duration of any upload. */
const MEMORY_MS = 3_600_000

export interface KuboContentStoreOptions {
  url: string
  /** Timeout of a response and of each chunk of a response, in milliseconds. */
  timeoutMs?: number
  /** Maximum time from the check of a pin to its removal, in milliseconds. A slower removal is reverted. */
  maxRemovalMs?: number
}

/** Creates the content store in a Kubo node, 0.37 or later. The node frees unpinned files. */
export const createKuboContentStore = (options: KuboContentStoreOptions): ContentStore => {
  const { url, timeoutMs = 15_000, maxRemovalMs = 5_000 } = options
  const kubo = create({ url })
  /** Times at which this process last renewed and removed a pin, in milliseconds. */
  const renewed = new Map<string, number>()
  const removed = new Map<string, number>()

  /** Sends a request to Kubo with a timeout. Throws NOT_FOUND, UNAVAILABLE. */
  const request = <T>(run: (signal: AbortSignal) => Promise<T>, cancel?: AbortSignal): Promise<T> => {
    const deadline = AbortSignal.timeout(timeoutMs)
    return run(cancel ? AbortSignal.any([cancel, deadline]) : deadline).catch((error: unknown) => {
      throw deadline.aborted ? unavailable('The file store', timeoutError(timeoutMs)) : toDomainError(error)
    })
  }

  const pin = (cid: string, cancel?: AbortSignal) =>
    request((signal) => kubo.pin.add(cid, { name: nameNow(), ...offline, signal }), cancel)

  const statFile = (cid: string, options: { withLocal?: boolean } = {}) =>
    request((signal) => kubo.files.stat(`/ipfs/${parseCid(cid)}`, { ...offline, ...options, signal }))

  const recordTime = (times: Map<string, number>, cid: string) => {
    const now = Date.now()
    for (const [known, at] of times) if (at < now - MEMORY_MS) times.delete(known)
    times.set(cid, now)
  }

  /** Pins a file again if this process removed its pin after `start`. */
  const ensurePinned = async (cid: string, start: number, cancel?: AbortSignal) => {
    recordTime(renewed, cid)
    if ((removed.get(cid) ?? 0) < start) return
    await pin(cid, cancel).catch((error: unknown) => {
      // The node deleted the blocks meanwhile. A retry by the caller stores them again.
      throw isNotFound(error) ? unavailable('The file store', error) : error
    })
  }

  const nameOf = (cid: string) =>
    request(async (signal) => {
      for await (const found of kubo.pin.ls({ paths: cid, type: 'recursive', names: true, signal })) return found.name
      return undefined
    }).catch(ifUnpinned)

  /**
   * Removes an old pin of Annal. Returns true if it was removed. Kubo has no conditional removal. So the pin is added
   * again if the file was renewed or pinned meanwhile, or if the removal was slow or failed. The next collection adds
   * pins that are still missing.
   */
  const unpinOld = async (cid: string, before: number, isPinned: (cid: string) => Promise<boolean>) => {
    const checkedAt = Date.now()
    if (!isOld(await nameOf(cid), before)) return false
    recordTime(removed, cid)
    let isRemoved = false
    try {
      await request((signal) => kubo.pin.rm(cid, { signal })).catch(ifUnpinned)
      const duration = Date.now() - checkedAt
      const wasRenewed = (renewed.get(cid) ?? 0) >= checkedAt
      isRemoved = !wasRenewed && duration >= 0 && duration <= maxRemovalMs && !(await isPinned(cid))
    } finally {
      recordTime(removed, cid)
      if (!isRemoved) await pin(cid).catch(ifMissing)
    }
    return isRemoved
  }

  const isReachable = () =>
    kubo.version({ signal: AbortSignal.timeout(Math.min(timeoutMs, 2_000)) }).then(Boolean, () => false)

  return {
    ...createBlockReader({
      get: (cid) => request((signal) => kubo.block.get(cid, { ...offline, signal })),
      length: async (cid) => (await statFile(cid.toString())).size,
    }),

    async importFile(source) {
      const { stream, result } = measure(source)
      const { signal, start, stop } = createDeadline(timeoutMs)
      let failure: { error: unknown } | undefined
      // The Kubo client reports an error of the source as an aborted request, so keep the original error.
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
      const begin = Date.now()
      const pieces = watched()
      try {
        start()
        const added = await kubo.add(pieces, { ...layout, pin: true, 'pin-name': nameNow(), signal } as object)
        const cid = added.cid.toString()
        stop()
        await ensurePinned(cid, begin)
        // Another import may use the pin by now, so only garbage collection removes the pin.
        return { cid, ...result(), discard: async () => {} }
      } catch (error) {
        if (failure) throw failure.error
        throw signal.aborted ? unavailable('The file store', signal.reason) : toDomainError(error)
      } finally {
        stop()
        // The Kubo client does not close the source.
        void pieces.return().catch(() => undefined)
      }
    },

    async putDocument(bytes, cancel) {
      const begin = Date.now()
      // A file of one chunk is that block. `block/put` cannot name a pin, and the node could collect the block before a
      // second request.
      const whole = { ...layout, chunker: `size-${Math.max(bytes.byteLength, 1)}`, pin: true, 'pin-name': nameNow() }
      const added = await request((signal) => kubo.add(bytes, { ...whole, signal } as object), cancel)
      const cid = added.cid.toString()
      await ensurePinned(cid, begin, cancel)
      return cid
    },

    async *read(cid, range) {
      const parsed = parseCid(cid)
      try {
        yield* withItemTimeout(timeoutMs, (signal) => kubo.cat(parsed, { ...offline, ...range, signal }))
      } catch (error) {
        throw toDomainError(error)
      }
    },

    size: async (cid) => (await statFile(cid)).size,

    async isWhole(cid) {
      const found = await statFile(cid, { withLocal: true }).catch(ifMissing)
      return found !== undefined && found.local !== false
    },

    async collectGarbage(pinned, graceSeconds, { cancel, onError, isPinned = async () => false, restore } = {}) {
      // Read the time before reading the pins. Files that are pinned later are imported or renewed after this time.
      const before = Date.now() / 1000 - graceSeconds
      const needed = new Set<string>()
      for await (const cid of pinned) needed.add(cid)
      const lost = new Set(needed)
      const old: string[] = []
      try {
        const all = (signal: AbortSignal) => kubo.pin.ls({ type: 'recursive', names: true, signal })
        for await (const { cid, name } of withItemTimeout(timeoutMs, all)) {
          cancel?.throwIfAborted()
          lost.delete(cid.toString())
          if (isOld(name, before) && !needed.has(cid.toString())) old.push(cid.toString())
        }
      } catch (error) {
        throw toDomainError(error)
      }
      const errors = createErrorCollector(onError)
      const each = async (cids: Iterable<string>, work: (cid: string) => Promise<unknown>) => {
        for (const cid of cids) {
          cancel?.throwIfAborted()
          await work(cid).catch(async (error: unknown) => {
            if (!(await isReachable())) throw error
            errors.onError(cid, error)
          })
        }
      }
      let count = 0
      // Add missing pins first, before the node collects their blocks.
      await each(lost, async (cid) => {
        if (!(await pin(cid).catch(ifMissing))) await restore?.(cid)
      })
      await each(old, async (cid) => {
        if (await unpinOld(cid, before, isPinned)) count += 1
      })
      errors.throwFirst()
      return count
    },

    isReachable,
  }
}

/** Another process may have removed the pin. */
const ifUnpinned = undefinedIf(
  (error) => error instanceof DomainError && error.cause instanceof Error && /not pinned/i.test(error.cause.message),
)

/** Converts an error by its message, because Kubo has no error codes for a missing block and a full disk. */
const toDomainError = (error: unknown) => {
  if (error instanceof DomainError) return error
  if (error instanceof Error && /no space left|quota exceeded/i.test(error.message)) return insufficientStorage(error)
  const missing = error instanceof Error && /not found|could not find/i.test(error.message)
  return missing ? notFound('File') : unavailable('The file store', error)
}

const ifMissing = undefinedIf(isNotFound)

/** Returns true if a Kubo node acknowledges blocks before they are on disk. `url`: RPC API of the node. */
export const keepsUnsynced = async (url: string): Promise<boolean> => {
  const signal = AbortSignal.timeout(2_000)
  const spec = await create({ url })
    .config.get('Datastore.Spec', { signal })
    .catch(() => ({}))
  // Kubo's datastore specification can be nested: it has several mounts, or wraps another datastore.
  const isUnsynced = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false
    const { type, sync } = part as { type?: unknown; sync?: unknown }
    return (type === 'flatfs' && sync !== true) || Object.values(part).some(isUnsynced)
  }
  return isUnsynced(spec)
}

/** Returns the number of nodes that can read all blocks of a Kubo node, or 0 if unknown. `url`: its RPC API. */
export const countServed = async (url: string): Promise<number> => {
  const kubo = create({ url })
  const signal = AbortSignal.timeout(2_000)
  // A Kubo node serves blocks to other nodes by default.
  const isServer = await kubo.config.get('Bitswap.ServerEnabled', { signal }).catch(() => true)
  if (isServer === false) return 0
  return (await kubo.swarm.peers({ signal }).catch(() => [])).length
}

const timeoutError = (milliseconds: number) => new Error(`no response within ${milliseconds} ms`)

/** Creates a timer that aborts its signal unless it is stopped in time. */
export const createDeadline = (milliseconds: number) => {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  return {
    signal: controller.signal,
    start() {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(timeoutError(milliseconds)), milliseconds)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Yields the items of `open`. Applies the timeout to each item. Aborts the signal at the end. */
async function* withItemTimeout<T>(milliseconds: number, open: (signal: AbortSignal) => AsyncIterable<T>) {
  const { signal, start, stop } = createDeadline(milliseconds)
  const stopped = new AbortController()
  const iterator = open(AbortSignal.any([signal, stopped.signal]))[Symbol.asyncIterator]()
  const expired = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  expired.catch(() => undefined)
  try {
    for (;;) {
      start()
      const next = await Promise.race([iterator.next(), expired])
      stop()
      if (next.done) return
      yield next.value
    }
  } finally {
    stop()
    stopped.abort()
  }
}
