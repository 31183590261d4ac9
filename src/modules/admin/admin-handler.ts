/**
 * Serves the pages for administrators. They have their own session in a cookie, and forms that other sites cannot
 * send. The APIs do not accept this cookie. The pages execute operations of the APIs and contain no business rules.
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
  type AdminAnswer,
  type AdminRequest,
  type AdminRoute,
  adminHeaders,
  type Refused,
  renderAdminPage,
} from './admin-page.ts'
import {
  assertOwnForm,
  clearedCookie,
  forged,
  formTokenOf,
  hasFormToken,
  inputOf,
  isOwnForm,
  secretOf,
  sessionCookie,
  signInPage,
} from './admin-session.ts'
import { appRoutes } from './apps.ts'
import { auditRoutes } from './audit.ts'
import { coinRoutes } from './coins.ts'
import { heading } from './components.ts'
import { keyRoutes } from './keys.ts'
import { orderRoutes } from './orders.ts'
import { overviewRoutes } from './overview.ts'
import { userRoutes } from './users.ts'
import { webhookRoutes } from './webhooks.ts'

/** Routes of all pages and actions except the sign-in. */
export const adminRoutes: readonly AdminRoute[] = [
  ...[overviewRoutes, orderRoutes, appRoutes, webhookRoutes, coinRoutes, keyRoutes, userRoutes, auditRoutes].flat(),
]

/** An error as the APIs return it. */
export interface PublicError {
  code: ErrorCode
  message: string
  details?: unknown
  retryAfter?: number | undefined
}

export interface AdminParts {
  run: Run
  /** Context values that all requests share. */
  shared: AppContext
  /** Returns the log of a request. */
  logOf(res: ServerResponse): Context['requestLog']
  watch: RequestWatch
  clientAddress(req: IncomingMessage): string
  /** Returns the base URL for links in the response. */
  baseUrlOf(req: IncomingMessage): string
  /** Converts an error. Logs unexpected errors. */
  toPublicError(error: unknown, context: Pick<Context, 'requestLog'>): PublicError
  statusOf(code: ErrorCode): number
  /** Public URL of the service. */
  publicUrl: string
}

const MAX_FORM_BYTES = 50_000
const MAX_NEXT_LENGTH = 2_000
const SIGN_IN = '/admin/sign-in'
const SIGN_OUT = '/admin/sign-out'
const SESSION_ENDED =
  'Your session had ended, so the action was not executed. Check your input, and submit the form again.'
const FORM_TOO_OLD =
  'This form is older than your session, so the action was not executed. Check your input, and submit the form again.'

/** Query parameter of the sign-in page. Set if the browser did not send the session cookie after a sign-in. */
const COOKIE_LOST = 'cookie-lost'
const cookieLost = (baseUrl: string): Refused => ({
  code: 'NOT_AUTHENTICATED',
  status: 403,
  message: `Your password is correct, but your browser did not store the session cookie. Allow cookies for this page, open ${baseUrl}/admin, and sign in again.`,
  fields: {},
})

const isFields = (details: unknown): details is Record<string, string[]> =>
  typeof details === 'object' && details !== null && !Array.isArray(details)

/** Formats a waiting time in hours, minutes or seconds. */
function formatWait(seconds: number): string {
  const units = [
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? ['second', 1]
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat('en', style).format(Math.ceil(seconds / length))
}

const toRefused = ({ details, ...error }: PublicError, { statusOf }: Pick<AdminParts, 'statusOf'>): Refused => ({
  ...error,
  ...(error.code === 'THROTTLED' &&
    error.retryAfter !== undefined && { message: `Too many attempts. Try again in ${formatWait(error.retryAfter)}.` }),
  status: statusOf(error.code),
  fields: isFields(details) ? details : {},
})

/** Returns true if the browser comes from the sign-in page, which redirects only after a successful sign-in. */
const isFromSignIn = ({ headers }: IncomingMessage) => URL.parse(headers.referer ?? '')?.pathname === SIGN_IN

const isAdminPath = (path: string) => path === '/admin' || path.startsWith('/admin/')

/** Placeholder base URL that resolves relative paths. A URL with another origin is rejected. */
const NOWHERE = 'http://admin.invalid'

/** Returns a path below `/admin` to continue at after the sign-in. Default: the overview. */
function nextOf(wanted: string | null): string {
  const url = wanted && wanted.length <= MAX_NEXT_LENGTH ? URL.parse(wanted, NOWHERE) : null
  return url?.origin === NOWHERE && isAdminPath(url.pathname) ? url.pathname + url.search : '/admin'
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

const countParams = ({ path }: AdminRoute) => path.split(':').length

/** Decodes path parameters. Keeps a parameter unchanged if it cannot be decoded. */
const decodeAll = (params: Record<string, string>) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeOr(value)]))

