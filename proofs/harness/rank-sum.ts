/**
 * The chance that one of `a` is larger than one of `b`, ties counting half: the area under the curve of whoever tells them
 * apart by size (Mann–Whitney). 0.5 when nobody can.
 */
export function areaUnderCurve(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))]
  all.sort((one, other) => one.value - other.value)
  let ranks = 0
  for (let from = 0; from < all.length; ) {
    let to = from
    while (to < all.length && all[to]!.value === all[from]!.value) to += 1
    const rank = (from + 1 + to) / 2
    ranks += rank * all.slice(from, to).filter(({ isA }) => isA).length
    from = to
  }
  return (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length)
}
