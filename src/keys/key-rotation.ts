/**
 * Rotates the key-encryption key while the service runs: every data key that an earlier key wraps is wrapped again, row by row. Ciphertexts
 * do not change. A rotation can stop at any row, and the next run continues (decision 10).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../db/database-types.ts'
import { keysetPages } from '../shared/async.ts'
import { DomainError, isUnavailable } from '../shared/errors.ts'
import { NIL_UUID, toId } from '../shared/ids.ts'
import {
  countAll,
  countWrapped,
  findKey,
  findKeys,
  type KeyHolder,
  type KeyRow,
  recordRotation,
  replaceKey,
  sealedTexts,
  textHolders,
} from './key-rotation.sql.ts'
import type { Custody, EnvelopeCipher, KeyRing } from './key-types.ts'

export interface Rotation {
  /** ID of the current key. */
  current: string
  /** True if this run created the current key. */
  isNew: boolean
  /** Number of rows that were wrapped again. */
  rewrapped: number
  unreadable: { holder: KeyHolder; id: string; reason: string }[]
}

interface Dependencies {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
  keyRing: KeyRing
}

/** Number of rows that are read at once. */
const PAGE = 500
/** Number of rows that are written at once. */
const CONCURRENCY = 8
/** Running servers use the new key after a second. Another pass finds what they wrapped until then. */
const BETWEEN_PASSES_MS = 1_500
const MAX_PASSES = 5
const MAX_TRIES = 20
const BETWEEN_TRIES_MS = 500

type Outcome = 'rewrapped' | 'changed' | Error

/** A row, and the function that wraps it again. Undefined if the current key wraps it already. */
interface StaleRow {
  id: string
  work: (() => Promise<Outcome>) | undefined
}

export type KeyRotation = ReturnType<typeof createKeyRotation>

/** Retries idempotent work for about ten seconds while a part is unavailable. */
async function retryWhileUnavailable<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || tries === MAX_TRIES) throw error
      await delay(BETWEEN_TRIES_MS)
    }
  }
}

const sumOf = (keys: readonly { total: number }[]) => keys.reduce((sum, { total }) => sum + total, 0)

