/** How what nobody needs is removed from a bucket that several processes write to. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { OnError } from '../shared/log.ts'
import { eachOf } from './limit-concurrency.ts'
import type { ListedObject, S3Bucket } from './s3-bucket.ts'

/** The object by which a collection says that it removes. */
export const TURN_KEY = 'collection'
/** Milliseconds that what it says holds: whoever said it and is silent since has ended. */
export const TURN_MS = 120_000
/** What stands in it when nobody removes. */
const FREE = 'free'
/** Milliseconds that a removal may begin after its collection has seen that it is its turn. */
const PROMPT_MS = 3_000
/** Objects that are asked about together. */
export const AT_ONCE = 16

/** What is removed, and how. */
export interface S3Sweep {
  /** Whether an object of the list is garbage. */
  isGarbage(object: ListedObject): boolean
  /** What was changed since stays. By the storage's clock, in milliseconds. */
  before: number
  /** Milliseconds that are waited until no removal of another process is on its way any more. */
  settling: number
  cancel: AbortSignal | undefined
  onError: OnError
}

/**
 * Whose turn it is to remove: one collection's at a time. Two that removed together could take a block from whoever wrote it anew after
 * one of them had removed it, when the other one has looked before that.
 */
const createTurn = (bucket: S3Bucket, { settling, cancel }: S3Sweep) => {
  const own = randomUUID()
  let saidAt: number | undefined
  const say = (text: string) => bucket.put(TURN_KEY, Buffer.from(text), { cancel })
  const read = async () => Buffer.from(await bucket.get(TURN_KEY)).toString()
  const settle = () => pause(settling, undefined, { signal: cancel })

  const isTaken = async () => {
    const found = await bucket.look(TURN_KEY, cancel)
    return found !== undefined && found.now - found.changedAt < TURN_MS && (await read()) !== FREE
  }

  return {
    /** When it was seen to be ours, by the storage's clock; undefined when it is somebody else's. */
    async take(): Promise<number | undefined> {
      if (saidAt === undefined) {
        if (await isTaken()) return undefined
        saidAt = await say(own)
        await settle()
      }
      const now = await bucket.readClock(undefined, cancel)
      if ((await read()) !== own) return undefined
      if (now - saidAt > TURN_MS / 4) {
        saidAt = await say(own)
        // The process stood still in between, and somebody else may have had the turn.
        if (saidAt - now > PROMPT_MS) await settle()
      }
      return now
    },

    /** Leaves it to the next one. Raises nothing: it ends by itself. */
    async end(): Promise<void> {
      if (saidAt === undefined) return
      await read()
        .then((text) => (text === own ? say(FREE) : undefined))
        .catch(() => undefined)
    },
  }
}

/**
 * Removes what is garbage; returns how many objects. Ends early when another process has its turn. `onError` is told of each that cannot be
 * removed. Raises UNAVAILABLE while the storage is away.
 */
export const sweepBucket = async (bucket: S3Bucket, sweep: S3Sweep): Promise<number> => {
  const { before, cancel, onError, isGarbage } = sweep
  const turn = createTurn(bucket, sweep)
  let removed = 0

  const removeOld = async (key: string, turnAt: number) => {
    const seen = await bucket.look(key, cancel)
    if (!seen || seen.changedAt >= before || seen.now - turnAt > PROMPT_MS) return
    if (await bucket.removeSeen(key, seen, cancel)) removed += 1
  }
  const removeEach = async (old: ListedObject[]): Promise<boolean> => {
    const turnAt = await turn.take()
    if (turnAt === undefined) return false
    await eachOf(old, AT_ONCE, async ({ key }) => {
      cancel?.throwIfAborted()
      await removeOld(key, turnAt).catch(async (error: unknown) => {
        cancel?.throwIfAborted()
        await bucket.readClock()
        onError(key, error)
      })
    })
    return true
  }

  try {
    for await (const page of bucket.list(cancel)) {
      const old = page.filter(isGarbage)
      for (let at = 0; at < old.length; at += AT_ONCE)
        if (!(await removeEach(old.slice(at, at + AT_ONCE)))) return removed
    }
    return removed
  } finally {
    await turn.end()
  }
}
