/**
 * Serves the pages for administrators. The pages have their own session cookie, which the APIs do not accept. They
 * execute operations of the GraphQL API and contain no business rules.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { html } from 'hono/html'
import type { AppContext, Context } from '../../context.ts'
import { readText } from '../../http/request-body.ts'
import { DomainError, type ErrorCode, notFound } from '../../shared/errors.ts'
import type { RequestWatch } from '../../telemetry/telemetry-types.ts'
import { authenticateAdmin, endAdminSession, startAdminSession } from '../accounts/sessions.ts'
import type { Run } from '../pages/page.ts'
import { refusalNotice, refusalSentence } from './action.ts'
import {
  type AdminRequest,
  type AdminResponse,
  type AdminRoute,
  adminHeaders,
  type Refused,
  renderAdminPage,
} from './admin-page.ts'
import * as sessions from './admin-session.ts'
import { appRoutes } from './apps.ts'
import { coinRoutes } from './coins.ts'
import { heading } from './components.ts'
import { keyRoutes } from './keys.ts'
import { orderRoutes } from './orders.ts'
import { overviewRoutes } from './overview.ts'
import { userRoutes } from './users.ts'
import { webhookRoutes } from './webhooks.ts'

/** Routes of all pages and actions except the sign-in. */
export const adminRoutes: readonly AdminRoute[] = [
  ...[overviewRoutes, orderRoutes, appRoutes, webhookRoutes, coinRoutes, keyRoutes, userRoutes].flat(),
]

/** An error as the APIs return it. */
type PublicError = { code: ErrorCode; message: string; details?: unknown; retryAfter?: number | undefined }

export interface AdminParts {
  run: Run
  /** Context values that all requests share. */
  shared: AppContext
  logOf(res: ServerResponse): Context['requestLog']
  watch: RequestWatch
  clientAddress(req: IncomingMessage): string
  /** Returns the base URL for links in the response. */
  baseUrlOf(req: IncomingMessage): string
  /** Converts an error. Logs unexpected errors. */
  toPublicError(error: unknown, context: Pick<Context, 'requestLog'>): PublicError
  statusOf(code: ErrorCode): number
  publicUrl: string
}

const MAX_FORM_BYTES = 50_000
const MAX_NEXT_LENGTH = 2_000
const SIGN_IN = '/admin/sign-in'
const SIGN_OUT = '/admin/sign-out'

/** Query parameter of the sign-in page. Set if the browser did not send the session cookie after a sign-in. */
const COOKIE_LOST = 'cookie-lost'
const cookieLost = (baseUrl: string): Refused => ({
  code: 'NOT_AUTHENTICATED',
  status: 403,
  message: `Your password is correct, but your browser did not store the session cookie. Allow cookies for this page, open ${baseUrl}/admin, and sign in again.`,
  fields: {},
})

/** Formats a waiting time in minutes or seconds. */
function formatWait(seconds: number): string {
  const [unit, length] = seconds >= 60 ? (['minute', 60] as const) : (['second', 1] as const)
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(Math.ceil(seconds / length))
}

const toRefused = ({ details, ...error }: PublicError, { statusOf }: Pick<AdminParts, 'statusOf'>): Refused => ({
  ...error,
  ...(error.code === 'THROTTLED' &&
    error.retryAfter !== undefined && { message: `Too many attempts. Try again in ${formatWait(error.retryAfter)}.` }),
  status: statusOf(error.code),
  fields: details && typeof details === 'object' ? (details as Refused['fields']) : {},
})

/** Returns true if the browser comes from the sign-in page, which redirects only after a successful sign-in. */
const isFromSignIn = ({ headers }: IncomingMessage) => URL.parse(headers.referer ?? '')?.pathname === SIGN_IN

/** Placeholder base URL that resolves relative paths. A URL with another origin is rejected. */
const NOWHERE = 'http://admin.invalid'

/** Returns a path below `/admin` to continue at after the sign-in. Default: the overview. */
function nextOf(wanted: string | null): string {
  const url = wanted && wanted.length <= MAX_NEXT_LENGTH ? URL.parse(wanted, NOWHERE) : null
  return url?.origin === NOWHERE && /^\/admin(\/|$)/.test(url.pathname) ? url.pathname + url.search : '/admin'
}

