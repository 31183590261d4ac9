/** Order, `take`, `skip` and `cursor`. */
import type { Field } from './model.ts'
import { columnOf, from, newScope, type Path, parameter, type Scope } from './scope.ts'
import { type Arguments, isPlain, unsupported } from './shape.ts'
import { all, compileUnique, compileWhere } from './where.ts'

/** The parts of a statement that say which rows, and in which order. */
export interface Page {
  /** Rows from the cursor on, or `true`. */
  readonly condition: string
  /** ORDER BY, LIMIT and OFFSET. */
  readonly clauses: string
  /** A negative `take` reads backwards; the rows are turned round again afterwards. */
  readonly reverse: boolean
  /** ORDER BY again, of the same rows under another alias; empty when there is no order. */
  readonly orderOf: (alias: string) => string
}

/** Of a to-many relation: what ties a row to its parent, and the child's columns that are thereby fixed. */
export interface Parent {
  readonly link: (alias: string) => string
  readonly columns: readonly string[]
}

type Order = readonly (readonly [Field, 'asc' | 'desc'])[]

const encodeCount = (value: unknown) => {
  if (!Number.isInteger(value) || Math.abs(value as number) > 0x7fffffff) throw unsupported
  return Math.abs(value as number)
}

/** Of a number that is not negative. Raises `unsupported`. */
export const encodeNatural = (value: unknown) => {
  if ((value as number) < 0) throw unsupported
  return encodeCount(value)
}

/** Of how many rows to leave out from the cursor's on. Its own is not read at all. Raises `unsupported` when it is to be. */
const encodeBeyond = (value: unknown) => encodeNatural((value as number) - 1)

/**
 * What `take`, `skip`, `cursor` and the order are in SQL. `single`: the first row is asked for, so that `take` has no
 * place. Raises `unsupported`.
 */
export const compilePage = (scope: Scope, args: Arguments, path: Path, single: boolean, parent?: Parent): Page => {
  const { take, skip, cursor } = args
  if (single && take !== undefined) throw unsupported
  const reverse = typeof take === 'number' && take < 0
  let order = readOrder(scope, args.orderBy)
  // Without an order a part of the rows would be any part, so Prisma orders by the identifier then. A first row is
  // any row.
  if (order.length === 0 && (take !== undefined || skip !== undefined || cursor !== undefined)) {
    order = scope.model.id.map((field) => [field, 'asc'] as const)
  }
  if (reverse) order = order.map(([field, direction]) => [field, direction === 'asc' ? 'desc' : 'asc'] as const)

  const orderOf = (alias: string) => {
    const terms = order.map(([field, direction]) => `${alias}.${field.column} ${direction}`)
    return terms.length > 0 ? ` order by ${terms.join(', ')}` : ''
  }
  let clauses = orderOf(scope.alias)
  if (single) clauses += ' limit 1'
  if (take !== undefined) clauses += ` limit ${parameter(scope.draft, [...path, 'take'], encodeCount)}`
  const encodeSkip = cursor === undefined ? encodeNatural : encodeBeyond
  if (skip !== undefined) clauses += ` offset ${parameter(scope.draft, [...path, 'skip'], encodeSkip)}`
  const condition = cursor === undefined ? 'true' : compileCursor(scope, order, args, path, parent)
  return { condition, clauses, reverse, orderOf }
}

const readOrder = (scope: Scope, orderBy: unknown): Order => {
  const items: unknown[] = Array.isArray(orderBy) ? orderBy : [orderBy]
  return items.flatMap((item) => {
    if (item === undefined) return []
    if (!isPlain(item)) throw unsupported
    const given = Object.entries(item).filter(([, direction]) => direction !== undefined)
    if (given.length > 1) throw unsupported
    return given.map(([name, direction]) => {
      const field = scope.model.scalars.get(name)
      if (!field || field.type === 'Json' || (direction !== 'asc' && direction !== 'desc')) throw unsupported
      columnOf(scope, field)
      return [field, direction] as const
    })
  })
}

/**
 * Rows from the cursor's row on, that row included. Prisma does it in two ways. When the order itself names a unique
 * key, and not within a relation, it compares with the cursor's row, whether or not that row is in the filtered list.
 * Otherwise it looks for that row in the list, and without it the page is empty. The second is only compiled with a
 * `take`, without which Prisma does neither, and when the order is total within the list; else rows equal to the
 * cursor's would be told apart by chance.
 *
 * With `skip` the rows beyond the cursor's are asked for, by who goes on where a page ended. Here, and nowhere else, it is
 * not as with Prisma: when the cursor's row has left the list since, Prisma leaves out another one for it, or finds nothing.
 */
const compileCursor = (scope: Scope, order: Order, args: Arguments, path: Path, parent?: Parent): string => {
  const { model, draft } = scope
  const { cursor, where, skip } = args
  const isBeyond = skip !== undefined
  if (!isPlain(cursor) || Object.values(cursor).filter((value) => value !== undefined).length !== 1) throw unsupported
  // A null is neither before nor after anything.
  if (order.some(([field]) => !field.required)) throw unsupported

  const ordered = order.map(([field]) => field)
  const keys = [...model.uniques.values()]
  const free = !parent && keys.some((key) => key.every((field) => ordered.includes(field)))
  const tied = (field: Field) => ordered.includes(field) || parent?.columns.includes(field.column)
  const fixed = (field: Field) => tied(field) || isFixed(where, field)
  if (!free && (args.take === undefined || !keys.some((key) => key.every(fixed)))) throw unsupported
  const mayHaveLeft = free || (isBeyond && keys.some((key) => key.every(tied)))

  const bound = (field: Field) => {
    const row = newScope(draft, model)
    const conditions = [compileUnique(row, cursor, [...path, 'cursor'])]
    if (!mayHaveLeft) conditions.push(compileWhere(row, where, [...path, 'where']))
    if (parent) conditions.push(parent.link(row.alias))
    return `(select ${row.alias}.${field.column} from ${from(row)} where ${all(conditions)})`
  }
  const after = (at: number): string => {
    const [field, direction] = order[at] as Order[number]
    const column = `${scope.alias}.${field.column}`
    const sign = direction === 'asc' ? '>' : '<'
    const isLast = at === order.length - 1
    const start = `${column} ${sign}${isLast && isBeyond ? '' : '='} ${bound(field)}`
    if (isLast) return start
    // The first comparison alone lets an index find the start.
    return `(${start} and (${column} ${sign} ${bound(field)} or ${after(at + 1)}))`
  }
  return after(0)
}

/** Whether a filter leaves one value for a field. */
const isFixed = (where: unknown, field: Field) => {
  const value = isPlain(where) ? where[field.name] : undefined
  return value !== undefined && value !== null && !isPlain(value)
}
