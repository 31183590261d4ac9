/** The most of the table that is filled: more, and looking takes long. */
const MOST_FILLED = 0.6
const FIRST_SLOTS = 4_096
/** Of a name these ten letters of base32 count, which are 50 bits of its hash; those before them all names share. */
const [FROM, TO] = [5, 15]

const keyOf = (name: string): number => {
  let key = 0
  for (let at = FROM; at < TO; at += 1) {
    const code = name.charCodeAt(at) || 65
    key = key * 32 + (code >= 65 ? code - 65 : code - 24)
  }
  // Nought is an empty place.
  return key + 1
}

/** Names of blocks; what `createNameSet` makes. */
export interface NameSet {
  has(name: string): boolean
  add(name: string): void
}

/**
 * A set of many millions of names of blocks, which a `Set` does not hold: 14 to 27 bytes for each. With forty million
 * of them, one of thirty million others is taken for one of these: garbage that stays.
 */
export const createNameSet = (): NameSet => {
  let slots = new Float64Array(FIRST_SLOTS)
  let count = 0

  const placeOf = (key: number) => {
    let at = key % slots.length
    while (slots[at] !== 0 && slots[at] !== key) at = (at + 1) % slots.length
    return at
  }
  const grow = () => {
    const old = slots
    slots = new Float64Array(old.length * 2)
    for (const key of old) if (key !== 0) slots[placeOf(key)] = key
  }

  return {
    has: (name) => slots[placeOf(keyOf(name))] !== 0,
    add(name) {
      const key = keyOf(name)
      const at = placeOf(key)
      if (slots[at] !== 0) return
      slots[at] = key
      count += 1
      if (count > slots.length * MOST_FILLED) grow()
    },
  }
}
