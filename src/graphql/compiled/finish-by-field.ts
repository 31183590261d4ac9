import { type ExecutionResult, execute, GraphQLObjectType, type GraphQLResolveInfo, GraphQLSchema } from 'graphql'
import type { Context } from '../../context.ts'
import type { Draft } from './compile-object.ts'
import { queryShown } from './showing.ts'

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
export async function finishByField(
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
