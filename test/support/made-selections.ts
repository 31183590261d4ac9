/** Generates random selections with `pick`: nested fields, pages, aliases, fragments and directives with variables. */
import { type GraphQLField, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql'

export type Choice = (count: number) => number

const unlike = new Set(['assetFile', 'assetFileThumbnail', 'thumbnailUrl'])
const pages = ['', '(first: 2)', '(first: 1)', '(last: 1)', '(last: 0)', '(first: $n)', '(first: 200)']
const deciders = ['@include(if: $yes)', '@skip(if: $no)', '@include(if: $no)', '@skip(if: false)']
const MOST_FIELDS = 5
const DEPTH = 4

export function selectionOf(type: GraphQLObjectType, pick: Choice, depth = DEPTH): string {
  const fields = Object.values(type.getFields()).filter(({ name }) => !unlike.has(name))
  const leaves = fields.filter((field) => !isObjectType(getNamedType(field.type)))
  const from = depth > 0 || leaves.length === 0 ? fields : leaves
  const chosen = Array.from({ length: 1 + pick(MOST_FIELDS) }, () => from[pick(from.length)] ?? leaves[0])
  const asked = chosen.flatMap((field) => (field ? [fieldOf(field, pick, depth)] : []))
  const text = [...asked, ...(pick(4) === 0 ? ['__typename'] : [])].join(' ')
  return pick(5) === 0 ? `{ ... on ${type.name} ${decider(pick)} { ${text} } }` : `{ ${text} }`
}

const decider = (pick: Choice) => (pick(60) === 0 ? deciders[pick(deciders.length)] : '')

function fieldOf(field: GraphQLField<unknown, unknown>, pick: Choice, depth: number): string {
  const named = getNamedType(field.type)
  const alias = pick(6) === 0 ? `other${pick(3)}: ` : ''
  const args = named.name.endsWith('Connection') ? pages[pick(pages.length)] : ''
  const below = isObjectType(named) ? selectionOf(named, pick, depth - 1) : ''
  return `${alias}${field.name}${args} ${decider(pick)} ${below}`
}

/** Returns an operation that declares the variables of its selection, each with a default value. */
export function withVariables(kind: 'query' | 'mutation', selection: string): string {
  const named = Object.entries({ n: 'Int = 2', yes: 'Boolean = true', no: 'Boolean! = false' })
  const used = named.filter(([name]) => new RegExp(`\\$${name}\\b`).test(selection))
  return used.length
    ? `${kind} (${used.map(([name, type]) => `$${name}: ${type}`).join(', ')}) ${selection}`
    : `${kind} ${selection}`
}