function decodeOr(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** Creates the handler for `/admin` and all paths below it. */
export function createAdminHandler(parts: AdminParts) {
  const { shared, publicUrl, toPublicError, watch } = parts
  const isSecure = publicUrl.startsWith('https://')
  // A path without parameters takes precedence over a path with parameters.
  const patterns = adminRoutes
    .toSorted((one, other) => countParams(one) - countParams(other))
    .map((route) => ({ route, pattern: patternOf(route.path) }))

  /** Returns the route for a method and path, with its parameters. */
  function find(method: 'GET' | 'POST', path: string) {
    for (const { route, pattern } of patterns) {
      const match = route.method === method ? pattern.exec(path) : null
      if (match) return { route, params: decodeAll(match.groups ?? {}) }
    }
    return undefined
  }

  function contextOf(
    { actor, baseUrl, requestLog }: Pick<Context, 'actor' | 'baseUrl' | 'requestLog'>,
    key?: string,
  ): Context {
    const idempotency = { key, replayed: false }
    return { ...shared, actor, baseUrl, hasStaleToken: false, requestLog, idempotency }
  }

  async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
    assertOwnForm(req, publicUrl)
    return formOf(await readText(req, MAX_FORM_BYTES))
  }

  /** Returns the pattern of a path's route, or `other` if there is none. */
  function patternAt(path: string): string {
    if (path === SIGN_IN || path === SIGN_OUT) return path
    return (find('GET', path) ?? find('POST', path))?.route.path ?? 'other'
  }

  /** Returns the HTTP methods that a path supports. The list is empty for an unknown path. */
  function methodsAt(path: string): string[] {
    if (path === SIGN_IN) return ['GET', 'HEAD', 'POST', 'OPTIONS']
    if (path === SIGN_OUT) return ['POST', 'OPTIONS']
    const methods = [...(find('GET', path) ? ['GET', 'HEAD'] : []), ...(find('POST', path) ? ['POST'] : [])]
    return methods.length ? [...methods, 'OPTIONS'] : []
  }

  function send(req: IncomingMessage, res: ServerResponse, answer: AdminAnswer, request: AdminRequest, path: string) {
    if ('redirect' in answer) {
      const { 'Cache-Control': caching, 'Referrer-Policy': policy } = adminHeaders
      res.writeHead(303, { Location: answer.redirect, 'Cache-Control': caching, 'Referrer-Policy': policy }).end()
      return
    }
    const { status = 200, retryAfter } = answer.refused ?? {}
    if (answer.refused) watch.refused(res, answer.refused.code)
    if (retryAfter !== undefined) res.setHeader('Retry-After', String(retryAfter))
    const text = renderAdminPage(answer, path, request)
    res.writeHead(status, { ...adminHeaders, 'Content-Length': Buffer.byteLength(text) })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  async function signIn(request: AdminRequest, req: IncomingMessage, res: ServerResponse): Promise<AdminAnswer> {
    if (req.method !== 'POST') {
      const next = nextOf(request.query.get('next'))
      if (request.context.actor.kind === 'user') return { redirect: next }
      const isEnded = secretOf(req, isSecure) !== undefined
      const isCookieLost = !isEnded && request.query.has(COOKIE_LOST)
      return signInPage(next, { isEnded, ...(isCookieLost && { refused: cookieLost(request.context.baseUrl) }) })
    }
    const form = await readForm(req)
    const next = nextOf(form.get('next'))
    const [email, password, kept] = [form.get('email') ?? '', form.get('password') ?? '', form.get('kept') ?? '']
    const address = parts.clientAddress(req)
    let secret: string
    try {
      secret = await startAdminSession(shared, address, { email, password })
    } catch (error) {
      return signInPage(next, { refused: toRefused(toPublicError(error, request.context), parts), email, kept })
    }
    // The new cookie replaces that of the previous session. End that session, so that no copy of its cookie is valid.
    if (request.context.actor.kind === 'user') await endAdminSession(request.context)
    res.setHeader('Set-Cookie', sessionCookie(secret, isSecure))
    if (kept === '') return { redirect: next }
    request.context = contextOf({ ...request.context, actor: await authenticateAdmin(shared, secret, address) })
    request.formToken = formTokenOf(secret)
    return restoreForm(request, next, kept)
  }

  /** Returns the form of the action at `next` with the input from before the session ended. */
  async function restoreForm(request: AdminRequest, next: string, kept: string): Promise<AdminAnswer> {
    const { path, query } = split(next)
    request.query = query
    request.form = new URLSearchParams(kept)
    request.formPath = next
    return (await formRestorer(path, request)?.(SESSION_ENDED)) ?? { redirect: next }
  }

  /** Returns the function that shows the form of a path's action with its input. Undefined if the path has no form. */
  function formRestorer(path: string, request: AdminRequest) {
    const found = find('POST', path)
    const restoreForm = found?.route.restoreForm
    if (!restoreForm) return undefined
    request.params = found.params
    return (message: string) => restoreForm(request, message)
  }

  /** Redirects to the sign-in page, which redirects back. It keeps a form submitted after the session ended. */
  async function redirectToSignIn(request: AdminRequest, req: IncomingMessage, path: string): Promise<AdminAnswer> {
    const isEnded = secretOf(req, isSecure) !== undefined
    // A URL above `MAX_NEXT_LENGTH` is not accepted as the return path and does not fit into a header.
    const isDropped = path === SIGN_OUT || req.url!.length > MAX_NEXT_LENGTH
    if (req.method === 'POST' && isEnded && !isDropped && isOwnForm(req, publicUrl) && formRestorer(path, request)) {
      const kept = inputOf(await readForm(req))
      if (kept !== '') return signInPage(nextOf(req.url!), { isEnded, kept })
    }
    if (isDropped) return { redirect: SIGN_IN }
    const isCookieLost = !isEnded && isFromSignIn(req)
    const query = new URLSearchParams({ next: req.url!, ...(isCookieLost && { [COOKIE_LOST]: 'true' }) })
    return { redirect: `${SIGN_IN}?${query}` }
  }

  async function signOut({ context }: AdminRequest, res: ServerResponse): Promise<AdminAnswer> {
    await endAdminSession(context)
    res.setHeader('Set-Cookie', clearedCookie(isSecure))
    return { redirect: SIGN_IN }
  }

  async function answer(
    request: AdminRequest,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
  ): Promise<AdminAnswer> {
    if (path === SIGN_IN) return signIn(request, req, res)
    if (request.context.actor.kind !== 'user') return redirectToSignIn(request, req, path)
    const isPost = req.method === 'POST'
    if (isPost) {
      request.form = await readForm(req)
      if (!hasFormToken(request.form, request.formToken)) {
        const restore = formRestorer(path, request)
        if (!restore) throw forged()
        return restore(FORM_TOO_OLD)
      }
      if (path === SIGN_OUT) return signOut(request, res)
      request.context = contextOf(request.context, request.form.get('key') || undefined)
    }
    const found = find(isPost ? 'POST' : 'GET', path)
    if (!found) throw notFound('Page')
    request.params = found.params
    return found.route.answer(request)
  }

  /** Handles OPTIONS and unsupported methods. Returns true if it sent the response. Throws METHOD_NOT_ALLOWED. */
  function answerMethod({ method = '' }: IncomingMessage, res: ServerResponse, path: string): boolean {
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
    const secret = secretOf(req, isSecure)
    const address = parts.clientAddress(req)
    watch.setOperation(res, 'admin', `${req.method} ${patternAt(path)}`)
    const context = contextOf({
      actor: { kind: 'anonymous', address, service: undefined },
      baseUrl: parts.baseUrlOf(req),
      requestLog: parts.logOf(res),
    })
    const request: AdminRequest = {
      ...{ params: {}, query, form: new URLSearchParams(), context, formToken: formTokenOf(secret) },
      run: (document, variables) => parts.run(document, variables, request.context),
      refusedFor(error) {
        const refused = toRefused(toPublicError(error, request.context), parts)
        return refused.code === 'INTERNAL' ? undefined : refused
      },
    }
    try {
      if (answerMethod(req, res, path)) return
      const actor = await authenticateAdmin(shared, secret, address)
      if (actor.kind === 'user') watch.identified(res, actor.id)
      request.context = contextOf({ ...context, actor })
      send(req, res, await answer(request, req, res, path), request, path)
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
