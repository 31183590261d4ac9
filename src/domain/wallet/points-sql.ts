/**
 * Returns the SQL of how an amount is paid: points first, then currency units. `points` is the balance of points. Both parameters and both results
 * are SQL expressions. `quoteOf` does the same in TypeScript, and `test/domain/points-first.test.ts` compares the two.
 */
export const pointsFirstSql = (points: string, amount: string) => {
  const inPoints = `least(${points}, ${amount})`
  return { points: inPoints, num: `(${amount} - ${inPoints})` }
}
