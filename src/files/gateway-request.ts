/**
 * The requested format of a file: its bytes, its root block, or a CAR of its blocks. The query or the header `Accept` selects it
 * (https://specs.ipfs.tech/http-gateways/trustless-gateway/#http-request).
 */
import { type FieldErrors, validationFailed } from '../shared/errors.ts'
import type { CarSelection } from './file-types.ts'

/** The first and the last byte of a range. Negative numbers count from the end of the file. */
export interface EntityBytes {
  from: number
  to: number | '*'
}

/** A request for a CAR. Blocks are always sent depth first. */
export interface CarRequest {
  kind: 'car'
  scope: 'block' | 'entity' | 'all'
  bytes?: EntityBytes | undefined
  duplicates: boolean
}

export type FileRequest = { kind: 'file' } | { kind: 'raw' } | CarRequest

type Kind = FileRequest['kind']

const kinds = new Map<string, Kind>([
  ['application/vnd.ipld.raw', 'raw'],
  ['application/vnd.ipld.car', 'car'],
])

interface Accepted {
  kind: Kind
  /** Parameters of the media type. Names are in lower case. */
  parameters: Map<string, string>
  weight: number
}

const unquoted = (text: string) => text.trim().replace(/^"(.*)"$/, '$1')

const readAccepted = (part: string): Accepted => {
  const [type = '', ...rest] = part.split(';')
  const parameters = new Map(
    rest.map((each) => {
      const [name = '', value = ''] = each.split('=')
      return [name.trim().toLowerCase(), unquoted(value)] as const
    }),
  )
  const weight = Number(parameters.get('q') ?? 1)
  return { kind: kinds.get(type.trim().toLowerCase()) ?? 'file', parameters, weight: Number.isNaN(weight) ? 0 : weight }
}

/** Returns the accepted formats, the most preferred first. */
const readAccept = (header = ''): Accepted[] =>
  header
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(readAccepted)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)

/** Allowed values of CAR parameters, by their names in the query. In the media type they have no prefix `car-`. */
const carParameters: Record<string, readonly string[]> = {
  'car-version': ['1'],
  'car-order': ['dfs', 'unk'],
  'car-dups': ['n', 'y'],
}

const carParameter = (name: string, query: URLSearchParams, { parameters }: Accepted) =>
  query.get(name) || parameters.get(name.slice('car-'.length)) || undefined

/** Returns the problem with the parameters of a CAR, or undefined. */
const problemOf = (query: URLSearchParams, accepted: Accepted): FieldErrors | undefined => {
  for (const [name, allowed] of Object.entries(carParameters)) {
    const value = carParameter(name, query, accepted)
    if (value !== undefined && !allowed.includes(value)) return { [name]: [`Expected ${allowed.join(' or ')}.`] }
  }
  return undefined
}

const scopes = ['block', 'entity', 'all'] as const

const readScope = (text: string | null): CarRequest['scope'] | undefined => {
  if (text === null) return undefined
  const scope = scopes.find((each) => each === text)
  if (!scope) throw validationFailed({ 'dag-scope': ['Expected block, entity or all.'] })
  return scope
}

const readEntityBytes = (text: string | null): EntityBytes | undefined => {
  if (text === null) return undefined
  const match = /^(-?\d{1,15}):(-?\d{1,15}|\*)$/.exec(text)
  const from = Number(match?.[1])
  const to = match?.[2] === '*' ? '*' : Number(match?.[2])
  if (!match || (to !== '*' && from < 0 === to < 0 && from > to)) {
    throw validationFailed({
      'entity-bytes': ['Expected the first and the last byte, as in 0:1023, 1024:* or -1024:*.'],
    })
  }
  return { from, to }
}

const readCar = (query: URLSearchParams, accepted: Accepted): CarRequest => {
  const scope = readScope(query.get('dag-scope'))
  const bytes = readEntityBytes(query.get('entity-bytes'))
  const duplicates = carParameter('car-dups', query, accepted) === 'y'
  if (bytes && (scope ?? 'entity') === 'entity') return { kind: 'car', scope: 'entity', bytes, duplicates }
  return { kind: 'car', scope: scope ?? 'all', duplicates }
}

/** Reads the requested format. The query has precedence over the header. Throws VALIDATION_FAILED for unsupported formats. */
export function readFileRequest(query: URLSearchParams, accept: string | undefined): FileRequest {
  const named = query.get('format')
  if (named !== null && named !== 'raw' && named !== 'car')
    throw validationFailed({ format: ['Expected raw or car. Without it the bytes of the file are sent.'] })
  const accepted = readAccept(accept)
  const fitting = accepted.filter(({ kind }) => named === null || kind === named)
  const candidates =
    fitting.length > 0 ? fitting : [{ kind: named ?? 'file', parameters: new Map(), weight: 1 } as const]
  const best = candidates.find((each) => each.kind !== 'car' || !problemOf(query, each))
  if (!best) throw validationFailed(problemOf(query, candidates[0]!)!)
  return best.kind === 'car' ? readCar(query, best) : { kind: best.kind }
}

/**
 * Returns the blocks of a CAR request. `size`: bytes of the file. An empty range selects the root block. Throws VALIDATION_FAILED for a range beyond
 * the end of the file.
 */
export function selectionOf({ scope, bytes, duplicates }: CarRequest, size: number): CarSelection {
  if (!bytes) return { scope: scope === 'block' ? 'block' : 'all', duplicates }
  const { from, to } = bytes
  const first = from < 0 ? Math.max(size + from, 0) : from
  const last = to === '*' ? size - 1 : to < 0 ? size + to : Math.min(to, size - 1)
  if (size > 0 && first >= size) throw validationFailed({ 'entity-bytes': [`The file has ${size} bytes.`] })
  if (last < first) return { scope: 'block', duplicates }
  return { scope: 'all', range: { offset: first, length: last - first + 1 }, duplicates }
}

/** Parses a `Range` header. Returns undefined for the whole file and null if the range is unsatisfiable. Only the first of several ranges counts. */
export function parseRange(
  header: string | undefined,
  size: number,
): { offset: number; length: number } | null | undefined {
  const match = /^bytes=(\d*)-(\d*)(?:\s*,\s*(?:\d+-\d*|-\d+))*$/i.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const start = match[1] === '' ? Math.max(size - Number(match[2]), 0) : Number(match[1])
  const end = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  return start > end || start >= size ? null : { offset: start, length: end - start + 1 }
}