export function createKeyRotation({ database, custody, envelopeCipher, keyRing }: Dependencies) {
  async function rewrapKey({ user_id: user, ...row }: KeyRow): Promise<Outcome> {
    const before = row.wrapped_data_key
    try {
      const old = { version: row.version, vaultKeyId: row.vault_key_id, wrappedDataKey: before }
      const wrapping = { user, before, ...(await custody.rewrap(user, old)) }
      if ((await database.query(replaceKey, wrapping)).length > 0) return 'rewrapped'
      // The account was deleted in the meantime, and rewrapping created a key share again.
      if ((await database.query(findKey, { user, before })).length === 0) await custody.forget(user)
      return 'changed'
    } catch (error) {
      // The row may be intact if a dependency is unavailable.
      if (isUnavailable(error)) throw error
      const [found] = await database.query(findKey, { user, before })
      return found?.is_same ? (error as Error) : 'changed'
    }
  }

  async function rewrapText(holder: keyof typeof sealedTexts, row: string, before: Buffer): Promise<Outcome> {
    const { replace, find, contextOf } = sealedTexts[holder]
    try {
      const envelope = await envelopeCipher.rewrap(before, contextOf(row))
      return (await database.query(replace, { row, before, envelope })).length > 0 ? 'rewrapped' : 'changed'
    } catch (error) {
      if (isUnavailable(error)) throw error
      return (await database.query(find, { row, envelope: before })).length > 0 ? (error as Error) : 'changed'
    }
  }

  async function readPage(holder: KeyHolder, currentKey: string, after: string, limit: number): Promise<StaleRow[]> {
    if (holder === 'user_keys') {
      const keys = await database.query(findKeys, { after, limit, currentKey })
      return keys.map((row) => ({ id: row.user_id, work: row.is_stale ? () => rewrapKey(row) : undefined }))
    }
    const currentPrefix = envelopeCipher.prefixOf(currentKey)
    const texts = await database.query(sealedTexts[holder].page, { after, limit, currentPrefix })
    return texts.map(({ id, envelope }) => ({
      id,
      work: envelope ? () => rewrapText(holder, id, envelope) : undefined,
    }))
  }

  /** Rewraps all stale rows once. */
  async function pass(current: string, onRow: () => void): Promise<Pick<Rotation, 'rewrapped' | 'unreadable'>> {
    const unreadable: Rotation['unreadable'] = []
    let rewrapped = 0
    for (const holder of ['user_keys', ...textHolders] as const) {
      const prefix = holder === 'user_keys' ? 'user' : sealedTexts[holder].prefix
      const rewrap = async ({ id, work }: StaleRow) => {
        const outcome = await work!()
        if (outcome instanceof Error) unreadable.push({ holder, id: toId(prefix, id), reason: outcome.message })
        if (outcome !== 'rewrapped') return
        rewrapped += 1
        onRow()
      }
      const pages = keysetPages<StaleRow, string>({
        first: NIL_UUID,
        limit: PAGE,
        read: (after, limit) => readPage(holder, current, after, limit),
        keyOf: ({ id }) => id,
      })
      for await (const rows of pages) {
        const stale = rows.filter(({ work }) => work)
        for (let start = 0; start < stale.length; start += CONCURRENCY)
          await Promise.all(stale.slice(start, start + CONCURRENCY).map(rewrap))
      }
    }
    return { rewrapped, unreadable }
  }

  /** Returns the rows that each key wraps, the current key first, and the number of rows whose key the vault does not hold. */
  async function status() {
    const { current, earlier } = await keyRing.ids()
    const keys = []
    for (const id of [current, ...earlier]) {
      const [wraps] = await database.query(countWrapped, { key: id, prefix: envelopeCipher.prefixOf(id) })
      const total = Object.values(wraps!).reduce((a, b) => a + b, 0)
      keys.push({ id, isCurrent: id === current, wraps: wraps!, total })
    }
    const [all] = await database.query(countAll)
    return { keys, lost: Math.max(0, all!.total - sumOf(keys)) }
  }

  return {
    status,

    /**
     * Continues an interrupted rotation. If there is none, creates a new key and rewraps everything with it. `onProgress` receives the
     * number of rewrapped rows and the estimated total.
     */
    async rotate(onProgress: (done: number, total: number) => void): Promise<Rotation> {
      let done = 0
      const left = async () => sumOf((await status()).keys.slice(1))
      const run = async () => {
        const { current } = await keyRing.ids()
        const total = done + (await left())
        const onRow = () => onProgress(++done, Math.max(done, total))
        let last = await retryWhileUnavailable(() => pass(current, onRow))
        for (let more = 1; last.rewrapped > 0 && more < MAX_PASSES; more += 1) {
          await delay(BETWEEN_PASSES_MS)
          last = await retryWhileUnavailable(() => pass(current, onRow))
        }
        return { current, unreadable: last.unreadable }
      }

      let ended = (await left()) > 0 ? await run() : undefined
      let isNew = false
      if (done === 0) {
        isNew = await keyRing.renew()
        ended = await run()
      }
      if (done > 0 || isNew) await database.query(recordRotation, { currentKey: ended!.current })
      return { ...ended!, isNew, rewrapped: done }
    },

    /** Destroys the earlier keys that the vault stores. Returns their IDs. Throws CONFLICT if one still wraps a row or was replaced too recently. */
    async destroyEarlier(): Promise<string[]> {
      const used = (await status()).keys.filter(({ isCurrent, total }) => !isCurrent && total > 0)
      if (used.length > 0) {
        const rows = used.map(({ id, total }) => `${id} wraps ${total}`).join(', ')
        throw new DomainError('CONFLICT', `Earlier keys are still needed: ${rows}. Rotate first.`)
      }
      return keyRing.destroyEarlier()
    },
  }
}
