/**
 * RLP, the encoding of transactions. The library's works on hex text and takes longer than signing; this one on bytes.
 * A test holds it to the library's.
 */
export type RlpItem = Uint8Array | bigint | RlpItem[]

/** Short forms hold this many bytes. */
const SHORT_LENGTH = 55

/** The bytes of an item; an integer is written without leading zeros. */
export const encodeRlp = (item: RlpItem): Buffer => {
  if (Array.isArray(item)) return withLength(Buffer.concat(item.map(encodeRlp)), 0xc0)
  const bytes = typeof item === 'bigint' ? encodeInteger(item) : Buffer.from(item.buffer, item.byteOffset, item.length)
  // A small byte stands for itself.
  return bytes.length === 1 && (bytes[0] ?? 0) < 0x80 ? bytes : withLength(bytes, 0x80)
}

const withLength = (content: Buffer, offset: number) => {
  if (content.length <= SHORT_LENGTH) return Buffer.concat([Buffer.of(offset + content.length), content])
  const length = encodeInteger(BigInt(content.length))
  return Buffer.concat([Buffer.of(offset + SHORT_LENGTH + length.length), length, content])
}

/** Big-endian without leading zeros; zero is empty. */
const encodeInteger = (value: bigint) => {
  if (value === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}
