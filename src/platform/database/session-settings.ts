/** Settings under which our statements mean what they say. PostgreSQL has them so unless a role, a database or the server was told otherwise. */
import type pg from 'pg'
import { FixableError } from '../fixable-error.ts'

/** By their names as `SHOW` knows them, how their values begin. */
const needed = {
  datestyle: 'ISO',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  session_replication_role: 'origin',
  standard_conforming_strings: 'on',
}

const read = `
  select current_setting('server_encoding') as encoding,
    json_object_agg(name, current_setting(name)) as settings
  from unnest(array[${Object.keys(needed).map((name) => `'${name}'`)}]) as name`

/**
 * Raises a FixableError that says what to set when times would be read wrongly, writes be refused, or those that meet fail
 * instead of waiting for each other; and when the database is not in UTF-8.
 */
export async function assertSettings(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<{ encoding: string; settings: Record<string, string> }>(read)
  const { encoding, settings } = rows[0]!
  if (encoding !== 'UTF8') {
    throw new FixableError(
      `The database is encoded in ${encoding}, and Annal needs UTF-8.`,
      `Make another one: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.`,
    )
  }
  const wrong = Object.entries(needed).filter(([name, value]) => !settings[name]!.startsWith(value))
  if (wrong.length === 0) return
  const found = wrong.map(([name]) => `${name} is ${settings[name]}`).join(', ')
  const fix = wrong.map(([name, value]) => `ALTER ROLE … SET ${name} = '${value}'`).join('; ')
  throw new FixableError(
    `Sessions of the database have settings that Annal cannot work with (${found}).`,
    `Set them right: ${fix}.`,
  )
}
