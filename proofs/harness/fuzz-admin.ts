/** Valid and invalid requests to every admin page and form. */
import fc from 'fast-check'
import { adminRoutes } from '../../src/modules/admin/admin-handler.ts'
import type { FuzzAnswer } from './fuzz-judge.ts'
import { actors, type FuzzRequest, hostileHeaders } from './fuzz-requests.ts'
import { brokenAddress, encodeGood, inAddress } from './fuzz-rest.ts'
import { hostileText, knownTexts } from './fuzz-values.ts'

interface Shape {
  target: string
  method: 'GET' | 'POST'
  path: string
  /** Fields of a valid form, without those that all forms have. */
  fields: Record<string, string>
}

const guarded = { 'current-password': '{{admin.password}}' }
const app = {
  name: 'page {{serial}}',
  price: '0.001',
  webhookUrl: 'http://127.0.0.1:9/',
  deliveryFailurePolicy: 'KEEP',
}

/** Form fields by path. A missing form makes the module throw. */
const forms: Record<string, Record<string, string>> = {
  '/admin/sign-in': { email: '{{admin.email}}', password: '{{admin.password}}', next: '/admin/orders?status=SUCCESS' },
  '/admin/sign-out': {},
  '/admin/orders/:id/refund': { ...guarded, amount: '0.0001', reason: 'because' },
  '/admin/new-app': app,
  '/admin/apps/:id/edit': app,
  '/admin/apps/:id/test': {},
  '/admin/apps/:id/rotate-secret': guarded,
  '/admin/apps/:id/deactivate': guarded,
  '/admin/webhooks/:id/replay': {},
  '/admin/new-key': { ...guarded, name: 'page {{serial}}' },
  '/admin/keys/:id/revoke': guarded,
  '/admin/users/:id/lock': { ...guarded, reason: 'because' },
  '/admin/users/:id/unlock': { ...guarded, reason: 'because' },
  '/admin/new-grant': { ...guarded, userId: '{{owner.id}}', amount: '1', reason: 'x' },
}

/** What the ID in a path refers to, by area. */
const identifiers: Record<string, string> = {
  orders: '{{owner.paidOrderId}}',
  apps: '{{owner.appId}}',
  webhooks: '{{owner.deliveryId}}',
  keys: '{{scene.apiKeyId}}',
  users: '{{owner.id}}',
  grants: '{{owner.grantId}}',
}

const shapeOf = (method: 'GET' | 'POST', path: string): Shape => {
  const fields = method === 'POST' ? forms[path] : {}
  if (!fields) throw new Error(`${path} has no good form here.`)
  return { target: `${method} ${path}`, method, path, fields }
}

/** Every admin page and form from the route table, with sign-in and sign-out. */
export const adminShapes: readonly Shape[] = [
  shapeOf('GET', '/admin/sign-in'),
  shapeOf('POST', '/admin/sign-in'),
  ...adminRoutes.map(({ method, path }) => shapeOf(method, path)),
  shapeOf('POST', '/admin/sign-out'),
]

const identifierOf = (path: string) => identifiers[path.split('/')[2]!] ?? ''
const COOKIE = ['Cookie', 'annal-admin={{admin.session}}'] as [string, string]
const OWN = ['Sec-Fetch-Site', 'same-origin'] as [string, string]
const FORM = 'application/x-www-form-urlencoded'
const encode = (fields: readonly (readonly [string, string])[]) =>
  fields.map(([name, value]) => `${encodeGood(name)}=${encodeGood(value)}`).join('&')
const hiddenFields = () => ({ 'form-token': '{{admin.formToken}}', key: 'page {{serial}}' })

