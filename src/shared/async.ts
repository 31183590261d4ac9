import { setTimeout as delay } from 'node:timers/promises'
import DataLoader from 'dataloader'

/** Loads keys of one turn of the event loop by one call. `load` returns the values in the order of the keys. Caches nothing. */
export function createBatchLoader<Key, Value>(
  load: (keys: Key[]) => Promise<Value[]>,
  maxBatchSize = 64,
): (key: Key) => Promise<Value> {
  const options = { cache: false, maxBatchSize, batchScheduleFn: (dispatch: () => void) => void setImmediate(dispatch) }
  const loader = new DataLoader<Key, Value>((keys) => load([...keys]), options)
  return (key) => loader.load(key)
}

/** Calls `make` once and shares its result. After an error, the next call tries again. */
export function memoizeAsync<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Handler for `catch`: returns undefined for expected errors and throws the others. */
export const undefinedIf =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isExpected(error)) throw error
  }

/** Concurrent calls share one run of `work`. */
export function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

/** Timeout in milliseconds. A network file system that is offline never answers. */
const CHECK_TIMEOUT_MS = 2_000

/** False after an error or the timeout. Checks run one at a time, because each can block a thread. */
export function boundedCheck(check: () => Promise<boolean>): () => Promise<boolean> {
  const run = shareRunning(() => check().catch(() => false))
  return () => Promise.race([run(), delay(CHECK_TIMEOUT_MS, false, { ref: false })])
}

/** Runs `work` item by item. Continues after errors and throws the first one at the end. */
export async function forEachSettled<T>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<unknown>,
  cancel?: AbortSignal,
): Promise<void> {
  const errors: unknown[] = []
  for await (const item of items) {
    cancel?.throwIfAborted()
    await work(item).catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

export async function* chunk<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    if (batch.push(item) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

interface Keyset<Row, Key> {
  /** Sorts before every key. */
  first: Key
  limit: number
  /** Returns rows with keys greater than `after`, sorted by key. */
  read: (after: Key, limit: number) => Promise<Row[]>
  keyOf: (row: Row) => Key
}

/** Each page is read when it is requested. No page is empty. */
export async function* keysetPages<Row, Key>({ first, limit, read, keyOf }: Keyset<Row, Key>): AsyncGenerator<Row[]> {
  for (let after = first; ; ) {
    const rows = await read(after, limit)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < limit) return
    after = keyOf(last)
  }
}

/** Throws an Error as soon as there are more than `maxBytes`. */
export async function readAtMost(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const bytes of stream) {
    size += bytes.length
    if (size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** Keep per-request state in arrays: V8 keeps the contents of long-lived sets and maps until a full garbage collection. */
export function removeItem<Item>(list: Item[], item: Item): void {
  const at = list.indexOf(item)
  if (at >= 0) list.splice(at, 1)
}

/** After an error, waits for the running work and throws the first error. */
export async function forEachConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const running = new Set<Promise<unknown>>()
  const errors: unknown[] = []
  try {
    for await (const item of items) {
      const working: Promise<unknown> = work(item)
        .catch((error: unknown) => errors.push(error))
        .finally(() => running.delete(working))
      running.add(working)
      if (running.size >= concurrency) await Promise.race(running)
      if (errors.length > 0) break
    }
  } finally {
    await Promise.all(running)
  }
  if (errors.length > 0) throw errors[0]
}
