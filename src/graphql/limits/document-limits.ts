/** Limits and checks of documents. The syntax limits are checked before validation, because validation is expensive. */
import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  type Source,
  specifiedRules,
  type ValidationContext,
  validate,
} from 'graphql'
import { Upload } from 'graphql-upload-ts'
import { assertVariables, MAX_JSON_DEPTH, textProblem } from '../../shared/input.ts'
import { createCostOf } from '../execute.ts'
import {
  answerLimits,
  type DocumentCost,
  fragmentsOf,
  isIntrospection,
  isTypename,
  rootFieldsOf,
} from './document-cost.ts'

/** Limits of a document. The description of the query type lists them. */
export const documentLimits = {
  /** Maximum length, in UTF-16 code units. */
  characters: 16_384,
  tokens: 1_500,
  operations: 20,
  fragments: 50,
  /** Maximum number of fields. The content of a fragment counts each time the fragment is spread. */
  fields: 400,
  depth: 12,
  /** Nesting depth inside `__schema` and `__type`. The introspection query of common tools has depth 15. */
  schemaDepth: 20,
  aliases: 30,
  rootFields: 15,
  /** Maximum number of root fields `__schema` and `__type`. Fields inside them cannot have an alias. */
  introspections: 6,
  directives: 20,
  directivesAtOnePlace: 4,
  /** Maximum number of occurrences of one field in one selection set. */
  repetitions: 5,
} as const

type Limited = keyof typeof documentLimits

const nouns: Partial<Record<Limited, string>> = {
  depth: 'levels of fields',
  schemaDepth: 'levels of introspection',
  rootFields: 'root fields',
  introspections: 'fields `__schema` and `__type`',
  directivesAtOnePlace: 'directives on one element',
  repetitions: 'repetitions of a field',
}

export const documentRefusal = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED' } })

function assertWithin(limit: Limited, count: number): void {
  if (count > documentLimits[limit]) {
    throw documentRefusal(`The document has more than ${documentLimits[limit]} ${nouns[limit] ?? limit}.`)
  }
}

const nothing = { fields: 0, aliases: 0, directives: 0, depth: 0 }
type Measure = typeof nothing

type DepthLimit = 'depth' | 'schemaDepth'

function createMeter(document: DocumentNode) {
  const fragments = fragmentsOf(document)
  const measured = new Map<string, Measure>()

  function ofFragment(name: string): Measure {
    const known = measured.get(name)
    if (known) return known
    // A recursive fragment counts as zero, because validation rejects it later.
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
    if (depthLimit === 'schemaDepth' && node.kind === Kind.FIELD && node.alias) {
      throw documentRefusal('The document has an alias inside `__schema` or `__type`. Remove it.')
    }
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

  return { fragments, ofSelections, ofFragment }
}

function assertDocumentFits(document: DocumentNode): void {
  const { fragments, ofSelections, ofFragment } = createMeter(document)
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
  assertWithin('operations', operations.length)
  assertWithin('fragments', document.definitions.length - operations.length)
  for (const { directives = [] } of [...operations, ...fragments.values()]) {
    assertWithin('directivesAtOnePlace', directives.length)
  }
  for (const name of fragments.keys()) ofFragment(name)
  for (const operation of operations) {
    ofSelections(operation.selectionSet, 'depth', true)
    const roots = rootFieldsOf(document, operation)
    assertWithin('rootFields', roots.length)
    assertWithin('introspections', roots.filter(isIntrospection).length)
    if (operation.operation === OperationTypeNode.MUTATION && roots.length > 1) {
      throw documentRefusal('A mutation must have exactly one root field.')
    }
  }
}

/** Maximum number of values in the variables. The size of the body is limited separately. */
const MAX_VALUES = 10_000
const MAX_DEPTH = 2 * MAX_JSON_DEPTH

/** Checks the variables of a request against the limits. Throws a GraphQLError or VALIDATION_FAILED. */
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

export type DocumentChecks = ReturnType<typeof createDocumentChecks>

/** Creates the checks of documents, in the order in which they run. `introspection`: true if it is allowed. */
export function createDocumentChecks(schema: GraphQLSchema, introspection: boolean) {
  const costOf = createCostOf(schema)
  return {
    /** Throws a GraphQLError for invalid syntax, and for a document that exceeds the limits. */
    parse(source: string | Source): DocumentNode {
      const document = parse(source, { maxTokens: documentLimits.tokens })
      assertDocumentFits(document)
      return document
    },
    /** Validation rules in addition to those of the specification. */
    rules: introspection ? [ValidTextRule] : [NoIntrospectionRule, ValidTextRule],
    validate: (checked: GraphQLSchema, document: DocumentNode, rules = specifiedRules) =>
      validate(checked, document, rules, { maxErrors: 8, hideSuggestions: !introspection }),
    /** Throws a GraphQLError or VALIDATION_FAILED if the response could exceed the limits. */
    measure(
      document: DocumentNode,
      operation: OperationDefinitionNode,
      variables: Readonly<Record<string, unknown>>,
    ): DocumentCost {
      const cost = costOf(document, operation, variables)
      const { values, bytes } = answerLimits
      if (cost.values > values)
        throw documentRefusal(`The response may contain ${cost.values} values. The maximum is ${values}.`)
      if (cost.bytes <= bytes) return cost
      const advice = 'Request smaller pages or fewer long texts.'
      throw documentRefusal(`The response may have ${cost.bytes} bytes. The maximum is ${bytes}. ${advice}`)
    },
  }
}

/** Rejects introspection, except of type names: errors about fragments show anyway whether a type exists. */
function NoIntrospectionRule(context: ValidationContext): ASTVisitor {
  const isName = (node: SelectionNode) => node.kind === Kind.FIELD && /^(name|__typename)$/.test(node.name.value)
  const problem = 'Introspection is disabled, except for `__typename` and the name of a type.'
  return {
    Field(node) {
      const isAllowed = node.name.value === '__type' && node.selectionSet?.selections.every(isName)
      if (isIntrospection(node) && !isAllowed) context.reportError(new GraphQLError(problem))
    },
  }
}

const namedKinds: unknown[] = [Kind.OBJECT_FIELD, Kind.ARGUMENT, Kind.VARIABLE_DEFINITION]

/** Applies the rules for texts in variables to texts in the document. */
function ValidTextRule(context: ValidationContext): ASTVisitor {
  return {
    StringValue(node, _key, parent, _path, ancestors) {
      const problem = textProblem(node.value)
      if (!problem) return
      const isNamed = (holder: object) => 'kind' in holder && namedKinds.includes(holder.kind)
      const holder = [...ancestors, parent!].findLast(isNamed) as { name?: { value: string } } | undefined
      const name = holder?.name ? `${holder.name.value}: ` : ''
      context.reportError(new GraphQLError(`${name}${problem}`, { nodes: node }))
    },
  }
}
