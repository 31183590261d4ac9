import { getNamedType, isObjectType } from 'graphql'
import { assertFresh } from '../stale-token.ts'
import { compileArguments, compileObject, compileValue } from './compile-object.ts'
import { readOf } from './read-field.ts'
import { ask, type CompiledOperation, finished, type RootField, refused } from './root-field.ts'
import { type Selection, unfit } from './selection.ts'

/** A query that is one read. Raises `unfit`. */
export function compileRead(root: RootField): CompiledOperation {
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
