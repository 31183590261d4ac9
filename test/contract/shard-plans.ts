/** Where statements would be carried out if people were spread over several databases, by the server's own plans and what `shard-keys.ts` says of each table. */
import type pg from 'pg'
import { homes } from './shard-keys.ts'

/** What the server would do for a statement, as EXPLAIN has it. */
interface Plan {
  'Node Type': string
  Operation?: string
  Schema?: string
  'Relation Name'?: string
  Alias?: string
  Output?: string[]
  Plans?: Plan[]
}

interface Facts {
  /** The base tables that it touches. */
  tables: string[]
  /** Parameters that a column which names an owner is held to or set to; those that name a thing; lists of either. */
  owners: string[]
  things: string[]
  lists: string[]
  /** Whether it takes an app's owner further. */
  namesSeller: boolean
}

/** Where a statement is carried out: with an account or a thing that parameters name, a list of either, in each database for itself, or on what is copied. */
export type Key = { owner: string } | { thing: string[] } | 'list' | 'own' | 'reference'

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
const nameOf = ({ Schema, 'Relation Name': name }: Plan) => (Schema === 'public' ? name! : `${Schema}.${name}`)
const ownerColumn = (table: string | undefined) => {
  const home = table === undefined ? undefined : homes[table]
  return typeof home === 'object' && 'owner' in home ? home.owner : undefined
}
const isHoused = (table: string) => typeof homes[table] === 'object'
const EQUALITY = /"?(\w+)"?\.(\w+)\)?(?:::\w+)? = (ANY \()?\$(\d+)/g

/** `places`: of owners' columns in whole rows. */
function factsOf(plan: Plan, parameters: readonly string[], places: ReadonlyMap<string, number>): Facts {
  const nodes = nodesOf(plan)
  const relations = new Map(nodes.filter((node) => node['Relation Name']).map((node) => [node.Alias!, nameOf(node)]))
  const found = { owners: new Set<string>(), things: new Set<string>(), lists: new Set<string>() }
  const conditions = nodes.flatMap((node) =>
    Object.entries(node).flatMap(([name, value]) =>
      /Cond|Filter/.test(name) && typeof value === 'string' ? [value] : [],
    ),
  )
  for (const [, alias, column, isList, place] of conditions.join(' ').matchAll(EQUALITY)) {
    const table = relations.get(alias!)
    const parameter = parameters[Number(place) - 1]!
    if (isList) found.lists.add(parameter)
    else if (ownerColumn(table) === column) found.owners.add(parameter)
    else if (table !== undefined && isHoused(table)) found.things.add(parameter)
  }
  for (const node of nodes) {
    if (node['Node Type'] !== 'ModifyTable' || node.Operation !== 'Insert') continue
    const place = places.get(nameOf(node))
    const given = place === undefined ? undefined : /^\$(\d+)$/.exec(node.Plans?.[0]?.Output?.[place] ?? '')
    if (given) found.owners.add(parameters[Number(given[1]) - 1]!)
  }
  const namesSeller = nodes.some(({ Output = [] }) =>
    Output.some((expression) => {
      const [, alias] = /^"?(\w+)"?\.owner_id$/.exec(expression) ?? []
      return alias !== undefined && relations.get(alias) === 'network_apps'
    }),
  )
  return {
    tables: [...new Set(relations.values())].toSorted(),
    owners: [...found.owners],
    things: [...found.things],
    lists: [...found.lists],
    namesSeller,
  }
}

/** Where it is carried out, if its text tells: it must be sure that all of it is one account's, or its database's own. */
function keyOf({ tables, owners, things, lists, namesSeller }: Facts, writesReference: boolean): Key | undefined {
  const of = (home: unknown) => tables.some((table) => homes[table] === home)
  const hasHoused = tables.some(isHoused)
  if (!hasHoused) return of('reference') ? 'reference' : 'own'
  if (namesSeller || writesReference || owners.length > 1) return undefined
  if (owners.length === 1) return { owner: owners[0]! }
  if (things.length > 0) return { thing: things }
  if (lists.length > 0) return 'list'
  return of('own') ? 'own' : undefined
}

/** Tells of statements by their texts and the names of their parameters. Raises for a table of which nothing is said; undefined where the text does not tell. */
export async function createShardPlans(client: pg.Client) {
  const places = new Map<string, number>()
  for (const table of Object.keys(homes)) {
    const column = ownerColumn(table)
    if (column === undefined) continue
    const { rows } = await client.query(
      'select attnum - 1 as place from pg_attribute where attrelid = $1::regclass and attname = $2',
      [table, column],
    )
    if (rows.length !== 1) throw new Error(`${table} has no column ${column}.`)
    places.set(table, rows[0].place)
  }
  return async (text: string, parameters: readonly string[]): Promise<Key | undefined> => {
    const { rows } = await client.query(`explain (generic_plan, verbose, format json) ${text}`)
    const plan = rows[0]['QUERY PLAN'][0].Plan as Plan
    const facts = factsOf(plan, parameters, places)
    const unknown = facts.tables.filter((table) => homes[table] === undefined)
    if (unknown.length > 0) throw new Error(`Say in shard-keys.ts where the rows of ${unknown.join(', ')} live.`)
    const writesReference = nodesOf(plan).some(
      (node) => node['Node Type'] === 'ModifyTable' && homes[nameOf(node)] === 'reference',
    )
    return keyOf(facts, writesReference)
  }
}