/** Parses a form. Converts CRLF to LF, because browsers count a line break as one character for `maxlength`. */
const formOf = (text: string) =>
  new URLSearchParams([...new URLSearchParams(text)].map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]))

function split(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?')
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
  return { path: path.replace(/(?<=.)\/$/, ''), query: new URLSearchParams(query) }
}

/** Returns a pattern with a named group for each parameter of a path. */
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`)

/** Creates the handler for `/admin` and all paths below it. */
export function createAdminHandler(parts: AdminParts) {
  const { shared, publicUrl, toPublicError, watch } = parts
  const isSecure = publicUrl.startsWith('https://')
  const patterns = adminRoutes.map((route) => ({ route, pattern: patternOf(route.path) }))

  /** Returns the route for a method and path, with its parameters. */
  function find(method: 'GET' | 'POST', path: string) {
    for (const { route, pattern } of patterns) {
      const match = route.method === method ? pattern.exec(path) : null
      if (match) return { route, params: { ...match.groups } }
    }
    return undefined
  }

  const contextOf = (request: Pick<Context, 'actor' | 'baseUrl' | 'requestLog'>, key?: string): Context => ({
    ...shared,
    ...request,
    hasStaleToken: false,
    idempotency: { key, replayed: false },
  })

  async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
    sessions.assertOwnForm(req, publicUrl)
    return formOf(await readText(req, MAX_FORM_BYTES))
  }

  /** Returns the HTTP methods that a path supports. The list is empty for an unknown path. */
  function methodsAt(path: string): string[] {
    if (path === SIGN_IN) return ['GET', 'HEAD', 'POST', 'OPTIONS']
    if (path === SIGN_OUT) return ['POST', 'OPTIONS']
    const methods = [...(find('GET', path) ? ['GET', 'HEAD'] : []), ...(find('POST', path) ? ['POST'] : [])]
    return methods.length ? [...methods, 'OPTIONS'] : []
  }

  function send(
    req: IncomingMessage,
    res: ServerResponse,
    response: AdminResponse,
    request: AdminRequest,
    path: string,
  ) {
    if ('redirect' in response) {
      const { 'Cache-Control': caching, 'Referrer-Policy': policy } = adminHeaders
      res.writeHead(303, { Location: response.redirect, 'Cache-Control': caching, 'Referrer-Policy': policy }).end()
      return
    }
    const { status = 200, retryAfter } = response.refused ?? {}
    if (response.refused) watch.refused(res, response.refused.code)
    if (retryAfter !== undefined) res.setHeader('Retry-After', String(retryAfter))
    const text = renderAdminPage(response, path, request)
    res.writeHead(status, { ...adminHeaders, 'Content-Length': Buffer.byteLength(text) })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  async function signIn(request: AdminRequest, req: IncomingMessage, res: ServerResponse): Promise<AdminResponse> {
    if (req.method !== 'POST') {
      const next = nextOf(request.query.get('next'))
      if (request.context.actor.kind === 'user') return { redirect: next }
      const isEnded = sessions.secretOf(req, isSecure) !== undefined
      const isCookieLost = !isEnded && request.query.has(COOKIE_LOST)
      return sessions.signInPage(next, {
        isEnded,
        ...(isCookieLost && { refused: cookieLost(request.context.baseUrl) }),
      })
    }
    const form = await readForm(req)
    const next = nextOf(form.get('next'))
    const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
    let secret: string
    try {
      secret = await startAdminSession(shared, parts.clientAddress(req), { email, password })
    } catch (error) {
      return sessions.signInPage(next, { refused: toRefused(toPublicError(error, request.context), parts), email })
    }
    // The new cookie replaces that of the previous session. End that session, so that no copy of its cookie is valid.
    if (request.context.actor.kind === 'user') await endAdminSession(request.context)
    res.setHeader('Set-Cookie', sessions.sessionCookie(secret, isSecure))
    return { redirect: next }
  }

  /** Redirects to the sign-in page, which redirects back after the sign-in. */
  function redirectToSignIn(req: IncomingMessage, path: string): AdminResponse {
    // A URL above `MAX_NEXT_LENGTH` is not accepted as the return path and does not fit into a header.
    if (path === SIGN_OUT || req.url!.length > MAX_NEXT_LENGTH) return { redirect: SIGN_IN }
    const isCookieLost = sessions.secretOf(req, isSecure) === undefined && isFromSignIn(req)
    const query = new URLSearchParams({ next: req.url!, ...(isCookieLost && { [COOKIE_LOST]: 'true' }) })
    return { redirect: `${SIGN_IN}?${query}` }
  }

  type Respond = (
    request: AdminRequest,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
  ) => Promise<AdminResponse>
  const respond: Respond = async (request, req, res, path) => {
    if (path === SIGN_IN) return signIn(request, req, res)
    if (request.context.actor.kind !== 'user') return redirectToSignIn(req, path)
    const isPost = req.method === 'POST'
    if (isPost) {
      request.form = await readForm(req)
      if (!sessions.hasFormToken(request.form, request.formToken)) throw sessions.forged()
      if (path === SIGN_OUT) {
        await endAdminSession(request.context)
        res.setHeader('Set-Cookie', sessions.clearedCookie(isSecure))
        return { redirect: SIGN_IN }
      }
      request.context = contextOf(request.context, request.form.get('key') || undefined)
    }
    const found = find(isPost ? 'POST' : 'GET', path)
    if (!found) throw notFound('Page')
    request.params = found.params
    return found.route.respond(request)
  }

  /** Handles OPTIONS and unsupported methods. Returns true if it sent the response. Throws METHOD_NOT_ALLOWED. */
  function respondToMethod({ method = '' }: IncomingMessage, res: ServerResponse, path: string): boolean {
    const methods = methodsAt(path)
    // Callers without a session get the sign-in page for every path.
    if (!methods.length && ['GET', 'HEAD', 'POST'].includes(method)) return false
    if (!methods.length) throw notFound('Page')
    const isOptions = method === 'OPTIONS'
    if (!isOptions && methods.includes(method)) return false
    res.setHeader('Allow', methods.join(', '))
    if (!isOptions) throw new DomainError('METHOD_NOT_ALLOWED', `Method "${method}" not allowed.`)
    res.writeHead(204).end()
    return true
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { path, query } = split(req.url ?? '/')
    const secret = sessions.secretOf(req, isSecure)
    const address = parts.clientAddress(req)
    const route = (find('GET', path) ?? find('POST', path))?.route.path
    watch.setOperation(res, 'admin', `${req.method} ${[SIGN_IN, SIGN_OUT].includes(path) ? path : (route ?? 'other')}`)
    const context = contextOf({
      actor: { kind: 'anonymous', address, service: undefined },
      baseUrl: parts.baseUrlOf(req),
      requestLog: parts.logOf(res),
    })
    const request: AdminRequest = {
      ...{ params: {}, query, form: new URLSearchParams(), context, formToken: sessions.formTokenOf(secret) },
      run: (document, variables) => parts.run(document, variables, request.context),
      refusedFor(error) {
        const refused = toRefused(toPublicError(error, request.context), parts)
        return refused.code === 'INTERNAL' ? undefined : refused
      },
    }
    try {
      if (respondToMethod(req, res, path)) return
      const actor = await authenticateAdmin(shared, secret, address)
      if (actor.kind === 'user') watch.identified(res, actor.id)
      request.context = contextOf({ ...context, actor })
      send(req, res, await respond(request, req, res, path), request, path)
    } catch (error) {
      refuse(error, req, res, request, path)
    }
  }

  function refuse(error: unknown, req: IncomingMessage, res: ServerResponse, request: AdminRequest, path: string) {
    if (res.headersSent) return void res.destroy()
    const refused = toRefused(toPublicError(error, request.context), parts)
    const title = refused.code === 'NOT_FOUND' ? 'Page not found' : 'The request failed'
    const content = html`${heading(title)}${refusalNotice(refusalSentence(refused))}<p><a href="/admin">Show the overview</a></p>`
    send(req, res, { refused, title, content }, request, path)
  }

  return handle
}
