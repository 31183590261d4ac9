import { type GraphQLField, getNamedType, isLeafType, isObjectType } from 'graphql'
import { assertFresh } from '../stale-token.ts'
import {
  type Asking,
  type CompiledField,
  columnsOf,
  compileArguments,
  compileObject,
  compileValue,
  isModel,
} from './compile-object.ts'
import { finishByField } from './finish-by-field.ts'
import { ownResolverOf } from './read-field.ts'
import { ask, type CompiledOperation, finished, type RootField, refused } from './root-field.ts'
import { type Selection, unfit } from './selection.ts'
import { type Showing, type ShownQuery, showingOf } from './showing.ts'

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
