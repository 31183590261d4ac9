/** Amounts of money: decimal strings in input and output, bigints of 10^-18 in arithmetic. One point is one currency unit. */
import { trimEnd } from './text.ts'

const SCALE = 18
const ONE = 10n ** BigInt(SCALE)
export type Amount = string | { toFixed(): string }
const text = (amount: Amount) => (typeof amount === 'string' ? amount : amount.toFixed())

/** Returns the canonical form: no exponent, no trailing zeros, at least `digits` decimals. `'12.500' → '12.5'` */
export function formatAmount(amount: Amount, digits = 0): string {
  const [whole = '0', fraction = ''] = text(amount).split('.')
  const kept = trimEnd(fraction, '0').padEnd(digits, '0')
  return kept ? `${whole}.${kept}` : whole
}

/** Input format: no sign, at most 18 digits before and after the point. */
export const AMOUNT = /^\d{1,18}(\.\d{1,18})?$/

/** Returns units of 10^-18. Throws RangeError unless the amount has at most 18 decimals. */
export function toUnits(amount: Amount): bigint {
  const [whole = '', fraction = '', ...rest] = text(amount).split('.')
  const match = /^(-?)(\d+)$/.exec(whole)
  const decimals = trimEnd(fraction, '0')
  if (!match || rest.length > 0 || !/^\d{0,18}$/.test(decimals)) throw new RangeError(`Invalid amount: ${text(amount)}`)
  const units = BigInt(match[2] ?? '0') * ONE + BigInt(decimals.padEnd(SCALE, '0'))
  return match[1] ? -units : units
}

export function fromUnits(units: bigint): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0')
  return sign + formatAmount(`${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`)
}

export const least = (a: bigint, b: bigint) => (a < b ? a : b)
export const add = (...amounts: Amount[]) => fromUnits(amounts.reduce((sum, amount) => sum + toUnits(amount), 0n))
