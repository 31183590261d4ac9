/**
 * Computes the maximum size of a response: its values and bytes, from the sizes that fields declare. Each document is
 * analysed once. Page sizes in variables are filled in for each request.
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

/** Default and maximum number of items of a page. */
export interface PageSize {
  defaultSize: number
  maxSize: number
}

/** Maximum size of the value of a field. */
export interface Size {
  /** Page sizes of a list with `first` and `last`, or `limit`. */
  page?: PageSize
  /** Maximum number of items of any other list. */
  items?: number
  /** Maximum bytes of a text or JSON value in the response, or bytes read for an object or list item. */
  bytes?: number
  /** Number of values that an expensive field counts as. */
  values?: number
}

/** Default page size. */
const DEFAULT_PAGE = 20

/** Maximum bytes per character: JSON escapes a control character as `\u0001`. */
const BYTES_OF_CHARACTER = 6
/** Maximum bytes per byte of JSON in a JSON string, in which a quotation mark takes two bytes. */
const BYTES_OF_JSON_BYTE = 2

const stated = (size: Size) => ({ extensions: { size } })

/** Declares a page of a list. Pothos enforces both sizes. `bytes`: bytes read for each item, whatever the selection. */
export const pageOf = (maxSize: number, defaultSize = DEFAULT_PAGE, bytes?: number) => ({
  defaultSize,
  maxSize,
  ...stated({ page: { defaultSize, maxSize }, ...(bytes !== undefined && { bytes }) }),
})

/** Declares a list with a maximum number of items. */
export const atMost = (items: number) => stated({ items })

/** Declares a text with a maximum number of characters. */
export const characters = (count: number) => stated({ bytes: count * BYTES_OF_CHARACTER })

/** Declares a JSON value with a maximum number of bytes. */
export const jsonBytes = (count: number) => stated({ bytes: count })

/** Declares a text that contains JSON, with a maximum number of bytes. */
export const jsonTextBytes = (count: number) => stated({ bytes: count * BYTES_OF_JSON_BYTE })

/** Declares a URL that the service creates. */
export const urlSize = stated({ bytes: 1_000 })

/** Declares a value with a maximum size that counts as several values. */
export const wholeDocument = (bytes: number, values: number) => stated({ bytes, values })

/** Returns the declared size of a field or argument, if any. */
export const sizeOf = ({ extensions }: { extensions?: unknown }): Size =>
  (extensions as { size?: Size } | null)?.size ?? {}

/** Scalars without a maximum size. */
const unbounded = new Set(['String', 'JSONObject'])

/** Fields whose size follows from their connection. */
const boundedByPage = /(Connection\.(nodes|edges)|Edge\.cursor)$|^PageInfo\./

/** Returns the list and text fields that declare no size, as `Type.field`. */
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

/** Adds the page sizes to the descriptions of the arguments. */
class SizesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { page } = sizeOf(config)
    if (!page) return config
    const sizeText = ` ${page.defaultSize} when left out, at most ${grouped.format(page.maxSize)}.`
    const args = Object.fromEntries(
      Object.entries(config.args).map(([name, arg]) => [
        name,
        pageArguments.has(name)
          ? {
              ...arg,
              description: `${arg.description}${name === 'last' ? ` At most ${grouped.format(page.maxSize)}.` : sizeText}`,
            }
          : arg,
      ]),
    )
    return { ...config, args }
  }

  override afterBuild(built: GraphQLSchema): GraphQLSchema {
    const silent = fieldsWithoutSize(built)
    if (silent.length === 0) return built
    throw new Error(
      `Declare the maximum size of these fields with the functions of document-cost.ts: ${silent.join(', ')}`,
    )
  }
}

/** Name of the Pothos plugin that describes page sizes. */
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

/** Number of values that a field with its own SQL statement counts as. */
const STATEMENT = 10
/** Bytes of a value without a declared size, such as a number, time, ID or amount. */
const SMALL_VALUE = 100
/** Bytes of quotation marks, colon, comma and braces. */
const PUNCTUATION = 6

/** Maximum number of values of a response. One hundred assets with their latest commits are about 2,500. */
export const answerLimits = { values: 5_000, bytes: 8_100_000 } as const

/** Size from which a response counts as large, in bytes. Few large responses are created at once. */
export const LARGE_ANSWER = 1_000_000

/** Limits of a response: values, and bytes of JSON. */
export interface DocumentCost {
  values: number
  bytes: number
}

interface Plan {
  values: Cost
  bytes: Cost
  /** Throw VALIDATION_FAILED for an invalid page size. */
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

/** Returns the page arguments of a field. Variables are filled in for each request. */
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

  /** Returns the number of items of the page. */
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

  /** Returns the cost of a selection. `page`: number of items in the lists of a connection. */
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
 * Creates a function that returns the cost of an operation of a valid document. Results are cached as long as the
 * document is in use. The function throws VALIDATION_FAILED for an invalid page size.
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

/** Page arguments as the client sent them, unchecked. */
interface PageArguments {
  first?: unknown
  last?: unknown
  limit?: unknown
  offset?: unknown
}

const refuse = (field: string, problem: string) =>
  new DomainError('VALIDATION_FAILED', `${field}: ${problem}`, { details: { [field]: [problem] } })

/** Ignores values of another type, which GraphQL’s own validation rejects. Throws VALIDATION_FAILED. */
function assertPage(given: PageArguments, { maxSize }: PageSize): void {
  for (const name of ['first', 'last', 'limit', 'offset'] as const) {
    const size = given[name]
    if (typeof size !== 'number') continue
    if (size < 0) throw refuse(name, 'Ensure this value is 0 or more.')
    if (name !== 'offset' && size > maxSize) {
      throw refuse(name, `Ensure this value is ${maxSize} or less, the maximum page size.`)
    }
  }
  if (given.first != null && given.last != null) throw refuse('last', 'Cannot be given together with "first".')
}
