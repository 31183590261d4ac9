/**
 * What carrying out an operation costs: the values that its answer may hold, and their bytes, from the sizes that fields state
 * (sizes.ts). Worked out once for each document; where a page size is a variable the rest of the sum is left open, and closing
 * it takes a few multiplications.
 */
import type { SchemaTypes } from '@pothos/core'
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig } from '@pothos/core'
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import { DomainError } from '../../shared/errors.ts'
import { fragmentsOf, isIntrospection, isTypename } from './document-limits.ts'

/** Items of a page: when nothing is asked for, and at most. */
export interface PageSize {
  defaultSize: number
  maxSize: number
}

/** How large a field's value can be, in whichever of these terms fits it. */
export interface Size {
  /** Of a list that is read page by page: `first` and `last`, or `limit`. */
  page?: PageSize
  /** Of any other list: it never has more. */
  items?: number
  /** Maximum bytes: of text and JSON in the answer, of an object or list item when it is read. */
  bytes?: number
  /** Of what stands for much work: the values that it counts as. */
  values?: number
}

/** Also what a page holds when nothing is asked for. */
const DEFAULT_PAGE = 20

/** A control character becomes six: `\u0001`. */
const BYTES_OF_CHARACTER = 6
/** A quotation mark becomes two. */
const BYTES_OF_JSON_BYTE = 2

const stated = (size: Size) => ({ extensions: { size } })

/** A page of a list; the two sizes are what Pothos bounds it by. `bytes`: bytes read for each item, whatever is selected of it. */
export const pageOf = (maxSize: number, defaultSize = DEFAULT_PAGE, bytes?: number) => ({
  defaultSize,
  maxSize,
  ...stated({ page: { defaultSize, maxSize }, ...(bytes !== undefined && { bytes }) }),
})

/** A list that never has more items. */
export const atMost = (items: number) => stated({ items })

/** Text of so many characters at most. */
export const characters = (count: number) => stated({ bytes: count * BYTES_OF_CHARACTER })

/** JSON of so many bytes at most, as a value of the answer. */
export const jsonBytes = (count: number) => stated({ bytes: count })

/** JSON of so many bytes at most, as text in the answer. */
export const jsonTextBytes = (count: number) => stated({ bytes: count * BYTES_OF_JSON_BYTE })

/** A link of ours: it holds nothing that anybody wrote. */
export const urlSize = stated({ bytes: 1_000 })

/** A value that is so large and counts for so many. */
export const wholeDocument = (bytes: number, values: number) => stated({ bytes, values })

/** What a field or an argument says of its size; nothing for one whose type is small. */
export const sizeOf = ({ extensions }: { extensions?: unknown }): Size =>
  (extensions as { size?: Size } | null)?.size ?? {}

/** Types whose values hold as much as somebody writes. */
const unbounded = new Set(['String', 'JSONObject'])

/** The lists of a connection are as long as the page that was asked for, and cursors as short as what they are made of. */
const boundedByPage = /(Connection\.(nodes|edges)|Edge\.cursor)$|^PageInfo\./

/** Fields that answer a list or a text and do not say how large it can be, as `Type.field`. */
export function fieldsWithoutSize(schema: GraphQLSchema): string[] {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !isIntrospectionType(type))
    .flatMap((type) => Object.values((type as GraphQLObjectType).getFields()).map((field) => ({ type, field })))
  return fields
    .filter(({ field }) => {
      const { page, items, bytes, values } = sizeOf(field)
      const named = getNamedType(field.type).name
      if (named.endsWith('Connection')) return !page
      if (isListType(getNullableType(field.type))) return !(page || items || values)
      return unbounded.has(named) && !bytes
    })
    .map(({ type, field }) => `${type.name}.${field.name}`)
    .filter((path) => !boundedByPage.test(path))
}

const pageArguments = new Set(['first', 'last', 'limit'])
const grouped = new Intl.NumberFormat('en-US')

/** Tells the sizes of a page where its arguments are described. */
class SizesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { page } = sizeOf(config)
    if (!page) return config
    const told = ` ${page.defaultSize} when left out, at most ${grouped.format(page.maxSize)}.`
    const args = Object.fromEntries(
      Object.entries(config.args).map(([name, arg]) => [
        name,
        pageArguments.has(name)
          ? {
              ...arg,
              description: `${arg.description}${name === 'last' ? ` At most ${grouped.format(page.maxSize)}.` : told}`,
            }
          : arg,
      ]),
    )
    return { ...config, args }
  }

  override afterBuild(built: GraphQLSchema): GraphQLSchema {
    const silent = fieldsWithoutSize(built)
    if (silent.length === 0) return built
    throw new Error(`State how large an answer they can make, beside the fields, as in sizes.ts: ${silent.join(', ')}`)
  }
}

