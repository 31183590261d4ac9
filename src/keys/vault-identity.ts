/** Which key vault a database belongs to: what one vault sealed, no other opens, and nothing would tell before it is needed. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../db/database-types.ts'
import { findSetting, rememberMoment, rememberSetting, settingKeys } from '../db/key-value-store.ts'
import { arrayOf, int, statement, text } from '../db/sql.ts'
import { DomainError } from '../shared/errors.ts'
import { readOrCreate } from './key-ring.ts'
import { createKeyShares } from './key-shares.ts'
import type { KeyRing } from './key-types.ts'
import { readVaultId, vaultIdFile } from './vault-id.ts'

/** Whether the database belongs to a vault yet: one that no server was ever started on does not. */
export const isVaultKnown = async (database: Pick<Database, 'query'>): Promise<boolean> =>
  (await database.query(findSetting, { key: settingKeys.vault })).length > 0

interface Options {
  database: Pick<Database, 'query'>
  /** The installation's folder; the vault lies in `keys` there. */
  dir: string
  /** Whether a database that belongs to no vault yet may be given to this one. */
  mayRemember: boolean
}

/**
 * Holds the vault in `dir` to the database: raises unless they belong together. Asked before a vault is opened: one that
 * is opened where there is none makes keys of its own. Returns what the vault is called; undefined while the database belongs to none.
 */
export async function assertVaultBelongs({ database, dir, mayRemember }: Options): Promise<string | undefined> {
  const folder = join(dir, 'keys')
  let [known] = await database.query(findSetting, { key: settingKeys.vault })
  if (!known && mayRemember) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    ;[known] = await database.query(rememberSetting, {
      key: settingKeys.vault,
      value: readOrCreate(vaultIdFile(dir), randomUUID),
    })
  }
  const own = readVaultId(dir) ?? 'none'
  if (!known || known.value === own) return known?.value
  throw new Error(
    `The keys in ${folder} do not belong to this database: it is sealed by the vault ${known.value}, and there is ${own}. ` +
      `Share or restore its ANNAL_DIR/keys. If that is this folder, from a backup without the file vault-id, write ${known.value} into it.`,
  )
}

/** Keys that wrap accounts' keys, each found by one step in the index; but for those that are held or were given up (`givenUp`: how the settings begin). */
const findLackingKeys = statement(
  'vault_lacking',
  { parameters: { held: arrayOf(text), givenUp: text }, columns: { id: text, accounts: int } },
  `with recursive used (id) as (
     select min(vault_key_id) from user_keys
     union all
     select (select min(vault_key_id) from user_keys where vault_key_id > used.id) from used where used.id is not null
   )
   select id, (select count(*)::int from user_keys where vault_key_id = id) as accounts
   from used where id <> all ($held) and not exists (select from settings where key = $givenUp || id)`,
)

async function readLackingKeys(database: Pick<Database, 'query'>, keyRing: Pick<KeyRing, 'ids'>) {
  const { current, earlier } = await keyRing.ids()
  return database.query(findLackingKeys, { held: [current, ...earlier], givenUp: settingKeys.keyGivenUp })
}

const listKeys = (keys: readonly { id: string; accounts: number }[]) =>
  keys.map(({ id, accounts }) => `${id} (${accounts} ${accounts === 1 ? 'account' : 'accounts'})`).join(', ')

/** Name under which an operator gives up all key shares. */
const KEY_SHARES = 'key-shares'

/** The accounts with the oldest and the newest keys, 100 at most. */
const findSampleOwners = statement(
  'vault_sample_owners',
  { columns: { id: text } },
  `(select user_id::text as id from user_keys where version > 1 order by user_id limit 50)
   union
   (select user_id::text as id from user_keys where version > 1 order by user_id desc limit 50)`,
)

const openKeyShares = (dir: string) =>
  createKeyShares({ dir: join(dir, 'keys', 'counterparts'), deletedDir: join(dir, 'keys', 'deleted') })

/** Returns whether the folder has a key share of one of these accounts. */
async function hasSome(dir: string, owners: readonly string[]): Promise<boolean> {
  const keyShares = openKeyShares(dir)
  for (const owner of owners) if (await keyShares.has(owner)) return true
  return false
}

