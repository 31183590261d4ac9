/** Matches the database with its key vault. No other vault can decrypt the data, and nothing else would notice a wrong one early. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../db/database-types.ts'
import { findSetting, keyValueKeys, rememberMoment, rememberSetting } from '../db/key-value-store.ts'
import { arrayOf, int, statement, text } from '../db/sql.ts'
import { DomainError } from '../shared/errors.ts'
import { readOrCreate } from '../shared/private-files.ts'
import type { KeyRing } from './key-types.ts'
import { openKeyShares, readVaultId, vaultIdFile } from './key-vault.ts'

/** Returns true if the database belongs to a vault. The first start of a server assigns one. */
export const isVaultKnown = async (database: Pick<Database, 'query'>): Promise<boolean> =>
  (await database.query(findSetting, { key: keyValueKeys.vault })).length > 0

interface Options {
  database: Pick<Database, 'query'>
  /** The installation's folder. The vault is in its folder `keys`. */
  dir: string
  /** True to assign this vault to a database without one. */
  mayRemember: boolean
}

/**
 * Throws unless the vault in `dir` belongs to the database. Call it before the vault is opened, because opening creates missing keys. Returns the ID of the
 * vault, or undefined if the database has none yet.
 */
export async function assertVaultBelongs({ database, dir, mayRemember }: Options): Promise<string | undefined> {
  const folder = join(dir, 'keys')
  let [known] = await database.query(findSetting, { key: keyValueKeys.vault })
  if (!known && mayRemember) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    ;[known] = await database.query(rememberSetting, {
      key: keyValueKeys.vault,
      value: readOrCreate(vaultIdFile(dir), randomUUID),
    })
  }
  const own = readVaultId(dir) ?? 'none'
  if (!known || known.value === own) return known?.value
  throw new Error(
    `The keys in ${folder} do not belong to this database: it needs the vault ${known.value}, but the folder holds ${own}. ` +
      `Share or restore its ANNAL_DIR/keys. If this folder comes from a backup without the file vault-id, write ${known.value} into that file.`,
  )
}

/** Finds keys that wrap keys of accounts and are neither held nor abandoned. Each costs one index step. `givenUp` is the prefix of the settings. */
const findMissingKeys = statement(
  'vault_missing',
  { parameters: { held: arrayOf(text), givenUp: text }, columns: { id: text, accounts: int } },
  `with recursive used (id) as (
     select min(vault_key_id) from user_keys
     union all
     select (select min(vault_key_id) from user_keys where vault_key_id > used.id) from used where used.id is not null
   )
   select id, (select count(*)::int from user_keys where vault_key_id = id) as accounts
   from used where id <> all ($held) and not exists (select from key_values where key = $givenUp || id)`,
)

async function readMissingKeys(database: Pick<Database, 'query'>, keyRing: Pick<KeyRing, 'ids'>) {
  const { current, earlier } = await keyRing.ids()
  return database.query(findMissingKeys, { held: [current, ...earlier], givenUp: keyValueKeys.keyGivenUp })
}

const listKeys = (keys: readonly { id: string; accounts: number }[]) =>
  keys.map(({ id, accounts }) => `${id} (${accounts} ${accounts === 1 ? 'account' : 'accounts'})`).join(', ')

/** Name for all key shares in `annal keys abandon`. */
const KEY_SHARES = 'key-shares'

/** Up to 100 accounts with the oldest and the newest keys. */
const findSampleOwners = statement(
  'vault_sample_owners',
  { columns: { id: text } },
  `(select user_id::text as id from user_keys order by user_id limit 50)
   union
   (select user_id::text as id from user_keys order by user_id desc limit 50)`,
)

/** Returns true if the folder has a key share of one of these accounts. */
async function hasAnyShare(dir: string, owners: readonly string[]): Promise<boolean> {
  const keyShares = openKeyShares(dir)
  for (const owner of owners) if (await keyShares.has(owner)) return true
  return false
}

