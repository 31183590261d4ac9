import { statement, text } from '../domain/sql.ts'

/** What this installation remembers under a name. */
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

/** The newest writer's value holds. */
export const replaceSetting = statement(
  'setting_replace',
  { parameters: { key: text, value: text } },
  'insert into settings (key, value) values ($key, $value) on conflict (key) do update set value = excluded.value',
)

/** Another address for a registry that no transaction was ever signed for. */
export const replaceUnusedRegistry = statement(
  'registry_replace_unused',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `update settings set value = $value where key = $key and not exists (select from chain_transactions) returning value`,
)
