/** RLP, the encoding of headers, receipts and trie keys. */
import { getBytes, toBeHex } from 'ethers'

/** Bytes, or a 0x-prefixed hexadecimal string, or a list of items. */
export type RlpItem = string | Uint8Array | readonly RlpItem[]

/** Formats a number for RLP: without leading zeros, and empty for zero. Throws when the value is not a number. */
export const rlpNumber = (value: unknown): string => {
  const number = BigInt(value as string)
  return number === 0n ? '0x' : toBeHex(number)
}

/** Longest content whose length fits into the prefix byte. */
const SHORT_LENGTH = 55

/**
 * Encodes an item. The time grows linearly with the size: the encoder of ethers copies a list once per element, which takes two minutes
 * for a receipt with 10,000 events. Throws when a string is not hexadecimal.
 */
export function encodeRlp(item: RlpItem): Uint8Array {
  if (typeof item !== 'string' && !(item instanceof Uint8Array)) {
    return withLength(0xc0, Buffer.concat(item.map(encodeRlp)))
  }
  const bytes = getBytes(item)
  return bytes.length === 1 && bytes[0]! < 0x80 ? bytes : withLength(0x80, bytes)
}

function withLength(offset: number, content: Uint8Array): Uint8Array {
  const { length } = content
  if (length <= SHORT_LENGTH) return Buffer.concat([Uint8Array.of(offset + length), content])
  const size = getBytes(toBeHex(length))
  return Buffer.concat([Uint8Array.of(offset + SHORT_LENGTH + size.length), size, content])
}
