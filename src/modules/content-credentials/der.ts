/** DER, as far as certificates and time stamps need it: X.690 §10. */

const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
/** UTCTime has two digits for the year: RFC 5280 §4.1.2.5. */
const FIRST_LONG_YEAR = 2050

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes])
}

/** A value under a tag: the parts one after the other. */
export const tagged = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

/** Values in their order. */
export const sequence = (...parts: Uint8Array[]) => tagged(SEQUENCE, ...parts)
/** A set of one value. */
export const setOf = (part: Uint8Array) => tagged(SET, part)
/** A number, given as its bytes, highest first; it is never negative. */
export const integer = (bytes: Uint8Array) => tagged(0x02, bytes[0]! >= 0x80 ? Buffer.of(0) : Buffer.of(), bytes)
/** Text. */
export const utf8 = (text: string) => tagged(UTF8_STRING, Buffer.from(text))
/** Bytes. */
export const octets = (bytes: Uint8Array) => tagged(0x04, bytes)
/** Bits, `unused` of the last byte left out. */
export const bits = (bytes: Uint8Array, unused = 0) => tagged(0x03, Buffer.of(unused), bytes)
/** The only one that is ever written: what is false is left out. */
export const yes = Buffer.of(0x01, 0x01, 0xff)

/** An object identifier, from numbers with dots between them. */
export function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(Number)
  const arcs = [first! * 40 + second!, ...rest].flatMap((arc) => {
    const digits = [arc % 128]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(128 + (left % 128))
    return digits
  })
  return tagged(OBJECT_IDENTIFIER, Buffer.from(arcs))
}

/** A moment, to the second. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return date.getUTCFullYear() < FIRST_LONG_YEAR
    ? tagged(UTC_TIME, Buffer.from(digits.slice(2)))
    : tagged(GENERALIZED_TIME, Buffer.from(digits))
}

/** The values inside of a value, each whole, with its tag. Raises an Error when the bytes are no DER. */
export function partsOf(value: Uint8Array): Buffer[] {
  const parts: Buffer[] = []
  let { content: rest } = split(Buffer.from(value))
  while (rest.length > 0) {
    const { whole } = split(rest)
    parts.push(whole)
    rest = rest.subarray(whole.length)
  }
  return parts
}

/** The content of a value, without its tag. Raises an Error when the bytes are no DER. */
export const contentOf = (value: Uint8Array): Buffer => split(Buffer.from(value)).content

function split(bytes: Buffer): { whole: Buffer; content: Buffer } {
  const first = bytes[1] ?? 0
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (bytes.length < 2 + lengthBytes || lengthBytes > 4 || first === 0x80) throw new Error('The bytes are no DER.')
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  const start = 2 + lengthBytes
  if (start + length > bytes.length) throw new Error('The bytes are no DER.')
  return { whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) }
}
