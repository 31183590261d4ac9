/** Limits on the syntax of a document. They are checked before validation, because validation is expensive. */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { Upload } from 'graphql-upload-ts'
import { assertVariables, MAX_JSON_DEPTH } from '../../shared/json-input.ts'

/** Fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** Returns the fragments that a document defines. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  )

/** Returns true for a field that describes the schema. */
export const isIntrospection = ({ name }: FieldNode) => name.value === '__schema' || name.value === '__type'

/**
 * Returns true for `__typename`. At the root of an operation it has no cost, because client tools add it to every
 * selection.
 */
export const isTypename = ({ name }: FieldNode) => name.value === '__typename'

const isBareTypename = (node: SelectionNode) =>
  node.kind === Kind.FIELD &&
  isTypename(node) &&
  !node.arguments?.length &&
  !node.directives?.length &&
  !node.selectionSet

const isSubscription = (node: DocumentNode['definitions'][number]): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.SUBSCRIPTION

function withoutTypename(set: SelectionSetNode): SelectionSetNode {
  const selections = set.selections
    .filter((node) => !isBareTypename(node))
    .map((node) =>
      node.kind === Kind.INLINE_FRAGMENT ? { ...node, selectionSet: withoutTypename(node.selectionSet) } : node,
    )
  return selections.length > 0 ? { ...set, selections } : set
}

/**
 * Returns the document without `__typename` at the root of its subscriptions, or the same document if it has no
 * subscription. graphql-js treats the first root field as the source of events, and its validation allows no other
 * root field.
 */
export function withoutSubscriptionTypename(
  document: DocumentNode,
  subscriptionType: string | undefined,
): DocumentNode {
  if (!document.definitions.some(isSubscription)) return document
  const definitions = document.definitions.map((node) => {
    const isRoot =
      isSubscription(node) ||
      (node.kind === Kind.FRAGMENT_DEFINITION && node.typeCondition.name.value === subscriptionType)
    return isRoot ? { ...node, selectionSet: withoutTypename(node.selectionSet) } : node
  })
  return { ...document, definitions }
}

/** Limits of a document. The description of the query type lists them. */
export const documentLimits = {
  /** Maximum length, in UTF-16 code units. */
  characters: 16_384,
  tokens: 1_500,
  operations: 20,
  fragments: 50,
  /** Fields, aliases and directives of a fragment count each time it is spread. */
  fields: 400,
  /** Nesting depth of fields. */
  depth: 12,
  /** Nesting depth inside `__schema` and `__type`. The introspection query of common tools has depth 15. */
  schemaDepth: 20,
  aliases: 30,
  rootFields: 15,
  directives: 20,
  directivesAtOnePlace: 4,
  /** Occurrences of one field in one selection set. */
  repetitions: 5,
} as const

type Limited = keyof typeof documentLimits

const nouns: Record<Limited, string> = {
  characters: 'characters',
  tokens: 'tokens',
  operations: 'operations',
  fragments: 'fragments',
  fields: 'fields',
  depth: 'levels of fields',
  schemaDepth: 'levels of the description of the schema',
  aliases: 'aliases',
  rootFields: 'fields at the root',
  directives: 'directives',
  directivesAtOnePlace: 'directives at one place',
  repetitions: 'repetitions of a field',
}

/** Returns the error for a rejected document, with code VALIDATION_FAILED. */
export const documentRefusal = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED' } })

/** Throws a GraphQLError if `count` exceeds the limit. */
function assertWithin(limit: Limited, count: number): void {
  if (count > documentLimits[limit]) {
    throw documentRefusal(`The document has more than ${documentLimits[limit]} ${nouns[limit]}.`)
  }
}

/** Directives for incremental delivery. */
const INCREMENTAL = new Set(['defer', 'stream'])

/** Throws a GraphQLError that names the directive. */
function assertWhole(directives: readonly DirectiveNode[]): void {
  for (const { name } of directives) {
    if (INCREMENTAL.has(name.value)) {
      throw documentRefusal(`@${name.value} is not supported. Remove it, and request slow fields separately.`)
    }
  }
}

interface Measure {
  fields: number
  aliases: number
  directives: number
  depth: number
}

const nothing: Measure = { fields: 0, aliases: 0, directives: 0, depth: 0 }

/** The depth limit that applies. Introspection queries are deeper than data queries. */
type DepthLimit = 'depth' | 'schemaDepth'

