/** Rotates the key-encryption key while the service runs. An interrupted rotation can continue (decision 10). */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../db/database-types.ts'
import { boolean, bytes, int, orNull, type RowOf, smallint, statement, text, uuid } from '../db/sql.ts'
import { auditSql } from '../modules/audit/audit-sql.ts'
import { webhookSecretContext } from '../modules/store/network-apps.ts'
import { actionArgsContext } from '../modules/store/orders.ts'
import { keysetPages } from '../shared/async.ts'
import { DomainError, isUnavailable } from '../shared/errors.ts'
import { type IdPrefix, NIL_UUID, toId } from '../shared/ids.ts'
import type { Custody, EnvelopeCipher } from './envelope-encryption.ts'
import type { KeyRing } from './key-vault.ts'

/** Parameters of a page. Pages also contain rows that need no change, so all pages cost the same. */
const page = { after: uuid, limit: int }

const keyColumns = { user_id: uuid, is_stale: boolean, version: smallint, vault_key_id: text, wrapped_data_key: bytes }

/** Reads wrapped custodial keys. A key is stale unless the current key wraps it. */
export const findKeys = statement(
  'keys_page',
  { parameters: { ...page, currentKey: text }, columns: keyColumns },
  `select user_id, vault_key_id <> $currentKey as is_stale, version, vault_key_id, wrapped_data_key
   from user_keys where user_id > $after order by user_id limit $limit`,
)

/** Replaces a wrapping unless it changed since it was read (`before`). */
const replaceKey = statement(
  'keys_replace',
  {
    parameters: { user: uuid, before: bytes, wrappedDataKey: bytes, version: smallint, vaultKeyId: text },
    columns: { user_id: uuid },
  },
  `update user_keys set wrapped_data_key = $wrappedDataKey, version = $version, vault_key_id = $vaultKeyId
   where user_id = $user and wrapped_data_key = $before returning user_id`,
)

/** Returns true if the wrapping is unchanged. No row: the key was deleted. */
const findKey = statement(
  'keys_find',
  { parameters: { user: uuid, before: bytes }, columns: { is_same: boolean } },
  'select wrapped_data_key = $before as is_same from user_keys where user_id = $user',
)

/** Describes an encrypted column. `contextOf` returns the encryption context of a row. `title` describes the text for operators. */
const sealedText = (
  table: string,
  column: string,
  title: string,
  prefix: IdPrefix,
  contextOf: (id: string) => string,
) => ({
  ...{ title, prefix, contextOf },
  countSql: `(select count(*) from ${table} where substring(${column} from 1 for octet_length($prefix)) = $prefix)::int`,
  /** Reads a page. `envelope` is null if the current key, whose envelopes start with `currentPrefix`, wraps it already. */
  page: statement(
    `sealed_page_${column}`,
    { parameters: { ...page, currentPrefix: bytes }, columns: { id: uuid, envelope: orNull(bytes) } },
    `select id,
       case when substring(${column} from 1 for octet_length($currentPrefix)) <> $currentPrefix then ${column} end as envelope
     from ${table} where id > $after order by id limit $limit`,
  ),
  replace: statement(
    `sealed_replace_${column}`,
    { parameters: { row: uuid, before: bytes, envelope: bytes }, columns: { id: uuid } },
    `update ${table} set ${column} = $envelope where id = $row and ${column} = $before returning id`,
  ),
  find: statement(
    `sealed_find_${column}`,
    { parameters: { row: uuid, envelope: bytes }, columns: { id: uuid } },
    `select id from ${table} where id = $row and ${column} = $envelope`,
  ),
})

const secretColumn = (column: string, title: string) =>
  sealedText('network_apps', column, title, 'app', webhookSecretContext)

export const sealedTexts = {
  orders: sealedText('orders', 'action_args', 'its arguments', 'order', actionArgsContext),
  network_apps: secretColumn('webhook_secret', 'its webhook secret'),
  network_apps_previous: secretColumn('previous_secret', 'its previous webhook secret'),
}
type TextHolder = keyof typeof sealedTexts
type KeyHolder = 'user_keys' | TextHolder
const holders: KeyHolder[] = ['user_keys', ...(Object.keys(sealedTexts) as TextHolder[])]

const countWrapped = statement(
  'keys_count_wrapped',
  {
    parameters: { key: text, prefix: bytes },
    columns: { user_keys: int, orders: int, network_apps: int, network_apps_previous: int },
  },
  `select (select count(*) from user_keys where vault_key_id = $key)::int as user_keys,
     ${Object.entries(sealedTexts).map(([holder, { countSql }]) => `${countSql} as ${holder}`)}`,
)

const countAll = statement(
  'keys_count_all',
  { columns: { total: int } },
  `select ((select count(*) from user_keys) + (select count(action_args) from orders)
       + (select count(webhook_secret) + count(previous_secret) from network_apps))::int as total`,
)

const recordRotation = statement(
  'keys_record_rotation',
  { parameters: { currentKey: text } },
  `with rotation as (select 1),
   ${auditSql({ from: 'rotation', user: 'null', action: 'keys.rotated', subject: '$currentKey' })}
   select`,
)

interface Dependencies {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
  keyRing: KeyRing
}

