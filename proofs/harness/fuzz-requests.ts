/** Requests as data: content and sender, with `{{names}}` as placeholders for objects of the scene. */
import fc from 'fast-check'
import type { Person, Scene } from './authz-scene.ts'
import type { Asked } from './authz-values.ts'
import { hostileJson, hostileText, knownValues } from './fuzz-values.ts'

export type Kind = 'anonymous' | 'user' | 'admin'

export interface FuzzRequest {
  /** The tested operation, such as `POST assets` or `Mutation.signIn`. */
  target: string
  actor: Kind
  method: string
  path: string
  headers: [string, string][]
  /** Request body. Each character is one byte. */
  body?: string
  /** True if the request is valid. */
  isGood?: boolean
}

export const asBytes = (text: string) => Buffer.from(text).toString('latin1')

/** Returns an object that gives a placeholder for every property. */
const named = <Thing>(prefix: string, given: Partial<Thing> = {}) =>
  new Proxy({} as never, {
    get: (_, name) => (given as Record<string | symbol, unknown>)[name] ?? `{{${prefix}.${String(name)}}}`,
  }) as Thing

/** Input for the tables of valid values. All its values are placeholders. */
export const asked: Asked = {
  scene: named<Scene>('scene'),
  owner: named<Person>('owner'),
  actor: named<Person>('owner', { fileLink: 'http://annal.test/?{{owner.link}}' }),
  serial: '{{serial}}' as never,
}

export interface Place {
  /** The object or list that contains the value. */
  holder: Record<string, unknown>
  key: string
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Copies a value before it is changed, because the tables share their values. */
const copyOf = (value: unknown): unknown =>
  isPlain(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)])) : value

/** Returns all places in a value, including nested ones. */
export function placesIn(holder: Record<string, unknown>): Place[] {
  return Object.entries(holder).flatMap(([key, value]) => [{ holder, key }, ...(isPlain(value) ? placesIn(value) : [])])
}

/** A change of a valid request, as choices that fast-check can shrink. */
export interface Spoiling {
  /** The place as a fraction of all places, and the new value, if any. */
  at: number
  value: unknown
  isLeftOut: boolean
}

/** Uniformly distributed fractions. Integers from fast-check are mostly near the ends of their range, and its floats mostly near 0. */
const fractions = fc.nat(0xffff).map((n) => ((n * 40_503) % 0x10000) / 0x10000)

export const spoilings = fc.array(
  fc.record({
    at: fractions,
    value: hostileJson,
    isLeftOut: fc.nat(7).map((n) => n === 3),
  }),
  { maxLength: 2 },
)

/** Changes values in place. Values without a place are added. */
export function spoil(values: Record<string, unknown>, choices: readonly Spoiling[]): void {
  for (const { at, value, isLeftOut } of choices) {
    const places = placesIn(values)
    const place = places[Math.floor(at * (places.length + 1))]
    if (!place) values.unknown = copyOf(value)
    else if (isLeftOut) delete place.holder[place.key]
    else place.holder[place.key] = copyOf(value)
  }
}

/** Yields copies of the values with each known hostile value at each place, one at a time. */
export function* eachSpoilt(valuesAnew: () => Record<string, unknown>): Generator<Record<string, unknown>> {
  for (const at of placesIn(valuesAnew()).keys()) {
    for (const value of knownValues) {
      const values = valuesAnew()
      const { holder, key } = placesIn(values)[at]!
      holder[key] = copyOf(value)
      yield values
    }
  }
}

const headerText = hostileText.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').trim())

/** Headers that the service reads. */
const headerNames = [
  ...[
    'Idempotency-Key',
    'If-Match',
    'If-None-Match',
    'X-Api-Key',
    'Authorization',
    'Accept-Language',
    'User-Agent',
    'X-Forwarded-For',
  ],
  ...[
    'Accept',
    'Range',
    'Last-Event-ID',
    'Origin',
    'Cookie',
    'Content-Type',
    'X-Request-Id',
    'Forwarded',
    'Host',
    'Sec-Fetch-Mode',
  ],
]

export const hostileHeaders = fc.oneof(
  { weight: 5, arbitrary: fc.constant([] as [string, string][]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.tuple(
        fc.constantFrom(...headerNames),
        fc.oneof(headerText, fc.constant('token x'), fc.constant('{{serial}}')),
      ),
      {
        maxLength: 2,
      },
    ),
  },
)

export const actors = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Kind>('user') },
  { weight: 3, arbitrary: fc.constant<Kind>('admin') },
  { weight: 1, arbitrary: fc.constant<Kind>('anonymous') },
)
