import {
  type ExecutionResult,
  execute,
  type GraphQLField,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import type { Context } from '../../services-context.ts'
import { assertFresh } from '../expired-token.ts'
import {
  type Asking,
  type CompiledField,
  columnsOf,
  compileArguments,
  compileObject,
  compileValue,
  type Draft,
  isModel,
} from './compile-object.ts'
import { queryShown, type Showing, type ShownQuery, showingOf } from './payload-selection.ts'
import { ownResolverOf } from './read-field.ts'
import { ask, type CompiledOperation, finished, type RootField, refused } from './root-field.ts'
import { type Selection, unfit } from './selection.ts'

/** What a mutation does. Raises `unfit` where it goes by where in the answer it is. */
function changeOf(field: GraphQLField<unknown, unknown>): Showing {
  const resolver = ownResolverOf(field)
  const made = resolver && showingOf(resolver)
  if (made) return made
  if (!resolver || resolver.length > 3) throw unfit
  const resolve: Showing['resolve'] = (_query, args, context) => resolver(undefined, args, context, undefined as never)
  return { shown: undefined, resolve }
}

/** Raises `unfit` where more is asked of a row than what every row of its type has. */
function assertCovered({ type }: CompiledField, asked: Selection): void {
  const names = Object.keys(asked)
  if (names.length === 0) return
  const columns = isObjectType(type) && isModel(type) ? columnsOf(type) : {}
  if (!names.every((name) => columns[name])) throw unfit
}

/** What to read of the thing that the payload shows, if anything is asked of it; other rows come as they are. Raises `unfit`. */
function queryOf(fields: readonly CompiledField[], shown: string | undefined, asking: Asking): ShownQuery {
  const select: Selection = {}
  for (const field of fields) {
    if (field.name === shown) {
      field.select(select, asking)
      continue
    }
    const asked: Selection = {}
    field.select(asked, asking)
    assertCovered(field, asked)
  }
  return Object.keys(select).length > 0 ? ({ select } as ShownQuery) : {}
}

/** A mutation by itself, and what its payload shows. It is carried out once, whatever happens to its payload. Raises `unfit`. */
export function compileMutation(root: RootField): CompiledOperation {
  const { draft, nodes, field } = root
  const named = getNamedType(field.type)
  const isPayload = isObjectType(named) && !isModel(named)
  if (!isPayload && !isLeafType(named)) throw unfit
  const { shown, resolve } = changeOf(field)
  const argsOf = compileArguments(draft, field, nodes[0]!)
  const object = isPayload ? compileObject(draft, named, nodes) : undefined
  const finish = compileValue(field.type, object)

  return async (context, variables) => {
    const asked = ask(draft, context, variables, (asking) => ({
      query: queryOf(object?.fields ?? [], shown, asking),
      args: argsOf(asking),
    }))
    if (!asked) return undefined
    const { asking, query, args } = asked
    let payload: unknown
    try {
      assertFresh(field, context)
      payload = await resolve(() => query, args, context)
    } catch (error) {
      return refused(root, error)
    }
    const answer = await finished(root, asking, () => finish(payload, asking))
    return answer ?? finishByField(draft, { payload, shown }, context, variables)
  }
}

/** At the root of a mutation that was carried out: its payload. */
type CarriedOut = (info: GraphQLResolveInfo) => unknown

const carriedOut = new WeakMap<GraphQLSchema, GraphQLSchema>()

/** A schema whose mutations were carried out already; all else is the same. */
function carriedOutSchema(schema: GraphQLSchema): GraphQLSchema {
  const found = carriedOut.get(schema)
  if (found) return found
  const config = schema.toConfig()
  const mutation = config.mutation!.toConfig()
  const fields = Object.entries(mutation.fields).map(([name, field]) => [
    name,
    {
      ...field,
      resolve: (root: CarriedOut, _args: unknown, _context: Context, info: GraphQLResolveInfo) => root(info),
    },
  ])
  const made = new GraphQLSchema({
    ...config,
    types: config.types.filter((type) => type !== config.mutation),
    mutation: new GraphQLObjectType({ ...mutation, fields: Object.fromEntries(fields) }),
    assumeValid: true,
  })
  carriedOut.set(schema, made)
  return made
}

/** The answer to a mutation that was carried out, field by field: the executor tells what of its payload is wrong. */
async function finishByField(
  { schema, document, operation }: Draft,
  { payload, shown }: { payload: unknown; shown: string | undefined },
  context: Context,
  variables: Readonly<Record<string, unknown>>,
): Promise<ExecutionResult> {
  const rootValue: CarriedOut = (info) => {
    queryShown(context, info, shown)
    return payload
  }
  return execute({
    ...{ schema: carriedOutSchema(schema), document, operationName: operation.name?.value, variableValues: variables },
    ...{ contextValue: context, rootValue },
  })
}
