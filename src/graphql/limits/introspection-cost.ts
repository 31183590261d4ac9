/**
 * What telling the schema costs. The schema is known and does not change, so that the values of an answer are not estimated
 * but counted, and counting stops at the limit.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getOperationAST,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { documentRefusal } from './document-limits.ts'
import { type Fragments, fragmentsOf, isIntrospection } from './document-parts.ts'

/** How often everything that tools ask for may be asked for in one document. */
const MARGIN = 1.5

const everything = () =>
  parse(
    getIntrospectionQuery({
      schemaDescription: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      inputValueDeprecation: true,
      oneOf: true,
    }),
  )

/** Fields of a selection, with those of its fragments. The document is valid: fragments exist, and none goes in circles. */
function* fieldsOf({ selections }: SelectionSetNode, fragments: Fragments): Generator<FieldNode> {
  for (const node of selections as readonly SelectionNode[]) {
    if (node.kind === Kind.FIELD) yield node
    else {
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (inner) yield* fieldsOf(inner.selectionSet, fragments)
    }
  }
}

/** Where an operation asks for the schema. */
function introspectionsOf(document: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  return [...fieldsOf(selectionSet, fragmentsOf(document))].filter(isIntrospection)
}

/** How many values these fields of the root tell of the schema; any number above `limit` once there are more. */
function countValues(schema: GraphQLSchema, document: DocumentNode, fields: FieldNode[], limit: number): number {
  const fragments = fragmentsOf(document)
  let count = 0

  /** Where the type's name is a variable, as many as there are. */
  function typesNamed({ arguments: given = [] }: FieldNode): readonly unknown[] {
    const name = given[0]?.value
    if (name?.kind !== Kind.STRING) return Object.values(schema.getTypeMap())
    return [schema.getType(name.value) ?? null]
  }

  function valuesOf(node: FieldNode, parent: GraphQLObjectType, sources: readonly unknown[]): readonly unknown[] {
    if (node.name.value === '__type') return typesNamed(node)
    const resolve = schema.getField(parent, node.name.value)?.resolve
    if (!resolve) return []
    // What introspection's own resolvers look at.
    const info = { schema, parentType: parent } as never
    return sources.flatMap((source) => resolve(source, { includeDeprecated: true }, undefined, info))
  }

  function visit(node: FieldNode, parent: GraphQLObjectType, sources: readonly unknown[]) {
    if (count > limit) return
    const values = valuesOf(node, parent, sources)
    count += Math.max(values.length, sources.length)
    const type = schema.getField(parent, node.name.value)?.type
    const named = type && getNamedType(type)
    if (!node.selectionSet || !isObjectType(named)) return
    const objects = values.filter((value) => value !== null && value !== undefined)
    for (const inner of fieldsOf(node.selectionSet, fragments)) visit(inner, named, objects)
  }

  for (const node of fields) visit(node, schema.getQueryType()!, [null])
  return count
}

/** Returns a function that raises a GraphQLError when an operation of a valid document asks too much of the schema. */
export function createIntrospectionCheck(schema: GraphQLSchema) {
  const refused = new WeakMap<OperationDefinitionNode, boolean>()
  let limit: number | undefined

  function getLimit(): number {
    if (limit === undefined) {
      const document = everything()
      const fields = introspectionsOf(document, getOperationAST(document)!)
      limit = Math.ceil(MARGIN * countValues(schema, document, fields, Number.POSITIVE_INFINITY))
    }
    return limit
  }

  function asksTooMuch(document: DocumentNode, operation: OperationDefinitionNode): boolean {
    const fields = introspectionsOf(document, operation)
    return fields.length > 0 && countValues(schema, document, fields, getLimit()) > getLimit()
  }

  return (document: DocumentNode, operation: OperationDefinitionNode): void => {
    let isRefused = refused.get(operation)
    if (isRefused === undefined) {
      isRefused = asksTooMuch(document, operation)
      refused.set(operation, isRefused)
    }
    if (isRefused) throw documentRefusal(`The document asks for more than ${getLimit()} values of the schema.`)
  }
}
