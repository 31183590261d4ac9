/** Fuzz requests for every route. Its fields and parameters are recorded while the route reads them. */

import fc from 'fast-check'
import type { RestRequest, Route } from '../../src/http/rest/define-route.ts'
import { routes } from '../../test/support/full-api.ts'
import { type RestCall, restCallOf, restCalls } from './authz-values.ts'
import {
  actors,
  asBytes,
  asked,
  eachSpoilt,
  type FuzzRequest,
  hostileHeaders,
  type Spoiling,
  spoil,
  spoilings,
} from './fuzz-requests.ts'
import { hostileText, knownTexts, toJson, toText } from './fuzz-values.ts'

interface Shape {
  target: string
  method: string
  /** Path from the root. */
  path: string
  fields: string[]
  files: string[]
  query: string[]
  calls: RestCall[]
}

const readings = {
  text: 'text',
  exactText: 'text',
  textOrNull: 'text',
  choice: undefined,
  amount: '1',
  flag: true,
  object: { a: 1 },
  list: [],
  json: '{"a":1}',
  upload: undefined,
} as const

/** Records what a route reads from a request to build its variables. */
export function noteReadings(route: Route) {
  const fields = new Set<string>()
  const files = new Set<string>(route.files)
  const query = new Set<string>(['dry_run'])
  const body = Object.fromEntries([
    ...Object.entries(readings).map(([kind, value]) => [
      kind,
      (name: string, known?: object) => {
        ;(kind === 'upload' ? files : fields).add(name)
        return known ? Object.values(known)[0] : value
      },
    ]),
    ['all', () => ({})],
  ])
  const parameters = new Proxy(new URLSearchParams(), {
    get: (_, method) => (name: string) => {
      if (typeof name === 'string') query.add(name)
      return method === 'getAll' ? [] : null
    },
  })
  const request = { body, params: {}, query: parameters, unread: {}, url: '', header: () => undefined }
  try {
    route.variables(request as unknown as RestRequest)
  } catch {
    // The route rejected the placeholder values. The fields that it read until then are recorded.
  }
  return { fields: [...fields], files: [...files], query: [...query] }
}

const goodParams: Record<string, string> = { nid: '{{owner.nid}}', id: '{{owner.orderId}}', cid: '{{owner.nid}}' }

const callsOf = (target: string): RestCall[] => [restCallOf(target)?.(asked) ?? {}].flat()

function* allShapes(): Generator<Shape> {
  for (const route of routes) {
    const target = `${route.method} ${route.path}`
    const prefixes = route.path.startsWith('auth/') ? ['/api/v3/', '/'] : ['/api/v3/']
    for (const prefix of prefixes) {
      yield {
        target: prefix === '/' ? `${route.method} /${route.path}` : target,
        method: route.method,
        path: prefix + route.path,
        ...noteReadings(route),
        calls: callsOf(target),
      }
    }
  }
  // Routes without an operation have a path from the root.
  for (const target of Object.keys(restCalls)) {
    const [method = '', path = ''] = target.split(' ')
    if (!path.startsWith('/')) continue
    const query = ['older', 'download', 'format', 'expires', 'signature', 'last_event_id', 'size']
    yield { target, method, path, fields: ['new-password'], files: [], query, calls: callsOf(target) }
  }
}

/** Routes that the scene cannot serve: it has no pictures, and no processes that resize and sign them. */
export const neverLetIn = new Set([
  'GET /pictures/:id',
  'GET /pictures/:id/thumbnail',
  'GET /api/v3/assets/:nid/c2pa',
  'POST /api/v3/assets/:nid/c2pa',
])

export const restShapes: readonly Shape[] = [...allShapes()]

