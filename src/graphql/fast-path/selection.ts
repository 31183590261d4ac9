/** What a document needs of a row, in Prisma's language. */
import { isDeepStrictEqual } from 'node:util'

/** Thrown for what is not compiled, or not answered, in this way: it is left to the executor. */
export const unfit = Symbol('unfit')

/** What the work comes to; undefined when it raises anything. */
export const refusable = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Names of columns and relations, with what is wanted of each. Never changed once it is part of another. */
export type Selection = Record<string, unknown>

const nestedOf = (wanted: unknown): Selection | undefined => {
  if (typeof wanted !== 'object' || wanted === null || !('select' in wanted)) return undefined
  return Object.keys(wanted).length === 1 ? (wanted.select as Selection) : undefined
}

function combine(first: unknown, second: unknown): unknown {
  const both = [nestedOf(first), nestedOf(second)] as const
  if (both[0] && both[1]) {
    const select = { ...both[0] }
    addSelection(select, both[1])
    return { select }
  }
  // One relation cannot be read in two ways at once.
  if (!isDeepStrictEqual(first, second)) throw unfit
  return first
}

/** Adds what `added` wants to `selection`. Raises `unfit` where the two want different things of one relation. */
export function addSelection(selection: Selection, added: Selection): void {
  for (const [name, wanted] of Object.entries(added)) {
    if (!wanted) continue
    selection[name] = selection[name] === undefined ? wanted : combine(selection[name], wanted)
  }
}