/** Returns whether the database has accounts with key shares, and the folder has none of those that are looked for. */
async function lacksKeyShares(database: Pick<Database, 'query'>, dir: string): Promise<boolean> {
  const owners = (await database.query(findSampleOwners)).map(({ id }) => id)
  return owners.length > 0 && !(await hasSome(dir, owners))
}

const isGivenUp = async (database: Pick<Database, 'query'>, key: string) =>
  (await database.query(findSetting, { key: `${settingKeys.keyGivenUp}${key}` })).length > 0

/**
 * Returns a check whether the key vault in `dir` is still the vault `id` of this database: it is not when a folder was unmounted or exchanged.
 * Usually looks at two files. Raises what the file system raises.
 */
export function createVaultCheck(database: Pick<Database, 'query'>, dir: string, id: string): () => Promise<boolean> {
  let known: string[] = []
  return async () => {
    if ((await readFile(vaultIdFile(dir), 'utf8')).trim() !== id) return false
    if (await hasSome(dir, known)) return true
    // The accounts may be deleted by now.
    known = (await database.query(findSampleOwners)).map((row) => row.id)
    return known.length === 0 || (await hasSome(dir, known)) || (await isGivenUp(database, KEY_SHARES))
  }
}

/**
 * Raises when accounts' keys are wrapped by a key that the vault lacks: a folder that is older than the database's last rotation,
 * or another KEY_ENCRYPTION_KEY. Nothing of them opens then, and what waits for them would be given up in time.
 */
export async function assertKeysHeld(
  database: Pick<Database, 'query'>,
  keyRing: Pick<KeyRing, 'ids'>,
  dir: string,
): Promise<void> {
  const lacking = await readLackingKeys(database, keyRing)
  if (lacking.length === 0) return
  throw new Error(
    `The key vault in ${join(dir, 'keys')} lacks keys that wrap the keys of accounts: ${listKeys(lacking)}. Restore the newest backup of ANNAL_DIR/keys, ` +
      `or name them in KEY_ENCRYPTION_KEY_PREVIOUS. What is lost for good is given up by: annal keys give-up ${lacking[0]!.id}`,
  )
}

/** Raises when the folder of key shares is empty or belongs to another installation. */
export async function assertKeySharesHeld(database: Pick<Database, 'query'>, dir: string): Promise<void> {
  if (!(await lacksKeyShares(database, dir)) || (await isGivenUp(database, KEY_SHARES))) return
  throw new Error(
    `The folder ${join(dir, 'keys', 'counterparts')} is empty or belongs to another installation: it has none of the key shares of this database's accounts. ` +
      `Mount or restore the newest backup of ANNAL_DIR/keys. If they are lost for good, run: annal keys give-up ${KEY_SHARES}`,
  )
}

/**
 * Lets servers start although the key is lost, or all key shares (`key-shares`). What it wrapped stays sealed until it is found again. Raises
 * a DomainError for a key that the vault has, and for one that wraps nothing.
 */
export async function giveKeyUp(
  database: Pick<Database, 'query'>,
  keyRing: Pick<KeyRing, 'ids'>,
  keyId: string,
  dir: string,
): Promise<void> {
  if (keyId === KEY_SHARES) {
    if (!(await lacksKeyShares(database, dir))) throw new DomainError('CONFLICT', 'The vault holds key shares.')
    await database.query(rememberMoment, { key: `${settingKeys.keyGivenUp}${KEY_SHARES}` })
    return
  }
  const { current, earlier } = await keyRing.ids()
  if ([current, ...earlier].includes(keyId)) throw new DomainError('CONFLICT', `The vault holds the key ${keyId}.`)
  const lacking = await readLackingKeys(database, keyRing)
  const key = `${settingKeys.keyGivenUp}${keyId}`
  if (!(await isGivenUp(database, keyId)) && !lacking.some(({ id }) => id === keyId)) {
    const missing = lacking.length === 0 ? 'None is missing.' : `Missing: ${listKeys(lacking)}.`
    throw new DomainError('NOT_FOUND', `No account's key is wrapped by a key ${keyId}. ${missing}`)
  }
  await database.query(rememberMoment, { key })
}
