/** Settings under which our statements mean what they say. PostgreSQL has them so unless a role, a database or the server was told otherwise. */
import type pg from 'pg'
import { FixableError } from '../shared/operator-errors.ts'

/** As `server_version_num` has it. Older ones lack functions that tables are made with. */
const OLDEST_SERVER = 180_000

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
  select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
    current_setting('server_encoding') as encoding, current_schema() as schema,
    json_object_agg(name, current_setting(name)) as settings
  from unnest(array[${[...Object.keys(needed), 'search_path'].map((name) => `'${name}'`)}]) as name`

interface Server {
  version: string
  number: number
  encoding: string
  /** Where tables are made and looked for first; null when the search path names no schema that is there. */
  schema: string | null
  settings: Record<string, string>
}

/**
 * Raises a FixableError that says what to set when times would be read wrongly, writes be refused, those that meet fail instead of
 * waiting for each other, or a write be acknowledged that may be lost; and when the server is too old, or the database not in UTF-8 or without a place for tables.
 */
export async function assertSettings(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<Server>(read)
  const { version, number, encoding, schema, settings } = rows[0]!
  if (number < OLDEST_SERVER) {
    throw new FixableError(
      `The database is of PostgreSQL ${version}, and Annal needs 18 or later.`,
      'Upgrade the server (pg_upgrade, or dump and restore), or lead DATABASE_URL to a newer one.',
    )
  }
  if (encoding !== 'UTF8') {
    throw new FixableError(
      `The database is encoded in ${encoding}, and Annal needs UTF-8.`,
      `Make another one: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.`,
    )
  }
  if (schema === null) {
    throw new FixableError(
      `No schema of the search path is there for this role (search_path is ${settings.search_path}).`,
      'Set it right: ALTER ROLE … SET search_path = public.',
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
