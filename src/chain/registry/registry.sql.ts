import { statement, text } from '../../db/sql.ts'

/** Another address for a registry that no transaction was ever signed for. */
export const replaceUnusedRegistry = statement(
  'registry_replace_unused',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `update settings set value = $value where key = $key and not exists (select from chain_transactions) returning value`,
)