const BOUNDARY = 'fuzzed-boundary'
const multipart = (fields: readonly (readonly [string, string])[]) =>
  `${fields.map(([name]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${encodeURIComponent(name.toWellFormed())}"\r\n\r\nx\r\n`).join('')}--${BOUNDARY}--\r\n`

const queryNames = [
  ...['offset', 'status', 'networkAppId', 'orderId', 'buyerId', 'userId', 'search', 'name', 'isActive'],
  ...['days', 'done', 'user', 'next', '__proto__', 'constructor', 'form-token'],
]

const seldom = fc.nat(11).map((n) => n === 0)
const spoiltField = fc.record({
  at: fc.nat(7),
  /** Kind of change. `unknown` adds an unknown field. */
  how: fc.constantFrom('value', 'value', 'value', 'missing', 'twice', 'unknown'),
  value: hostileText,
  name: fc.constantFrom('__proto__', 'constructor', 'toString', 'x', '', '\0'),
})

type SpoiltField = typeof spoiltField extends fc.Arbitrary<infer Value> ? Value : never

function spoilFields(fields: Record<string, string>, spoilt: readonly SpoiltField[]): [string, string][] {
  const sent = Object.entries(fields)
  for (const { at, how, value, name } of spoilt) {
    const place = at % Math.max(sent.length, 1)
    if (how === 'unknown' || !sent.length) sent.push([name, value])
    else if (how === 'missing') sent.splice(place, 1)
    else if (how === 'twice') sent.push([sent[place]![0], value])
    else sent[place] = [sent[place]![0], value]
  }
  return sent
}

/** Returns requests to one page or form. Most are invalid in some way. */
export function adminRequests({ target, method, path, fields }: Shape): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      actor: actors,
      verb: fc.oneof(
        { weight: 10, arbitrary: fc.constant<string>(method) },
        { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'DELETE', 'PROPFIND') },
      ),
      parameter: fc.option(fc.record({ text: hostileText, isEncoded: fc.boolean() }), { freq: 3 }),
      ending: fc.oneof({ weight: 12, arbitrary: fc.constantFrom('', '/') }, { weight: 1, arbitrary: brokenAddress }),
      query: fc.array(fc.tuple(fc.constantFrom(...queryNames), hostileText), { maxLength: 3 }),
      spoilt: fc.array(spoiltField, { maxLength: 2 }),
      site: fc.oneof(
        { weight: 10, arbitrary: fc.constant(OWN) },
        {
          weight: 2,
          arbitrary: fc.constantFrom<[string, string]>(
            ['Sec-Fetch-Site', 'cross-site'],
            ['Origin', 'https://evil.org'],
            ['Origin', 'null'],
            ['X-Nothing', '1'],
          ),
        },
      ),
      type: fc.oneof(
        { weight: 10, arbitrary: fc.constant(FORM) },
        {
          weight: 2,
          arbitrary: fc.constantFrom(`multipart/form-data; boundary=${BOUNDARY}`, 'application/json', 'text/plain', ''),
        },
      ),
      isHuge: seldom,
      headers: hostileHeaders,
    })
    .map(({ actor, verb, parameter, ending, query, spoilt, site, type, isHuge, headers }) => {
      const address = path.replace(/:\w+/, () =>
        parameter ? inAddress(parameter.text, parameter.isEncoded) : identifierOf(path),
      )
      const sent = spoilFields({ ...fields, ...hiddenFields() }, spoilt)
      const text = type.startsWith('multipart') ? multipart(sent) : encode(sent)
      const isForm = verb === 'POST'
      return {
        target,
        actor,
        method: verb,
        path: address + ending + (query.length ? `?${encode(query)}` : ''),
        headers: [
          ...(actor === 'admin' ? [COOKIE] : []),
          ...(isForm ? [site, ['Content-Type', type] as [string, string]] : []),
          ...headers,
        ],
        ...(isForm && { body: isHuge ? `${text}&x=${'x'.repeat(60_000)}` : text }),
      }
    })
}

interface Sent {
  identifier: string
  query: [string, string][]
  fields: Record<string, string>
}

function requestWith({ target, method, path }: Shape, { identifier, query, fields }: Sent): FuzzRequest {
  const isForm = method === 'POST'
  return {
    target,
    actor: 'admin',
    method,
    path: path.replace(/:\w+/, () => identifier) + (query.length ? `?${encode(query)}` : ''),
    headers: [COOKIE, ...(isForm ? [OWN, ['Content-Type', FORM] as [string, string]] : [])],
    ...(isForm && { body: encode(Object.entries({ ...fields, ...hiddenFields() })) }),
  }
}

const sentBy = ({ path, fields }: Shape): Sent => ({ identifier: identifierOf(path), query: [], fields })

/** Returns a request as a browser sends it. */
export const goodAdminRequest = (shape: Shape): FuzzRequest => ({ ...requestWith(shape, sentBy(shape)), isGood: true })

/** Yields requests with each known hostile text in each form field, page parameter and path ID. */
export function* eachAdminRequest(shape: Shape): Generator<FuzzRequest> {
  const sent = sentBy(shape)
  for (const text of knownTexts) {
    if (shape.path.includes(':')) yield requestWith(shape, { ...sent, identifier: inAddress(text, true) })
    for (const name of Object.keys(shape.fields)) {
      yield requestWith(shape, { ...sent, fields: { ...shape.fields, [name]: text } })
    }
    if (shape.method === 'POST') continue
    for (const name of queryNames) yield requestWith(shape, { ...sent, query: [[name, text]] })
  }
}

/** Returns true if a response redirects to the sign-in page or shows it, as for requests without a session. */
export const leadsToSignIn = ({ status, headers, text }: FuzzAnswer): boolean =>
  status === 303
    ? (headers?.get('location') ?? '').startsWith('/admin/sign-in?')
    : status === 403 && text.includes('action="/admin/sign-in"')

/** Returns the problem of an admin page response, or undefined. */
export function complaintOfPage({ status, type, text, headers }: FuzzAnswer): string | undefined {
  if (!headers) return undefined
  if (status === 405 && !headers.get('allow')) return 'it does not tell the methods that there are'
  if (status === 303) return /^\/admin([/?]|$)/.test(headers.get('location') ?? '') ? undefined : 'it leads elsewhere'
  if (!type.startsWith('text/html')) return status === 204 ? undefined : `a page is ${type || 'of no type'}`
  if (!headers.get('content-security-policy')?.startsWith("default-src 'none'")) return 'a page has no policy'
  if (headers.get('cache-control') !== 'no-store') return 'a page may be kept'
  return /<script|\[native code\]|\[object /i.exec(text)?.[0]
}
