/** From the JSON array that one row is, to the object that Prisma would give. */
import type { Decode } from './values.ts'

/** What a read's rows hold, and at which place. */
export interface Shape {
  readonly fields: { readonly name: string; readonly at: number; readonly decode: Decode | undefined }[]
  /** To-one relations lie in the same array. `presentAt` is where it says whether the relation is there; it is when undefined. */
  readonly ones: { readonly name: string; readonly presentAt: number | undefined; readonly shape: Shape }[]
  /** To-many relations are arrays of arrays. */
  readonly lists: { readonly name: string; readonly at: number; readonly shape: Shape; readonly reverse: boolean }[]
  readonly counts: { readonly name: string; readonly at: number }[]
}

/** The values of a row, in the places that its shape names. */
export type Row = readonly unknown[]

/** One row as an object, with what hangs on it. */
export const decodeRow = (shape: Shape, row: Row): Record<string, unknown> => {
  const result: Record<string, unknown> = {}
  for (const { name, at, decode } of shape.fields) {
    const value = row[at]
    result[name] = decode === undefined || value === null ? value : decode(value as string)
  }
  for (const { name, presentAt, shape: one } of shape.ones) {
    result[name] = presentAt !== undefined && row[presentAt] !== true ? null : decodeRow(one, row)
  }
  for (const { name, at, shape: item, reverse } of shape.lists) {
    result[name] = decodeRows(item, row[at] as Row[], reverse)
  }
  if (shape.counts.length > 0) {
    const counts: Record<string, unknown> = {}
    for (const { name, at } of shape.counts) counts[name] = row[at]
    result._count = counts
  }
  return result
}

/** Rows as objects; `reverse` where they were read backwards. */
export const decodeRows = (shape: Shape, rows: readonly Row[], reverse: boolean): Record<string, unknown>[] => {
  const results = rows.map((row) => decodeRow(shape, row))
  return reverse ? results.reverse() : results
}
