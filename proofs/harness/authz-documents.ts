/** Generates GraphQL documents that request every field within a given depth. */
import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isScalarType,
  parse,
} from 'graphql'
import { createCostOf } from '../../src/graphql/execute.ts'
import { answerLimits } from '../../src/graphql/limits/document-cost.ts'
import { type Asked, cursors, inputValueOf, inputValues, nodeIds } from './authz-values.ts'

/** One way to call a field of a root type. */
export interface RootCall {
  /** Key in the table of expectations. */
  key: string
  operation: 'query' | 'mutation' | 'subscription'
  field: string
  /** Type of the response. */
  type: GraphQLNamedType
  /** Returns the variables. `page`: requested page size. */
  variables(asked: Asked, page?: number): Record<string, unknown>
  /** Returns the document for a selection, with the variable definitions. */
  document(selection: string): string
}

/** Optional arguments that select a part of a list. They give access to nothing else. */
const PAGING = new Set(['first', 'last', 'before', 'offset', 'limit', 'order', 'orderBy', 'search'])
/** Page size of lists. It is small, so that deep documents stay within the cost limits. */
export const PAGE = 2

/** The types of quotes that are not a PaymentQuote, by the quoted mutation. */
const quoteTypes: Record<string, string> = { withdraw: 'WithdrawalQuote', refundOrder: 'RefundQuote' }

