/** What a statement costs in a grown database, as the planner has it, and what of it grows with the database. */
import type pg from 'pg'

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  'Sort Key'?: string[]
  'Plan Rows': number
  'Total Cost': number
  Plans?: Node[]
}

/** A page is as long as the caller wants, and never longer than a few hundred rows; without this the planner takes it for a tenth of all. */
const PAGE = 100

/**
 * The text without parameters for the lengths of pages. The plan for parameters whose values are not known is asked for: the one that serves
 * all, whoever asks.
 */
function explainable(text: string): string {
  const places = new Map<string, number>()
  return text
    .replace(/\blimit \$\d+(::integer)?/gi, `limit ${PAGE}`)
    .replace(/\boffset \$\d+(::integer)?/gi, 'offset 0')
    .replace(/\$(\d+)/g, (_, place: string) => {
      if (!places.has(place)) places.set(place, places.size + 1)
      return `$${places.get(place)}`
    })
}

/** The generic plan of a statement. Raises when the database does not understand it. */
export async function planOf(client: pg.Client, text: string): Promise<Node> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (generic_plan, format json) ${explainable(text)}`,
  )
  return rows[0]!['QUERY PLAN'][0].Plan
}

const nodesOf = (plan: Node): Node[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Tables of which the plan reads every row. */
export const tablesReadWhole = (plan: Node): string[] => [
  ...new Set(nodesOf(plan).flatMap((node) => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name']!] : []))),
]

export const costOf = (plan: Node): number => plan['Total Cost']

const short = (text = '') => (text.length > 160 ? `${text.slice(0, 160)}…` : text)

/** The parts of a plan that read, sort or put together most, in words. */
export function describeDearest(plan: Node): string[] {
  const found = nodesOf(plan)
  const own = (node: Node) =>
    node['Total Cost'] - (node.Plans ?? []).reduce((sum, below) => sum + below['Total Cost'], 0)
  return found
    .toSorted((a, b) => own(b) - own(a))
    .slice(0, 3)
    .map((node) =>
      [
        `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}`.trim(),
        `of ${node['Plan Rows']} rows for ${Math.round(node['Total Cost'])}`,
        node['Index Cond'] && `found by ${short(node['Index Cond'])}`,
        node.Filter && `of which it leaves out what is not ${short(node.Filter)}`,
        node['Sort Key'] && `by ${short(node['Sort Key'].join(', '))}`,
      ]
        .filter(Boolean)
        .join(', '),
    )
}
