/** The REST door: finds the route, keeps the order of checks, answers in the shapes old callers read. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import Router from 'find-my-way'
import type { Context, Identity } from '../context.ts'
import type { BodyReaders } from '../domain/asset/uploads.ts'
import { authenticationFailed, DomainError, notFound } from '../domain/errors.ts'
import { assertMay, assertTrusted } from '../domain/policy.ts'
import type { RequestWatch } from '../domain/telemetry.ts'
import { hasOpenField } from '../graphql/stale-token.ts'
import { matchesEtag } from '../platform/http/if-none-match.ts'
import type { DirectRequest, DirectRoute, RestRequest, Route } from './define-route.ts'
import { routeFor } from './dry-run.ts'
import { type Answer, type Executor, executeRoute, refusalOf } from './execute.ts'
import { writeJson } from './kept-json.ts'
import { lenientFields } from './lenient-fields.ts'
import { sendPage } from './page-routes.ts'
import { readBody } from './read-body.ts'
import { readPage } from './read-page.ts'
import { sendParts } from './send-parts.ts'
import { assertSingleValues } from './single-values.ts'
import { presentRefusal, refusalHeaders, statuses } from './status.ts'

/** What the routes run on, and how requests are read. */
export interface RestDependencies extends Executor {
  routes: Route[]
  directRoutes: DirectRoute[]
  /**
   * Raises what authentication and `admit` raise, and then what is wrong with the headers. `ignoresCredentials`: whoever asks is
   * anonymous. `isUncounted`: the request counts against no limit.
   */
  createContext: (
    req: IncomingMessage,
    res: ServerResponse,
    options: { ignoresCredentials: boolean; isUncounted: boolean; admit: (identity: Identity) => void },
  ) => Promise<Context>
  /** The log of a request, for errors before there is a context. */
  logOf(res: ServerResponse): Context['log']
  /** How a person is told that there is nothing at an address. */
  presentMissing: NonNullable<DirectRoute['presentRefusal']>
  body: BodyReaders<IncomingMessage>
  watch: RequestWatch
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const
/** Addresses under which programs ask, whatever they say that they take. */
const OF_PROGRAMS = /^\/(?:api|auth|ipfs)(?:\/|$)/
const HAS_BODY = new Set(['POST', 'PATCH', 'DELETE'])

/** Whether a browser shows the answer to a person. */
const isPersons = ({ url = '', headers }: IncomingMessage) =>
  !OF_PROGRAMS.test(split(url).path) && /\btext\/html\b/i.test(headers.accept ?? '')

/** Browsers of any origin may read and call; credentials travel in headers, never in cookies. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
}
/** Any header may be sent, as to `/graphql`: those of frameworks and tracers are ignored. `*` does not stand for `Authorization`, nor for any in old browsers. */
const preflightHeaders = {
  'Access-Control-Allow-Headers':
    'Authorization, X-Api-Key, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, User-Agent, X-CSRFToken, X-Requested-With, *',
  'Access-Control-Max-Age': '86400',
}

type Found = { name: string } & ({ kind: 'operation'; route: Route } | { kind: 'direct'; route: DirectRoute })

/** Maximum characters of a path parameter. A CID in base 2 has 289. */
const LONGEST_PARAM = 512

/** Creates the handler of every path but `/graphql`. Errors become responses. */
export function createRestHandler(deps: RestDependencies) {
  const router = Router({ ignoreTrailingSlash: true, ignoreDuplicateSlashes: false, maxParamLength: LONGEST_PARAM })
  const paths = new Set<string>()
  const add = (found: Found, path: string) => {
    paths.add(path)
    router.on(found.route.method, path, () => {}, found)
  }
  for (const route of deps.routes) {
    const path = `/api/v3/${route.path}`
    const found: Found = { kind: 'operation', route, name: `${route.method} ${path}` }
    add(found, path)
    // The phone app knows this family without the prefix.
    if (route.path.startsWith('auth/')) add(found, `/${route.path}`)
  }
  for (const route of deps.directRoutes) {
    add({ kind: 'direct', route, name: `${route.method} ${route.path}` }, route.path)
  }
  closeNamedAddresses(router, paths)

  const open = new Set<Found['route']>([
    ...deps.routes.filter(({ operation }) => hasOpenField(deps.schema, operation)),
    ...deps.directRoutes.filter(({ isOpenToStaleTokens }) => isOpenToStaleTokens),
  ])

  const find = (method: string, path: string) => {
    const match = router.find(method as 'GET', path)
    return match?.store ? { params: match.params, found: match.store as Found } : undefined
  }
  const allowed = (path: string) => {
    const methods = METHODS.filter((method) => find(method, path))
    return methods.includes('GET')
      ? [...methods, 'HEAD', 'OPTIONS']
      : methods.length
        ? [...methods, 'OPTIONS']
        : methods
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let context: Context | undefined
    let found: Found | undefined
    deps.watch.asked(res, 'rest', 'other')
    try {
      const { path, query } = split(req.url!)
      const method = req.method === 'HEAD' ? 'GET' : req.method!
      if (method === 'OPTIONS') return preflight(res, allowed(path))
      const match = find(method, path)
      if (!match) {
        const methods = allowed(path)
        if (!methods.length) throw notFound('Resource')
        found = find(methods[0]!, path)!.found
        res.setHeader('Allow', methods.join(', '))
        throw new DomainError('METHOD_NOT_ALLOWED', `Method "${req.method}" not allowed.`)
      }
      found = match.found
      deps.watch.asked(res, 'rest', found.name)
      const params = match.params as Record<string, string>
      const { ignoresCredentials = false, isUncounted = false } = found.kind === 'direct' ? found.route : {}
      context = await deps.createContext(req, res, { ignoresCredentials, isUncounted, admit: admitTo(found) })
      const request = { req, res, params, query, context }
      await (found.kind === 'direct' ? handleDirectly(found.route, request) : answer(found.route, request, path))
    } catch (error) {
      refuse(req, res, error, context, found)
    }
  }

  const admitTo =
    (found: Found) =>
    ({ actor, hasStaleToken }: Identity) => {
      if (hasStaleToken && !open.has(found.route)) throw authenticationFailed()
      if (found.kind === 'direct') return
      const { action, apiKey } = found.route
      assertMay(actor, action)
      if (apiKey) assertTrusted(actor, { needed: apiKey === 'needed' })
    }

  async function handleDirectly(route: DirectRoute, request: DirectRequest) {
    assertSingleValues({ method: route.method, query: route.description?.query }, request.query)
    await route.handle(request)
  }

  async function answer(addressed: Route, { req, res, params, query, context }: DirectRequest, path: string) {
    assertSingleValues(addressed, query)
    const route = routeFor(addressed, query)
    const { files = [], maxFileBytes = deps.body.maxFileBytes, listAs } = route
    // A body that is too large whoever sends it is refused for its size by its reader, not for want of room.
    const mostBytes = deps.body.maxBytes + files.length * maxFileBytes
    const declaredBytes = Math.min(Number(req.headers['content-length'] ?? 0), mostBytes)
    await route.admit?.(context, declaredBytes)
    const intake = context.services.uploads.open(context.actor, declaredBytes)
    const answered = async () => {
      const texts = Object.keys(route.body?.shape ?? {}).filter((name) => !files.includes(name))
      const options = { ...deps.body, files, texts, maxFileBytes, listAs, intake }
      const body = await readBody(HAS_BODY.has(route.method) ? req : emptyBody, options)
      const unread = {}
      const request: RestRequest = {
        params,
        query,
        ...(route.isQuote ? { body: lenientFields(body, unread), unread } : { body }),
        header: (name) => req.headers[name] as string | undefined,
        url: context.baseUrl + path,
      }
      const { list } = route
      if (list) return readPage(deps, { ...route, list }, request, context)
      return replayable(() => executeRoute(deps, route, request, context), context)
    }
    await send(req, res, await answered().finally(intake.close))
  }

  /** A replay sends the very body of the first time, whatever has become of the thing since; a first time keeps it. */
  async function replayable(
    run: () => Promise<Answer>,
    { idempotency, services }: Context,
  ): Promise<Answer & { replayed?: boolean }> {
    try {
      const fresh = await run()
      if (!idempotency.replayed) {
        await services.idempotency.keep(idempotency, fresh)
        return fresh
      }
      return { ...(((await services.idempotency.recall(idempotency)) as Answer | undefined) ?? fresh), replayed: true }
    } catch (error) {
      const kept = idempotency.replayed && ((await services.idempotency.recall(idempotency)) as Answer | undefined)
      if (!kept) throw error
      return { ...kept, replayed: true }
    }
  }

  function refuse(req: IncomingMessage, res: ServerResponse, error: unknown, context?: Context, found?: Found) {
    const refusal = refusalOf(error, context ?? { log: deps.logOf(res) })
    deps.watch.refused(res, refusal.code)
    if (res.headersSent) return res.destroy()
    for (const [name, value] of Object.entries(refusalHeaders(refusal))) res.setHeader(name, value)
    if (found?.kind === 'direct' && found.route.presentRefusal) {
      return sendPage(req, res, found.route.presentRefusal(refusal, req))
    }
    if (!found && isPersons(req)) return sendPage(req, res, deps.presentMissing(refusal, req))
    sendJson(req, res, statuses[refusal.code].status, presentRefusal(refusal))
  }

  return { handle }
}

/**
 * An address that is written out has the methods of its own routes and no others: `DELETE auth/sessions/revoke-others` is
 * not allowed, and does not end a session of that name.
 */
function closeNamedAddresses(router: Router.Instance<Router.HTTPVersion.V1>, paths: ReadonlySet<string>) {
  for (const path of paths) {
    if (/:\w+$/.test(path)) continue
    const address = path.replaceAll(/:\w+/g, 'any')
    const strangers = METHODS.filter((method) => router.find(method, address) && !router.hasRoute(method, path))
    for (const method of strangers) router.on(method, path, () => {})
  }
}

/** A request that has no body to read. */
const emptyBody = { headers: { 'content-length': '0' } } as IncomingMessage

const noQuery = new URLSearchParams()

/** The scheme of an identifier whose slashes are not encoded, as in `/assets/ipfs://<cid>/`. */
const UNENCODED_SCHEME = /\/ipfs:\/\//i

/** Splits the target of a request. */
function split(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?')
  const path = (mark < 0 ? url : url.slice(0, mark)).replace(UNENCODED_SCHEME, '/')
  return { path, query: mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1)) }
}