const PAGE = 500
const CONCURRENCY = 8
/** Running servers use the new key after a second. Another pass rewraps the rows that they wrote until then. */
const BETWEEN_PASSES_MS = 1_500
const MAX_PASSES = 5
const MAX_TRIES = 20
const BETWEEN_TRIES_MS = 500

type Outcome = 'rewrapped' | 'changed' | Error

/** A row, and the function that wraps the row again. The function is undefined if the current key wraps the row already. */
type Row = { id: string; rewrap: (() => Promise<Outcome>) | undefined }

export type KeyRotation = ReturnType<typeof createKeyRotation>

/** Retries idempotent work for about ten seconds while a dependency is unavailable. */
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

/** Rewraps a row. After an error, the row is unreadable only if it did not change in the meantime. */
async function attempt(rewrap: () => Promise<Outcome>, isUnchanged: () => Promise<boolean>): Promise<Outcome> {
  try {
    return await rewrap()
  } catch (error) {
    // While a dependency is unavailable, the row may be intact.
    if (isUnavailable(error)) throw error
    return (await isUnchanged()) ? (error as Error) : 'changed'
  }
}

const sumOf = (keys: readonly { total: number }[]) => keys.reduce((sum, { total }) => sum + total, 0)

export function createKeyRotation({ database, custody, envelopeCipher, keyRing }: Dependencies) {
  async function rewrapKey({ user_id: user, ...row }: RowOf<typeof keyColumns>): Promise<Outcome> {
    const before = row.wrapped_data_key
    const find = () => database.query(findKey, { user, before })
    const rewrap = async () => {
      const old = { version: row.version, vaultKeyId: row.vault_key_id, wrappedDataKey: before }
      const wrapping = { user, before, ...(await custody.rewrap(user, old)) }
      if ((await database.query(replaceKey, wrapping)).length > 0) return 'rewrapped'
      // The account was deleted during the rotation, and rewrapping created its key share again.
      if ((await find()).length === 0) await custody.forget(user)
      return 'changed'
    }
    return attempt(rewrap, async () => (await find())[0]?.is_same === true)
  }

  async function rewrapText(holder: TextHolder, row: string, before: Buffer): Promise<Outcome> {
    const { replace, find, contextOf } = sealedTexts[holder]
    const rewrap = async () => {
      const envelope = await envelopeCipher.rewrap(before, contextOf(row))
      return (await database.query(replace, { row, before, envelope })).length > 0 ? 'rewrapped' : 'changed'
    }
    return attempt(rewrap, async () => (await database.query(find, { row, envelope: before })).length > 0)
  }

  async function readPage(holder: KeyHolder, currentKey: string, after: string, limit: number): Promise<Row[]> {
    if (holder === 'user_keys') {
      const keys = await database.query(findKeys, { after, limit, currentKey })
      return keys.map((row) => ({ id: row.user_id, rewrap: row.is_stale ? () => rewrapKey(row) : undefined }))
    }
    const currentPrefix = envelopeCipher.prefixOf(currentKey)
    const texts = await database.query(sealedTexts[holder].page, { after, limit, currentPrefix })
    return texts.map(({ id, envelope }) => ({
      id,
      rewrap: envelope ? () => rewrapText(holder, id, envelope) : undefined,
    }))
  }

  async function pass(current: string, onRow: () => void) {
    const unreadable: { holder: KeyHolder; id: string; reason: string }[] = []
    let rewrapped = 0
    for (const holder of holders) {
      const prefix = holder === 'user_keys' ? 'user' : sealedTexts[holder].prefix
      const process = async ({ id, rewrap }: Row) => {
        const outcome = await rewrap!()
        if (outcome instanceof Error) unreadable.push({ holder, id: toId(prefix, id), reason: outcome.message })
        if (outcome !== 'rewrapped') return
        rewrapped += 1
        onRow()
      }
      const pages = keysetPages<Row, string>({
        ...{ first: NIL_UUID, limit: PAGE, keyOf: ({ id }) => id },
        read: (after, limit) => readPage(holder, current, after, limit),
      })
      for await (const rows of pages) {
        const stale = rows.filter(({ rewrap }) => rewrap)
        for (let start = 0; start < stale.length; start += CONCURRENCY)
          await Promise.all(stale.slice(start, start + CONCURRENCY).map(process))
      }
    }
    return { rewrapped, unreadable }
  }

  /** Returns the rows per key, the current key first, and the number of rows with an unknown key (`lost`). */
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
     * Continues an interrupted rotation, or starts one. `onProgress` gets the rewrapped and the total rows. `isNew`: this run created the
     * current key.
     */
    async rotate(onProgress: (done: number, total: number) => void) {
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

    /** Destroys the stored earlier keys, and returns their IDs. Throws CONFLICT if one is still in use. */
    async destroyEarlier(): Promise<string[]> {
      const used = (await status()).keys.filter(({ isCurrent, total }) => !isCurrent && total > 0)
      if (used.length > 0) {
        const rows = used.map(({ id, total }) => `${id} wraps ${total}`).join(', ')
        throw new DomainError('CONFLICT', `Earlier keys are still needed: ${rows}. Rotate the keys first.`)
      }
      return keyRing.destroyEarlier()
    },
  }
}
