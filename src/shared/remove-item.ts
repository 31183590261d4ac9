/**
 * Takes an item out of a list, if it is there. What comes and goes with requests stays in arrays: a `Set` or `Map` that lives for long
 * has V8 keep what was in it, and all that hangs on that, until its whole heap is marked. When it makes room it leaves its table behind,
 * which refers to the next one, so that once one of them is old none is young garbage any more.
 */
export function removeItem<Item>(list: Item[], item: Item): void {
  const at = list.indexOf(item)
  if (at >= 0) list.splice(at, 1)
}
