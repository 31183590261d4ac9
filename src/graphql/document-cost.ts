/**
 * What carrying out an operation costs, in values that its answer may hold. Worked out once for each document; where a page
 * size is a variable the rest of the sum is left open, and closing it takes a few multiplications.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import { fragmentsOf, isIntrospection } from './document-parts.ts'

type Variables = Readonly<Record<string, unknown>>
type Cost = number | ((variables: Variables) => number)

/** As the builder has them. */
const DEFAULT_PAGE = 20
const MAX_PAGE = 100
/** Lists without pages are short. */
const SHORT_LIST = 10
/** Values that a statement of its own is worth. */
const STATEMENT = 10

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

const pageSize = (size: unknown) =>
  typeof size === 'number' && size >= 0
    ? Math.min(size, MAX_PAGE)
    : size === undefined || size === null
      ? DEFAULT_PAGE
      : MAX_PAGE

const constant = (node: ValueNode | undefined) => (node?.kind === Kind.INT ? Number(node.value) : undefined)

/** The page that a connection is asked for. */
function pageOf({ arguments: given = [] }: FieldNode, operation: OperationDefinitionNode): Cost {
  const node = given.find(({ name }) => name.value === 'first' || name.value === 'last')?.value
  if (node?.kind !== Kind.VARIABLE) return pageSize(constant(node))
  const name = node.name.value
  const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)
  const fallback = constant(definition?.defaultValue)
  return (variables) => pageSize(name in variables ? variables[name] : fallback)
}

const isConnection = (name: string) => name.endsWith('Connection')

function compile(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Cost {
  const fragments = fragmentsOf(document)

  function ofField(node: FieldNode, parent: GraphQLObjectType | undefined, page: Cost): Cost {
    // Counted by itself: see introspection-cost.ts.
    if (isIntrospection(node)) return 1
    const type = parent && schema.getField(parent, node.name.value)?.type
    if (!type) return 1
    if (!node.selectionSet) return node.name.value === 'totalCount' ? STATEMENT : 1
    const named = getNamedType(type)
    const size = isConnection(named.name) ? pageOf(node, operation) : 1
    const inner = add([1, ofSelections(node.selectionSet, isObjectType(named) ? named : undefined, size, named.name)])
    const isList = isListType(isNonNullType(type) ? type.ofType : type)
    if (!isList) return inner
    return multiply(parent && isConnection(parent.name) ? page : SHORT_LIST, inner)
  }

  function ofSelections(
    { selections }: SelectionSetNode,
    parent: GraphQLObjectType | undefined,
    page: Cost,
    interfaceName?: string,
  ): Cost {
    return add(
      selections.map((node) => {
        if (node.kind === Kind.FIELD) {
          const abstract = parent || !interfaceName ? undefined : schema.getType(interfaceName)
          const owner = parent ?? (abstract && isCompositeType(abstract) ? (abstract as GraphQLObjectType) : undefined)
          return ofField(node, owner, page)
        }
        const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
        if (!inner) return 0
        const named = inner.typeCondition ? schema.getType(inner.typeCondition.name.value) : parent
        return ofSelections(inner.selectionSet, isObjectType(named) ? named : undefined, page, named?.name)
      }),
    )
  }

  const root = schema.getRootType(operation.operation) ?? undefined
  return add([operation.operation === 'query' ? 0 : STATEMENT, ofSelections(operation.selectionSet, root, 1)])
}

/** Tells the cost of operations of valid documents. Documents that nobody else holds are forgotten. */
export function createCostOf(schema: GraphQLSchema) {
  const known = new WeakMap<OperationDefinitionNode, Cost>()

  return (
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables | null | undefined,
  ): number => {
    let cost = known.get(operation)
    if (cost === undefined) {
      cost = compile(schema, document, operation)
      known.set(operation, cost)
    }
    return amountOf(cost, variables ?? {})
  }
}
