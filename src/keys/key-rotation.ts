/**
 * Rotates the key-encryption key while the service runs: every data key that an earlier key wraps is wrapped again, row by row. Ciphertexts
 * do not change. A rotation can stop at any row, and the next run continues.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../db/database-types.ts'
import { actionArgsContext } from '../modules/store/action-args.ts'
import { webhookSecretContext } from '../modules/store/network-apps.ts'
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

/** A key-encryption key with the number of rows it wraps. */
export interface WrappedByKey {
  id: string
  isCurrent: boolean
  /** Number of rows by table. */
  wraps: Record<KeyHolder, number>
  total: number
}

/** Usage of all keys. */
export interface KeyStatus {
  /** The current key first, then earlier ones, newest first. */
  keys: WrappedByKey[]
  /** Number of custodial keys without a key share. */
  oldVersions: number
  /** Number of rows whose key the vault does not hold. */
  lost: number
}

/** Result of a rotation. */
export interface Rotation {
  /** ID of the current key. */
  current: string
  /** True if this run created the current key. */
  isNew: boolean
  /** Number of rows that were wrapped again. */
  rewrapped: number
  /** Rows that cannot be decrypted. */
  unreadable: { holder: KeyHolder; id: string; reason: string }[]
}

interface Dependencies {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
  keyRing: KeyRing
}

/** Rows that are read at once. */
const PAGE = 500
/** Rows that are written at once. */
const CONCURRENCY = 8
/** Running servers use the new key after a second. Another pass finds what they wrapped until then. */
const BETWEEN_PASSES_MS = 1_500
const MAX_PASSES = 5
const MAX_TRIES = 20
const BETWEEN_TRIES_MS = 500

interface Page {
  after: string
  limit: number
}

type Outcome = 'rewrapped' | 'changed' | Error

/** A row, and the function that wraps it again. Undefined if the current key wraps it already. */
interface StaleRow {
  id: string
  work: (() => Promise<Outcome>) | undefined
}

/** Rotates the key-encryption key. */
export type KeyRotation = ReturnType<typeof createKeyRotation>

/** Creates the rotation of the key-encryption key. It works while servers run (decision 10). */
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

  /** Yields the rows of a table page by page. Rows of another key than the current one have work. */
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

  /** Rewraps all stale rows once. */
  async function pass(current: string, onRow: () => void): Promise<Pick<Rotation, 'rewrapped' | 'unreadable'>> {
    const unreadable: Rotation['unreadable'] = []
    let rewrapped = 0
    for (const holder of Object.keys(names) as KeyHolder[]) {
      for await (const rows of findStale(holder, current)) {
        const stale = rows.flatMap(({ id, work }) => (work ? [{ id, work }] : []))
        for (let start = 0; start < stale.length; start += CONCURRENCY) {
          await Promise.all(
            stale.slice(start, start + CONCURRENCY).map(async ({ id, work }) => {
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
    status,

    /**
     * Continues an interrupted rotation. If there is none, creates a new key and rewraps everything with it. `onProgress` receives the
     * number of rewrapped rows and the estimated total.
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
        let last = await retryWhileUnavailable(() => pass(current, onRow))
        for (let more = 1; last.rewrapped > 0 && more < MAX_PASSES; more += 1) {
          await delay(BETWEEN_PASSES_MS)
          last = await retryWhileUnavailable(() => pass(current, onRow))
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
     * Destroys the earlier keys that the vault stores. Returns their IDs. Throws CONFLICT if one of them still wraps a row, or was replaced
     * too recently.
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

/** Public IDs of rows. */
const names: Record<KeyHolder, (uuid: string) => string> = {
  user_keys: (uuid) => toId('user', uuid),
  orders: (uuid) => toId('order', uuid),
  network_apps: (uuid) => toId('app', uuid),
  network_apps_previous: (uuid) => toId('app', uuid),
}