/** Returns every way to call every root field, and what is missing to do so. */
export function rootCallsOf(schema: GraphQLSchema): { calls: RootCall[]; problems: string[] } {
  const problems: string[] = []
  const used = new Set<string>()

  function valueAt(coordinate: string, asked: Asked): unknown {
    used.add(coordinate)
    return inputValueOf(coordinate)?.(asked)
  }

  /** Fills an input with all its fields, or with only one of them. */
  function fill(type: GraphQLInputObjectType, asked: Asked, extra: Record<string, unknown>, only?: string): object {
    const filled: Record<string, unknown> = {}
    for (const field of Object.values(type.getFields())) {
      if (only !== undefined && field.name !== only) continue
      const named = getNamedType(field.type)
      const value = isInputObjectType(named)
        ? fill(named, asked, extra)
        : field.name in extra
          ? extra[field.name]
          : valueAt(`${type.name}.${field.name}`, asked)
      if (value !== undefined) filled[field.name] = value
    }
    return filled
  }

  /** Reports every input field that has no value. */
  function inspect(type: GraphQLInputObjectType): void {
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type)
      const coordinate = `${type.name}.${field.name}`
      if (isInputObjectType(named)) inspect(named)
      else if (inputValueOf(coordinate)) used.add(coordinate)
      else problems.push(`No value for ${coordinate}.`)
    }
  }

  function callsOf(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>): RootCall[] {
    const operation = parent.name.toLowerCase() as RootCall['operation']
    const root = `${parent.name}.${field.name}`
    const type = getNamedType(field.type)
    const isPaged = field.args.some(({ name }) => name === 'first')

    const optional = new Set(field.args.filter((arg) => !isRequiredArgument(arg)).map(({ name }) => name))
    const required = field.args.filter(isRequiredArgument)
    const call = (
      variant: string,
      given: (asked: Asked) => Record<string, unknown>,
      more: Partial<RootCall> = {},
    ): RootCall => {
      const names = new Set(required.map(({ name }) => name))
      return {
        key: variant ? `${root}(${variant})` : root,
        operation,
        field: field.name,
        type,
        variables: (asked: Asked, page = PAGE) => ({ ...(isPaged && { first: page }), ...given(asked) }),
        document(selection: string) {
          const isGiven = (name: string) =>
            names.has(name) || (isPaged && name === 'first') || (optional.has(variant) && name === variant)
          const args = field.args.filter(({ name }) => isGiven(name))
          const declared = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
          const passed = args.map(({ name }) => `${name}: $${name}`).join(', ')
          return `${operation}${declared && ` (${declared})`} { ${field.name}${passed && `(${passed})`} ${selection} }`
        },
        ...more,
      }
    }

    const base =
      (extra: Record<string, unknown> = {}, only?: string) =>
      (asked: Asked) =>
        Object.fromEntries(
          required.map((arg) => {
            const named = getNamedType(arg.type)
            return [
              arg.name,
              isInputObjectType(named) ? fill(named, asked, extra, only) : valueAt(`${root}.${arg.name}`, asked),
            ]
          }),
        )
    for (const arg of field.args) {
      const named = getNamedType(arg.type)
      const coordinate = `${root}.${arg.name}`
      if (isInputObjectType(named)) inspect(named)
      else if ((PAGING.has(arg.name) && !isRequiredArgument(arg)) || arg.name === 'after' || root === 'Query.node')
        continue
      else if (inputValueOf(coordinate)) used.add(coordinate)
      else problems.push(`No value for ${coordinate}.`)
    }

    if (isInterfaceType(type) && type.name === 'Node') {
      return schema.getPossibleTypes(type).map((possible) => {
        const idOf = nodeIds[possible.name]
        if (!idOf) problems.push(`No value for ${root} of ${possible.name}.`)
        return call(possible.name, (asked) => ({ id: idOf?.(asked) }), { type: possible })
      })
    }
    const input = required.map(({ type }) => getNamedType(type)).find(isInputObjectType)
    if (input?.isOneOf) {
      return Object.keys(input.getFields()).map((name) => {
        const quoteType = schema.getType(quoteTypes[name] ?? 'PaymentQuote')
        return call(name, base({}, name), quoteType && { type: quoteType })
      })
    }

    const calls: RootCall[] = [call('', base())]
    for (const arg of field.args) {
      if (PAGING.has(arg.name) || isRequiredArgument(arg)) continue
      const named = getNamedType(arg.type)
      const coordinate = `${root}.${arg.name}`
      if (arg.name === 'after') {
        const cursorOf = cursors[root]
        if (cursorOf) calls.push(call('after', (asked) => ({ ...base()(asked), after: cursorOf(asked) })))
        continue
      }
      const give = (asked: Asked) => (isInputObjectType(named) ? fill(named, asked, {}) : valueAt(coordinate, asked))
      calls.push(call(arg.name, (asked) => ({ ...base()(asked), [arg.name]: give(asked) })))
    }
    return calls
  }

  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(isObjectType)
  const calls = roots.flatMap((root) => Object.values(root.getFields()).flatMap((field) => callsOf(root, field)))
  const inputsOfRoots = Object.keys(inputValues).filter((coordinate) => !used.has(coordinate))
  for (const coordinate of inputsOfRoots) {
    // The fields of a filter are listed separately, so the filter itself needs no value.
    const [typeName = '', name = '', argument] = coordinate.split('.')
    const type = schema.getType(typeName)
    const fields = isObjectType(type) || isInputObjectType(type) ? type.getFields() : {}
    const field = fields[name]
    const isThere =
      field && (argument === undefined || ('args' in field && field.args.some((arg) => arg.name === argument)))
    if (!isThere) problems.push(`There is a value for ${coordinate}, which is gone.`)
  }
  for (const name of Object.keys(nodeIds)) {
    if (!calls.some(({ key }) => key === `Query.node(${name})`))
      problems.push(`There is a node of ${name}, which is gone.`)
  }
  return { calls, problems }
}

interface Branch {
  /** Text of the field with its arguments. */
  text: string
  type: GraphQLObjectType
}

/** Splits the fields of a type into scalar fields and object fields. */
function fieldsOf(type: GraphQLObjectType) {
  const leaves: string[] = []
  const branches: Branch[] = []
  for (const { name, type: fieldType, args } of Object.values(type.getFields())) {
    // Such a field returns objects that other fields return too.
    if (args.some(isRequiredArgument)) continue
    const named = getNamedType(fieldType)
    if (isScalarType(named) || isEnumType(named)) leaves.push(name)
    else if (isObjectType(named)) {
      const size = args.find((arg) => arg.name === 'first' || arg.name === 'limit')
      const text = size ? `${name}(${size.name}: ${PAGE})` : name
      branches.push({ text, type: named })
    }
  }
  return { leaves, branches }
}