/** Returns true if the database has accounts with key shares, but the folder has none of the sampled ones. */
async function lacksKeyShares(database: Pick<Database, 'query'>, dir: string): Promise<boolean> {
  const owners = (await database.query(findSampleOwners)).map(({ id }) => id)
  return owners.length > 0 && !(await hasAnyShare(dir, owners))
}

const isGivenUp = async (database: Pick<Database, 'query'>, key: string) =>
  (await database.query(findSetting, { key: `${keyValueKeys.keyGivenUp}${key}` })).length > 0

/** Creates a check whether the key vault in `dir` is still the vault `id`. An unmounted or exchanged folder is not. Usually reads two files. */
export function createVaultCheck(database: Pick<Database, 'query'>, dir: string, id: string): () => Promise<boolean> {
  let known: string[] = []
  return async () => {
    if ((await readFile(vaultIdFile(dir), 'utf8')).trim() !== id) return false
    if (await hasAnyShare(dir, known)) return true
    // The sampled accounts may have been deleted.
    known = (await database.query(findSampleOwners)).map((row) => row.id)
    return known.length === 0 || (await hasAnyShare(dir, known)) || (await isGivenUp(database, KEY_SHARES))
  }
}

/**
 * Throws if keys of accounts are wrapped by a key that the vault does not hold: the folder is older than the last rotation, or KEY_ENCRYPTION_KEY differs.
 * Without this check, the service would abandon commits and webhooks that cannot be decrypted.
 */
export async function assertKeysHeld(database: Pick<Database, 'query'>, keyRing: Pick<KeyRing, 'ids'>, dir: string) {
  const missing = await readMissingKeys(database, keyRing)
  if (missing.length === 0) return
  throw new Error(
    `The key vault in ${join(dir, 'keys')} lacks keys that wrap the keys of accounts: ${listKeys(missing)}. Restore the newest backup of ANNAL_DIR/keys, ` +
      `or name them in KEY_ENCRYPTION_KEY_PREVIOUS. If a key is lost for good, run: annal keys abandon ${missing[0]!.id}`,
  )
}

/** Throws if the folder of key shares is empty or belongs to another installation. */
export async function assertKeySharesHeld(database: Pick<Database, 'query'>, dir: string): Promise<void> {
  if (!(await lacksKeyShares(database, dir)) || (await isGivenUp(database, KEY_SHARES))) return
  throw new Error(
    `The folder ${join(dir, 'keys', 'counterparts')} is empty or belongs to another installation: it has none of the key shares of this database's accounts. ` +
      `Mount or restore the newest backup of ANNAL_DIR/keys. If they are lost for good, run: annal keys abandon ${KEY_SHARES}`,
  )
}

/**
 * Lets servers start although a key, or all key shares (`key-shares`), is lost. Its data stays encrypted until the key is restored. Throws CONFLICT for a key
 * that the vault holds, and NOT_FOUND for a key that wraps nothing.
 */
export async function giveKeyUp(
  database: Pick<Database, 'query'>,
  keyRing: Pick<KeyRing, 'ids'>,
  keyId: string,
  dir: string,
): Promise<void> {
  if (keyId === KEY_SHARES) {
    if (!(await lacksKeyShares(database, dir))) throw new DomainError('CONFLICT', 'The vault holds key shares.')
    await database.query(rememberMoment, { key: `${keyValueKeys.keyGivenUp}${KEY_SHARES}` })
    return
  }
  const { current, earlier } = await keyRing.ids()
  if ([current, ...earlier].includes(keyId)) throw new DomainError('CONFLICT', `The vault holds the key ${keyId}.`)
  const missing = await readMissingKeys(database, keyRing)
  const key = `${keyValueKeys.keyGivenUp}${keyId}`
  if (!(await isGivenUp(database, keyId)) && !missing.some(({ id }) => id === keyId)) {
    const hint = missing.length === 0 ? 'No key is missing.' : `Missing: ${listKeys(missing)}.`
    throw new DomainError('NOT_FOUND', `No account's key is wrapped by a key ${keyId}. ${hint}`)
  }
  await database.query(rememberMoment, { key })
}