function preflight(res: ServerResponse, methods: string[]) {
  if (methods.length) res.setHeader('Allow', methods.join(', '))
  res
    .writeHead(204, {
      ...corsHeaders,
      ...preflightHeaders,
      'Access-Control-Allow-Methods': methods.join(', ') || 'GET',
    })
    .end()
}

/** Sends a response. Raises the error of a body that is read while it is sent: the connection must then be aborted. */
async function send(
  req: IncomingMessage,
  res: ServerResponse,
  { status, body, parts, etag, replayed }: Answer & { replayed?: boolean },
) {
  if (replayed) res.setHeader('Idempotency-Replayed', 'true')
  if (parts) {
    res.writeHead(status, { ...corsHeaders, 'Content-Type': 'application/json', ...cacheHeaders })
    return sendParts(req, res, parts)
  }
  if (status === 204) {
    res.writeHead(204, corsHeaders).end()
    return
  }
  const text = writeJson(body)
  const tag = etag && tagOf(etag, text)
  if (tag) res.setHeader('ETag', tag)
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (tag && isRead && matchesEtag(req.headers['if-none-match'], tag)) {
    res.writeHead(304, { ...corsHeaders, ...cacheHeaders }).end()
    return
  }
  sendText(req, res, status, text)
}

const TAG_LENGTH = 22

/**
 * The entity tag of an answer: its version, and what tells it from all others of that version. Who asks, links that end, the transaction and the names of
 * people stand in it, too, and a browser shows what it has kept when it is told that nothing changed.
 */
const tagOf = (version: string, text: string) =>
  `${version.slice(0, -1)}+${createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH)}"`

const cacheHeaders = { 'Cache-Control': 'private, no-cache' }

const sendJson = (req: IncomingMessage, res: ServerResponse, status: number, body: unknown) =>
  sendText(req, res, status, writeJson(body))

function sendText(req: IncomingMessage, res: ServerResponse, status: number, text: string) {
  const bytes = Buffer.from(text)
  res.writeHead(status, {
    ...corsHeaders,
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    ...cacheHeaders,
  })
  res.end(req.method === 'HEAD' ? undefined : bytes)
}