interface Tree {
  leaves: string[]
  branches: Map<string, Tree>
}

const isPlumbing = ({ name }: GraphQLObjectType) => /(Connection|Edge|Payload)$/.test(name)

type Found = [path: Branch[], leaves: string[]]

/** Yields paths to every object within the depth, with the fields found there. Pages and payloads do not count as a level. */
function* pathsFrom(type: GraphQLObjectType, depth: number, path: Branch[] = []): Generator<Found> {
  const { leaves, branches } = fieldsOf(type)
  if (leaves.length) yield [path, leaves]
  for (const branch of branches) {
    const further = [...path, branch]
    const left = isPlumbing(branch.type) ? depth : depth - 1
    // The nodes of a page are requested directly, so they are not requested again through its edges.
    if (type.name.endsWith('Edge') || left <= 0) yield [further, fieldsOf(branch.type).leaves]
    else yield* pathsFrom(branch.type, left, further)
  }
}

const render = ({ leaves, branches }: Tree): string =>
  `{ ${[...leaves, ...[...branches].map(([text, tree]) => `${text} ${render(tree)}`)].join(' ')} }`

/** Returns a function that finds the largest allowed page size of a document. */
export function createPageOf(schema: GraphQLSchema) {
  const costOf = createCostOf(schema)
  return (query: string, sizes: readonly number[], maxBytes: number = answerLimits.bytes): number | undefined => {
    const document = parse(query)
    const operation = getOperationAST(document)!
    return sizes.find((first) => {
      const { values, bytes } = costOf(document, operation, { first })
      return values <= answerLimits.values && bytes <= maxBytes
    })
  }
}

export interface SelectionOptions {
  /** Maximum nesting depth of objects. */
  depth: number
  /** Approximate maximum number of fields per document. */
  maxFields: number
  isFragment: boolean
  /** Returns true if a document with this selection is within the limits. Larger selections are split. */
  fits?: (selection: string) => boolean
}

const halvesOf = <T>(list: readonly T[]): [T[], T[]] => {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}

/** Returns selections that together request everything below a type. Returns an empty selection for types without fields. */
export function selectionsOf(type: GraphQLNamedType, options: SelectionOptions): string[] {
  if (!isObjectType(type)) return ['']
  const { depth, maxFields, isFragment, fits = () => true } = options
  // Every object is requested with its ID, so that it can be recognized.
  const plant = (at: GraphQLObjectType): Tree => ({ leaves: 'id' in at.getFields() ? ['id'] : [], branches: new Map() })

  function selectionOf(group: readonly Found[]): string {
    const tree = plant(type as GraphQLObjectType)
    for (const [path, leaves] of group) {
      let at = tree
      for (const { text, type: next } of path) {
        const below = at.branches.get(text) ?? plant(next)
        at.branches.set(text, below)
        at = below
      }
      at.leaves = [...new Set([...at.leaves, ...leaves])]
    }
    return isFragment ? `{ __typename ... on ${type.name} ${render(tree)} }` : render(tree)
  }

  function apart(group: readonly Found[]): string[] {
    const selection = selectionOf(group)
    const [[path, leaves]] = group as [Found]
    if (fits(selection)) return [selection]
    // A single field that exceeds the limits cannot be requested at all.
    if (group.length === 1 && leaves.length === 1) return []
    const halves = group.length > 1 ? halvesOf(group) : halvesOf(leaves).map((half): Found[] => [[path, half]])
    return halves.flatMap(apart)
  }

  const groups: Found[][] = []
  let count = Number.POSITIVE_INFINITY
  for (const found of pathsFrom(type, depth)) {
    const size = found[0].length + found[1].length
    if (count + size > maxFields) {
      groups.push([])
      count = 0
    }
    groups.at(-1)!.push(found)
    count += size
  }
  return groups.flatMap(apart)
}
