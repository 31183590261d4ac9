/** Detects a missing or exchanged database or key vault. No other vault can decrypt the data of a database. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../db/database-types.ts'
import { findSetting, insertCurrentTime, insertSetting, keyValueKeys } from '../db/key-value-store.ts'
import { readMigrationStatus } from '../db/migrations.ts'
import { arrayOf, int, statement, text } from '../db/sql.ts'
import type { EmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import { DomainError } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { FixableError } from '../shared/operator-errors.ts'
import { makePrivateFolders, readOrCreate } from '../shared/private-files.ts'
import type { KeyRing } from './key-vault.ts'
import { openKeyShares, readVaultId, vaultIdFile } from './key-vault.ts'

type Queryable = Pick<Database, 'query'>
type KeyIds = Pick<KeyRing, 'ids'>

/** Returns true if the database belongs to a vault. The first start of a server assigns one. */
export const isVaultKnown = async (database: Queryable): Promise<boolean> =>
  (await database.query(findSetting, { key: keyValueKeys.vault })).length > 0

/**
 * Throws unless the vault in `dir` belongs to the database. `mayAssign`: assigns the vault to a database without one. Returns the ID of the vault,
 * if the database has one. Call this before the vault is opened, because opening creates missing keys.
 */
export async function assertVaultBelongs(database: Queryable, dir: string, mayAssign: boolean) {
  const key = keyValueKeys.vault
  let [known] = await database.query(findSetting, { key })
  if (!known && mayAssign) {
    await mkdir(join(dir, 'keys'), { recursive: true, mode: 0o700 })
    ;[known] = await database.query(insertSetting, { key, value: readOrCreate(vaultIdFile(dir), randomUUID) })
  }
  const own = readVaultId(dir) ?? 'none'
  if (!known || known.value === own) return known?.value
  throw new Error(
    `The keys in ${join(dir, 'keys')} do not belong to this database: it needs the vault ${known.value}, but the folder holds ${own}. ` +
      `Share or restore its ANNAL_DIR/keys. If this folder comes from a backup without the file vault-id, write ${known.value} into that file.`,
  )
}

const findMissingKeys = statement(
  'vault_missing',
  { parameters: { held: arrayOf(text), abandonedPrefix: text }, columns: { id: text, accounts: int } },
  `with recursive used (id) as (
     select min(vault_key_id) from user_keys
     union all
     select (select min(vault_key_id) from user_keys where vault_key_id > used.id) from used where used.id is not null
   )
   select id, (select count(*)::int from user_keys where vault_key_id = id) as accounts
   from used where id <> all ($held) and not exists (select from key_values where key = $abandonedPrefix || id)`,
)

async function readMissingKeys(database: Queryable, keyRing: KeyIds) {
  const { current, earlier } = await keyRing.ids()
  return database.query(findMissingKeys, { held: [current, ...earlier], abandonedPrefix: keyValueKeys.keyGivenUp })
}

const listKeys = (keys: readonly { id: string; accounts: number }[]) =>
  keys.map(({ id, accounts }) => `${id} (${accounts} ${accounts === 1 ? 'account' : 'accounts'})`).join(', ')

/** Name for all key shares in `annal keys abandon`. */
const KEY_SHARES = 'key-shares'

const findSampleOwners = statement(
  'vault_sample_owners',
  { columns: { id: text } },
  `(select user_id::text as id from user_keys order by user_id limit 50)
   union
   (select user_id::text as id from user_keys order by user_id desc limit 50)`,
)

const readSampleOwners = async (database: Queryable) => (await database.query(findSampleOwners)).map(({ id }) => id)

async function hasAnyShare(dir: string, owners: readonly string[]): Promise<boolean> {
  const keyShares = openKeyShares(dir)
  for (const owner of owners) if (await keyShares.has(owner)) return true
  return false
}

/** Returns true if the database has accounts with key shares, but the folder has none of the sampled ones. */
async function lacksKeyShares(database: Queryable, dir: string): Promise<boolean> {
  const owners = await readSampleOwners(database)
  return owners.length > 0 && !(await hasAnyShare(dir, owners))
}

const isAbandoned = async (database: Queryable, key: string) =>
  (await database.query(findSetting, { key: `${keyValueKeys.keyGivenUp}${key}` })).length > 0

