import { toBeHex } from 'ethers'

/** A number as RLP has it: without zeros in front, and nothing for zero. Raises when it is no number. */
export const rlpNumber = (value: unknown): string => {
  const number = BigInt(value as string)
  return number === 0n ? '0x' : toBeHex(number)
}
