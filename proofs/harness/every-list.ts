/**
 * Requests for every list of REST and GraphQL, with the largest allowed page, at the start and at a large offset. They are generated from
 * the schema and the OpenAPI description, so no list is missing.
 */

import { readFileSync } from 'node:fs'
import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { schema } from '../../test/support/full-api.ts'
import { type Ask, largestPage, MOST } from './dearest.ts'
import { FEW, type Riches } from './riches.ts'

/** A request for a list whose response must have a minimum number of rows. A short list would prove nothing. */
export interface ListAsk extends Ask {
  /** Name of the list in the response. */
  list: string
  lines: number
}

type Field = GraphQLField<unknown, unknown>

/** Maximum offset that the service allows. */
const FAR = 10_000
/** Lists that cannot fill the largest page, with their maximum numbers of rows. */
const short: Record<string, number> = {
  'Asset.links': FEW.links,
  'Query.apiKeys': FEW.apiKeys,
  'Query.networkApps': FEW.networkApps,
  'Query.lookup': 1,
  'Query.users': 1,
  '/api/v3/assets/{nid}/links': FEW.links,
  '/api/v3/auth/users': 1,
  '/api/v3/lookup': 1,
  '/api/v3/store/api-keys': FEW.apiKeys,
  '/api/v3/store/network-apps': FEW.networkApps,
  '/api/v3/store/users': 1,
}
/** Lists that are tested elsewhere, with the reason. */
const elsewhere: Record<string, string> = {
  'Verification.commits':
    'reads the chain, of which no long history was written (F29 and the tests of verification read it)',
}

const isConnection = ({ type }: Field) => getNamedType(type).name.endsWith('Connection')
const isPaged = (field: Field) => isConnection(field) || field.args.some(({ name }) => name === 'limit')
const isFree = ({ args }: Field) => !args.some(isRequiredArgument)
const fieldsOf = (type: GraphQLObjectType) => Object.values(type.getFields())
const nameOf = (type: GraphQLObjectType, field: Field) => `${type.name}.${field.name}`

const objectTypes = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type))
  .filter(({ name }) => !name.startsWith('__'))

/** Paginated lists, by the type that has them. */
const pagedFields = objectTypes.flatMap((type) =>
  fieldsOf(type)
    .filter(isPaged)
    .map((field) => ({ type, field, name: nameOf(type, field) })),
)

/** Returns the fields of a row and of nested objects, without paginated lists. */
function selectionOf(type: GraphQLObjectType, depth = 1): string {
  const parts = fieldsOf(type)
    .filter((field) => isFree(field) && !isPaged(field) && !tooDear.has(nameOf(type, field)))
    .flatMap((field) => {
      const below = getNamedType(field.type)
      if (isLeafType(below)) return [field.name]
      return depth > 0 && isObjectType(below) ? [`${field.name} { ${selectionOf(below, depth - 1)} }`] : []
    })
  return parts.length ? parts.join(' ') : '__typename'
}
/** Fields that are too expensive for a page or call other services. `dearest` tests them separately. */
const tooDear = new Set(['Asset.verification'])

function lineType({ type }: Field): GraphQLObjectType {
  const named = getNamedType(type) as GraphQLObjectType
  return named.name.endsWith('Connection') ? (getNamedType(named.getFields().nodes!.type) as GraphQLObjectType) : named
}

