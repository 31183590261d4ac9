/** Custodial keys as they lie in the database, and what an attacker could make of them. */
import type { Custody, SealedKey } from '../../src/domain/ports.ts'
import type { ConnectedDatabase } from '../../src/platform/database.ts'

export interface KeyRow {
  userId: string
  username: string
  key: SealedKey
}

interface Columns {
  user_id: string
  username: string
  version: number
  vault_key_id: string
  wrapped_data_key: Buffer
  sealed_private_key: Buffer
}

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

const select = 'select k.*, u.username from user_keys k join users u on u.id = k.user_id order by k.user_id'

export const readKeys = async (database: ConnectedDatabase): Promise<KeyRow[]> =>
  (await database.query<Columns>({ name: 'proof_keys', text: select })).map(toRow)

/** Keeps the keys of now, to be read later. */
export async function dumpKeys(database: ConnectedDatabase, name: string) {
  await database.query({ name: `proof_schema_${name}`, text: `create schema ${name}` })
  await database.query({ name: `proof_dump_${name}`, text: `create table ${name}.user_keys as ${select}` })
  const text = `select * from ${name}.user_keys`
  return {
    read: async () => (await database.query<Columns>({ name: `proof_restore_${name}`, text })).map(toRow),
  }
}

/** The sealed arguments of every order; `sealed` is what of it does not change when its key is wrapped anew. */
export async function readTexts(database: ConnectedDatabase) {
  const text = 'select id, action_args as envelope from orders where action_args is not null'
  const rows = await database.query<{ id: string; envelope: Buffer }>({ name: 'proof_texts', text })
  return rows.map(({ id, envelope }) => {
    const wrappedAt = 3 + envelope.readUInt16BE(1)
    return { id, envelope, sealed: envelope.subarray(wrappedAt + 2 + envelope.readUInt16BE(wrappedAt)) }
  })
}

/** Every row with another one's ciphertexts: the wrapped key, the sealed one, both; and its own two exchanged. */
export const swaps = (rows: readonly KeyRow[]): KeyRow[] =>
  rows.flatMap((row, index) => {
    const { wrappedDataKey, sealedPrivateKey } = rows[(index + 1) % rows.length]!.key
    const own = { wrappedDataKey: row.key.sealedPrivateKey, sealedPrivateKey: row.key.wrappedDataKey }
    return [{ wrappedDataKey }, { sealedPrivateKey }, { wrappedDataKey, sealedPrivateKey }, own].map((part) => ({
      ...row,
      key: { ...row.key, ...part },
    }))
  })

/** The row once for every bit of its ciphertexts, with that one flipped. */
export function* withFlippedBits(row: KeyRow): Generator<KeyRow> {
  for (const field of ['wrappedDataKey', 'sealedPrivateKey'] as const) {
    for (let bit = 0; bit < row.key[field].length * 8; bit += 1) {
      const bytes = Buffer.from(row.key[field])
      bytes[bit >> 3] = bytes[bit >> 3]! ^ (1 << (bit & 7))
      yield { ...row, key: { ...row.key, [field]: bytes } }
    }
  }
}

/** How many of the rows sign. */
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
