import { createHmac, hash, randomBytes } from 'node:crypto'
import { TypeID } from 'typeid-js'
import { v7 } from 'uuid'
import { canonicalCid } from '../../packages/verify/src/cids.ts'
import { notFound } from './errors.ts'

/** Prefixes of public IDs: TypeIDs such as `user_01h2x…`. The database stores the UUID. */
const idPrefixes = [
  'user',
  'commit',
  'key',
  'session',
  'transfer',
  'app',
  'order',
  'event',
  'delivery',
  'grant',
  'audit',
  'refund',
  'withdrawal',
  'deposit',
  'link',
  'job',
] as const
export type IdPrefix = (typeof idPrefixes)[number]
const prefixes = new Map<string, IdPrefix>(idPrefixes.map((prefix) => [prefix, prefix]))
export const idPrefix = (name: string): IdPrefix | undefined => prefixes.get(name)
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'
export const newUuid = (): string => v7()
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`)
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0)

/** Takes 0.2 µs. The library takes 4 µs, a third of the time of a page of 41 rows. */
export function toId(prefix: IdPrefix, uuid: string): string {
  const nibble = (at: number) => NIBBLES[uuid.charCodeAt(at)]!
  let id = PAIRS[(nibble(0) << 4) | nibble(1)]!
  // The last 120 bits of the UUID are six groups of 20 bits: five hexadecimal digits, or four base-32 digits.
  let bits = 0
  let digits = 0
  for (let at = 2; at < uuid.length; at++) {
    if (uuid[at] === '-') continue
    bits = (bits << 4) | nibble(at)
    if (++digits < 5) continue
    id += PAIRS[bits >> 10]! + PAIRS[bits & 1023]!
    bits = digits = 0
  }
  return `${prefix}_${id}`
}

/** Returns undefined if the TypeID is invalid or has another prefix. */
export function fromId(id: string, prefix?: IdPrefix): { prefix: IdPrefix; uuid: string } | undefined {
  const separator = id.indexOf('_')
  const found = prefixes.get(id.slice(0, separator))
  if (!found || (prefix && found !== prefix)) return undefined
  try {
    return { prefix: found, uuid: TypeID.fromString(id).toUUID() }
  } catch {
    return undefined
  }
}

/** Throws NOT_FOUND. `what`: name of the resource in the message. */
export function uuidFrom(id: string, prefix: IdPrefix, what: string): string {
  const found = fromId(id, prefix)
  if (!found) throw notFound(what)
  return found.uuid
}

/** The canonical form is a CIDv1 in base 32, of a raw leaf or dag-pb, with SHA2-256. */
export const isNid = (text: string) => /^baf(kre|ybe)i[a-z2-7]{52}$/.test(text)

/** Returns the canonical CID, or undefined for CIDs that Annal never stores. */
export function canonicalNid(text: string): string | undefined {
  if (isNid(text)) return text
  const cid = canonicalCid(text)
  return cid !== undefined && isNid(cid) ? cid : undefined
}

/** SQL of the smallest UUID of a time, to find the rows of a time range by the primary key. */
export const firstIdSql = (timestamp: string): string =>
  `(lpad(to_hex(greatest(extract(epoch from ${timestamp}) * 1000, 0)::bigint), 12, '0') || repeat('0', 20))::uuid`

export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Returns up to 32 bytes. A retry must return the same secret, which is not stored, so it is derived from the key. `id`: purpose. */
export const newSecret = (derivationKey: Uint8Array, id: string, key: string | undefined, bytes: number): Buffer =>
  key === undefined
    ? randomBytes(bytes)
    : createHmac('sha256', derivationKey).update(`${id}\n${key}`).digest().subarray(0, bytes)
