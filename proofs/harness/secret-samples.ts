/** Whether secrets look as if nobody could guess them: their length, their variety, and how evenly their digits fall. */

export interface SampleRules {
  name: string
  /** What every one of them looks like. */
  form: RegExp
  /** The random part as bytes. */
  bytesOf(secret: string): Buffer
  bits: number
}

/** Chi-square of 15 degrees of freedom: even digits exceed it once in several million samples. */
const MOST_UNEVEN = 60
/** Of 16, at every place. A place that does not vary as much is not chance: a clock, a counter, a version. */
const LEAST_VARIETY = 12

const nibblesOf = (bytes: Buffer) => [...bytes].flatMap((byte) => [byte >> 4, byte & 15])

export function chiSquare(nibbles: readonly number[]): number {
  const counts = new Array<number>(16).fill(0)
  for (const nibble of nibbles) counts[nibble]! += 1
  const expected = nibbles.length / 16
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

/** A sentence for each thing that is wrong with a sample; at least 100 secrets are needed to tell. */
export function judgeSample(secrets: readonly string[], { name, form, bytesOf, bits }: SampleRules): string[] {
  if (secrets.length < 100) return [`${secrets.length} ${name}s are too few: the run is invalid.`]
  const misshapen = secrets.filter((secret) => !form.test(secret))
  if (misshapen.length) return [`${misshapen.length} ${name}s do not have the form ${form}.`]
  const rows = secrets.map((secret) => nibblesOf(bytesOf(secret)))
  const reasons: string[] = []
  if (rows.some((row) => row.length * 4 < bits)) reasons.push(`A ${name} has less than ${bits} bits.`)
  if (new Set(secrets).size !== secrets.length) reasons.push(`Two ${name}s are the same.`)
  const places = rows[0]!.map((_, place) => new Set(rows.map((row) => row[place])).size)
  const least = Math.min(...places)
  if (least < LEAST_VARIETY) reasons.push(`At one place, ${name}s have ${least} different digits of 16.`)
  const uneven = chiSquare(rows.flat())
  if (uneven > MOST_UNEVEN) reasons.push(`The digits of ${name}s fall unevenly: chi-square ${uneven.toFixed(1)}.`)
  return reasons
}
