/** Settings under which our statements mean what they say. PostgreSQL has them so unless a role, a database or the server was told otherwise. */
import type pg from 'pg'
import { FixableError } from '../fixable-error.ts'

/** By their names as `SHOW` knows them, how their values begin; the first is what one sets. */
const needed: Record<string, readonly [string, ...string[]]> = {
  // Of a commit that no standby has, the server tells by a warning alone.
  client_min_messages: ['notice', 'warning', 'log', 'debug'],
  datestyle: ['ISO'],
  default_transaction_isolation: ['read committed'],
  default_transaction_read_only: ['off'],
  session_replication_role: ['origin'],
  standard_conforming_strings: ['on'],
}

const read = `
  select current_setting('server_encoding') as encoding,
    json_object_agg(name, current_setting(name)) as settings
  from unnest(array[${Object.keys(needed).map((name) => `'${name}'`)}]) as name`

/**
 * Raises a FixableError that says what to set when times would be read wrongly, writes be refused, those that meet fail instead of
 * waiting for each other, or a write be acknowledged that may be lost; and when the database is not in UTF-8.
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
  const wrong = Object.entries(needed).filter(
    ([name, values]) => !values.some((value) => settings[name]!.startsWith(value)),
  )
  if (wrong.length === 0) return
  const found = wrong.map(([name]) => `${name} is ${settings[name]}`).join(', ')
  const fix = wrong.map(([name, [value]]) => `ALTER ROLE … SET ${name} = '${value}'`).join('; ')
  throw new FixableError(
    `Sessions of the database have settings that Annal cannot work with (${found}).`,
    `Set them right: ${fix}.`,
  )
}
