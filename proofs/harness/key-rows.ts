/** Rows of encrypted user keys, and modifications that an attacker could make. */

import type { ConnectedDatabase } from '../../src/db/database.ts'
import { bytes, type RowOf, smallint, statement, text, uuid } from '../../src/db/sql.ts'
import type { Custody } from '../../src/keys/envelope-encryption.ts'
import type { SealedKey } from '../../src/keys/key-types.ts'
import { runSql } from './run-sql.ts'

export interface KeyRow {
  userId: string
  username: string
  key: SealedKey
}

const columns = {
  user_id: uuid,
  username: text,
  version: smallint,
  vault_key_id: text,
  wrapped_data_key: bytes,
  sealed_private_key: bytes,
}
type Columns = RowOf<typeof columns>

const toRow = ({ user_id, username, ...key }: Columns): KeyRow => ({
  userId: user_id,
  username,
  key: {
    version: key.version,
    vaultKeyId: key.vault_key_id,
    wrappedDataKey: key.wrapped_data_key,
    sealedPrivateKey: key.sealed_private_key,
  },
})

const select = `select k.user_id, u.username, k.version, k.vault_key_id, k.wrapped_data_key, k.sealed_private_key
  from user_keys k join users u on u.id = k.user_id order by k.user_id`
const findKeys = statement('proof_keys', { columns }, select)
const findTexts = statement(
  'proof_texts',
  { columns: { id: uuid, envelope: bytes } },
  'select id, action_args as envelope from orders where action_args is not null',
)

export const readKeys = async (database: ConnectedDatabase): Promise<KeyRow[]> =>
  (await database.query(findKeys)).map(toRow)

/** Saves the current keys to a table. */
export async function dumpKeys(database: ConnectedDatabase, name: string) {
  await runSql(database, `create schema ${name}`)
  await runSql(database, `create table ${name}.user_keys as ${select}`)
  return {
    read: async () => (await runSql<Columns>(database, `select * from ${name}.user_keys`)).map(toRow),
  }
}

/** Reads the encrypted arguments of all orders. `sealed`: the part that does not change when its key is wrapped again. */
export async function readTexts(database: ConnectedDatabase) {
  const rows = await database.query(findTexts)
  return rows.map(({ id, envelope }) => {
    const wrappedAt = 3 + envelope.readUInt16BE(1)
    return { id, envelope, sealed: envelope.subarray(wrappedAt + 2 + envelope.readUInt16BE(wrappedAt)) }
  })
}

/** Returns rows with swapped ciphertexts: the wrapped key, the encrypted key or both from another row, or exchanged within one row. */
export const swaps = (rows: readonly KeyRow[]): KeyRow[] =>
  rows.flatMap((row, index) => {
    const { wrappedDataKey, sealedPrivateKey } = rows[(index + 1) % rows.length]!.key
    const own = { wrappedDataKey: row.key.sealedPrivateKey, sealedPrivateKey: row.key.wrappedDataKey }
    return [{ wrappedDataKey }, { sealedPrivateKey }, { wrappedDataKey, sealedPrivateKey }, own].map((part) => ({
      ...row,
      key: { ...row.key, ...part },
    }))
  })

/** Yields copies of a row, each with one flipped bit in its ciphertexts. */
export function* withFlippedBits(row: KeyRow): Generator<KeyRow> {
  for (const field of ['wrappedDataKey', 'sealedPrivateKey'] as const) {
    for (let bit = 0; bit < row.key[field].length * 8; bit += 1) {
      const bytes = Buffer.from(row.key[field])
      bytes[bit >> 3] = bytes[bit >> 3]! ^ (1 << (bit & 7))
      yield { ...row, key: { ...row.key, [field]: bytes } }
    }
  }
}

/** Counts the rows with which signing succeeds. */
export async function openedBy(custody: Custody, rows: readonly KeyRow[], text: string): Promise<number> {
  let opened = 0
  for (const { userId, key } of rows) {
    opened += await custody.sign(userId, key, text).then(
      () => 1,
      () => 0,
    )
  }
  return opened
}
