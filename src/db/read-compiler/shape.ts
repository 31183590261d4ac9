/**
 * The shape of a read's arguments: everything that decides its SQL, without the values. It is computed on every read,
 * so it is one pass that only adds to a string. Separators are control characters, which no field name contains.
 */

/** Arguments of a read, or a part of them. */
export type Arguments = Readonly<Record<string, unknown>>

/** Thrown for arguments whose meaning is left to Prisma. */
export const unsupported = Symbol('unsupported')

/** A literal object, as against a Date, a Decimal, bytes, or one of Prisma's markers. */
export const isPlain = (value: unknown): value is Arguments => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The shape as a text: equal for arguments that differ in values only. Raises `unsupported`. */
export const shapeOf = (args: Arguments): string => {
  let shape = ''
  for (const key in args) {
    const value = args[key]
    if (value === undefined) continue
    shape += `${key}\u0001`
    if (key === 'select') shape += shapeOfSelection(value)
    else if (key === 'where' || key === 'cursor') shape += shapeOfFilter(value)
    else if (key === 'orderBy') shape += shapeOfOrder(value)
    else if (key === 'take') shape += typeof value === 'number' && value < 0 ? '-' : '+'
    else if (key !== 'skip') throw unsupported
  }
  return `${shape}\u0002`
}

const shapeOfSelection = (selection: unknown): string => {
  if (!isPlain(selection)) throw unsupported
  let shape = ''
  for (const key in selection) {
    const value = selection[key]
    if (value === true) shape += `${key}\u0003`
    else if (isPlain(value)) shape += `${key}\u0001${shapeOf(value)}`
    else if (value !== false && value !== undefined) throw unsupported
  }
  return `${shape}\u0002`
}

const shapeOfFilter = (filter: unknown): string => {
  if (filter === null) return '0\u0003'
  if (Array.isArray(filter)) return `[${filter.map(shapeOfFilter).join('')}]`
  if (!isPlain(filter)) return '?\u0003'
  let shape = ''
  for (const key in filter) {
    const value = filter[key]
    if (value === undefined) continue
    // It decides the SQL and is no parameter.
    if (key === 'mode') shape += `${key}\u0001${value}\u0003`
    // A list is one parameter, however long it is.
    else shape += `${key}\u0001${key === 'in' && Array.isArray(value) ? '?\u0003' : shapeOfFilter(value)}`
  }
  return `{${shape}\u0002`
}

const shapeOfOrder = (order: unknown): string => {
  if (Array.isArray(order)) return `[${order.map(shapeOfOrder).join('')}]`
  if (!isPlain(order)) throw unsupported
  let shape = ''
  for (const key in order) {
    const value = order[key]
    if (value === undefined) continue
    if (value !== 'asc' && value !== 'desc') throw unsupported
    shape += `${key}\u0001${value}\u0003`
  }
  return `${shape}\u0002`
}
