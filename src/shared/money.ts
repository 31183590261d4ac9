/**
 * Amounts of money: decimal strings outside, bigints of 10^-18 inside. 1 point = 1 currency unit.
 * JavaScript numbers never hold an amount.
 */
import { trimEnd } from './text.ts'

const SCALE = 18
const ONE = 10n ** BigInt(SCALE)

/** Anything the database or a caller gives as an amount: a decimal string, or Prisma's Decimal. */
export type Amount = string | { toFixed(): string }

const text = (amount: Amount) => (typeof amount === 'string' ? amount : amount.toFixed())

/** The canonical form: no exponent, no trailing zeros, at least `digits` decimals. `'12.500' → '12.5'` */
export function formatAmount(amount: Amount, digits = 0): string {
  const [whole = '0', fraction = ''] = text(amount).split('.')
  const kept = trimEnd(fraction, '0').padEnd(digits, '0')
  return kept ? `${whole}.${kept}` : whole
}

/** What a caller or an operator may write for an amount: no sign, at most 18 digits before and after the point. */
export const AMOUNT = /^\d{1,18}(\.\d{1,18})?$/

/** In units of 10^-18. Raises RangeError for anything that is not a decimal number of at most 18 decimals. */
export function toUnits(amount: Amount): bigint {
  const [whole = '', fraction = '', ...rest] = text(amount).split('.')
  const match = /^(-?)(\d+)$/.exec(whole)
  const decimals = trimEnd(fraction, '0')
  if (!match || rest.length > 0 || !/^\d{0,18}$/.test(decimals)) throw new RangeError(`Not an amount: ${text(amount)}`)
  const units = BigInt(match[2] ?? '0') * ONE + BigInt(decimals.padEnd(SCALE, '0'))
  return match[1] ? -units : units
}

/** The canonical decimal string of so many 10^-18. */
export function fromUnits(units: bigint): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0')
  return sign + formatAmount(`${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`)
}

/** The smaller of two amounts, in units of 10^-18. */
export const least = (a: bigint, b: bigint) => (a < b ? a : b)

/** The sum as a canonical decimal string. */
export const add = (...amounts: Amount[]) => fromUnits(amounts.reduce((sum, amount) => sum + toUnits(amount), 0n))
