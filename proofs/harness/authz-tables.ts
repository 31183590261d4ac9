/** Completeness checks for the tables of F23: every operation, field, route and page has an entry, and no entry is obsolete. */
import { routes, schema } from '../../test/support/full-api.ts'
import { adminPages, directRoutes } from '../../test/support/route-tables.ts'
import { missingKeys, missingTypeRules } from './authz-answers.ts'
import { rootCallsOf } from './authz-documents.ts'
import { type Expectations, expectations } from './authz-expectations.ts'
import { servedRoutes } from './authz-matrix.ts'
import { pageCalls } from './authz-pages.ts'
import { triggers } from './authz-streams.ts'
import { restCallOf, restCalls } from './authz-values.ts'

/** Every way to call every root field, and what is missing to do so. */
export const { calls, problems } = rootCallsOf(schema)
/** Every route at each of its paths. */
export const served = servedRoutes(routes, directRoutes, adminPages)

const fields = calls.map(({ key }) => key)
const subscriptions = calls.filter(({ operation }) => operation === 'subscription').map(({ key }) => key)
const routeKeys = [...new Set(served.map(({ key }) => key))]
const callKeys = [...new Set(served.map(({ callKey }) => callKey))]
const known = new Set([...routeKeys, ...fields])

/** Returns a message for each missing and each obsolete entry of the tables. */
export const missingFromTables = (told: Expectations = expectations): string[] => [
  ...problems,
  ...missingKeys(fields, Object.keys(told.fields)),
  ...missingKeys(routeKeys, Object.keys(told.routes)),
  ...missingKeys(callKeys, [...callKeys.filter(restCallOf), ...Object.keys({ ...restCalls, ...pageCalls })]),
  ...missingKeys(subscriptions, Object.keys(triggers)),
  ...told.administration.filter((key) => !known.has(key)).map((key) => `${key} is administration, and gone.`),
  ...missingTypeRules(schema, told),
]

/** Control: removes each entry in turn and adds one obsolete entry. Returns the number of tries, and the changes that were not detected. */
export function spoilTables(): { tried: number; unnoticed: string[] } {
  const spoilt = (['fields', 'routes', 'types'] as const).flatMap((part) => {
    const entries = Object.entries(expectations[part])
    return entries.flatMap(([key, entry]) => [
      { what: `without ${key}`, table: Object.fromEntries(entries.filter(([other]) => other !== key)), part },
      { what: `with ${key} twice`, table: { ...expectations[part], [`${key}Gone`]: entry }, part },
    ])
  })
  const usual = missingFromTables().length
  const unnoticed = spoilt
    .filter(({ part, table }) => missingFromTables({ ...expectations, [part]: table }).length <= usual)
    .map(({ what }) => what)
  return { tried: spoilt.length, unnoticed }
}