/** Name of the plugin that tells the sizes of pages where their arguments are described. */
export const sizesPlugin = 'sizes' as const

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      sizes: SizesPlugin<Types>
    }
  }
}

SchemaBuilder.registerPlugin(sizesPlugin, SizesPlugin)

type Variables = Readonly<Record<string, unknown>>
type Cost = number | ((variables: Variables) => number)

/** Values that a statement of its own is worth. */
const STATEMENT = 10
/** What a value takes in an answer when its field states nothing: numbers, moments, identifiers, amounts. */
const SMALL_VALUE = 100
/** Quotation marks, colon, comma, braces. */
const PUNCTUATION = 6

/** What one answer may hold: a hundred assets with their latest commits are some 2,500 values. */
export const answerLimits = { values: 5_000, bytes: 8_100_000 } as const

/** From so many bytes on an answer keeps a process busy, so that few are made at once. */
export const LARGE_ANSWER = 1_000_000

/** What an answer may hold at most: values, and bytes as they stand in JSON. */
export interface DocumentCost {
  values: number
  bytes: number
}

interface Plan {
  values: Cost
  bytes: Cost
  /** Raise VALIDATION_FAILED for pages that cannot be asked for. */
  checks: ((variables: Variables) => void)[]
}

const amountOf = (cost: Cost, variables: Variables) => (typeof cost === 'number' ? cost : cost(variables))

function add(costs: Cost[]): Cost {
  let known = 0
  const open: ((variables: Variables) => number)[] = []
  for (const cost of costs) {
    if (typeof cost === 'number') known += cost
    else open.push(cost)
  }
  return open.length ? (variables) => open.reduce((sum, cost) => sum + cost(variables), known) : known
}

const multiply = (a: Cost, b: Cost): Cost =>
  typeof a === 'number' && typeof b === 'number'
    ? a * b
    : (variables) => amountOf(a, variables) * amountOf(b, variables)

const constant = (node: ValueNode | undefined) =>
  node?.kind === Kind.INT ? Number(node.value) : node?.kind === Kind.STRING ? node.value : undefined

const fits = (size: unknown, { maxSize }: PageSize) =>
  typeof size === 'number' && size >= 0 ? Math.min(size, maxSize) : maxSize

/** The arguments by which a page is asked for; those that are variables are filled in for each request. */
function readArguments({ arguments: given = [] }: FieldNode, operation: OperationDefinitionNode) {
  const known: PageArguments = {}
  const open: [keyof PageArguments, string, unknown][] = []
  for (const { name, value } of given) {
    const key = name.value as keyof PageArguments
    if (value.kind !== Kind.VARIABLE) known[key] = constant(value)
    else {
      const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === value.name.value)
      open.push([key, value.name.value, constant(definition?.defaultValue)])
    }
  }
  if (!open.length) return known
  return (variables: Variables): PageArguments => {
    const all = { ...known }
    for (const [key, name, fallback] of open) all[key] = Object.hasOwn(variables, name) ? variables[name] : fallback
    return all
  }
}

