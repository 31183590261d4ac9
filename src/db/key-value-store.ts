/** What an installation remembers: texts in the table `settings`, each under a key. Here are the keys, and the statements that are about one of them and no other table. */
import { statement, text } from './sql.ts'

/** Every key in use. One that ends with a colon is the beginning of several: what each is of follows. */
export const settingKeys = {
  /** The identifier of the chain. */
  chain: 'chain:id',
  /** Of a chain's identifier: the address of its registry. */
  registry: 'registry:',
  /** Of a chain and a registry (`<chain>:<address>`): number and hash of the block that made it. */
  registryStart: 'registry-start:',
  /** What a commit is charged for gas, and when that was found out. */
  gasQuote: 'gas:quote',
  /** When a chain was last seen to be ahead of the database. */
  relayAhead: 'relay:ahead',
  /** Of a chain: up to where it was read for deposits. */
  deposits: 'deposits:',
  /** The newest block, and up to which one deposits count. */
  depositsHead: 'deposits-head',
  /** How many moves of coins that are set aside wait for what is not credited yet. */
  movesWaiting: 'coin-moves-waiting',
  /** Of a treasury's address: how many transactions it had sent when it was first looked at. */
  treasury: 'treasury:',
  /** The treasury of which the chain counts transactions that the database does not know. */
  treasuryInDoubt: 'treasury-in-doubt',
  /** Since when feeds are whole. */
  feedsKeptFrom: 'feeds-kept-from',
  /** The identity of the key vault. */
  vault: 'vault',
  /** Of a key of the vault that is lost: when it was given up. */
  keyGivenUp: 'vault:given-up:',
} as const

/** What is remembered under a key; no row where nothing is. */
export const findSetting = statement(
  'setting_find',
  { parameters: { key: text }, columns: { value: text } },
  'select value from settings where key = $key',
)

/** The first writer's value stays; returns the value that holds. */
export const rememberSetting = statement(
  'setting_remember',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `with inserted_setting as (
     insert into settings (key, value) values ($key, $value) on conflict (key) do nothing returning value
   )
   select value from inserted_setting union all select value from settings where key = $key limit 1`,
)

/** Remembers when this was first asked, by the database's clock. */
export const rememberMoment = statement(
  'setting_remember_moment',
  { parameters: { key: text } },
  'insert into settings (key, value) values ($key, clock_timestamp()::text) on conflict (key) do nothing',
)

/** The newest writer's value holds. */
export const replaceSetting = statement(
  'setting_replace',
  { parameters: { key: text, value: text } },
  `insert into settings (key, value) values ($key, $value)
   on conflict (key) do update set value = excluded.value where settings.value <> excluded.value`,
)
