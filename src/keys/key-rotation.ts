/**
 * Rotates the key-encryption key: everything that an earlier key wraps is wrapped anew, row by row, beside a busy service.
 * What the wrapped keys seal stays byte for byte. It can end at any row; the next run goes on with what is left.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../db/database-types.ts'
import { actionArgsContext } from '../modules/store/action-args.ts'
import { webhookSecretContext } from '../modules/store/network-app-service.ts'
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
  noteRotation,
  replaceKey,
  sealedTexts,
} from './key-rotation.sql.ts'
import type { Custody, EnvelopeCipher, KeyRing } from './key-types.ts'

/** A key-encryption key, and how much it wraps. */
export interface WrappedByKey {
  id: string
  isCurrent: boolean
  /** How many rows it wraps. */
  wraps: Record<KeyHolder, number>
  total: number
}

/** What all keys wrap. */
export interface KeyStatus {
  /** The current key first, then earlier ones, newest first. */
  keys: WrappedByKey[]
  /** Custodial keys that are not bound to a key share yet. */
  oldVersions: number
  /** Rows that a key wraps which the vault does not hold. */
  lost: number
}

/** What came of a rotation. */
export interface Rotation {
  /** The key that wraps now. */
  current: string
  /** Whether this run made it. */
  isNew: boolean
  /** How many rows were wrapped anew. */
  rewrapped: number
  /** Rows that do not open, and why. */
  unreadable: { holder: KeyHolder; id: string; reason: string }[]
}

interface Dependencies {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
  keyRing: KeyRing
}

/** Rows that are read at once, and rows that are written at once. */
const PAGE = 500
const AT_ONCE = 8
/** A server that runs has seen the new key after a second; what it wrapped until then is found by another pass. Milliseconds. */
const BETWEEN_PASSES_MS = 1_500
const PASSES = 5
const TRIES = 20
/** Milliseconds. */
const BETWEEN_TRIES_MS = 500

interface Page {
  after: string
  limit: number
}

type Outcome = 'rewrapped' | 'changed' | Error

/** A row, and what wraps it anew; undefined where that is not due. */
interface StaleRow {
  id: string
  work: (() => Promise<Outcome>) | undefined
}

/** Rotates the key-encryption key; what `createKeyRotation` makes. */
export type KeyRotation = ReturnType<typeof createKeyRotation>

