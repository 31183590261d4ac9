/** Routes of the REST API and the HTML pages in Fastify. Checks of a request run in a fixed order. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Context, Identity } from '../../context.ts'
import { hasOpenField } from '../../graphql/builder.ts'
import { type Executor, executeOperation, refusalOf } from '../../graphql/execute.ts'
import { authenticationFailed, DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { findStoredResponse, storeResponse } from '../../shared/idempotency.ts'
import { assertMay, assertTrusted } from '../../shared/policy.ts'
import type { RequestWatch } from '../../telemetry/telemetry-types.ts'
import type { createRequestContexts } from '../create-context.ts'
import { presentRefusal, refusalHeaders, statuses } from '../error-status.ts'
import { corsHeaders, matchesEtag, sendJsonText, sendPage, sendParts, uncachedHeaders } from '../http-server.ts'
import type { BodyLimits } from '../request-body.ts'
import type { DirectRequest, DirectRoute, RestRequest, RestResponse, Route } from './define-route.ts'
import { isEmpty, lenientFields, readBody, unsupportedMediaType, writeJson } from './fields.ts'
import { readPage } from './lists.ts'

interface RestDependencies extends Executor {
  routes: Route[]
  directRoutes: DirectRoute[]
  createContext: ReturnType<typeof createRequestContexts>
  logOf(res: ServerResponse): Context['requestLog']
  presentMissing: NonNullable<DirectRoute['presentRefusal']>
  bodyLimits: BodyLimits
  watch: RequestWatch
}

declare module 'fastify' {
  interface FastifyContextConfig {
    found?: Found
  }
  interface FastifyRequest {
    caller: Context | undefined
  }
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const
/** Matches paths whose errors are always JSON, regardless of the `Accept` header. */
const API_PATH = /^\/(?:api|auth|ipfs)(?:\/|$)/

const wantsPage = ({ url, headers }: FastifyRequest) =>
  !API_PATH.test(url) && /\btext\/html\b/i.test(headers.accept ?? '')

/** Names `Authorization`, because `*` excludes it. `@fastify/cors` sends neither `Allow` nor a route's methods (paths.test.ts). */
const preflightHeaders = {
  ...corsHeaders,
  'Access-Control-Allow-Headers':
    'Authorization, X-Api-Key, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, User-Agent, X-CSRFToken, X-Requested-With, *',
  'Access-Control-Max-Age': '86400',
}

type Found = { name: string } & ({ kind: 'operation'; route: Route } | { kind: 'direct'; route: DirectRoute })
const queryOf = ({ query }: FastifyRequest) => new URLSearchParams((query as string | undefined) ?? '')

/** Groups routes by path. The phone app calls paths of `auth/` without `/api/v3`. */
function byPath({ routes, directRoutes }: RestDependencies): Map<string, Found[]> {
  const paths = new Map<string, Found[]>()
  const add = (path: string, found: Found) => paths.set(path, [...(paths.get(path) ?? []), found])
  for (const route of routes) {
    const path = `/api/v3/${route.path}`
    const found: Found = { kind: 'operation', route, name: `${route.method} ${path}` }
    add(path, found)
    if (route.path.startsWith('auth/')) add(`/${route.path}`, found)
  }
  for (const route of directRoutes) add(route.path, { kind: 'direct', route, name: `${route.method} ${route.path}` })
  return paths
}

