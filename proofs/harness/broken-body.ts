/** Bodies that end too early, say what is not so, or hold too much of one kind. */
import { formEnd, formType, part, partHead, registrationByGraphQL } from '../../test/support/form-parts.ts'
import { chunk, type RawCall } from '../../test/support/raw-http.ts'
import type { Random } from './random.ts'

export type BrokenBody = Pick<RawCall, 'headers' | 'pieces' | 'pause' | 'end'>

const json = { 'content-type': 'application/json' }
const form = { 'content-type': formType }
const encoded = { 'content-type': 'application/x-www-form-urlencoded' }
const chunked = { 'transfer-encoding': 'chunked' }

/** A form that goes with the path: GraphQL's own, or fields and a file that assets take. */
const opening = (path: string) =>
  path.startsWith('/graphql')
    ? registrationByGraphQL + partHead('0', 'a.png')
    : part('caption', 'x') + partHead('asset_file', 'a.png')

/** Each makes a body for a path. */
export const brokenBodies: Record<string, (path: string, random: Random) => BrokenBody> = {
  'JSON broken off': (_, random) => ({
    headers: { ...json, 'content-length': 5_000 },
    pieces: [Buffer.from('{"query":"{ me'), Buffer.alloc(random.below(3_000), 'x')],
    end: 'break',
  }),
  'JSON half closed': () => ({
    headers: { ...json, 'content-length': 500 },
    pieces: [Buffer.from('{"a":')],
    end: 'close',
  }),
  'nothing at all': () => ({ headers: { ...json, 'content-length': 100 }, pieces: [], end: 'break' }),
  'a form broken off in a field': (_, random) => ({
    headers: { ...form, 'content-length': 90_000 },
    pieces: [
      Buffer.from(part('a', 'x')),
      Buffer.from(`${part('b', 'y').slice(0, -5)}${'z'.repeat(random.below(900))}`),
    ],
    end: 'break',
  }),
  'a form broken off in the head of a file': (path) => ({
    headers: { ...form, ...chunked },
    pieces: [chunk(Buffer.from(opening(path).slice(0, -20)))],
    end: 'break',
  }),
  'a form broken off in a file': (path, random) => ({
    headers: { ...form, 'content-length': 900_000 },
    pieces: [Buffer.from(opening(path)), Buffer.alloc(200 + random.below(200_000), 'x')],
    end: 'break',
  }),
  'a form half closed in a file': (path) => ({
    headers: { ...form, ...chunked },
    pieces: [chunk(Buffer.from(opening(path))), chunk(Buffer.alloc(10_000, 'x'))],
    end: 'close',
  }),
  'a form that never ends': (path) => ({
    headers: { ...form, 'content-length': Buffer.byteLength(opening(path)) + 8 },
    pieces: [Buffer.from(opening(path)), Buffer.from('8 bytes.')],
    end: 'wait',
  }),
  'an encoded form broken off': (_, random) => ({
    headers: { ...encoded, 'content-length': 5_000 },
    pieces: [Buffer.from('form-token=x&a='), Buffer.alloc(random.below(3_000), 'x')],
    end: 'break',
  }),
  'an encoded form half closed': () => ({
    headers: { ...encoded, 'content-length': 500 },
    pieces: [Buffer.from('form-token=x&a=')],
    end: 'close',
  }),
  'an encoded form that is too large': () => ({
    headers: { ...encoded, ...chunked },
    pieces: [chunk(Buffer.from('form-token=x&a=')), ...Array(20).fill(chunk(Buffer.alloc(60_000, 'x')))],
    end: 'wait',
  }),
  'dribbled and broken off': (path, random) => ({
    headers: { ...form, 'content-length': 10_000 },
    pieces: Array.from({ length: 3 + random.below(5) }, (_, i) =>
      Buffer.from(opening(path).slice(i * 40, i * 40 + 40)),
    ),
    pause: 20 + random.below(60),
    end: 'break',
  }),
  'longer than it says': () => ({
    headers: { ...json, 'content-length': 5 },
    pieces: [Buffer.from(`{"a":"${'x'.repeat(5_000)}"}`)],
    end: 'close',
  }),
  'far too large, and says so': () => ({
    headers: { ...json, 'content-length': 5_000_000_000 },
    pieces: [],
    end: 'wait',
  }),
  'too large without a length': () => ({
    headers: { ...json, ...chunked },
    pieces: [chunk(Buffer.from('{"a":"')), ...Array(20).fill(chunk(Buffer.alloc(60_000, 'x')))],
    end: 'wait',
  }),
  'too many fields': () => ({
    headers: { ...form, ...chunked },
    pieces: [
      chunk(Buffer.from(Array.from({ length: 150 }, (_, i) => part(`f${i}`, 'x')).join(''))),
      chunk(Buffer.from(formEnd)),
      Buffer.from('0\r\n\r\n'),
    ],
    end: 'wait',
  }),
  'too many files': (path) => ({
    headers: { ...form, ...chunked },
    pieces: [
      chunk(
        Buffer.from(
          opening(path) + Array.from({ length: 15 }, (_, i) => `bytes\r\n${partHead(`f${i}`, 'a')}`).join(''),
        ),
      ),
      chunk(Buffer.from(formEnd)),
      Buffer.from('0\r\n\r\n'),
    ],
    end: 'wait',
  }),
  'chunks that are none': () => ({
    headers: { ...form, ...chunked },
    pieces: [Buffer.from('zz\r\nno chunk\r\n')],
    end: 'wait',
  }),
}
