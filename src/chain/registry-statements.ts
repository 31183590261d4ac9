import { statement } from '../domain/ports.ts'

export const findSetting = statement<{ value: string }>('setting_find', 'select value from settings where key = $1')

/** The first writer's value stays; returns the value that holds. */
export const rememberSetting = statement<{ value: string }>(
  'setting_remember',
  `with inserted as (
     insert into settings (key, value) values ($1, $2) on conflict (key) do nothing returning value
   )
   select value from inserted union all select value from settings where key = $1 limit 1`,
)

/** Another address for a registry that no transaction was ever signed for. */
export const replaceUnusedRegistry = statement<{ value: string }>(
  'registry_replace_unused',
  `update settings set value = $2 where key = $1 and not exists (select from chain_transactions) returning value`,
)