function createMeter(document: DocumentNode) {
  const fragments = fragmentsOf(document)
  const measured = new Map<string, Measure>()

  function ofFragment(name: string): Measure {
    const known = measured.get(name)
    if (known) return known
    // A recursive fragment counts as zero here. Validation rejects it.
    measured.set(name, nothing)
    const fragment = fragments.get(name)
    const depthLimit = fragment?.typeCondition.name.value.startsWith('__') ? 'schemaDepth' : 'depth'
    const measure = fragment ? ofSelections(fragment.selectionSet, depthLimit) : nothing
    measured.set(name, measure)
    return measure
  }

  function ofSelection(node: SelectionNode, depthLimit: DepthLimit): Measure {
    if (node.kind === Kind.FRAGMENT_SPREAD) return ofFragment(node.name.value)
    const introspects = node.kind === Kind.FIELD && isIntrospection(node)
    const inner = node.selectionSet
      ? ofSelections(node.selectionSet, introspects ? 'schemaDepth' : depthLimit)
      : nothing
    if (node.kind === Kind.INLINE_FRAGMENT) return inner
    return {
      ...inner,
      fields: inner.fields + 1,
      aliases: inner.aliases + (node.alias ? 1 : 0),
      depth: introspects ? 1 : inner.depth + 1,
    }
  }

  function ofSelections({ selections }: SelectionSetNode, depthLimit: DepthLimit, isRoot = false): Measure {
    const sum = { ...nothing }
    const seen = new Map<string, number>()
    for (const node of selections) {
      const { fields, aliases, directives, depth } = ofSelection(node, depthLimit)
      const own = node.directives?.length ?? 0
      assertWhole(node.directives ?? [])
      sum.fields += isRoot && node.kind === Kind.FIELD && isTypename(node) ? 0 : fields
      sum.aliases += aliases
      sum.directives += directives + own
      sum.depth = Math.max(sum.depth, depth)
      assertWithin('directivesAtOnePlace', own)
      assertWithin('fields', sum.fields)
      if (node.kind !== Kind.FIELD) continue
      const key = (node.alias ?? node.name).value
      const times = seen.get(key) ?? 0
      assertWithin('repetitions', times)
      seen.set(key, times + 1)
    }
    assertWithin(depthLimit, sum.depth)
    assertWithin('aliases', sum.aliases)
    assertWithin('directives', sum.directives)
    return sum
  }

  /** Returns the number of fields that a selection has at its own level, without `__typename`. */
  function levelOf({ selections }: SelectionSetNode, passed = new Set<string>()): number {
    let count = 0
    for (const node of selections) {
      if (node.kind === Kind.FIELD) count += isTypename(node) ? 0 : 1
      else if (node.kind === Kind.INLINE_FRAGMENT) count += levelOf(node.selectionSet, passed)
      else if (!passed.has(node.name.value)) {
        passed.add(node.name.value)
        const fragment = fragments.get(node.name.value)
        if (fragment) count += levelOf(fragment.selectionSet, passed)
      }
    }
    return count
  }

  return { fragments, ofSelections, ofFragment, levelOf }
}

/** Checks the syntax of a document against the limits. Throws a GraphQLError that names the limit. */
export function assertDocumentFits(document: DocumentNode): void {
  const { fragments, ofSelections, ofFragment, levelOf } = createMeter(document)
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
  assertWithin('operations', operations.length)
  assertWithin('fragments', document.definitions.length - operations.length)
  for (const { directives = [] } of [...operations, ...fragments.values()]) {
    assertWithin('directivesAtOnePlace', directives.length)
  }
  for (const name of fragments.keys()) ofFragment(name)
  for (const { operation, selectionSet } of operations) {
    ofSelections(selectionSet, 'depth', true)
    const level = levelOf(selectionSet)
    assertWithin('rootFields', level)
    if (operation === OperationTypeNode.MUTATION && level > 1) {
      throw documentRefusal('A mutation must have exactly one root field.')
    }
  }
}

const rootFields = new WeakMap<OperationDefinitionNode, number>()

/** Returns the number of fields at the root of an operation and its fragments, without `__typename`. */
export function rootFieldsOf(document: DocumentNode, operation: OperationDefinitionNode): number {
  let count = rootFields.get(operation)
  if (count === undefined) {
    count = createMeter(document).levelOf(operation.selectionSet)
    rootFields.set(operation, count)
  }
  return count
}

/** Maximum number of values in the variables. The size of the body is limited separately. */
const MAX_VALUES = 10_000
/** Maximum nesting depth of variables. */
const MAX_DEPTH = 2 * MAX_JSON_DEPTH

/**
 * Checks the variables of a request against the limits. Throws a GraphQLError, or VALIDATION_FAILED for invalid text.
 */
export function assertVariablesFit(variables: unknown): void {
  if (typeof variables !== 'object' || variables === null) return
  let level: unknown[] = Object.values(variables)
  let count = 0
  // Recursion would overflow the stack for deeply nested input.
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth += 1) {
    count += level.length
    if (count > MAX_VALUES) throw documentRefusal(`The variables contain more than ${MAX_VALUES} values.`)
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Array.isArray(value)) for (const item of value) next.push(item)
      else if (!(value instanceof Upload)) for (const key in value) next.push((value as Record<string, unknown>)[key])
    }
    level = next
  }
  assertVariables(variables)
}