/** Creates a check whether the folder `dir` still contains the key vault `id`. The check usually reads two files. */
export function createVaultCheck(database: Queryable, dir: string, id: string): () => Promise<boolean> {
  let owners: string[] = []
  return async () => {
    if ((await readFile(vaultIdFile(dir), 'utf8')).trim() !== id) return false
    if (await hasAnyShare(dir, owners)) return true
    // The sampled accounts may have been deleted since. Sample other accounts.
    owners = await readSampleOwners(database)
    return owners.length === 0 || (await hasAnyShare(dir, owners)) || (await isAbandoned(database, KEY_SHARES))
  }
}

/** Throws if the vault lacks a key that wraps keys of accounts. Without this check, the service would abandon commits that cannot be signed. */
export async function assertKeysHeld(database: Queryable, keyRing: KeyIds, dir: string) {
  const missing = await readMissingKeys(database, keyRing)
  if (missing.length === 0) return
  throw new Error(
    `The key vault in ${join(dir, 'keys')} lacks keys that wrap the keys of accounts: ${listKeys(missing)}. Restore the newest backup of ANNAL_DIR/keys, ` +
      `or add them to KEY_ENCRYPTION_KEY_PREVIOUS. If a key is lost permanently, run: annal keys abandon ${missing[0]!.id}`,
  )
}

/** Throws if the folder of key shares is empty or belongs to another installation. */
export async function assertKeySharesHeld(database: Queryable, dir: string): Promise<void> {
  if (!(await lacksKeyShares(database, dir)) || (await isAbandoned(database, KEY_SHARES))) return
  throw new Error(
    `The folder ${join(dir, 'keys', 'counterparts')} is empty or belongs to another installation: it has none of the key shares of this database's accounts. ` +
      `Mount or restore the newest backup of ANNAL_DIR/keys. If they are lost permanently, run: annal keys abandon ${KEY_SHARES}`,
  )
}

/** Lets servers start although a key or all key shares are lost. Throws CONFLICT, NOT_FOUND. */
export async function abandonKey(database: Queryable, keyRing: KeyIds, keyId: string, dir: string): Promise<void> {
  if (keyId === KEY_SHARES) {
    if (!(await lacksKeyShares(database, dir))) throw new DomainError('CONFLICT', 'The vault holds key shares.')
  } else {
    const { current, earlier } = await keyRing.ids()
    if ([current, ...earlier].includes(keyId)) throw new DomainError('CONFLICT', `The vault holds the key ${keyId}.`)
    const missing = await readMissingKeys(database, keyRing)
    if (!(await isAbandoned(database, keyId)) && !missing.some(({ id }) => id === keyId)) {
      const hint = missing.length === 0 ? 'No key is missing.' : `Missing: ${listKeys(missing)}.`
      throw new DomainError('NOT_FOUND', `No account's key is wrapped by a key ${keyId}. ${hint}`)
    }
  }
  await database.query(insertCurrentTime, { key: `${keyValueKeys.keyGivenUp}${keyId}` })
}

const hasKeyShares = async (dir: string) => !(await openKeyShares(dir).owners().next()).done

const lostDatabase = (dir: string, finding: string, fix: string) =>
  new FixableError(
    `${finding}, but ${join(dir, 'keys')} holds keys of accounts.`,
    `${fix} For a new installation set ANNAL_DIR to another folder.`,
  )

/** Throws a FixableError if the embedded database in `dir` is missing but keys of its accounts exist. */
export async function assertClusterNotLost(dir: string): Promise<void> {
  const folder = join(dir, 'postgres')
  if (existsSync(join(folder, 'PG_VERSION')) || !(await hasKeyShares(dir))) return
  if (!existsSync(folder)) throw lostDatabase(dir, `${folder} is missing`, 'Restore it from the backup.')
  throw lostDatabase(dir, `${folder} is empty`, 'Mount it, or restore it from the backup.')
}

/** Throws a FixableError if the database was never migrated but keys of accounts exist in `dir`. */
export async function assertDatabaseNotLost(databaseUrl: string, dir: string): Promise<void> {
  if (!(await hasKeyShares(dir)) || (await readMigrationStatus(databaseUrl)).applied.length > 0) return
  const fix = 'Set DATABASE_URL to the database of the accounts, or restore it from the backup.'
  throw lostDatabase(dir, 'The database is empty', fix)
}

/** Starts the embedded database of the installation in `dir`. Throws a FixableError if the database is lost. */
export async function startEmbeddedDatabase(dir: string, log: Log, isService = false): Promise<EmbeddedPostgres> {
  await makePrivateFolders(dir)
  await assertClusterNotLost(dir)
  const { startEmbeddedPostgres } = await import('../embedded/embedded-postgres.ts')
  return startEmbeddedPostgres({ dir, log, isService })
}
