/** Checks of encrypted data and key shares for `annal check`. */
import type { Database } from '../db/database-types.ts'
import { type Finding, findingOf, MOST_ROWS } from '../db/invariants/invariant.ts'
import { arrayOf, boolean, statement, uuid } from '../db/sql.ts'
import { actionArgsContext } from '../modules/store/action-args.ts'
import { webhookSecretContext } from '../modules/store/network-apps.ts'
import { chunk, keysetPages } from '../shared/async.ts'
import { LostKeyError } from '../shared/errors.ts'
import { type IdPrefix, NIL_UUID, toId } from '../shared/ids.ts'
import { findKeys, sealedTexts } from './key-rotation.sql.ts'
import type { Custody, EnvelopeCipher, KeyVault } from './key-types.ts'

/** Encrypted data that cannot be decrypted, by its public ID. */
export interface Unreadable {
  subject: string
  problem: string
}

interface SealedParts {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
}

const PAGE = 500
/** No encrypted text starts with this byte, so every text is stale and is read. */
const NO_PREFIX = Buffer.from([255])

const holders = {
  orders: { prefix: 'order', contextOf: actionArgsContext, name: 'its arguments' },
  network_apps: { prefix: 'app', contextOf: webhookSecretContext, name: 'its webhook secret' },
  network_apps_previous: { prefix: 'app', contextOf: webhookSecretContext, name: 'its previous webhook secret' },
} satisfies Record<string, { prefix: IdPrefix; contextOf: (id: string) => string; name: string }>

/**
 * Decrypts everything that the vault's keys encrypt, row by row. Returns at most `limit` failures. Throws the errors of an unavailable
 * vault.
 */
export async function findUnreadable(
  { database, custody, envelopeCipher }: SealedParts,
  limit: number,
): Promise<Unreadable[]> {
  const found: Unreadable[] = []

  async function attempt(subject: string, name: string, open: () => Promise<unknown>) {
    try {
      await open()
    } catch (error) {
      if (!(error instanceof LostKeyError)) throw error
      found.push({ subject, problem: `${name} cannot be decrypted: ${error.message}` })
    }
  }

  for (const [holder, { prefix, contextOf, name }] of Object.entries(holders)) {
    const { page } = sealedTexts[holder as keyof typeof holders]
    const texts = keysetPages({
      first: NIL_UUID,
      limit: PAGE,
      read: (after, limit) => database.query(page, { after, limit, currentPrefix: NO_PREFIX }),
      keyOf: ({ id }) => id,
    })
    for await (const rows of texts) {
      for (const { id, envelope } of rows) {
        if (envelope) await attempt(toId(prefix, id), name, () => envelopeCipher.open(envelope, contextOf(id)))
      }
      if (found.length >= limit) return found.slice(0, limit)
    }
  }
  const keys = keysetPages({
    first: NIL_UUID,
    limit: PAGE,
    read: (after, limit) => database.query(findKeys, { after, limit, currentKey: '', currentVersion: custody.version }),
    keyOf: (row) => row.user_id,
  })
  for await (const rows of keys) {
    for (const { user_id, version, vault_key_id: vaultKeyId, wrapped_data_key: wrappedDataKey } of rows) {
      // Rewrapping a key of an earlier version would create a key share. A rotation reports those keys.
      if (version !== custody.version) continue
      const wrapping = { version, vaultKeyId, wrappedDataKey }
      await attempt(toId('user', user_id), 'its key', () => custody.rewrap(user_id, wrapping))
    }
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/** Reports encrypted data that cannot be decrypted like a broken invariant. */
export const checkSealed = async (parts: SealedParts): Promise<Finding> =>
  findingOf(
    'S1',
    'All encrypted data can be decrypted: keys of accounts, arguments of orders, webhook secrets.',
    await findUnreadable(parts, MOST_ROWS + 1),
  )

const findOwners = statement(
  'check_owners',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid, deleted: boolean } },
  'select id, deleted_at is not null as deleted from users where id = any ($users)',
)

/** Compares the key shares in the vault with the accounts in the database. Throws the errors of an unavailable vault. */
export async function checkOwners({
  database,
  vault,
}: {
  database: Database
  vault: Pick<KeyVault, 'owners' | 'deletedOwners'>
}): Promise<Finding[]> {
  const undone: object[] = []
  const unknown: object[] = []
  const isDeletedById = async (users: string[]) =>
    new Map((await database.query(findOwners, { users })).map(({ id, deleted }) => [id, deleted]))
  const isFull = (rows: object[]) => rows.length > MOST_ROWS
  for await (const owners of chunk(vault.owners(), PAGE)) {
    const known = await isDeletedById(owners)
    for (const owner of owners) {
      const subject = toId('user', owner)
      if (known.get(owner) === true) undone.push({ subject, problem: 'deleted, but its key share still exists' })
      if (!known.has(owner)) unknown.push({ subject, problem: 'the database has no such account' })
    }
    if (isFull(undone) && isFull(unknown)) break
  }
  for await (const owners of chunk(vault.deletedOwners(), PAGE)) {
    for (const [owner, isDeleted] of await isDeletedById(owners))
      if (!isDeleted) undone.push({ subject: toId('user', owner), problem: 'marked as deleted in the vault only' })
    if (isFull(undone)) break
  }
  return [
    findingOf(
      'S2',
      'Deleted accounts are deleted in the database and in the key vault. A running server repairs this.',
      undone,
    ),
    findingOf(
      'S3',
      'Every key share in the key vault belongs to an account. After a restore, accounts created since the backup are missing.',
      unknown,
      true,
    ),
  ]
}
