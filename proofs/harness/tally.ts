/** Result of an exactly-once check: acknowledged writes compared with their effects. Proofs and controls use the same check. */
export interface Tally {
  lost: string[]
  double: string[]
  /** Effects that were never acknowledged, although callers retried. */
  unasked: string[]
}

/** Compares the identifiers of acknowledged writes with the identifiers of their effects. */
export function tally(acknowledged: readonly string[], effects: readonly string[]): Tally {
  const counts = new Map<string, number>()
  for (const id of effects) counts.set(id, (counts.get(id) ?? 0) + 1)
  const known = new Set(acknowledged)
  return {
    lost: acknowledged.filter((id) => !counts.has(id)),
    double: [...counts].filter(([, count]) => count > 1).map(([id]) => id),
    unasked: [...counts.keys()].filter((id) => !known.has(id)),
  }
}

export const describeTally = (what: string, { lost, double, unasked }: Tally): string[] =>
  Object.entries({ lost, double, unasked })
    .filter(([, ids]) => ids.length > 0)
    .map(([name, ids]) => `${ids.length} ${what} ${name}, such as ${ids[0]}`)