function graphqlAsks({ longHistory, order, sha256 }: Riches, rows: number): ListAsk[] {
  const given: Record<string, string> = {
    'Query.refunds': `orderId: "${order}"`,
    'Query.lookup': `sha256: "${sha256}"`,
    'Query.users': 'search: "rich"',
  }
  const below: Record<string, (list: string) => string> = {
    Query: (list) => `{ ${list} }`,
    User: (list) => `{ me { ${list} } }`,
    Asset: (list) => `{ asset(id: "${longHistory}") { ${list} } }`,
  }
  return pagedFields.flatMap(({ type, field, name }): ListAsk[] => {
    if (elsewhere[name]) return []
    const wrap = below[type.name]
    if (!wrap || !(isFree(field) || given[name])) throw new Error(`Say in every-list.ts how ${name} is asked for.`)
    const most = mostOf(field)
    const size = isConnection(field) ? 'first' : 'limit'
    const selection = selectionOf(lineType(field))
    const document = (page: number, offset?: number, count = '') => {
      const args = [`${size}: ${Math.min(page, most)}`, given[name], offset !== undefined && `offset: ${offset}`]
      return wrap(
        `${field.name}(${args.filter(Boolean).join(', ')}) { ${isConnection(field) ? `${count} nodes { ${selection} }` : selection} }`,
      )
    }
    const has = (argument: string) => field.args.some((arg) => arg.name === argument)
    const largest = (offset?: number, count?: string) => {
      const page = Math.min(
        largestPage((size) => document(size, offset, count)),
        most,
      )
      return { page, text: document(page, offset, count) }
    }
    const all = short[name] ?? rows
    const far = Math.min(FAR, all - 1)
    const asked = (what: string, offset?: number, count?: string): ListAsk => {
      const { page, text } = largest(offset, count)
      return {
        name: `${name}${what}`,
        list: field.name,
        lines: Math.min(page, all - (offset ?? 0)),
        as: 'owner',
        document: text,
      }
    }
    const total = isConnection(field) && hasTotal(field) ? 'totalCount' : ''
    return [asked(''), ...(has('offset') ? [asked(', far in', far, total)] : [])]
  })
}
const hasTotal = ({ type }: Field) => Object.hasOwn((getNamedType(type) as GraphQLObjectType).getFields(), 'totalCount')
/** Returns the maximum page size from the description of an argument or parameter. */
function documentedMaximum(description: string | null | undefined): number {
  const told = description?.match(/(?:Maximum: |, at most )([\d,]+)[.;]/)
  if (!told) throw new Error('The maximum page size of a list is not documented.')
  return Number(told[1]!.replaceAll(',', ''))
}
const mostOf = ({ args }: Field) =>
  documentedMaximum(args.find(({ name }) => name === 'first' || name === 'limit')?.description)

interface Parameter {
  name?: string
  description?: string
}
const description = JSON.parse(
  readFileSync(new URL('../../src/http/rest/generated/openapi.json', import.meta.url), 'utf8'),
) as { paths: Record<string, { get?: { parameters?: Parameter[] } }> }

/** REST paths that return pages. */
const pagedPaths = Object.entries(description.paths)
  .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === 'limit'))
  .map(([path]) => path)

function restAsks({ longHistory, order, sha256 }: Riches, rows: number): ListAsk[] {
  const given: Record<string, string> = {
    '/api/v3/history': `&nid=${longHistory}`,
    '/api/v3/lookup': `&sha256=${sha256}`,
    '/api/v3/store/users': '&search=rich',
  }
  return pagedPaths.flatMap((path): ListAsk[] => {
    const { parameters = [] } = description.paths[path]!.get!
    const filled = path.replace('{nid}', longHistory).replace('{id}', order).replace('/api/v3/', '')
    if (filled.includes('{')) throw new Error(`Say in every-list.ts what stands in ${path}.`)
    const thing = given[path] ?? ''
    const all = short[path] ?? rows
    const most = documentedMaximum(parameters.find(({ name }) => name === 'limit')!.description)
    const asked = (what: string, offset: number): ListAsk => ({
      name: `${path}${what}`,
      list: path.endsWith('/history') ? 'commits' : 'results',
      lines: Math.min(most, all - offset),
      as: 'owner',
      path: `${filled}/?limit=${MOST}${offset ? `&offset=${offset}` : ''}${thing}`,
    })
    const far = Math.min(FAR, all - 1)
    const isByOffset = parameters.some(({ name }) => name === 'offset')
    return [asked('', 0), ...(isByOffset ? [asked(', far in', far)] : [])]
  })
}

/** Returns requests for all lists. Throws if a list has no known arguments. */
export const everyList = (riches: Riches, rows: number): ListAsk[] => [
  ...graphqlAsks(riches, rows),
  ...restAsks(riches, rows),
]

/** Returns names in the tables above that no longer exist or are no longer lists. */
export function staleNames(): string[] {
  const lists = new Set([...pagedFields.map(({ name }) => name), ...pagedPaths])
  const fields = new Set(objectTypes.flatMap((type) => fieldsOf(type).map((field) => nameOf(type, field))))
  return [
    ...[...Object.keys(short), ...Object.keys(elsewhere)].filter((name) => !lists.has(name)),
    ...[...tooDear].filter((name) => !fields.has(name)),
  ]
}

const find = (value: unknown, name: string): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (Object.hasOwn(value, name)) return (value as Record<string, unknown>)[name]
  return Object.values(value)
    .map((below) => find(below, name))
    .find((found) => found !== undefined)
}

/** Returns what is missing in a response, or undefined if it is complete. */
export function shortOf({ list, lines }: ListAsk, text: string): string | undefined {
  const found = find(JSON.parse(text), list) as unknown[] | { nodes: unknown[] } | undefined
  const count = Array.isArray(found) ? found.length : (found?.nodes?.length ?? 0)
  if (count >= lines) return undefined
  return `${count} lines of ${lines}.`
}
