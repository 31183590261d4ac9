/** Which key vault a database belongs to: what one vault sealed, no other opens, and nothing would tell before it is needed. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, statement } from '../domain/ports.ts'
import { readOrCreate } from './key-ring.ts'

const SETTING = 'vault'

const findVault = statement<{ value: string }>('vault_find', 'select value from settings where key = $1')

/** The first vault's identity stays. Returns the one that holds. */
const rememberVault = statement<{ value: string }>(
  'vault_remember',
  `with inserted as (
     insert into settings (key, value) values ($1, $2) on conflict (key) do nothing returning value
   )
   select value from inserted union all select value from settings where key = $1 limit 1`,
)

interface Options {
  database: Pick<Database, 'query'>
  /** The installation's folder; the vault lies in `keys` there. */
  dir: string
  /** Whether a database that belongs to no vault yet may be given to this one. */
  mayRemember: boolean
}

/**
 * Raises unless the vault in `dir` is the database's. Asked before a vault is opened: one that is opened where there is none
 * makes keys of its own.
 */
export async function assertVaultBelongs({ database, dir, mayRemember }: Options): Promise<void> {
  const folder = join(dir, 'keys')
  const file = join(folder, 'vault-id')
  let [known] = await database.query(findVault, [SETTING])
  if (!known && mayRemember) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    ;[known] = await database.query(rememberVault, [SETTING, readOrCreate(file, randomUUID)])
  }
  const own = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'none'
  if (!known || known.value === own) return
  throw new Error(
    `The keys in ${folder} do not belong to this database: it is sealed by the vault ${known.value}, and there is ${own}. ` +
      `Share or restore its ANNAL_DIR/keys. If that is this folder, from a backup without the file vault-id, write ${known.value} into it.`,
  )
}