function compile(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Plan {
  const fragments = fragmentsOf(document)
  const root = schema.getRootType(operation.operation) ?? undefined
  const checks: Plan['checks'] = []

  /** How many items a page holds. */
  function pageSize(node: FieldNode, page: PageSize): Cost {
    const read = readArguments(node, operation)
    const sizeFrom = ({ first, last, limit }: PageArguments) => {
      const size = first ?? last ?? limit
      return size === undefined || size === null ? page.defaultSize : fits(size, page)
    }
    checks.push((variables) => assertPage(typeof read === 'function' ? read(variables) : read, page))
    return typeof read === 'function' ? (variables) => sizeFrom(read(variables)) : sizeFrom(read)
  }

  type Sum = Omit<Plan, 'checks'>
  const sum = (parts: Sum[]): Sum => ({
    values: add(parts.map(({ values }) => values)),
    bytes: add(parts.map(({ bytes }) => bytes)),
  })
  const times = (count: Cost, { values, bytes }: Sum): Sum => ({
    values: multiply(count, values),
    bytes: multiply(count, bytes),
  })

  function ofField(node: FieldNode, parent: GraphQLObjectType | undefined, page: Cost | undefined): Sum {
    if (isTypename(node) && parent === root) return { values: 0, bytes: 0 }
    const field = parent && schema.getField(parent, node.name.value)
    const own: Sum = { values: 1, bytes: (node.alias ?? node.name).value.length + PUNCTUATION }
    // Introspection fields are counted separately: see document-checks.ts.
    if (!field || isIntrospection(node)) return sum([own, { values: 0, bytes: SMALL_VALUE }])
    const size = sizeOf(field)
    if (!node.selectionSet) {
      const values = size.values ?? (node.name.value === 'totalCount' ? STATEMENT : 1)
      return sum([own, { values: values - 1, bytes: size.bytes ?? SMALL_VALUE }])
    }
    const named = getNamedType(field.type)
    const below = isObjectType(named) ? named : undefined
    const asked = size.page && pageSize(node, size.page)
    const read = size.bytes ?? 0
    if (!isList(field)) {
      return sum([own, { values: 0, bytes: read }, ofSelections(node.selectionSet, below, asked, named.name)])
    }
    const item = sum([
      { values: 1, bytes: PUNCTUATION + read },
      ofSelections(node.selectionSet, below, undefined, named.name),
    ])
    return sum([{ ...own, values: 0 }, times(asked ?? size.items ?? page ?? 1, item)])
  }

  /** `page`: what the lists of a connection hold. */
  function ofSelections(
    { selections }: SelectionSetNode,
    parent: GraphQLObjectType | undefined,
    page: Cost | undefined,
    interfaceName?: string,
  ): Sum {
    return sum(
      selections.map((node) => {
        if (node.kind === Kind.FIELD) {
          const abstract = parent || !interfaceName ? undefined : schema.getType(interfaceName)
          const owner = parent ?? (abstract && isCompositeType(abstract) ? (abstract as GraphQLObjectType) : undefined)
          return ofField(node, owner, page)
        }
        const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
        if (!inner) return { values: 0, bytes: 0 }
        const named = inner.typeCondition ? schema.getType(inner.typeCondition.name.value) : parent
        return ofSelections(inner.selectionSet, isObjectType(named) ? named : undefined, page, named?.name)
      }),
    )
  }

  const { values, bytes } = ofSelections(operation.selectionSet, root, undefined)
  return { values: add([operation.operation === 'query' ? 0 : STATEMENT, values]), bytes, checks }
}

const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(isNonNullType(type) ? type.ofType : type)

/**
 * Tells the cost of operations of valid documents. Documents that nobody else holds are forgotten. Raises VALIDATION_FAILED
 * for a page that cannot be asked for.
 */
export function createCostOf(schema: GraphQLSchema) {
  const known = new WeakMap<OperationDefinitionNode, Plan>()

  return (
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables | null | undefined,
  ): DocumentCost => {
    let plan = known.get(operation)
    if (plan === undefined) {
      plan = compile(schema, document, operation)
      known.set(operation, plan)
    }
    const given = variables ?? {}
    for (const check of plan.checks) check(given)
    return { values: amountOf(plan.values, given), bytes: amountOf(plan.bytes, given) }
  }
}

/** As they came, of whatever type. */
interface PageArguments {
  first?: unknown
  last?: unknown
  limit?: unknown
  offset?: unknown
}

const refuse = (field: string, problem: string) =>
  new DomainError('VALIDATION_FAILED', `${field}: ${problem}`, { details: { [field]: [problem] } })

/** Ignores values of another type, which GraphQL's own validation rejects. Raises VALIDATION_FAILED. */
function assertPage(given: PageArguments, { maxSize }: PageSize): void {
  for (const name of ['first', 'last', 'limit', 'offset'] as const) {
    const size = given[name]
    if (typeof size !== 'number') continue
    if (size < 0) throw refuse(name, 'Ensure this value is 0 or more.')
    if (name !== 'offset' && size > maxSize) {
      throw refuse(name, `Ensure this value is ${maxSize} or less: that is the most that one page holds.`)
    }
  }
  if (given.first != null && given.last != null) throw refuse('last', 'Cannot be given together with "first".')
}