/** Encodes a text for a path. The text may contain invalid Unicode. */
export const inAddress = (text: string, isEncoded: boolean) =>
  isEncoded ? [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('') : encodeGood(text)

/** Encodes a text, but keeps placeholders unchanged. */
export const encodeGood = (text: string) =>
  text
    .toWellFormed()
    .split(/(\{\{[\w.]+\}\})/)
    .map((part) => (part.startsWith('{{') ? part : encodeURIComponent(part)))
    .join('')

/** Invalid endings of paths. */
export const brokenAddress = fc.constantFrom(
  '%',
  '%0',
  '%zz',
  '%ED%A0%80',
  '%00',
  '%ff',
  '..%2f..%2f',
  '%2e%2e/',
  '//',
  ';a=b',
  '%25%30%30',
)

const encodings = ['json', 'json', 'multipart', 'multipart', 'urlencoded', 'none', 'mislabelled', 'broken'] as const
type Encoding = (typeof encodings)[number]

const BOUNDARY = 'fuzzed-boundary'

interface Part {
  name: string
  text: string
  isFile?: boolean
}

function multipart(parts: Part[], partHeader: string): string {
  const lines = parts.map(({ name, text, isFile }) => {
    const label = name
      .toWellFormed()
      .replaceAll('"', '%22')
      .replaceAll(/[\r\n]/g, ' ')
    const file = isFile ? `; filename="${partHeader || 'a.txt'}"\r\nContent-Type: ${partHeader || 'text/plain'}` : ''
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${label}"${file}\r\n\r\n${text}\r\n`
  })
  return asBytes(`${lines.join('')}--${BOUNDARY}--\r\n`)
}

function encodeBody(
  encoding: Encoding,
  values: Record<string, unknown>,
  files: string[],
  partHeader: string,
): { body?: string; type?: string } {
  const json = () => asBytes(toJson(values))
  const texts = () => Object.entries(values).map(([name, value]): Part => ({ name, text: toText(value) }))
  switch (encoding) {
    case 'json':
      return { body: json(), type: 'application/json' }
    case 'mislabelled':
      return { body: json(), type: 'application/x-www-form-urlencoded' }
    case 'broken':
      return { body: json().slice(0, -1), type: 'application/json' }
    case 'urlencoded': {
      const body = texts().map(({ name, text }) => `${encodeGood(name)}=${encodeGood(text)}`)
      return { body: body.join('&'), type: 'application/x-www-form-urlencoded' }
    }
    case 'multipart': {
      const sent = files.map((name): Part => ({ name, text: 'file {{serial}} of many', isFile: true }))
      return { body: multipart([...sent, ...texts()], partHeader), type: `multipart/form-data; boundary=${BOUNDARY}` }
    }
    case 'none':
      return {}
  }
}

const plain = (value: unknown) => (value instanceof File ? undefined : value)

/** Returns the valid values of a request, and null for all other fields that the route reads. */
function goodValues({ fields, files }: Shape, call: RestCall): Record<string, unknown> {
  // A body that is a list is read under a name.
  const json = Array.isArray(call.json) ? { trees: call.json } : call.json
  const given = { ...json, ...call.form, ...call.urlencoded }
  const known = Object.entries(given).filter(([name, value]) => plain(value) !== undefined && !files.includes(name))
  // Other fields are null, which counts as omitted. Only invalid requests set them.
  const others = fields.filter((name) => !Object.hasOwn(given, name)).map((name) => [name, null])
  return Object.fromEntries([...others, ...known])
}

export function restRequests(shape: Shape): fc.Arbitrary<FuzzRequest> {
  const { method, target, path, files } = shape
  const hasBody = method !== 'GET'
  return fc
    .record({
      call: fc.constantFrom(...shape.calls),
      actor: actors,
      params: fc.array(fc.record({ at: fc.nat(3), text: hostileText, isEncoded: fc.boolean() }), { maxLength: 1 }),
      isParamSpoilt: fc.nat(3).map((n) => n === 0),
      ending: fc.oneof({ weight: 12, arbitrary: fc.constantFrom('', '/') }, { weight: 1, arbitrary: brokenAddress }),
      query: fc.array(
        fc.tuple(fc.constantFrom(...shape.query, 'limit', 'offset', 'unknown', '__proto__'), hostileText),
        { maxLength: 2 },
      ),
      encoding: fc.constantFrom(...encodings),
      partHeader: fc.oneof(
        fc.constant(''),
        hostileText.map((text) => text.toWellFormed().replaceAll(/["\r\n]/g, '')),
      ),
      spoilt: spoilings,
      headers: hostileHeaders,
      isHead: fc.nat(30).map((n) => n === 0),
    })
    .map(({ call, actor, params, isParamSpoilt, ending, query, encoding, partHeader, spoilt, headers, isHead }) => {
      let index = 0
      const spoiltParam = isParamSpoilt ? params[0] : undefined
      const address = path.replaceAll(/:(\w+)/g, (_, name: string) => {
        const isSpoilt = spoiltParam?.at === index++ || (spoiltParam && index === 1)
        return isSpoilt
          ? inAddress(spoiltParam.text, spoiltParam.isEncoded)
          : encodeGood(call.params?.[name] ?? goodParams[name] ?? '{{serial}}')
      })
      const search = [...Object.entries(call.query ?? {}), ...(isParamSpoilt || !hasBody ? query : [])]
      const values = goodValues(shape, call)
      const choices: readonly Spoiling[] = hasBody ? spoilt : []
      spoil(values, choices)
      const { body, type } = hasBody ? encodeBody(encoding, values, files, partHeader) : {}
      const text = search.map(([name, value]) => `${encodeGood(name)}=${encodeGood(value as string)}`).join('&')
      return {
        target,
        actor,
        method: isHead && method === 'GET' ? 'HEAD' : method,
        path: address + ending + (text && `?${text}`),
        headers: [...(type ? [['Content-Type', type] as [string, string]] : []), ...headers],
        ...(body !== undefined && { body }),
      }
    })
}

interface Sent {
  params: Record<string, string>
  query: Record<string, string>
  values: Record<string, unknown>
}

const sentBy = (shape: Shape, call: RestCall): Sent => ({
  params: Object.fromEntries(
    [...shape.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [
      name,
      call.params?.[name] ?? goodParams[name] ?? '{{serial}}',
    ]),
  ),
  query: call.query ?? {},
  values: goodValues(shape, call),
})

/** Returns true for pages whose forms are sent by browsers. */
const isPage = (path: string) => /^\/(account|assets|lookup)\b/.test(path)

function requestWith(shape: Shape, call: RestCall, { params, query, values }: Sent): FuzzRequest {
  const { target, method } = shape
  const files = shape.files.filter((name) => call.form?.[name] instanceof File)
  const isForm = call.urlencoded !== undefined || isPage(shape.path)
  const encoding = method === 'GET' ? 'none' : files.length ? 'multipart' : isForm ? 'urlencoded' : 'json'
  const { body, type } = encodeBody(encoding, values, files, '')
  const address = shape.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeGood(params[name]!))
  const text = Object.entries(query).map(([name, value]) => `${encodeGood(name)}=${encodeGood(value)}`)
  return {
    target,
    actor: /api-keys|network-apps|point-grants|refunds|webhook-deliveries|store\/users/.test(shape.path)
      ? 'admin'
      : 'user',
    method,
    path: address + (text.length ? `?${text.join('&')}` : ''),
    headers: type ? [['Content-Type', type]] : [],
    ...(body !== undefined && { body }),
  }
}

/** Returns a request that should succeed, or fail only for a business reason. */
export function goodRestRequest(shape: Shape): FuzzRequest {
  const [call = {}] = shape.calls
  const sent = sentBy(shape, call)
  const values = Object.fromEntries(Object.entries(sent.values).filter(([, value]) => value !== null))
  return { ...requestWith(shape, call, { ...sent, values }), isGood: true }
}

/** Yields otherwise valid requests with each known hostile value in each field, and each hostile text in each part of the path. */
export function* eachRestRequest(shape: Shape): Generator<FuzzRequest> {
  for (const call of shape.calls) {
    const sent = sentBy(shape, call)
    if (shape.method !== 'GET') {
      for (const values of eachSpoilt(() => goodValues(shape, call)))
        yield requestWith(shape, call, { ...sent, values })
    }
    for (const text of knownTexts) {
      for (const name of Object.keys(sent.params)) {
        yield requestWith(shape, call, { ...sent, params: { ...sent.params, [name]: text } })
      }
      for (const name of shape.query) {
        yield requestWith(shape, call, { ...sent, query: { ...sent.query, [name]: text } })
      }
    }
  }
}