export function addRestRoutes(app: FastifyInstance, deps: RestDependencies): void {
  const openToStaleTokens = new Set<Found['route']>([
    ...deps.routes.filter(({ operation }) => hasOpenField(deps.schema, operation)),
    ...deps.directRoutes.filter(({ isOpenToStaleTokens }) => isOpenToStaleTokens),
  ])
  app.decorateRequest('caller')
  app.setErrorHandler(refuse)

  for (const [url, all] of byPath(deps)) {
    for (const found of all) {
      const { method } = found.route
      app.route({
        ...{ method: method === 'GET' ? ['GET', 'HEAD'] : [method], url, config: { found } },
        onRequest: (request, reply) => authenticate(found, request, reply),
        handler: (request, reply) =>
          found.kind === 'direct' ? handleDirectly(found.route, request, reply) : execute(found.route, request, reply),
      })
    }
    const used = METHODS.filter((method) => all.some(({ route }) => route.method === method))
    const allowed = [...used, ...(used.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
    const others = app.supportedMethods.filter((method) => !allowed.includes(method)) as HTTPMethods[]
    app.route({ method: 'OPTIONS', url, handler: (_request, reply) => preflight(reply, allowed) })
    app.route({
      ...{ method: others, url, config: { found: all[0]! } },
      onRequest({ method }, { raw: res }, done) {
        deps.watch.setOperation(res, 'rest', 'other')
        res.setHeader('Allow', allowed.join(', '))
        done(new DomainError('METHOD_NOT_ALLOWED', `Method "${method}" not allowed.`))
      },
      handler: () => undefined,
    })
  }
  app.setNotFoundHandler((request, reply) => {
    deps.watch.setOperation(reply.raw, 'rest', 'other')
    if (request.method === 'OPTIONS') return preflight(reply, [])
    throw notFound('Resource')
  })

  async function authenticate(found: Found, request: FastifyRequest, { raw: res }: FastifyReply): Promise<void> {
    const { raw: req } = request
    deps.watch.setOperation(res, 'rest', found.name)
    function admit({ actor, hasStaleToken }: Identity) {
      if (hasStaleToken && !openToStaleTokens.has(found.route)) throw authenticationFailed()
      if (found.kind === 'direct') return
      const { action, apiKey } = found.route
      assertMay(actor, action)
      if (apiKey) assertTrusted(actor, { needed: apiKey === 'needed' })
    }
    const { ignoresCredentials = false, isUncounted = false } = found.kind === 'direct' ? found.route : {}
    request.caller = await deps.createContext(req, res, { ignoresCredentials, isUncounted, admit })
    // Fastify would reject a malformed Content-Type even if the body is empty.
    if (isEmpty(req)) delete req.headers['content-type']
  }

  async function handleDirectly(route: DirectRoute, request: FastifyRequest, reply: FastifyReply) {
    const query = queryOf(request)
    assertSingleValues({ method: route.method, query: route.description?.query }, query)
    const { raw: req, caller } = request
    const params = request.params as DirectRequest['params']
    await route.handle({ req, reply, res: reply.raw, params, query, context: caller! })
  }

  async function execute(addressed: Route, request: FastifyRequest, reply: FastifyReply) {
    const { raw: req } = request
    const context = request.caller!
    const query = queryOf(request)
    assertSingleValues(addressed, query)
    const route = routeFor(addressed, query)
    const { files = [], maxFileBytes = deps.bodyLimits.maxFileBytes, listAs } = route
    // Larger bodies must fail with PAYLOAD_TOO_LARGE when they are read, not with a quota error here.
    const maxBytes = deps.bodyLimits.maxBytes + files.length * maxFileBytes
    const declaredBytes = Math.min(Number(req.headers['content-length'] ?? 0), maxBytes)
    await route.admit?.(context, declaredBytes)
    const intake = files.length > 0 ? context.uploads.open(context.actor, declaredBytes) : undefined
    const run = async () => {
      const texts = Object.keys(route.body?.shape ?? {}).filter((name) => !files.includes(name))
      const options = { ...deps.bodyLimits, files, texts, maxFileBytes, listAs, intake }
      const body = await readBody(route.method === 'GET' ? emptyBody : req, options)
      const unread = {}
      const input: RestRequest = {
        params: request.params as RestRequest['params'],
        query,
        ...(route.isQuote ? { body: lenientFields(body, unread), unread } : { body }),
        header: (name) => req.headers[name] as string | undefined,
        url: context.baseUrl + request.url.split('?', 1)[0]!,
      }
      const { list } = route
      if (list) return readPage(deps, { ...route, list }, input, context)
      return executeReplayable(async () => {
        const data = await executeOperation(deps, route.operation, route.variables(input), context)
        return { status: route.status ?? 200, body: route.present!(data, input), etag: route.etag?.(data) }
      }, context)
    }
    return send(request, reply, await run().finally(() => intake?.close()))
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const { raw: res } = reply
    const { found } = request.routeOptions.config
    const refusal = refusalOf(ownErrorOf(error, request), request.caller ?? { requestLog: deps.logOf(res) })
    deps.watch.refused(res, refusal.code)
    if (res.headersSent) return void res.destroy()
    reply.headers(refusalHeaders(refusal))
    if (found?.kind === 'direct' && found.route.presentRefusal) {
      return sendPage(reply, found.route.presentRefusal(refusal, request.raw))
    }
    if (!found && wantsPage(request)) return sendPage(reply, deps.presentMissing(refusal, request.raw))
    sendJsonText(reply.code(statuses[refusal.code].status), writeJson(presentRefusal(refusal)))
  }
}

type ReplayableResponse = RestResponse & { replayed?: boolean }

/** Stores the response to an idempotency key, and returns the stored response to a replay. */
async function executeReplayable(run: () => Promise<RestResponse>, context: Context): Promise<ReplayableResponse> {
  const { idempotency } = context
  const findStored = async () => (await findStoredResponse(context)) as RestResponse | undefined
  try {
    const fresh = await run()
    if (idempotency.replayed) return { ...((await findStored()) ?? fresh), replayed: true }
    await storeResponse(context, fresh)
    return fresh
  } catch (error) {
    const stored = idempotency.replayed && (await findStored())
    if (!stored) throw error
    return { ...stored, replayed: true }
  }
}

const ownErrorOf = (error: unknown, { headers }: FastifyRequest) =>
  (error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
    ? unsupportedMediaType(headers['content-type']!)
    : error

const emptyBody = { headers: { 'content-length': '0' } } as IncomingMessage

function preflight(reply: FastifyReply, methods: string[]) {
  if (methods.length) reply.header('Allow', methods.join(', '))
  reply.headers({ ...preflightHeaders, 'Access-Control-Allow-Methods': methods.join(', ') || 'GET' })
  return reply.code(204).send()
}

/** Throws if creating a part of the body fails. The caller must then abort the connection. */
function send({ raw: req, method }: FastifyRequest, reply: FastifyReply, response: ReplayableResponse) {
  const { status, body, parts, etag, replayed } = response
  if (replayed) reply.raw.setHeader('Idempotency-Replayed', 'true')
  if (parts) {
    const headers = { ...corsHeaders, 'Content-Type': 'application/json', ...uncachedHeaders }
    return sendParts(req, reply.raw.writeHead(status, headers), parts)
  }
  reply.code(status)
  if (status === 204) return reply.headers(corsHeaders).send()
  const text = writeJson(body)
  const tag = etag && tagOf(etag, text)
  if (tag) reply.header('ETag', tag)
  const isRead = method === 'GET' || method === 'HEAD'
  if (tag && isRead && matchesEtag(req.headers['if-none-match'], tag))
    return reply
      .code(304)
      .headers({ ...corsHeaders, ...uncachedHeaders })
      .send()
  return sendJsonText(reply, text)
}

/** The body also depends on the caller and on signed links, so the `ETag` contains its hash. */
const tagOf = (version: string, text: string) =>
  `"${version}+${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`

/** Reads a boolean in any case: Python sends `True`. Throws VALIDATION_FAILED. */
export function queryFlag(query: URLSearchParams, name: string): boolean | undefined {
  const word = query.get(name)?.toLowerCase()
  if (!word) return undefined
  if (word === 'true' || word === '1') return true
  if (word === 'false' || word === '0') return false
  throw validationFailed({ [name]: ['Must be a valid boolean.'] })
}

function assertSingleValues({ method, query: described }: Pick<Route, 'method' | 'query'>, query: URLSearchParams) {
  const names = [...Object.keys(described?.shape ?? {}), ...(method === 'GET' ? [] : ['dry_run', 'max_cost'])]
  const repeated = names.filter((name) => new Set(query.getAll(name)).size > 1)
  const problem = ['Send this parameter only once. Its values contradict each other.']
  if (repeated.length > 0) throw validationFailed(Object.fromEntries(repeated.map((name) => [name, problem])))
}

/** Returns the route, or its quote for `?dry_run=true`. A route without a quote must not be executed by mistake. */
function routeFor(route: Route, query: URLSearchParams): Route {
  if (!query.has('dry_run') || route.method === 'GET') return route
  const isDryRun = queryFlag(query, 'dry_run')
  if (isDryRun === undefined) throw validationFailed({ dry_run: ['Must be a valid boolean.'] })
  if (!isDryRun || route.isQuote) return route
  if (!route.quote) throw validationFailed({ dry_run: ['This request does not support a dry run.'] })
  return route.quote
}