/** Rotates the key-encryption key, also beside running servers (decision 10). */
export function createKeyRotation({ database, custody, envelopeCipher, keyRing }: Dependencies) {
  const contexts = {
    orders: actionArgsContext,
    network_apps: webhookSecretContext,
    network_apps_previous: webhookSecretContext,
  }

  async function rewrapKey({ user_id: user, ...row }: KeyRow): Promise<Outcome> {
    const old = { version: row.version, vaultKeyId: row.vault_key_id, wrappedDataKey: row.wrapped_data_key }
    const before = old.wrappedDataKey
    try {
      const { wrappedDataKey, version, vaultKeyId } = await custody.rewrap(user, old)
      const wrapping = { user, before, wrappedDataKey, version, vaultKeyId }
      if ((await database.query(replaceKey, wrapping)).length > 0) return 'rewrapped'
      // Nothing may be left of an account that was deleted meanwhile.
      if ((await database.query(findKey, { user, before })).length === 0) await custody.forget(user)
      return 'changed'
    } catch (error) {
      // A part that is away says nothing of a row.
      if (isUnavailable(error)) throw error
      const [found] = await database.query(findKey, { user, before })
      return found?.is_same ? (error as Error) : 'changed'
    }
  }

  async function rewrapText(holder: keyof typeof contexts, row: string, before: Buffer): Promise<Outcome> {
    const { replace, find } = sealedTexts[holder]
    try {
      const envelope = await envelopeCipher.rewrap(before, contexts[holder](row))
      return (await database.query(replace, { row, before, envelope })).length > 0 ? 'rewrapped' : 'changed'
    } catch (error) {
      if (isUnavailable(error)) throw error
      return (await database.query(find, { row, envelope: before })).length > 0 ? (error as Error) : 'changed'
    }
  }

  /** What of a table is wrapped by another key than the current one, a page at a time. */
  function findStale(holder: KeyHolder, current: string) {
    const keysOf = async (page: Page) => {
      const stale = { currentKey: current, currentVersion: custody.version }
      const rows = await database.query(findKeys, { ...page, ...stale })
      return rows.map((row) => ({ id: row.user_id, work: row.is_stale ? () => rewrapKey(row) : undefined }))
    }
    const textsOf = async (texts: keyof typeof contexts, page: Page) => {
      const rows = await database.query(sealedTexts[texts].page, {
        ...page,
        currentPrefix: envelopeCipher.prefixOf(current),
      })
      return rows.map(({ id, envelope }) => ({
        id,
        work: envelope ? () => rewrapText(texts, id, envelope) : undefined,
      }))
    }
    return keysetPages<StaleRow, string>({
      first: NIL_UUID,
      limit: PAGE,
      read: (after, limit) => (holder === 'user_keys' ? keysOf({ after, limit }) : textsOf(holder, { after, limit })),
      keyOf: ({ id }) => id,
    })
  }

  /** What is safe to do again, once more while a part is away or this process has just woken: for ten seconds or so. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work()
      } catch (error) {
        if (!isUnavailable(error) || tries === TRIES) throw error
        await delay(BETWEEN_TRIES_MS)
      }
    }
  }

  /** Goes through everything once. */
  async function pass(current: string, onRow: () => void): Promise<Pick<Rotation, 'rewrapped' | 'unreadable'>> {
    const unreadable: Rotation['unreadable'] = []
    let rewrapped = 0
    for (const holder of Object.keys(names) as KeyHolder[]) {
      for await (const rows of findStale(holder, current)) {
        const stale = rows.flatMap(({ id, work }) => (work ? [{ id, work }] : []))
        for (let start = 0; start < stale.length; start += AT_ONCE) {
          await Promise.all(
            stale.slice(start, start + AT_ONCE).map(async ({ id, work }) => {
              const outcome = await work()
              if (outcome instanceof Error) unreadable.push({ holder, id: names[holder](id), reason: outcome.message })
              if (outcome !== 'rewrapped') return
              rewrapped += 1
              onRow()
            }),
          )
        }
      }
    }
    return { rewrapped, unreadable }
  }

  async function status(): Promise<KeyStatus> {
    const { current, earlier } = await keyRing.ids()
    const keys: WrappedByKey[] = []
    for (const id of [current, ...earlier]) {
      const [wraps] = await database.query(countWrapped, { key: id, prefix: envelopeCipher.prefixOf(id) })
      keys.push({
        id,
        isCurrent: id === current,
        wraps: wraps!,
        total: Object.values(wraps!).reduce((a, b) => a + b, 0),
      })
    }
    const [all] = await database.query(countAll, { currentVersion: custody.version })
    const known = keys.reduce((sum, { total }) => sum + total, 0)
    return { keys, oldVersions: all!.old_versions, lost: Math.max(0, all!.total - known) }
  }

  return {
    /** What each key wraps. */
    status,

    /**
     * Goes on with a rotation that was interrupted; when nothing was left of one, makes a new key and moves everything
     * under it. `onProgress` is told how many rows were wrapped anew, of about how many.
     */
    async rotate(onProgress: (done: number, total: number) => void): Promise<Rotation> {
      let done = 0
      const left = async () => {
        const { keys, oldVersions } = await status()
        return Math.max(
          oldVersions,
          keys.slice(1).reduce((sum, { total }) => sum + total, 0),
        )
      }
      const run = async () => {
        const { current } = await keyRing.ids()
        const total = done + (await left())
        const onRow = () => onProgress(++done, Math.max(done, total))
        let last = await patiently(() => pass(current, onRow))
        for (let more = 1; last.rewrapped > 0 && more < PASSES; more += 1) {
          await delay(BETWEEN_PASSES_MS)
          last = await patiently(() => pass(current, onRow))
        }
        return { current, unreadable: last.unreadable }
      }

      const underEarlier = (await status()).keys.slice(1).some(({ total }) => total > 0)
      let ended = underEarlier ? await run() : undefined
      let isNew = false
      if (done === 0) {
        isNew = await keyRing.renew()
        ended = await run()
      }
      if (done > 0 || isNew) await database.query(noteRotation, { currentKey: ended!.current })
      return { ...ended!, isNew, rewrapped: done }
    },

    /**
     * Destroys the earlier keys that the vault keeps itself; returns their ids. Raises CONFLICT when one of them still
     * wraps something, or did until a moment ago.
     */
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

/** Rows as an operator can look them up. */
const names: Record<KeyHolder, (uuid: string) => string> = {
  user_keys: (uuid) => toId('user', uuid),
  orders: (uuid) => toId('order', uuid),
  network_apps: (uuid) => toId('app', uuid),
  network_apps_previous: (uuid) => toId('app', uuid),
}
