import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql'
import { assertFresh } from '../expired-token.ts'
import { fragmentsOf, isTypename } from '../limits/document-parts.ts'
import { collectFields } from './collect-fields.ts'
import { compileMutation } from './compile-mutation.ts'
import { compileArguments, compileObject, compileValue, type Draft } from './compile-object.ts'
import { readOf } from './read-field.ts'
import { ask, type CompiledOperation, finished, type RootField, refused } from './root-field.ts'
import { refusable, type Selection, unfit } from './selection.ts'

/** How many variables may decide what is asked for: each has an operation compiled twice as often. */
const MOST_CONDITIONS = 2

/** Names of the variables that decide in a document what is asked for. */
function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>()
  visit(document, {
    Directive: ({ arguments: args }) => {
      for (const { value } of args ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return [...names]
}

/** The value of a variable that decides; undefined when it is none that may, which the executor tells. */
function decidingValue(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  name: string,
): boolean | undefined {
  const definition = variableDefinitions.find(({ variable }) => variable.name.value === name)
  const { defaultValue } = definition ?? {}
  const value = Object.hasOwn(given, name)
    ? given[name]
    : defaultValue?.kind === Kind.BOOLEAN
      ? defaultValue.value
      : undefined
  return typeof value === 'boolean' ? value : undefined
}

function compileUnder(draft: Draft): CompiledOperation | undefined {
  const { schema, operation } = draft
  const root = schema.getRootType(operation.operation)
  if (!root) throw unfit
  const collected = collectFields(draft, root, [operation.selectionSet])
  const [asked, ...others] = [...collected].filter(([, [first]]) => !isTypename(first!))
  const field = asked && root.getFields()[asked[1][0]!.name.value]
  if (others.length > 0 || !asked || !field) throw unfit
  const [key, nodes] = asked
  const keys = [...collected.keys()]
  function dataOf(value: unknown) {
    const data: Record<string, unknown> = {}
    for (const each of keys) data[each] = each === key ? value : root!.name
    return data
  }
  const compiled: RootField = { draft, key, nodes, field, dataOf }
  if (operation.operation === OperationTypeNode.QUERY) return compileRead(compiled)
  if (operation.operation === OperationTypeNode.MUTATION) return compileMutation(compiled)
  return undefined
}

/**
 * Compiles an operation that is one read, or one mutation, and what hangs on it; undefined for everything else. What it answers is what
 * the executor would. Where variables decide what is asked for (`@skip`, `@include`), it is compiled for each of their values that comes.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | undefined {
  if (operation.directives?.length) return undefined
  const names = conditionsOf(document)
  const fragments = fragmentsOf(document)
  const compile = (values: readonly (boolean | undefined)[]) => {
    const conditions = new Map(names.map((name, index) => [name, values[index]]))
    return refusable(() => compileUnder({ schema, document, operation, fragments, conditions, places: 0 }))
  }
  if (names.length > MOST_CONDITIONS) return undefined
  const all = names.map(() => true)
  // What is left to the executor mostly is, whatever decides.
  const first = compile(all)
  if (!first || names.length === 0) return first
  const known = new Map<string, CompiledOperation | undefined>([[all.join(), first]])
  return async (context, variables) => {
    const values = names.map((name) => decidingValue(operation, variables, name))
    const key = values.join()
    if (!known.has(key)) known.set(key, compile(values))
    return known.get(key)?.(context, variables)
  }
}

/** A query that is one read. Raises `unfit`. */
function compileRead(root: RootField): CompiledOperation {
  const { draft, nodes, field } = root
  const read = readOf(field)
  const named = getNamedType(field.type)
  if (!read || !isObjectType(named)) throw unfit
  const argsOf = compileArguments(draft, field, nodes[0]!)
  const object = compileObject(draft, named, nodes)
  const finish = compileValue(field.type, object)

  return async (context, variables) => {
    const asked = ask(draft, context, variables, (asking) => {
      const select: Selection = {}
      object.select(select, asking)
      return { select, args: argsOf(asking) }
    })
    if (!asked) return undefined
    const { asking, select, args } = asked
    let row: unknown
    try {
      assertFresh(field, context)
      row = await read({ select }, undefined, args, context)
    } catch (error) {
      return refused(root, error)
    }
    return finished(root, asking, () => finish(row, asking))
  }
}
