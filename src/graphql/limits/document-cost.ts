/** Computes the maximum number of values and bytes of a response from the sizes that fields declare. */
import type { PothosOutputFieldConfig, SchemaTypes } from '@pothos/core'
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import { DomainError } from '../../shared/errors.ts'

interface Size {
  /** Page sizes of a list with `first` and `last`, or `limit`. */
  page?: { defaultSize: number; maxSize: number }
  /** Maximum number of items of a list without page arguments. */
  items?: number
  /** Maximum bytes of a text or JSON value in the response, or bytes read for an object or list item. */
  bytes?: number
  /** Number of values for which an expensive field counts. */
  values?: number
}

const withSize = (size: Size) => ({ extensions: { size } })

/** Declares a page of a list. Pothos enforces both sizes. `bytes`: bytes read per item, for any selection. */
export const pageOf = (maxSize: number, defaultSize = 20, bytes?: number) => ({
  defaultSize,
  maxSize,
  ...withSize({ page: { defaultSize, maxSize }, ...(bytes !== undefined && { bytes }) }),
})

export const atMost = (items: number) => withSize({ items })
/** A character takes at most 6 bytes: JSON escapes a control character as `\u0001`. */
export const characters = (count: number) => withSize({ bytes: count * 6 })
export const jsonBytes = (count: number) => withSize({ bytes: count })
/** Declares a text that contains JSON. Inside a JSON string, a quotation mark takes two bytes. */
export const jsonTextBytes = (count: number) => withSize({ bytes: count * 2 })
export const urlSize = withSize({ bytes: 1_000 })
/** Declares a value that counts as several values. */
export const wholeDocument = (bytes: number, values: number) => withSize({ bytes, values })

export const sizeOf = ({ extensions }: { extensions?: unknown }): Size =>
  (extensions as { size?: Size } | null)?.size ?? {}

const pageArguments = new Set(['first', 'last', 'limit'])
const grouped = new Intl.NumberFormat('en-US')

type OutputFieldConfig = PothosOutputFieldConfig<SchemaTypes>

/** Documents page sizes in arguments. `first` has no default: requests with only `last` would then contain both. */
export function documentedArguments(config: OutputFieldConfig): OutputFieldConfig['args'] {
  const { page } = sizeOf(config)
  if (!page) return config.args
  const entries = Object.entries(config.args).map(([name, arg]): [string, typeof arg] => {
    if (!pageArguments.has(name)) return [name, arg]
    const defaultText = name === 'first' ? ` Default: ${page.defaultSize}.` : ''
    const description = `${arg.description}${defaultText} Maximum: ${grouped.format(page.maxSize)}.`
    return [name, { ...arg, description, ...(name === 'limit' && { defaultValue: page.defaultSize }) }]
  })
  return Object.fromEntries(entries)
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])))

export const isIntrospection = ({ name }: FieldNode) => name.value === '__schema' || name.value === '__type'

/** Returns true for `__typename`. At the root it has no cost, because client tools add it to every selection. */
export const isTypename = ({ name }: FieldNode) => name.value === '__typename'

/** Returns the root fields of an operation and its fragments, without `__typename`. */
export function rootFieldsOf(document: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  const fragments = fragmentsOf(document)
  const seen = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return isTypename(node) ? [] : node
      if (node.kind === Kind.INLINE_FRAGMENT) return collect(node.selectionSet)
      const fragment = seen.has(node.name.value) ? undefined : fragments.get(node.name.value)
      seen.add(node.name.value)
      return fragment ? collect(fragment.selectionSet) : []
    })
  return collect(selectionSet)
}

/** Number of values that a field with its own SQL statement counts as. */
const STATEMENT = 10
/** Bytes of a number, time, ID or amount, and bytes of quotation marks, colon, comma and braces. */
const [SMALL_VALUE, PUNCTUATION] = [100, 6]

/** Maximum size of a response. One hundred assets with their latest commits are about 2,500 values. */
export const answerLimits = { values: 5_000, bytes: 8_100_000 } as const

/** Size from which a response counts as large, in bytes. Few large responses are created at once. */
export const LARGE_ANSWER = 1_000_000

interface Sum {
  values: number
  bytes: number
}

export type DocumentCost = Sum & { rootFields: number }

