/** Amounts of the model as integers of 10⁻¹⁸. Only explicit rules round them. Shares no code with the service. */

const DECIMALS = 18

export function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

export function decimal(amount: bigint): string {
  const sign = amount < 0n ? '-' : ''
  const digits = String(amount < 0n ? -amount : amount).padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -DECIMALS)}${fraction && `.${fraction}`}`
}

export const min = (one: bigint, other: bigint) => (one < other ? one : other)
export const max = (one: bigint, other: bigint) => (one > other ? one : other)

/** `amount × part ÷ whole`, rounded half up. Zero if `whole` is zero. */
export const shareOf = (amount: bigint, part: bigint, whole: bigint) =>
  whole === 0n ? 0n : (2n * amount * part + whole) / (2n * whole)
