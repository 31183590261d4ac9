import { type Database, type Finding, findingOf, MOST_ROWS } from '../db/database-types.ts'
import { arrayOf, boolean, statement, uuid } from '../db/sql.ts'
import { chunk, keysetPages } from '../shared/async.ts'
import { LostKeyError } from '../shared/errors.ts'
import { NIL_UUID, toId } from '../shared/ids.ts'
import type { Custody, EnvelopeCipher } from './envelope-encryption.ts'
import { findKeys, sealedTexts } from './key-rotation.ts'
import type { KeyVault } from './key-vault.ts'

const PAGE = 500
const firstPage = { first: NIL_UUID, limit: PAGE }
const isFull = (rows: object[]) => rows.length > MOST_ROWS
/** A prefix that no envelope has. With this prefix, every envelope counts as stale and is read. */
const NO_PREFIX = Buffer.from([255])

interface Parts {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
  vault: Pick<KeyVault, 'owners' | 'deletedOwners'>
}

/** Decrypts everything that the vault's keys encrypt, and reports failures. Throws the errors of an unavailable vault. */
export async function checkSealed({ database, custody, envelopeCipher }: Omit<Parts, 'vault'>): Promise<Finding> {
  const found: { subject: string; problem: string }[] = []

  async function attempt(subject: string, title: string, decrypt: () => Promise<unknown>) {
    try {
      await decrypt()
    } catch (error) {
      if (!(error instanceof LostKeyError)) throw error
      found.push({ subject, problem: `${title} cannot be decrypted: ${error.message}` })
    }
  }

  for (const { page, prefix, contextOf, title } of Object.values(sealedTexts)) {
    const texts = keysetPages({
      ...firstPage,
      read: (after, limit) => database.query(page, { after, limit, currentPrefix: NO_PREFIX }),
      keyOf: ({ id }) => id,
    })
    for await (const rows of texts) {
      for (const { id, envelope } of rows)
        if (envelope) await attempt(toId(prefix, id), title, () => envelopeCipher.open(envelope, contextOf(id)))
      if (isFull(found)) break
    }
  }
  const keys = keysetPages({
    ...firstPage,
    read: (after, limit) => database.query(findKeys, { after, limit, currentKey: '' }),
    keyOf: (row) => row.user_id,
  })
  for await (const rows of keys) {
    for (const { user_id: user, version, vault_key_id: vaultKeyId, wrapped_data_key: wrappedDataKey } of rows) {
      const rewrap = () => custody.rewrap(user, { version, vaultKeyId, wrappedDataKey })
      await attempt(toId('user', user), 'its key', rewrap)
    }
    if (isFull(found)) break
  }
  const sentence = 'All encrypted data can be decrypted: keys of accounts, arguments of orders, webhook secrets.'
  return findingOf('S1', sentence, found)
}

const findOwners = statement(
  'check_owners',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid, deleted: boolean } },
  'select id, deleted_at is not null as deleted from users where id = any ($users)',
)

/** Compares the key shares in the vault with the accounts in the database. Throws the errors of an unavailable vault. */
export async function checkOwners({ database, vault }: Pick<Parts, 'database' | 'vault'>): Promise<Finding[]> {
  const inconsistent: object[] = []
  const unknown: object[] = []
  const isDeletedById = async (users: string[]) =>
    new Map((await database.query(findOwners, { users })).map(({ id, deleted }) => [id, deleted]))
  for await (const owners of chunk(vault.owners(), PAGE)) {
    const known = await isDeletedById(owners)
    for (const owner of owners) {
      const subject = toId('user', owner)
      if (known.get(owner) === true)
        inconsistent.push({ subject, problem: 'the account is deleted, but its key share still exists' })
      if (!known.has(owner)) unknown.push({ subject, problem: 'the database does not contain this account' })
    }
    if (isFull(inconsistent) && isFull(unknown)) break
  }
  for await (const owners of chunk(vault.deletedOwners(), PAGE)) {
    for (const [owner, isDeleted] of await isDeletedById(owners))
      if (!isDeleted)
        inconsistent.push({ subject: toId('user', owner), problem: 'only the vault marks the account as deleted' })
    if (isFull(inconsistent)) break
  }
  const deleted = 'Deleted accounts are deleted in the database and in the key vault. A running server repairs this.'
  const known =
    'Every key share in the key vault belongs to an account. After a restore, accounts created since the backup are missing.'
  return [findingOf('S2', deleted, inconsistent), findingOf('S3', known, unknown, true)]
}
