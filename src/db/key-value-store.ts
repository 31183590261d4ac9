/** Keys and statements of the key-value table `settings`. */
import { statement, text } from './sql.ts'

/** Keys of the table. A key that ends with a colon is a prefix. The comment of such a key describes the suffix. */
export const keyValueKeys = {
  chain: 'chain:id',
  /** Registry address. Suffix: chain ID. */
  registry: 'registry:',
  /** Number and hash of the block that created the registry. Suffix: `<chain ID>:<registry address>`. */
  registryStart: 'registry-start:',
  /** Gas fee charged for a commit, and the time when it was determined. */
  gasQuote: 'gas:quote',
  /** Time when the chain was last seen to be ahead of the database. */
  relayAhead: 'relay:ahead',
  /** Last block that was scanned for deposits. Suffix: chain ID. */
  deposits: 'deposits:',
  /** Newest block, and the block up to which deposits are confirmed. */
  depositsHead: 'deposits-head',
  /** Number of suspended coin transfers that wait for uncredited deposits. */
  movesWaiting: 'coin-moves-waiting',
  /** Number of transactions a treasury had sent when Annal first read it. Suffix: treasury address. */
  treasury: 'treasury:',
  /** Address of a treasury with transactions on the chain that the database does not contain. */
  treasuryInDoubt: 'treasury-in-doubt',
  /** Time since which feeds are complete. */
  feedsCompleteSince: 'feeds-kept-from',
  /** Identity of the key vault. */
  vault: 'vault',
  /** Time when a lost vault key was abandoned. Suffix: key ID. */
  keyGivenUp: 'vault:given-up:',
} as const

export const findSetting = statement(
  'setting_find',
  { parameters: { key: text }, columns: { value: text } },
  'select value from key_values where key = $key',
)

/** Inserts a value unless the key exists. Returns the stored value. */
export const insertSetting = statement(
  'setting_insert',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `with inserted_value as (
     insert into key_values (key, value) values ($key, $value) on conflict (key) do nothing returning value
   )
   select value from inserted_value union all select value from key_values where key = $key limit 1`,
)

/** Stores the current time of the database's clock unless the key exists. */
export const insertCurrentTime = statement(
  'setting_insert_current_time',
  { parameters: { key: text } },
  'insert into key_values (key, value) values ($key, clock_timestamp()::text) on conflict (key) do nothing',
)

export const replaceSetting = statement(
  'setting_replace',
  { parameters: { key: text, value: text } },
  `insert into key_values (key, value) values ($key, $value)
   on conflict (key) do update set value = excluded.value where key_values.value <> excluded.value`,
)