const sum = (parts: readonly Sum[], times = 1): Sum => ({
  values: times * parts.reduce((total, { values }) => total + values, 0),
  bytes: times * parts.reduce((total, { bytes }) => total + bytes, 0),
})

const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(getNullableType(type))

/** Computes the cost of an operation. `readVariable` returns the value of a variable in a page argument. */
export function measureDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  readVariable: (name: string) => unknown,
): DocumentCost {
  const fragments = fragmentsOf(document)
  const root = schema.getRootType(operation.operation) ?? undefined

  function argumentOf(node: ValueNode): unknown {
    if (node.kind === Kind.VARIABLE) return readVariable(node.name.value)
    return node.kind === Kind.INT ? Number(node.value) : node.kind === Kind.STRING ? node.value : undefined
  }

  function pageSize({ arguments: nodes = [] }: FieldNode, page: Size['page'] & object): number {
    const used = nodes.filter(({ name }) => pageArguments.has(name.value) || name.value === 'offset')
    const given: PageArguments = Object.fromEntries(used.map(({ name, value }) => [name.value, argumentOf(value)]))
    assertPage(given, page.maxSize)
    const size = given.first ?? given.last ?? given.limit ?? page.defaultSize
    return typeof size === 'number' ? size : page.maxSize
  }

  function ofField(node: FieldNode, parent: GraphQLObjectType | undefined, page: number | undefined): Sum {
    if (isTypename(node) && parent === root) return { values: 0, bytes: 0 }
    const field = parent && schema.getField(parent, node.name.value)
    const own: Sum = { values: 1, bytes: (node.alias ?? node.name).value.length + PUNCTUATION }
    // Introspection is restricted by the document limits, not by its cost.
    if (!field || isIntrospection(node)) return sum([own, { values: 0, bytes: SMALL_VALUE }])
    const size = sizeOf(field)
    if (!node.selectionSet) {
      const values = size.values ?? (node.name.value === 'totalCount' ? STATEMENT : 1)
      return sum([own, { values: values - 1, bytes: size.bytes ?? SMALL_VALUE }])
    }
    const named = getNamedType(field.type) as GraphQLObjectType
    const items = size.page && pageSize(node, size.page)
    const read = { values: 0, bytes: size.bytes ?? 0 }
    if (!isList(field)) return sum([own, read, ofSelections(node.selectionSet, named, items)])
    const item = [{ values: 1, bytes: PUNCTUATION }, read, ofSelections(node.selectionSet, named, undefined)]
    return sum([{ ...own, values: 0 }, sum(item, items ?? size.items ?? page ?? 1)])
  }

  /** Returns the cost of a selection. `page`: number of items in the lists of a connection. */
  function ofSelections(
    { selections }: SelectionSetNode,
    parent: GraphQLObjectType | undefined,
    page: number | undefined,
  ): Sum {
    return sum(
      selections.map((node) => {
        if (node.kind === Kind.FIELD) return ofField(node, parent, page)
        const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
        if (!inner) return { values: 0, bytes: 0 }
        const named = inner.typeCondition ? schema.getType(inner.typeCondition.name.value) : parent
        return ofSelections(inner.selectionSet, named as GraphQLObjectType | undefined, page)
      }),
    )
  }

  const { values, bytes } = ofSelections(operation.selectionSet, root, undefined)
  const rootFields = rootFieldsOf(document, operation).length
  return { values: values + (operation.operation === 'query' ? 0 : STATEMENT), bytes, rootFields }
}

type PageArguments = Partial<Record<'first' | 'last' | 'limit' | 'offset', unknown>>

const refuse = (field: string, problem: string) =>
  new DomainError('VALIDATION_FAILED', `${field}: ${problem}`, { details: { [field]: [problem] } })

/** Throws VALIDATION_FAILED for an invalid page size. Ignores values of a wrong type, which GraphQL itself rejects. */
function assertPage(given: PageArguments, maxSize: number): void {
  for (const [name, size] of Object.entries(given)) {
    if (typeof size !== 'number') continue
    if (size < 0) throw refuse(name, 'Ensure this value is 0 or more.')
    if (name !== 'offset' && size > maxSize) {
      throw refuse(name, `Ensure this value is ${maxSize} or less, the maximum page size.`)
    }
  }
  if (given.first != null && given.last != null) throw refuse('last', '"first" and "last" cannot be combined.')
}
